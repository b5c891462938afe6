"""What a reader of the inspector relies on: his place, addresses, faults, records and messages."""

import os
import re
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from selenium.webdriver import ActionChains

from benchmarks.inspector import fill_history, load
from kafka_shim.testing import KafkaBroker, start
from tests.shim.control.inspector.page import Page, needs_browser, send
from tests.shim.control.plain_http import Http

pytestmark = [
    pytest.mark.folders("src/kafka_shim/shim/control", "tests/shim/control"),
    pytest.mark.client,
    pytest.mark.timeout(300, func_only=True),
    pytest.mark.filterwarnings("ignore:fault .* never fired"),  # of faults that are only shown
    needs_browser,
]


def address(page: Page) -> str:
    return str(page.driver.current_url.partition("#")[2])


def keeps_place_under_load(page: Page, broker: KafkaBroker, requests: int) -> None:
    """Open a row, send requests at 200/s, and check that the row, its place and its text stay."""
    send(broker, "bob")
    page.row("Metadata", "User:bob", "TOPIC_AUTHORIZATION_FAILED")
    page.press("j", "\ue007")
    page.wait(lambda: page.shows("#detail", "User:bob"))
    rows, where, text = page.rows, address(page), page.element("#detail").text
    top = page.element("tr[aria-current]").rect["y"]
    load(broker, requests, requests / 200)
    page.wait(lambda: int((page.element("#newer").text or "0").split()[0]) >= requests)
    assert (page.rows, address(page)) == (rows, where)
    assert page.element("#detail").text == text
    assert page.element("tr[aria-current]").rect["y"] == pytest.approx(top, abs=60)  # the button
    page.element("#newer").click()
    page.wait(lambda: "ANONYMOUS" in page.rows[0] and not page.shows("#newer"))


def test_requests_do_not_move_what_is_read(page: Page, broker: KafkaBroker) -> None:
    keeps_place_under_load(page, broker, 400)


@pytest.mark.heavy
@pytest.mark.timeout(300)
def test_10_000_requests_do_not_move_what_is_read(page: Page, broker: KafkaBroker) -> None:
    keeps_place_under_load(page, broker, 10_000)


def test_back_reload_and_sharing_restore_the_view(page: Page, broker: KafkaBroker) -> None:
    send(broker, "bob")
    page.row("Metadata", "User:bob")
    page.press("d")
    page.fill("#filter", "shop-bob")
    page.press("\ue00c", "j", "\ue007")
    page.wait(lambda: page.shows("#detail", "To allow the whole request"))
    [number] = [row.number for row in broker.denials()][-1:]
    assert address(page) == f"requests?filter=shop-bob&denied=1&open={number}"
    page.driver.refresh()
    page.wait(lambda: page.shows("#detail", f"#{number} Metadata"))
    assert page.element("#filter").get_attribute("value") == "shop-bob"
    page.tab("topics")
    page.row("orders")
    page.element('tr[data-key="orders"]').click()
    page.wait(lambda: page.shows("#detail", "Partitions"))
    assert address(page) == "topics?denied=1&open=orders"
    page.driver.back()
    page.wait(lambda: not page.shows("#detail") and page.rows)
    page.driver.back()
    page.wait(lambda: page.shows("#detail", f"#{number} Metadata"))
    page.driver.forward()
    page.wait(lambda: page.row("orders") and not page.shows("#detail"))
    assert "Topics" in page.driver.title


def test_columns_sort_and_words_select_by_column(page: Page, broker: KafkaBroker) -> None:
    send(broker, "alice")
    send(broker, "bob")
    page.row("Produce", "User:alice")
    page.fill("#filter", "principal:User:alice -api:metadata")
    page.wait(lambda: page.rows and all("User:alice" in row for row in page.rows))
    assert not [row for row in page.rows if "Metadata" in row]
    page.press("\ue00c", "f")
    page.element("#rows th button").click()
    page.wait(lambda: "sort=%23" in address(page))
    numbers = [int(row.split()[0]) for row in page.rows]
    assert numbers == sorted(numbers)
    page.element("#rows th button").click()
    page.wait(lambda: [int(row.split()[0]) for row in page.rows] == numbers[::-1])


