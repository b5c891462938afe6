"""Every control of every tab can be seen and clicked, whatever the number of rows."""

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_shim.testing import KafkaBroker, start
from tests.shim.control.inspector.page import TABS, Page, needs_browser
from tests.shim.control.plain_http import Http

pytestmark = [
    pytest.mark.client,
    pytest.mark.folders("src/kafka_shim/shim/control", "tests/shim/control"),
    pytest.mark.timeout(300, func_only=True),
    pytest.mark.filterwarnings("ignore:fault .* never fired"),
    pytest.mark.filterwarnings("ignore:the ACL of .* has no effect"),
    needs_browser,
]
FILLED = ("topics", "acls", "principals", "faults")
SIZES = [(1280, 800), (1920, 1080), (390, 844)]
HIDDEN_CONTROLS = """
const hidden = [];
const kinds = ["button", "input", "select", "textarea", "summary"].map((kind) => `#tools ${kind}`);
for (const one of document.querySelectorAll(kinds)) {
  if (!one.checkVisibility()) continue;  // of another choice, or folded
  one.scrollIntoView({ block: "nearest", inline: "nearest" });
  const { left, top, width, height } = one.getBoundingClientRect();
  const found = document.elementFromPoint(left + width / 2, top + height / 2);
  if (!one.contains(found)) hidden.push(one.name || one.textContent);
}
return hidden;
"""


def await_tab(page: Page, tab: str, count: int) -> None:
    """Open a tab, and wait for at least so many of its rows."""
    shown = "return [document.title, document.querySelectorAll('#rows tbody tr').length]"
    name = {"acls": "ACLs"}.get(tab, tab.capitalize())
    page.press("1234567890-"[TABS.index(tab)])

    def is_shown() -> bool:
        title, rows = page.driver.execute_script(shown)
        return str(title).startswith(name) and rows >= count

    page.wait(is_shown)


@pytest.fixture(scope="module", params=[0, 30, 3000])
def filled(request: pytest.FixtureRequest) -> Iterator[tuple[KafkaBroker, int]]:
    """A broker with this number of topics, ACLs, principals and faults."""
    count = request.param
    rules = [
        {"principal": f"User:u{at}", "allow": "Read", "topic": f"t{at}"} for at in range(count)
    ]
    names = [f"t{at}" for at in range(count)]
    with start(in_process=False, topics=names, acls=rules) as broker:
        http = Http(str(broker.control_url))
        for at in range(min(count, 300)):  # each is looked at for each request
            http.ask("POST", "/faults", {"action": {"delay_ms": 1}, "match": {"topic": f"t{at}"}})
        yield broker, count


@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size[0]))
def test_every_control_is_visible(
    chrome: Any, filled: tuple[KafkaBroker, int], size: tuple[int, int]
) -> None:
    broker, count = filled
    chrome.set_window_size(*size)
    try:
        page = Page(chrome, broker.control_url, "overview")
        page.wait(lambda: not page.shows("#broker", "connecting"))
        for tab in TABS:
            await_tab(page, tab, min(count, 300) if tab in FILLED else 0)
            assert chrome.execute_script(HIDDEN_CONTROLS) == [], tab
            if tab in FILLED:
                controls = chrome.find_elements("css selector", "#tools button")
                assert [one for one in controls if one.rect["height"] > 0], tab
            if count and tab in FILLED and size[0] > size[1]:
                height = "return document.getElementById('scroll').clientHeight"
                assert chrome.execute_script(height) > 100
    finally:
        chrome.set_window_size(1280, 800)
