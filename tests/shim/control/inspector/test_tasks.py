"""Tasks of somebody who debugs permissions; each takes at most four clicks."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_shim.testing import KafkaBroker, start
from kafka_shim.traces.inspector_rows import InspectorRows
from kafka_shim.traces.trace_rows import TraceReader
from tests.shim.control.inspector.page import Page, needs_browser, send, serving_trace
from tests.shim.control.plain_http import Http

pytestmark = [
    pytest.mark.folders("src/kafka_shim/shim/control", "tests/shim/control"),
    pytest.mark.client,
    pytest.mark.timeout(300, func_only=True),
    pytest.mark.filterwarnings("ignore:fault .* never fired"),  # of faults that are only shown
    needs_browser,
]
CLICKS_MAX = 4


class ClickingPage(Page):
    """A page on which everything is done by clicks, which are counted."""

    def __init__(self, driver: Any, url: str | None) -> None:
        super().__init__(driver, url, "overview")
        self.clicks = 0

    def click(self, xpath: str) -> None:
        super().click(xpath)
        self.clicks += 1
        assert self.clicks <= CLICKS_MAX

    def click_tab(self, name: str) -> None:
        self.click(f"//*[@id='tab-{name}']")


@pytest.fixture
def clicking(chrome: Any, broker: KafkaBroker) -> ClickingPage:
    return ClickingPage(chrome, broker.control_url)


@contextlib.contextmanager
def clicking_on_trace(chrome: Any, trace: Path) -> Iterator[ClickingPage]:
    """Open the inspector of a trace."""
    rows = TraceReader(trace).rows(with_denials=True, with_frames=True)
    with serving_trace(InspectorRows("a trace", rows)) as server:
        clicking = ClickingPage(chrome, server.url.removesuffix("/inspector"))
        clicking.wait(lambda: clicking.shows("#broker", "recording a trace"))
        yield clicking


def test_a_denied_request_is_found_and_granted(clicking: ClickingPage, broker: KafkaBroker) -> None:
    send(broker, "carol")
    clicking.click_tab("decisions")
    clicking.click("//*[@id='denied']")
    clicking.click("//tr[td='User:carol']")
    clicking.click("//button[.='Add it']")
    clicking.wait(lambda: clicking.shows("#note", "1 ACL added · Undo"))
    assert [acl.operation for acl in broker.acls.list("carol")] == ["DESCRIBE"]


def test_enough_acls_for_a_client_are_added(clicking: ClickingPage, broker: KafkaBroker) -> None:
    send(broker, "carol")
    broker.acls.add(principal="carol", allow="Describe", topic="orders")
    send(broker, "carol")
    clicking.click_tab("principals")
    clicking.click("//tr[td='User:carol']")
    clicking.wait(
        lambda: clicking.shows("#least", "missing {principal: User:carol, allow: Write, topic: ")
    )
    assert "--operation Write" in clicking.element("#least-text").text
    clicking.click("//*[@id='add-all']")
    clicking.wait(lambda: clicking.shows("#least", "All of them exist"))
    send(broker, "carol")
    assert broker.topics.list()[0].end_offsets == [1]


def test_offsets_of_a_group_are_reset(clicking: ClickingPage, broker: KafkaBroker) -> None:
    producer = Producer(broker.config())
    producer.produce("orders", b"1")
    producer.flush(5)
    consumer = Consumer(broker.config() | {"group.id": "billing"})
    consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
    consumer.close()
    clicking.click_tab("groups")
    clicking.click("//tr[td='billing']")
    clicking.click("//button[.='Show the changes']")
    clicking.wait(lambda: clicking.shows("#offset-changes", "orders 0 1 0 -1"))
    clicking.click("//*[@id='reset-now']")
    clicking.wait(lambda: clicking.shows("#note", "Offsets reset"))
    clicking.row("billing", "Empty", "1")


def test_a_fault_is_seen_to_strike(clicking: ClickingPage, broker: KafkaBroker) -> None:
    broker.faults.error("REQUEST_TIMED_OUT", api="Produce", times=1)
    send(broker, "alice")
    clicking.click_tab("faults")
    clicking.click("//tr[td='error REQUEST_TIMED_OUT']")
    clicking.click("//a[contains(., 'to which it was applied')]")
    clicking.click("//tr[td[contains(., 'Produce')]]")
    clicking.wait(lambda: clicking.shows("#detail", "fault 1 error REQUEST_TIMED_OUT"))
    assert "Errors of the response\nREQUEST_TIMED_OUT" in clicking.element("#detail").text


def test_what_changed_in_the_last_minute_is_shown(
    clicking: ClickingPage, broker: KafkaBroker
) -> None:
    admin = AdminClient(broker.config() | {"client.id": "ops"})
    admin.create_topics([NewTopic("refunds", 2)])["refunds"].result(20)
    broker.acls.add(principal="carol", allow="Read", topic="refunds")
    clicking.click_tab("changes")
    clicking.row("Topic created", "refunds (partitions 2)", "User:ANONYMOUS, ops, #")
    acl = "{principal: User:carol, allow: Read, topic: refunds}"
    clicking.row("ACL added", acl, "the control API")
    clicking.click("//tr[contains(., 'User:carol')]//button[.='Undo']")
    clicking.row("ACL removed", acl, "the inspector")
    assert broker.acls.list("carol") == []
    clicking.click("//tr[contains(., 'refunds (')]//a")
    clicking.wait(lambda: clicking.shows("#detail", "CreateTopics"))


def test_acls_of_a_principal_are_exported(clicking: ClickingPage, broker: KafkaBroker) -> None:
    clicking.click_tab("principals")
    clicking.click("//tr[td='User:alice']")
    clicking.click("//*[@id='export']")
    clicking.wait(lambda: clicking.shows("#exported", "--allow-principal User:alice"))
    assert clicking.element("#exported").text.count("kafka-acls") == 1
    assert "bob" not in clicking.element("#exported").text
    [link] = clicking.driver.find_elements("css selector", "#detail a[download]")
    assert link.get_attribute("download") == "acls.sh"


def test_a_denial_in_a_recorded_trace_is_explained(chrome: Any, tmp_path: Path) -> None:
    with start(record=tmp_path / "trace", in_process=False, topics=["orders"]) as broker:
        send(broker, "carol")
    with clicking_on_trace(chrome, tmp_path / "trace") as clicking:
        clicking.click("//*[@id='denied']")
        clicking.click("//tr[td[contains(., 'Metadata')]][td='User:carol']")
        text = clicking.wait(
            lambda: clicking.shows("#detail", "To allow") and clicking.element("#detail").text
        )
    assert "add {principal: User:carol, allow: Describe, topic: orders}" in text
    assert "Describe Topic orders: no ACL allows it" in text


def test_everything_that_a_client_of_a_trace_tried_is_allowed(chrome: Any, tmp_path: Path) -> None:
    with start(record=tmp_path / "trace", in_process=False, topics=["orders"]) as broker:
        broker.acls.add(principal="carol", allow="Describe", topic="orders")
        send(broker, "carol")
    with clicking_on_trace(chrome, tmp_path / "trace") as clicking:
        clicking.click("//tr[td[contains(., 'Produce')]][td='User:carol']")
        clicking.click("//a[.='ACLs for everything it tried']")
        clicking.wait(lambda: clicking.shows("#least-text", "--operation Write"))
        assert not clicking.shows("#add-all")
        text = clicking.element("#least-text").text
    with start(in_process=False, topics=["orders"]) as fresh:
        assert Http(str(fresh.control_url)).ask("POST", "/acls/import", {"text": text})[0] == 200
        send(fresh, "carol")
        assert fresh.topics.list()[0].end_offsets == [1]


def test_a_deny_is_previewed(clicking: ClickingPage, broker: KafkaBroker) -> None:
    send(broker, "alice")
    broker.topics.create("orders-eu")
    clicking.click_tab("acls")
    clicking.fill('#new-acl [name="principal"]', "User:alice")
    clicking.choose('#new-acl [name="permission"]', "DENY")
    clicking.choose('#new-acl [name="operation"]', "WRITE")
    clicking.fill('#new-acl [name="resource_name"]', "ord")
    clicking.choose('#new-acl [name="resource_pattern_type"]', "PREFIXED")
    clicking.wait(lambda: clicking.shows("#preview", "loses User:alice: Write on topic `orders`"))
    text = clicking.element("#preview").text
    assert "now: orders" in text
    assert "would be denied User:alice from 127.0.0.1: Write on topic `orders`" in text
    assert len(broker.acls.list("alice")) == 2  # nothing has changed
    clicking.click("//*[@id='new-acl']//button")
    clicking.wait(lambda: clicking.shows("#note", "ACL added · Undo"))
    assert len(broker.acls.list("alice")) == 3
    send(broker, "alice")
    assert [topic.end_offsets for topic in broker.topics.list() if topic.name == "orders"] == [[1]]


def test_what_the_removal_of_an_acl_would_do_is_shown(
    clicking: ClickingPage, broker: KafkaBroker
) -> None:
    send(broker, "alice")
    clicking.click_tab("acls")
    clicking.click("//tr[td='User:alice'][td='Write']")
    clicking.wait(lambda: clicking.shows("#without", "loses User:alice: Write on topic `orders`"))
    assert "would be denied User:alice" in clicking.element("#without").text


def test_two_principals_are_compared(clicking: ClickingPage, broker: KafkaBroker) -> None:
    clicking.click_tab("principals")
    clicking.click("//tr[td='User:alice']")
    clicking.wait(lambda: clicking.shows("#other"))
    clicking.click("//*[@id='other']/option[.='User:bob']")
    clicking.wait(lambda: clicking.shows("#compared", "User:alice Write, Describe on topic"))
    text = clicking.element("#compared").text
    assert "{principal: User:alice, allow: Write, topic: orders}" in text
    assert "no ACL allows it" in text
    assert clicking.clicks <= CLICKS_MAX


def test_requests_with_an_error_of_a_client_are_found(
    clicking: ClickingPage, broker: KafkaBroker
) -> None:
    send(broker, "alice")
    send(broker, "bob")
    clicking.click_tab("requests")
    clicking.row("User:bob")
    clicking.fill("#filter", "error:29 client:shop-bob")
    clicking.wait(lambda: clicking.rows and all("shop-bob" in row for row in clicking.rows))
    assert all("TOPIC_AUTHORIZATION_FAILED" in row for row in clicking.rows)


def test_acls_of_a_principal_and_their_use_are_shown(
    clicking: ClickingPage, broker: KafkaBroker
) -> None:
    send(broker, "alice")
    clicking.click_tab("acls")
    clicking.fill("#filter", "principal:User:alice")
    clicking.wait(lambda: clicking.rows and not [row for row in clicking.rows if "bob" in row])
    clicking.row("User:alice", "Write", "1 decision")
    clicking.click("//tr[td='Write']//a")
    clicking.row("Produce", "{principal: User:alice, allow: Write, topic: orders}")


def test_a_fault_is_edited(clicking: ClickingPage, broker: KafkaBroker) -> None:
    broker.faults.error("REQUEST_TIMED_OUT", api="Produce", times=3)
    clicking.click_tab("faults")
    clicking.click("//tr[td='error REQUEST_TIMED_OUT']//button[.='Edit']")
    clicking.fill('#new-fault [name="topic"]', "orders")
    clicking.click("//button[.='Replace the fault']")
    clicking.row("error REQUEST_TIMED_OUT", "api Produce, topic orders", "times 3")


def test_a_rebalance_is_watched(clicking: ClickingPage, broker: KafkaBroker) -> None:
    broker.topics.create("prices", partitions=2)

    def member(name: str) -> Consumer:
        consumer = Consumer(broker.config() | {"group.id": "watchers", "client.id": name})
        consumer.subscribe(["prices"])
        return consumer

    def assigned(*consumers: Consumer) -> bool:
        for consumer in consumers:
            consumer.poll(0.2)
        return all(consumer.assignment() for consumer in consumers)

    first = member("one")
    clicking.wait(lambda: assigned(first))
    clicking.click_tab("groups")
    clicking.click("//tr[td='watchers']")
    clicking.wait(lambda: clicking.shows("#detail", "prices 0, 1"))
    second = member("two")
    clicking.wait(lambda: assigned(first, second) and clicking.shows("#detail", "two"))
    clicking.wait(lambda: "prices 0, 1" not in clicking.element("#detail").text)
    assert "one" in clicking.element("#detail").text
    second.close()
    first.close()
