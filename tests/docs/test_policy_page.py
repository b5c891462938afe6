"""docs/policy.md shows what its commands print; the CI snippets run as they stand."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.shell import Shell
from tests.docs.shown import ROOT, blocks, commands

EXAMPLES = ROOT / "examples" / "policy"
PAGE = "docs/policy.md"
EVE = "- {principal: User:eve, allow: Write, topic: orders}\n"


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    text = (ROOT / PAGE).read_text()
    found = [command.text for command in commands() if command.page == PAGE]
    assert len(found) == 6
    shell = Shell(tmp_path, {})
    for command in found:
        shown = text.split(f"    $ {command}\n", 1)[1].split("\n\n", 1)[0]
        done = shell(command)
        assert done.returncode == (3 if " lint " in command else 0), done.stderr
        assert done.stdout.splitlines() == [line[4:] for line in shown.splitlines()]


def scripts() -> dict[str, list[str]]:
    """The commands of the snippets that are about ACLs or the repository."""
    github: Any = yaml.safe_load((EXAMPLES / "github.yml").read_text())["jobs"]["policy"]["steps"]
    gitlab: Any = yaml.safe_load((EXAMPLES / "gitlab.yml").read_text())["kafka-acls"]["script"]
    repo: Any = yaml.safe_load((EXAMPLES / "pre-commit-config.yaml").read_text())["repos"][0]
    found = {
        "github": [step["run"] for step in github if "run" in step],
        "gitlab": list(gitlab),
        "pre-commit": [hook["entry"] for hook in repo["hooks"]],
    }
    return {
        name: [line for line in lines if re.match(r"git |kafka-shim ", line)]
        for name, lines in found.items()
    }


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(("added", "code"), [("", 0), (EVE, 3)], ids=["kept", "broken"])
@pytest.mark.parametrize("name", ["github", "gitlab", "pre-commit"])
def test_the_snippets_find_what_is_broken(name: str, added: str, code: int, tmp_path: Path) -> None:
    origin, mine = tmp_path / "origin", tmp_path / "mine"
    shutil.copytree(EXAMPLES, origin)
    git(origin, "init", "-q", "-b", "main")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "a")
    git(tmp_path, "clone", "-q", str(origin), str(mine))
    acls = mine / "acls" / "orders.yaml"
    acls.write_text(acls.read_text() + added)
    variables = {"GITHUB_BASE_REF": "main", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    shell = Shell(tmp_path / "tools", {})
    shell.put({}, variables)
    done = shell(f"cd {mine} && {' && '.join(scripts()[name])}")
    assert done.returncode == code, done.stdout + done.stderr
    if name != "pre-commit":
        changes = (mine / "changes.txt").read_text()
        assert changes.startswith("+ User:eve: Write" if added else "no difference")
        assert (mine / "report.xml").exists()
    assert ("::error file=policy.yaml,line=5" in done.stdout) == (code == 3 and name == "github")


def test_the_files_shown_are_those_of_the_example() -> None:
    shown = [
        block for block in blocks() if (block.page, block.language) == ("docs/policy.md", "yaml")
    ]
    assert len(shown) == 2
    for block in shown:
        assert block.text == f"# {block.name}\n{(ROOT / block.name).read_text()}"
