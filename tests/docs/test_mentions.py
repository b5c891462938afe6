"""Each option is shown on a page that is not the list of all options."""

import re

from tests.docs.index import listed_pages
from tests.docs.shown import ROOT

COMMANDS = ROOT / "docs" / "reference" / "commands"
OPTIONS_OF_KAFKA = "acls.md"
"""`kafka-shim acls` has the options of kafka-acls, which Kafka describes."""


def options(page: str) -> set[str]:
    """Return the options in the tables and headings of a command's page."""
    places = re.findall(r"^\| `(-[^`]+)` \||^`(-[^`]+)`$", page, re.MULTILINE)
    return {name for place in places for name in re.findall(r"--[\w-]+", "".join(place))}


def test_each_option_is_shown_where_it_helps() -> None:
    shown = "".join(
        page.file.read_text() for page in listed_pages() if page.file.parent != COMMANDS
    )
    names = {
        name: page.name
        for page in sorted(COMMANDS.glob("*.md"))
        if page.name != OPTIONS_OF_KAFKA
        for name in options(page.read_text())
        if not name.startswith("--no-")
    }
    assert len(names) > 100
    hidden = {n: page for n, page in names.items() if not re.search(rf"{n}(?![\w-])", shown)}
    assert hidden == {}, "show it on the page of the task that it helps with, or remove it"