def test_a_request_names_its_fault_and_spent_faults_look_spent(
    page: Page, broker: KafkaBroker
) -> None:
    broker.faults.error("NOT_LEADER_OR_FOLLOWER", api="Produce", times=1)
    send(broker, "alice")
    page.fill("#filter", "produce fault")
    page.row("Produce", "(fault 1)")
    page.press("\ue00c", "j", "\ue007")
    page.wait(lambda: page.shows("#detail", "fault 1 error NOT_LEADER_OR_FOLLOWER"))
    page.driver.find_element("link text", "error NOT_LEADER_OR_FOLLOWER").click()
    page.row("error NOT_LEADER_OR_FOLLOWER", "spent")
    page.click("//td//button[.='Off']")
    page.row("error NOT_LEADER_OR_FOLLOWER", "off")
    page.click("//td//button[.='On']")
    page.row("error NOT_LEADER_OR_FOLLOWER", "spent")
    page.click("//td//button[.='Edit']")
    page.fill("#fault", '{"action": {"delay_ms": 5}, "trigger": {"every_time": true}}')
    page.element("#new-fault button").click()
    page.row("delay ms 5", "active")
    # the old fault is removed after the new one is added
    page.wait(lambda: [fault.action for fault in broker.faults.list()] == [{"delay_ms": 5}])
    page.click("//td//button[.='Remove']")
    page.wait(lambda: page.shows("#note", "removed · Undo"))
    assert broker.faults.list() == []
    page.element("#note button").click()
    page.row("delay ms 5", "active")


def test_an_emptied_number_is_an_error_of_the_form(page: Page, broker: KafkaBroker) -> None:
    page.tab("faults")
    page.fill('#new-fault [name="trigger-value"]', "")
    page.element("#new-fault button").click()
    invalid = "return document.querySelectorAll('#new-fault :invalid').length > 0"
    assert page.driver.execute_script(invalid)
    assert broker.faults.list() == []


def test_what_was_done_can_be_undone(page: Page, broker: KafkaBroker) -> None:
    before = broker.acls.list()
    page.tab("acls")
    page.row("User:bob", "deny")
    page.click("//tr[td='User:bob']//button")
    page.wait(lambda: page.shows("#note", "ACL removed · Undo"))
    assert len(broker.acls.list()) == len(before) - 1
    page.element("#note button").click()
    page.row("User:bob", "deny")
    assert sorted(map(str, broker.acls.list())) == sorted(map(str, before))


def produce(broker: KafkaBroker, **record: Any) -> None:
    status, response = Http(str(broker.control_url)).ask("POST", "/topics/orders/records", record)
    assert status == 200, response


def test_long_values_are_cut_until_all_is_requested(page: Page, broker: KafkaBroker) -> None:
    """An open topic polls its offsets only; a value of 900 kB is loaded on demand."""
    produce(broker, value="x" * 900_000)
    produce(broker, value=None)
    produce(broker, value="")
    produce(broker, value_hex="00000000117b7d")
    page.driver.get(f"{broker.control_url}/inspector#topics?open={quote('orders')}")
    shown = page.wait(
        lambda: page.shows("#records", "8192 of 900000 bytes") and page.element("#records").text
    )
    assert "null (a tombstone)" in shown
    assert "\nempty\n" in shown
    assert "schema id 17" in shown
    script = (
        "return performance.getEntriesByType('resource').filter(e => e.name.includes('records'))"
    )
    calls = len(page.driver.execute_script(script))
    threading.Event().wait(1.2)
    assert len(page.driver.execute_script(script)) == calls
    page.click("//button[.='Show all']")
    page.wait(lambda: len(page.element("#records").text) > 900_000)


def test_records_are_searched_and_paged(page: Page, broker: KafkaBroker) -> None:
    for number in range(120):
        produce(broker, value=f"order {number}", key=str(number % 7), headers={"shop": "eu"})
    page.driver.get(f"{broker.control_url}/inspector#topics?open=orders")
    page.wait(lambda: page.shows("#records", "order 119"))
    page.fill("#contains", "order 11")
    page.press("\ue007")
    page.wait(lambda: page.element("#records").text.count("order 11") == 11)
    page.fill("#contains", "")
    page.fill("#from", "0")
    page.press("\ue007")
    page.wait(lambda: page.shows("#next", "from offset 100"))
    page.element("#next").click()
    page.wait(lambda: page.shows("#records", "order 119") and not page.shows("#next"))


