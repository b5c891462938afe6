"""What the documents show is what happens: each command of the README is run here."""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from shim.cli.reference import reference

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
SHIM = [sys.executable, "-P", "-m", "shim"]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What `make run` starts, on free ports; addresses by listener."""
    ready = tmp_path_factory.mktemp("demo") / "ready"
    recipe = (ROOT / "Makefile").read_text().split("\nrun: install", 1)[1].split("\n\n", 1)[0]
    options = shlex.split(recipe.split("kafka-shim serve", 1)[1].replace("\\\n", " "))
    options = [re.sub(r"(://127\.0\.0\.1):\d+", r"\1:0", option) for option in options]
    child = subprocess.Popen(
        [*SHIM, "serve", *options, "--ready-file", str(ready)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    deadline = time.monotonic() + 20
    while not ready.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    yield dict(line.split("=", 1) for line in ready.read_text().splitlines())
    child.terminate()
    assert child.wait(10) == 0


def shown(text: str) -> list[str]:
    """Commands that a document shows after a `$`."""
    return re.findall(r"^ +\$ (.+)$", text, re.MULTILINE)


def run(command: str, addresses: dict[str, str]) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command.replace("127.0.0.1:9092", addresses["PLAINTEXT"]))
    if words[0] in ("kafka-shim", ".venv/bin/kafka-shim"):
        words[:1] = SHIM
    elif words[0] == ".venv/bin/python":
        words = [sys.executable, *words[1:], addresses["SASL_PLAINTEXT"]]
    words = [sys.executable if word == "your-test-command" else word for word in words]
    if words[-1] == sys.executable:
        words += ["-c", "import os; os.environ['KAFKA_BOOTSTRAP_SERVERS']"]
    return subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False, env=environment()
    )


@pytest.mark.parametrize("page", ["acl-forms.md", "inspector.md", "migrating.md"])
def test_the_commands_of_a_page_work(page: str, demo: dict[str, str]) -> None:
    commands = shown((ROOT / "docs" / page).read_text())
    assert commands
    for command in commands:
        done = run(command, demo)
        assert done.returncode == 0, (command, done.stderr)


def test_the_readme_shows_what_its_commands_print(demo: dict[str, str]) -> None:
    first, *others = shown(README)
    done = run(first, demo)
    assert done.returncode == 0, done.stderr
    expected = README.split(f"$ {first}\n", 1)[1].split("\n\n", 1)[0]
    assert done.stdout.split() == expected.split()
    assert others
    for command in others:
        done = run(command, demo)
        explained = "explain" in command
        assert done.returncode == (3 if explained else 0), (command, done.stderr)
        if explained:
            assert "--allow-principal User:carol --operation Write --topic orders" in done.stdout


def test_what_make_run_says_to_try_works(demo: dict[str, str]) -> None:
    text = (ROOT / "examples" / "demo.txt").read_text()
    commands = re.findall(r"^ +(\.venv/\S+ .+)$", text, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        done = run(command, demo)
        assert done.returncode == (3 if " explain " in command else 0), (command, done.stderr)
        assert done.stdout.strip()


def test_the_two_commands_of_a_newcomer_are_targets() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^ {4}make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}: ", makefile, re.MULTILINE), target
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_links_lead_somewhere() -> None:
    for path in [ROOT / "README.md", ROOT / "DEVELOPERS.md", *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text()):
            if "://" not in link:
                assert (path.parent / link).exists(), f"{path.name}: {link}"


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    missing = {path.name for path in (ROOT / "docs").iterdir() if f"]({path.name}" not in index}
    assert missing == {"README.md"}, "name the page in docs/README.md"


def test_the_commands_reference_is_current() -> None:
    assert (ROOT / "docs" / "commands.md").read_text() == reference(), (
        "run: python -m shim.cli.reference > docs/commands.md"
    )
