"""The pages of the reference that are made from the code, each with the function that makes it."""

from collections.abc import Callable
from typing import Final

from tests.docs.generated_pages.cassettes import cassettes_page
from tests.docs.generated_pages.error_codes import error_codes_page
from tests.docs.generated_pages.http_api import http_api_page
from tests.docs.generated_pages.log_lines import log_lines_page
from tests.docs.generated_pages.metrics import metrics_page
from tests.docs.generated_pages.python_api import python_api_page
from tests.docs.generated_pages.releases import releases_page
from tests.docs.generated_pages.settings import settings_page
from tests.docs.generated_pages.trace_tables import tables_page
from tests.docs.generated_pages.variables import environment_page

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