def test_the_time_line_selects_a_time(page: Page, broker: KafkaBroker) -> None:
    send(broker, "bob")
    page.row("Metadata", "User:bob")
    threading.Event().wait(1)
    send(broker, "alice")
    page.row("Produce", "User:alice")
    text = page.wait(lambda: page.element("#timeline p").text)
    assert "2 denied" in text or "1 denied" in text
    image = page.element("#timeline svg")
    half = image.rect["width"] / 2
    drag = ActionChains(page.driver).move_to_element_with_offset(image, round(half) - 1, 0)
    drag.click_and_hold().move_by_offset(-round(half / 3), 0).release().perform()
    page.wait(lambda: "time=" in address(page) and "All times" in page.element("#timeline").text)
    page.wait(lambda: page.rows and not [row for row in page.rows if "User:bob" in row])
    page.driver.refresh()
    page.row("User:alice")
    assert not [row for row in page.rows if "User:bob" in row]
    page.element("#timeline button").click()
    page.row("User:bob")


def test_a_conversation_is_shown_in_order_with_its_gaps(page: Page, broker: KafkaBroker) -> None:
    send(broker, "bob")
    send(broker, "alice")
    page.row("Produce", "User:alice")
    page.click("//tr[td[starts-with(., 'Produce')]]")
    page.wait(lambda: page.shows("#detail", "All of connection"))
    [produced] = broker.requests(api="Produce")
    page.click("//a[starts-with(., 'All of connection')]")
    page.wait(
        lambda: address(page).startswith(f"requests?filter=connection%3A{produced.connection}&")
    )
    asked = [row for row in broker.requests() if row.connection == produced.connection]
    page.wait(lambda: [int(row.split()[0]) for row in page.rows] == [row.number for row in asked])
    script = "return [...document.querySelectorAll('#rows tr')]"
    script += ".map(row => [...row.cells].map(cell => cell.textContent))"
    head, *rows = page.driver.execute_script(script)
    gaps, numbers = ([row[head.index(name)] for row in rows] for name in ("Gap", "Correlation"))
    assert gaps[0] == ""
    assert all(gap.endswith("s") for gap in gaps[1:])
    assert numbers == [str(row.correlation_id) for row in asked]


def test_the_status_stays_while_nothing_happens(page: Page) -> None:
    """A text that changes every second is read aloud every second."""
    page.wait(lambda: page.shows("#broker", "connection"))
    script = """
    window.mutations = 0;
    const observer = new MutationObserver((list) => { window.mutations += list.length; });
    for (const id of ["broker", "note", "lost"])
      observer.observe(document.getElementById(id), { subtree: true, childList: true });
    """
    page.driver.execute_script(script)
    threading.Event().wait(2.2)
    assert page.driver.execute_script("return window.mutations") == 0


def test_two_requests_are_compared(page: Page, broker: KafkaBroker) -> None:
    send(broker, "bob")
    send(broker, "alice")
    page.driver.find_element("tag name", "body").send_keys("f")
    page.fill("#filter", "api:metadata orders")
    page.row("User:alice")
    page.click("//tr[td='User:bob']")
    page.wait(lambda: page.shows("#detail", "Compare with"))
    page.click("//button[starts-with(., 'Compare with')]")
    page.wait(lambda: not page.shows("#detail"))
    page.click("//tr[td='User:alice']")
    text = page.wait(
        lambda: page.shows("#detail", "Compared with") and page.element("#detail").text
    )
    assert 'principal "User:bob" "User:alice"' in text
    assert 'client_id "shop-bob" "shop-alice"' in text
    assert "response.topics.0.errorCode 29 0" in text
    assert "\nversion " not in text  # equal
    page.click("//button[.='End the comparison']")
    page.wait(lambda: not page.shows("#detail", "Compared with"))


def test_names_link_to_their_rows_in_the_documentation(page: Page, broker: KafkaBroker) -> None:
    send(broker, "bob")
    page.press("d")
    page.row("Metadata", "User:bob")
    page.press("j", "\ue007")
    page.wait(lambda: page.shows("#detail", "TOPIC_AUTHORIZATION_FAILED"))
    links = page.driver.find_elements("css selector", "#detail a.doc")
    targets = [link.get_attribute("href") for link in links]
    assert [target.partition("#")[2] for target in targets] == [
        "Metadata", "DESCRIBE", "TOPIC_AUTHORIZATION_FAILED",
    ]  # fmt: skip
    for target in targets:
        page.driver.get(target)
        row = page.element(":target").text
        assert row.startswith(target.partition("#")[2])
        assert "Metadata.topic" in row or "DESCRIBE TOPIC" in row


