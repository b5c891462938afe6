"""Searches the built site in a browser, as a reader does."""

import time
from typing import Any

WAIT_S = 20
_SET_QUERY = """
const input = document.querySelector("[data-md-component=search-query]");
input.focus();
input.value = arguments[0];
input.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
input.dispatchEvent(new Event("input", {bubbles: true}));
"""
_META = "return document.querySelector('.md-search-result__meta').innerText"
_NOTHING = "No matching documents"
_LINKS = """
return [...document.querySelectorAll(".md-search-result__item > a")].map((link) => link.href);
"""


def open_site(driver: Any, root: str) -> None:
    """Open the first page of the site at this address, and wait until its search is ready."""
    driver.get(f"{root}/index.html")
    _first_results(driver, "kafka")


def search_result_pages(driver: Any, root: str, query: str) -> list[str]:
    """Return the pages that a search lists, best first, relative to the site's address."""
    links = _first_results(driver, query)
    return [link.removeprefix(f"{root}/").partition("?")[0] for link in links]


def _first_results(driver: Any, query: str) -> list[str]:
    driver.execute_script(_SET_QUERY, "")
    _wait(driver, lambda: not driver.execute_script(_LINKS))
    driver.execute_script(_SET_QUERY, query)
    _wait(
        driver,
        lambda: driver.execute_script(_LINKS) or driver.execute_script(_META) == _NOTHING,
    )
    links: list[str] = driver.execute_script(_LINKS)
    return links


def _wait(driver: Any, condition: Any) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(driver.execute_script(_META))
        time.sleep(0.02)
