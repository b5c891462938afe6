"""The search of the site finds what readers type where it belongs, in its real interface."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.docs.site_queries import AMONG_THREE, FIRST, READERS, READERS_MIN
from tests.docs.site_search import open_site, search_result_pages
from tests.support.browser import BROWSER, DRIVER, chromium

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        BROWSER is None or DRIVER is None,
        reason="needs a browser: Debian's packages chromium and chromium-driver",
    ),
]


@pytest.fixture(scope="module", params=["file", "http"])
def root(request: pytest.FixtureRequest, site: Path) -> Iterator[str]:
    """Return the address of the site: as a folder, where the search has no worker, and served."""
    if request.param == "file":
        yield site.as_uri()
        return
    handler = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def browser(root: str) -> Iterator[Any]:
    with chromium() as driver:
        open_site(driver, root)
        yield driver


@pytest.mark.parametrize("query", FIRST)
def test_the_first_result_is_the_page_of_the_query(query: str, browser: Any, root: str) -> None:
    results = search_result_pages(browser, root, query)
    assert results[0] == f"{FIRST[query]}.html", results[:5]


@pytest.mark.parametrize("query", AMONG_THREE)
def test_the_page_of_a_query_is_among_the_first_three(query: str, browser: Any, root: str) -> None:
    results = list(dict.fromkeys(search_result_pages(browser, root, query)))
    assert f"{AMONG_THREE[query]}.html" in results[:3], results[:5]


@pytest.mark.parametrize(
    "queries", READERS, ids=["everyday", "tuned", "strangers", "elsewhere", "measured"]
)
def test_words_of_readers_find_a_page_that_answers(
    queries: dict[str, tuple[str, ...]], browser: Any, root: str
) -> None:
    missed = []
    for query, answers in queries.items():
        results = list(dict.fromkeys(search_result_pages(browser, root, query)))
        if not {f"{page}.html" for page in answers}.intersection(results[:3]):
            missed.append(f"{query}: none of {answers} is among {results[:5]}")
    assert len(queries) - len(missed) >= READERS_MIN, "\n".join(missed)
