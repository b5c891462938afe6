"""The inspector of a broker with two topics and three ACLs."""

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_shim.testing import KafkaBroker
from tests.shim.control.inspector.page import Page


@pytest.fixture
def broker(shared: KafkaBroker) -> KafkaBroker:
    shared.reset()
    shared.topics.create("orders")
    shared.topics.create("payments")
    shared.acls.add(
        {"principal": "alice", "allow": ["Write", "Describe"], "topic": "orders"},
        {"principal": "bob", "deny": "Read", "topic": "pay", "pattern": "prefixed"},
    )
    return shared


@pytest.fixture
def page(chrome: Any, broker: KafkaBroker) -> Iterator[Page]:
    page = Page(chrome, broker.control_url)
    yield page
    severe = [
        entry["message"]
        for entry in chrome.get_log("browser")
        if entry["level"] == "SEVERE" and entry["timestamp"] >= page.loaded_ms
    ]
    assert [text for text in severe if " 400 " not in text and " 409 " not in text] == []
