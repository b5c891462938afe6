"""The pages of the reference that are made from the code, each with the function that makes it."""

from collections.abc import Callable
from typing import Final

from kafka_shim.shim.settings.options import Place, options_of_place
from tests.docs.generated_pages.cassettes import cassettes_page
from tests.docs.generated_pages.error_codes import error_codes_page
from tests.docs.generated_pages.http_api import http_api_page
from tests.docs.generated_pages.log_lines import log_lines_page
from tests.docs.generated_pages.metrics import metrics_page
from tests.docs.generated_pages.python_api import python_api_page
from tests.docs.generated_pages.releases import releases_page
from tests.docs.generated_pages.settings import settings_page
from tests.docs.generated_pages.trace_tables import tables_page
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


PAGES: Final[dict[str, Callable[[], str]]] = {
    "docs/guides/cassettes.md": cassettes_page,
    "docs/reference/environment.md": environment_page,
    "docs/reference/errors.md": error_codes_page,
    "docs/reference/http-api.md": http_api_page,
    "docs/reference/log-lines.md": log_lines_page,
    "docs/reference/metrics.md": metrics_page,
    "docs/reference/python-api.md": python_api_page,
    "docs/reference/releases.md": releases_page,
    "docs/reference/settings.md": settings_page,
    "docs/reference/tables.md": tables_page,
}