def test_a_stopped_broker_is_reported_with_what_it_last_showed(chrome: Any) -> None:
    with start(in_process=False) as broker:
        send(broker, "bob")
        page = Page(chrome, broker.control_url)
        page.row("User:bob")
    text = page.wait(lambda: page.shows("#lost") and page.element("#lost").text)
    assert "The broker does not answer. Shown is what it last reported, at " in text
    assert page.row("User:bob")
    chrome.get_log("browser")  # discard the messages about calls without a response


def test_times_are_typed_in_utc(page: Page, broker: KafkaBroker) -> None:
    """A user in New York types what he reads."""
    page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "America/New_York"})
    try:
        http = Http(str(broker.control_url))
        for value in ("first", "second"):
            http.ask("POST", "/topics/orders/records", {"value": value})
            threading.Event().wait(1.2)
        consumer = Consumer(broker.config() | {"group.id": "billing"})
        consumer.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
        consumer.close()
        page.tab("topics")
        page.row("orders", "2")
        page.click('//tr[@data-key="orders"]')
        text = page.wait(lambda: page.shows("#records", "second") and page.element("#records").text)
        shown = re.search(r"#1 \xb7 ([\d-]+ [\d:]+)", text)
        assert shown is not None, text
        typed = shown[1].replace(" ", "T")
        set_time(page, "#since", typed)
        page.wait(lambda: "first" not in page.element("#records").text)
        assert "second" in page.element("#records").text
        page.tab("groups")
        page.click("//tr[td='billing']")
        page.choose('#reset [name="kind"]', "time_ms")
        set_time(page, '#reset [name="target"]', typed)
        page.click("//button[.='Show the changes']")
        page.wait(lambda: page.shows("#offset-changes", "orders 0 0 1 1"))
    finally:
        page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})


def set_time(page: Page, css: str, typed: str) -> None:
    script = """
    arguments[0].value = arguments[1];
    arguments[0].dispatchEvent(new Event("change", { bubbles: true }));
    """
    page.driver.execute_script(script, page.element(css), typed)


def test_characters_that_turn_text_around_are_escapes(page: Page, broker: KafkaBroker) -> None:
    name = "shop\u202egnp.exe"
    producer = Producer(broker.config() | {"client.id": name, "message.timeout.ms": 2000})
    producer.list_topics(timeout=10)
    broker.acls.add(principal="User:eve\u2066", allow="Read", topic="orders")
    page.row("shop\\u202egnp.exe")
    page.tab("acls")
    page.row("User:eve\\u2066")
    text = page.driver.execute_script("return document.body.innerText")
    assert not set(text) & set("\u202e\u2066")


def cpu_seconds(process: int) -> float:
    """Return the processor time that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(process: int) -> set[int]:
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return {int(word) for task in tasks for word in task.read_text().split()}


def descendants(process: int) -> set[int]:
    """Return the processes that a process has started, and those that these have started."""
    own = children(process)
    return own.union(*map(descendants, own))


def least_cpu_share(processes: Collection[int]) -> float:
    """Return the least part of a core that processes took in some seconds: others only add."""
    shares = []
    for _ in range(5):
        before, began = sum(map(cpu_seconds, processes)), time.monotonic()
        threading.Event().wait(3)
        took = time.monotonic() - began
        shares.append((sum(map(cpu_seconds, processes)) - before) / took)
        if shares[-1] < 0.05:
            break
    return min(shares)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_an_idle_page_of_thousands_of_acls_costs_little(chrome: Any) -> None:
    others = children(os.getpid())
    with start(in_process=False) as broker:
        [process] = children(os.getpid()) - others
        rules = [
            {"principal": f"User:u{at}", "allow": "Read", "topic": f"t{at}"} for at in range(4000)
        ]
        Http(str(broker.control_url)).ask("POST", "/acls", {"acls": rules})
        page = Page(chrome, broker.control_url, "acls")
        page.wait(lambda: len(page.rows) == 500)
        threading.Event().wait(2)
        browser = descendants(chrome.service.process.pid)
        assert least_cpu_share([process]) < 0.05
        assert least_cpu_share(browser) < 0.05
        broker.acls.add(principal="User:new", allow="Read", topic="orders")
        page.fill("#filter", "User:new")
        page.row("User:new")  # what is new is still loaded


def test_what_is_no_longer_kept_is_not_counted(page: Page, broker: KafkaBroker) -> None:
    send(broker, "bob")
    page.wait(lambda: int(page.element("#denied-count").text) > 0)
    fill_history(broker, 10_100)
    page.wait(lambda: page.shows("#more", "no longer kept"))
    page.wait(lambda: page.element("#denied-count").text == "0")
