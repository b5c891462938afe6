"""The inspector in a real browser, driven by tests."""

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from confluent_kafka import Producer
from selenium.common.exceptions import (
    ElementNotInteractableException,
    NoSuchElementException,
    StaleElementReferenceException,
)
from selenium.webdriver.common.keys import Keys

from kafka_shim.shim.control.trace_inspector_server import TraceInspectorServer
from kafka_shim.testing import KafkaBroker
from kafka_shim.traces.inspector_rows import InspectorRows
from tests.support.browser import BROWSER, DRIVER

TABS = [
    "overview", "requests", "decisions", "principals", "topics", "groups",
    "transactions", "acls", "matrix", "faults", "changes",
]  # fmt: skip
needs_browser = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: Debian's packages chromium and chromium-driver",
)


class Page:
    """A page of the inspector, and what a user does there."""

    def __init__(self, driver: Any, url: str | None, tab: str = "requests") -> None:
        self.driver = driver
        driver.get(f"{url}/inspector#{tab}")
        driver.refresh()  # a URL that differs in its fragment is not reloaded
        self.loaded_ms = driver.execute_script("return performance.timeOrigin")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def tab(self, name: str) -> None:
        self.press("1234567890-"[TABS.index(name)])

    def choose(self, css: str, value: str) -> None:
        """Choose an option by its value."""
        self.element(f'{css} option[value="{value}"]').click()

    def click(self, xpath: str) -> None:
        """Wait for an element, and click it."""
        self.wait(lambda: self.driver.find_element("xpath", xpath).click() or True)

    def fill(self, css: str, text: str) -> None:
        """Type over what is in a field; `clear` would leave it, and a page that is drawn then may
        put back what it had.
        """
        self.element(css).send_keys(Keys.CONTROL + "a" + Keys.NULL, text or Keys.DELETE)

    def element(self, css: str) -> Any:
        return self.driver.find_element("css selector", css)

    def shows(self, css: str, text: str = "") -> bool:
        """Return whether the element is visible and contains this text."""
        found = self.driver.find_elements("css selector", css)
        return bool(found) and found[0].is_displayed() and text in found[0].text

    @property
    def rows(self) -> list[str]:
        script = "return [...document.querySelectorAll('#rows tbody tr')].map(row => row.innerText)"
        return [" ".join(text.split()) for text in self.driver.execute_script(script)]

    @property
    def grid(self) -> str:
        """The words of the matrix, separated by spaces."""
        return " ".join(self.driver.execute_script(
            "return document.getElementById('grid')?.innerText ?? ''"
        ).split())  # fmt: skip

    @staticmethod
    def times(row: str) -> int:
        """Return the number of requests that a row represents."""
        folded = re.search(r" \xd7(\d+) ", row)
        return int(folded[1]) if folded else 1

    def row(self, *words: str) -> str:
        """Wait for a row with all these words; return the first."""
        return self.wait(lambda: next(
            (row for row in self.rows if all(word in row for word in words)), None
        ))  # fmt: skip

    def wait(self, found: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + 30
        while True:
            with suppress(
                NoSuchElementException,
                StaleElementReferenceException,
                ElementNotInteractableException,
            ):
                if value := found():
                    return value
            assert time.monotonic() < deadline
            time.sleep(0.05)


@contextlib.contextmanager
def serving_trace(rows: InspectorRows) -> Iterator[TraceInspectorServer]:
    """Serve the inspector of a recording while the `with` block runs."""
    with TraceInspectorServer(rows) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            yield server
        finally:
            server.shutdown()
            serving.join()


def send(broker: KafkaBroker, user: str) -> None:
    producer = Producer(
        broker.config(user) | {"client.id": f"shop-{user}", "message.timeout.ms": 2000}
    )
    producer.produce("orders", b"1")
    producer.flush(5)
