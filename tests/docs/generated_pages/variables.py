"""The table of KAFKA_SHIM_* variables in docs/reference/environment.md, made of the options."""

from typing import Final

from kafka_shim.shim.settings.options import Place, options_of_place
from tests.docs.shown import ROOT

PAGE: Final = "docs/reference/environment.md"
_HEADING: Final = "## Read by serve\n"
_TABLE: Final = "| variable | value |\n|---|---|\n"


def environment_page() -> str:
    """Return the page with the current table."""
    before, heading, section = (ROOT / PAGE).read_text(encoding="utf-8").partition(_HEADING)
    introduction, table, rest = section.partition(_TABLE)
    rows = [
        f"| `{option.variable}` | {option.variable_help or option.text_for_value} |\n"
        for option in options_of_place(Place.VARIABLE)
    ]
    after = rest[rest.index("\n\n") + 1 :]
    return "".join((before, heading, introduction, table, *rows, after))
