"""The CI snippets of examples/policy run as they stand: every step, in the order of the runner.

Programs that use the network (pip, gh, curl) are replaced by scripts that log their arguments and
what they were asked to send.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.shell import Shell
from tests.docs.shown import ROOT

pytestmark = pytest.mark.folders(
    "docs/guides", "examples/policy", "src/kafka_shim/policy", "src/kafka_shim/cli/policy"
)

EXAMPLES = ROOT / "examples" / "policy"
EVE = "- {principal: User:eve, allow: Write, topic: orders}\n"
STAND_IN = """\
#!/bin/bash
{
  echo "$(basename "$0") $*"
  for word; do case "$word" in *changes.md) cat "${word##*[=<]}" ;; esac; done
} >> "$CALLS"
case "$*" in *per_page*) echo "$EXISTING_NOTES" ;; esac
"""
API = "https://gitlab.example.com/api/v4"
NOTES = f"{API}/projects/1/merge_requests/7/notes"
TOKEN_AND_FORM = "--header PRIVATE-TOKEN: secret --form body=<changes.md"
GITHUB = {"github.event.number": "7", "github.token": "secret"}
VARIABLES = {
    "github": {"GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": "summary.md"},
    "platform-github": {"GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": "summary.md"},
    "platform-gitlab": {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"},
    "gitlab": {
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_API_V4_URL": API,
        "CI_PROJECT_ID": "1",
        "CI_MERGE_REQUEST_IID": "7",
        "POLICY_TOKEN": "secret",
        "EXISTING_NOTES": "[]",
    },
    "pre-commit": {},
}
CALLS = {
    "github": [
        "pip install kafka-shim",
        "gh pr comment 7 --edit-last --create-if-none --body-file changes.md",
    ],
    "gitlab": [
        "pip install kafka-shim",
        f"curl --fail --header PRIVATE-TOKEN: secret {NOTES}?per_page=100",
        f"curl --fail --request POST {TOKEN_AND_FORM} {NOTES}",
    ],
    "pre-commit": [],
}
APPROVED = "access-approved"
UNLESS_APPROVED = f"!contains(github.event.pull_request.labels.*.name, '{APPROVED}')"
CASES = [("", 0), (EVE, 3)]
Step = tuple[str, dict[str, str]]


def steps(name: str, labels: str) -> list[Step]:
    """Return the shell commands and the variables of each step that runs with these labels."""
    folder = EXAMPLES / ("platform" if name.startswith("platform-") else "")
    if name.endswith("github"):
        found: Any = yaml.safe_load((folder / "github.yml").read_text())["jobs"]["policy"]
        return [
            (step["run"], {key: _evaluated(value) for key, value in step.get("env", {}).items()})
            for step in found["steps"]
            if "run" in step and not (step.get("if") == UNLESS_APPROVED and APPROVED in labels)
        ]
    if name.endswith("gitlab"):
        job: Any = yaml.safe_load((folder / "gitlab.yml").read_text())["kafka-acls"]
        return [(line, {}) for line in job["script"]]
    return [(shlex.join([*shlex.split(hook["entry"]), *hook["args"]]), {}) for hook in hooks()]


def hooks() -> list[Any]:
    """Return the hooks of this repository that the example uses."""
    own: Any = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    by_id = {hook["id"]: hook for hook in own}
    used: Any = yaml.safe_load((EXAMPLES / "pre-commit-config.yaml").read_text())
    return [by_id[hook["id"]] for hook in used["repos"][0]["hooks"]]


def _evaluated(text: str) -> str:
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: GITHUB[found[1]], text)


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def changed(
    tmp_path: Path, added: str, *, is_first: bool = False, examples: Path = EXAMPLES
) -> Path:
    """Return a clone of a repository with the examples, in which ACLs are uncommitted changes.

    With `is_first`, the repository had no ACLs before.
    """
    origin, mine = tmp_path / "origin", tmp_path / "mine"
    shutil.copytree(examples, origin)
    if is_first:
        shutil.rmtree(origin / "acls")
    git(origin, "init", "-q", "-b", "main")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "a")
    git(tmp_path, "clone", "-q", str(origin), str(mine))
    if is_first:
        shutil.copytree(EXAMPLES / "acls", mine / "acls")
    [acls] = (mine / "acls").iterdir()
    acls.write_text(acls.read_text() + added)
    return mine


@pytest.mark.parametrize(("added", "code"), CASES, ids=["kept", "broken"])
@pytest.mark.parametrize("name", CALLS)
def test_every_step_runs_as_written(name: str, added: str, code: int, tmp_path: Path) -> None:
    mine = changed(tmp_path, added)
    ended, output = ran(name, mine, tmp_path)
    assert ended == code, output
    if name == "pre-commit":
        return
    changes = (mine / "changes.md").read_text()
    assert ("\n+ User:eve: Write" in changes) == bool(added)
    assert ("no difference" in changes) != bool(added)
    assert (tmp_path / "calls").read_text() == "\n".join([*CALLS[name], changes])
    assert (mine / "report.xml").exists()
    assert ("::error file=policy.yaml,line=5" in output) == (code == 3 and name == "github")


@pytest.mark.parametrize(("labels", "code"), [("", 3), (f"bug,{APPROVED}", 0)])
@pytest.mark.parametrize("name", ["github", "gitlab"])
def test_a_change_that_adds_the_first_acls_is_shown_and_needs_approval(
    name: str, labels: str, code: int, tmp_path: Path
) -> None:
    mine = changed(tmp_path, "", is_first=True)
    ended, output = ran(name, mine, tmp_path, labels)
    assert ended == code, output
    assert "+ User:alice: Write" in (mine / "changes.md").read_text()


@pytest.mark.parametrize(
    ("name", "changes"), [("platform-github", "summary.md"), ("platform-gitlab", "changes.md")]
)
def test_the_checks_for_300_teams_run_as_written(name: str, changes: str, tmp_path: Path) -> None:
    mine = changed(tmp_path, "", examples=EXAMPLES / "platform")
    assert len((mine / "teams.txt").read_text().split()) == 300
    ended, output = ran(name, mine, tmp_path)
    assert ended == 0, output
    assert "606 of 606 expectations hold" in output
    assert "an expectation is about 901 of 1181 ACLs" in output
    assert "holds: A and B decide every access alike" in output
    assert "no difference" in (mine / changes).read_text()


@pytest.mark.parametrize(("labels", "code"), [("", 3), (APPROVED, 0)])
def test_a_gain_of_one_of_300_teams_needs_approval(labels: str, code: int, tmp_path: Path) -> None:
    gain = (
        "- {principal: User:ads-batch-app, allow: Read, topic: payments-api-, pattern: prefixed}\n"
    )
    mine = changed(tmp_path, gain, examples=EXAMPLES / "platform")
    command, variables = steps("platform-gitlab", labels)[-1]
    shell = Shell(tmp_path / "tools", {})
    shell.put({}, {"CI_MERGE_REQUEST_LABELS": labels, **variables})
    git(mine, "worktree", "add", "-q", "../before", "HEAD")
    done = shell(f"cd {shlex.quote(str(mine))} && {command}")
    assert done.returncode == code, done.stdout
    assert ("+ User:ads-batch-app: Read" in done.stdout) == (code == 3)


def ran(name: str, mine: Path, tmp_path: Path, labels: str = "") -> tuple[int, str]:
    """Run the steps until one fails; return its exit code and all output."""
    shell = Shell(tmp_path / "tools", {})
    for program in ("pip", "gh", "curl"):
        path = tmp_path / "tools" / ".venv" / "bin" / program
        path.write_text(STAND_IN)
        path.chmod(0o755)
    shell.put({}, {"CALLS": str(tmp_path / "calls"), **VARIABLES[name]})
    shell.put({}, {"CI_MERGE_REQUEST_LABELS": labels} if name.endswith("gitlab") else {})
    output, ended = "", 0
    for command, variables in steps(name, labels):
        shell.put({}, variables)
        done = shell(f"cd {shlex.quote(str(mine))} && {command}")
        output, ended = output + done.stdout, done.returncode
        if ended:
            break
    return ended, output


def test_the_hooks_run_for_changed_acl_files() -> None:
    for hook in hooks():
        assert re.search(hook["files"], "acls/orders.yaml")
        assert not re.search(hook["files"], "docs/acls.md")


@pytest.mark.heavy
def test_pre_commit_runs_the_hooks(tmp_path: Path) -> None:
    """pre-commit installs a clone of this repository, and checks all ACLs on each commit."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "tools"], check=True)
    tools = tmp_path / "tools" / "bin"
    subprocess.run([tools / "pip", "install", "--quiet", "pre-commit"], check=True)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{ROOT}", str(clone))
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", clone)
    git(clone, "commit", "-qam", "hooks as they are now", "--allow-empty")
    git(clone, "tag", "v0.1.0")
    mine = changed(tmp_path, "")
    config = (EXAMPLES / "pre-commit-config.yaml").read_text()
    address = "https://github.com/kafka-shim/kafka-shim"
    (mine / ".pre-commit-config.yaml").write_text(config.replace(address, str(clone)))

    def commit(files: dict[str, str]) -> tuple[int, str]:
        for name, content in files.items():
            (mine / name).write_text(content)
        git(mine, "add", "-A")
        done = subprocess.run(
            [tools / "pre-commit", "run"], cwd=mine, capture_output=True, text=True, check=False,
            env=os.environ | {"PRE_COMMIT_HOME": str(tmp_path / "cache")},
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    code, output = commit({"README.md": "a\n"})
    assert (code, output.count("Skipped")) == (0, 2), output
    code, output = commit({"acls/more.yaml": "[]\n"})
    assert (code, output.count("Passed")) == (0, 2), output
    code, output = commit({"acls/more.yaml": EVE})
    assert code == 1
    assert "User:eve" in output
    code, output = commit({"acls/more.yaml": (mine / "acls/orders.yaml").read_text()})
    assert code == 1
    assert "acls/more.yaml:" in output
    assert "acls/orders.yaml:" in output, output


def test_the_comment_of_a_merge_request_is_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = changed(tmp_path, "")
    notes = (
        '[{"id": 3, "body": "looks good"}, {"id": 5, "body": "<!-- kafka-shim policy diff -->"}]'
    )
    monkeypatch.setitem(VARIABLES["gitlab"], "EXISTING_NOTES", notes)
    ended, output = ran("gitlab", mine, tmp_path)
    assert ended == 0, output
    assert f"--request PUT {TOKEN_AND_FORM} {NOTES}/5" in (tmp_path / "calls").read_text()


def test_a_fork_without_the_token_is_checked_but_not_commented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = changed(tmp_path, "")
    monkeypatch.setitem(VARIABLES["gitlab"], "POLICY_TOKEN", "")
    ended, output = ran("gitlab", mine, tmp_path)
    assert ended == 0, output
    assert "curl" not in (tmp_path / "calls").read_text()
    assert (mine / "changes.md").exists()
