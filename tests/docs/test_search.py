"""The search of the site finds what readers type where it belongs, in its real interface."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.site_search import open_site, search_result_pages
from tests.support.browser import BROWSER, DRIVER, chromium

QUERIES: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("search_queries.yml").read_text(encoding="utf-8")
)
FIRST: dict[str, str] = QUERIES["first"]
AMONG_THREE: dict[str, str] = QUERIES["among_three"]
READERS: dict[str, dict[str, str]] = QUERIES["readers"]
READERS_MIN = 0.95
"""This share of the queries of readers finds a page that answers among the first three."""
PHRASES_MIN = 0.99
"""This share of the phrases finds its page among the first three."""
QUERY_MS_MAX = 100
"""A search takes so many milliseconds at most, in the mean of all phrases."""

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
    """Return the address of the site: as a folder, and served."""
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


@pytest.mark.parametrize("kind", READERS)
def test_words_of_readers_find_a_page_that_answers(kind: str, browser: Any, root: str) -> None:
    queries = READERS[kind]
    missed = []
    for query, answers in queries.items():
        results = list(dict.fromkeys(search_result_pages(browser, root, query)))
        if not {f"{page}.html" for page in answers.split(", ")}.intersection(results[:3]):
            missed.append(f"{query}: none of {answers} is among {results[:5]}")
    assert len(queries) - len(missed) >= READERS_MIN * len(queries), "\n".join(missed)


_SEARCH_PHRASES = """
const [{docs}, done] = arguments;
const pageOf = ({location}) => location.split("#")[0];
const phrases = docs.flatMap((doc) => doc.phrases.map((text) => [text, pageOf(doc)]));
const worker = new Worker("");
const ask = (type, data) => new Promise((resolve) => {
  worker.addEventListener("message", (event) => resolve(event.data.data), {once: true});
  worker.postMessage({type, data});
});
const measure = async () => {
  await ask(0, {docs});
  const start = performance.now();
  const missed = [];
  for (const [text, page] of phrases) {
    const {items} = await ask(2, text);
    const first = items.slice(0, 3).map(([section]) => pageOf(section));
    if (!first.includes(page)) missed.push(`${text}: ${page} is not among ${first}`);
  }
  return {count: phrases.length, missed, ms: performance.now() - start};
};
measure().then(done, (error) => done({error: String(error)}));
"""


def test_phrases_find_their_page_in_time(browser: Any, root: str, site: Path) -> None:
    if root.startswith("http"):
        pytest.skip("the search is the same, and measured once")
    index = json.loads((site / "search" / "search_index.json").read_text())
    browser.set_script_timeout(300)
    found = browser.execute_async_script(_SEARCH_PHRASES, index)
    count, missed = found["count"], found["missed"]
    assert count > 3000
    assert count - len(missed) >= PHRASES_MIN * count, "\n".join(missed)
    assert found["ms"] / count < QUERY_MS_MAX
