"""The filter selects by fields, and says which there are; numbers are numbers."""

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafka_shim.testing import KafkaBroker
from tests.shim.control.inspector.page import Page, needs_browser, send

pytestmark = [
    pytest.mark.folders("src/kafka_shim/shim/control", "tests/shim/control"),
    pytest.mark.client,
    pytest.mark.timeout(300, func_only=True),
    pytest.mark.filterwarnings("ignore:fault .* never fired"),
    pytest.mark.filterwarnings("ignore:the ACL of .* has no effect"),
    needs_browser,
]


@pytest.fixture
def busy(page: Page, broker: KafkaBroker) -> Page:
    """A page after requests of alice to a topic, of bob, who is denied, and of a group."""
    broker.faults.error("NOT_LEADER_OR_FOLLOWER", api="Produce", times=1)
    send(broker, "alice")
    send(broker, "bob")
    consumer = Consumer(broker.config() | {"group.id": "billing", "client.id": "reader"})
    consumer.commit(offsets=[TopicPartition("payments", 0, 29)], asynchronous=False)
    consumer.close()
    page.element("#fold").click()
    page.row("OffsetCommit")
    page.row("Metadata", "User:bob", "TOPIC_AUTHORIZATION_FAILED")
    return page


def shown(page: Page, text: str) -> list[str]:
    """Return the rows with a filter."""
    page.fill("#filter", text)
    return list(page.wait(lambda: "filter=" in page.driver.current_url and page.rows))


def test_requests_are_selected_by_fields(busy: Page, broker: KafkaBroker) -> None:
    everything = len(busy.rows)
    for text, wanted, other in (
        ("api:offsetcommit", "OffsetCommit", "Metadata"),
        ("group:billing", "OffsetCommit", "Produce"),
        ("topic:payments", "OffsetCommit", "Produce"),
        ("topic:orders", "Produce", "OffsetCommit"),
        ("error:29", "User:bob", "User:alice"),
        ("error:TOPIC_AUTHORIZATION_FAILED", "User:bob", "User:alice"),
        ("client:reader", "OffsetCommit", "User:bob"),
        ("principal:User:bob denied", "TOPIC_AUTHORIZATION_FAILED", "ApiVersions"),
        ("fault:1", "(fault 1)", "OffsetCommit"),
        ("api:Produce -fault:1", "Produce", "(fault 1)"),
    ):
        rows = shown(busy, text)
        assert len(rows) < everything, text
        assert any(wanted in row for row in rows), text
        assert not [row for row in rows if other in row], text


def test_a_number_is_no_part_of_another(busy: Page) -> None:
    rows = shown(busy, "29")
    meant = ("OffsetCommit", "TOPIC_AUTHORIZATION_FAILED")  # its offset, and the code
    assert {name for name in meant for row in rows if name in row} == set(meant)
    assert not [row for row in rows if not any(name in row for name in meant) and row[:3] != "29 "]


def test_an_unknown_field_is_told(busy: Page) -> None:
    busy.fill("#filter", "topics:orders")
    text = busy.wait(lambda: busy.shows("#empty", "There is no field topics here"))
    assert text
    assert "topic, " in busy.element("#empty").text
    busy.fill("#filter", "User:alice")  # a principal is text
    busy.row("User:alice")


def test_the_filter_is_completed(busy: Page) -> None:
    busy.fill("#filter", "denied pri")
    options = "return [...document.querySelectorAll('#completions option')].map(one => one.value)"
    busy.wait(lambda: busy.driver.execute_script(options) == ["denied principal:"])
    busy.fill("#filter", "denied principal:")
    busy.wait(lambda: "denied principal:User:bob" in busy.driver.execute_script(options))


def test_acls_of_everyone_are_those_of_a_principal(page: Page, broker: KafkaBroker) -> None:
    broker.acls.add(
        {"principal": "User:*", "allow": "Describe", "topic": "*"},
        {"principal": "User:alice", "allow": "Read", "topic": "ord", "pattern": "prefixed"},
    )
    page.tab("acls")
    page.row("User:bob")
    page.fill("#filter", "principal:User:alice")
    page.wait(lambda: page.rows and not [row for row in page.rows if "User:bob" in row])
    page.row("User:*", "Describe")
    page.row("User:alice", "Write")
    page.fill("#filter", "topic:orders operation:read")
    page.wait(lambda: len(page.rows) == 1 and page.row("User:alice", "Read", "ord"))


def test_the_address_has_the_filters_of_the_matrix(page: Page, broker: KafkaBroker) -> None:
    page.tab("matrix")
    page.wait(lambda: "payments" in page.grid)
    page.fill("#matrix-resource", "ord")
    page.wait(lambda: "payments" not in page.grid and "orders" in page.grid)
    assert page.driver.current_url.endswith("#matrix?resource=ord")
    page.driver.refresh()
    page.wait(lambda: "orders" in page.grid)
    assert "payments" not in page.grid
    assert page.element("#matrix-resource").get_attribute("value") == "ord"
