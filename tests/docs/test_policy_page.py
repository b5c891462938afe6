"""docs/guides/acls-as-code.md shows what its commands print."""

from pathlib import Path

from tests.docs.shell import Shell
from tests.docs.shown import ROOT, blocks, commands

PAGE = "docs/guides/acls-as-code.md"


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    text = (ROOT / PAGE).read_text()
    on_page = [command.text for command in commands() if command.page == PAGE]
    found = [command for command in on_page if f"    $ {command}\n" in text]
    assert len(found) == 9
    shell = Shell(tmp_path, {})
    for command in found:
        shown = text.split(f"    $ {command}\n", 1)[1].split("\n\n", 1)[0]
        done = shell(command)
        assert done.returncode == (3 if " lint " in command else 0), done.stderr
        assert done.stdout.splitlines() == [line[4:] for line in shown.splitlines()]


def test_the_files_shown_are_those_of_the_example() -> None:
    shown = [
        block
        for block in blocks()
        if (block.page, block.language) == ("docs/guides/acls-as-code.md", "yaml")
    ]
    assert len(shown) == 4
    for block in shown:
        assert block.text == f"# {block.name}\n{(ROOT / block.name).read_text()}"
