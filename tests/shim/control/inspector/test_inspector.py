"""The inspector in a real headless browser: requests, faults, keyboard, width and token."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.control.bodies import SetupReport
from kafka_shim.shim.control.broker_bodies import CreatedBroker
from kafka_shim.testing import KafkaBroker
from tests.docs.shown import ROOT
from tests.shim.control.inspector.page import TABS, Page, needs_browser, send
from tests.shim.control.plain_http import Http, works
from tests.support.commands import SHIM

pytestmark = [
    pytest.mark.client,
    pytest.mark.timeout(300, func_only=True),
    pytest.mark.filterwarnings("ignore:fault .* never fired"),  # of faults that are only shown
]


@needs_browser
def test_requests_are_shown_live_with_their_responses(page: Page, broker: KafkaBroker) -> None:
    page.wait(lambda: f"Kafka {RELEASES[-1]}" in page.element("#broker").text)
    send(broker, "alice")
    assert page.row("Produce", "User:alice", "shop-alice", "ok")
    send(broker, "bob")
    assert page.row("Metadata", "User:bob", "TOPIC_AUTHORIZATION_FAILED")


@needs_browser
def test_a_waiting_request_shows_its_response_later(page: Page, broker: KafkaBroker) -> None:
    fault = broker.faults.pause(api="Produce")
    producer = Producer(broker.config("alice"))
    producer.produce("orders", b"1")
    producer.poll(0)
    page.row("Produce", "no response yet")
    fault.release()
    assert producer.flush(10) == 0
    page.row("Produce", "ok (fault")


@needs_browser
def test_a_denial_names_the_acl_that_would_allow_it(page: Page, broker: KafkaBroker) -> None:
    send(broker, "bob")
    page.tab("decisions")
    page.press("/", "denied user:bob -audit", "\ue00c")
    page.row("denied", "User:bob", "Describe Topic orders", "no ACL allows it")
    assert not [row for row in page.rows if "User:bob" not in row]
    page.press("j", "\ue007")
    detail = page.wait(lambda: page.element("#detail").text)
    rule = "{principal: User:bob, allow: Describe, topic: orders}"
    assert f"To allow the whole request\nadd {rule}" in detail
    assert '"name": "orders"' in detail
    page.press("\ue00c")
    assert not page.element("#detail").is_displayed()


@needs_browser
def test_a_request_has_its_resources_and_time(page: Page, broker: KafkaBroker) -> None:
    send(broker, "alice")
    head = page.wait(lambda: page.rows and page.element("thead").text)
    assert "Time (UTC)" in head
    assert page.row("Produce", "v", "orders", "User:alice")


@needs_browser
def test_only_denied_requests_are_shown_on_demand(page: Page, broker: KafkaBroker) -> None:
    send(broker, "alice")
    send(broker, "bob")
    denied = {row.number for row in broker.decisions() if not row.allowed}
    page.row("Metadata", "User:bob", "TOPIC_AUTHORIZATION_FAILED")
    page.wait(lambda: page.element("#denied-count").text == str(len(denied)))
    page.press("d")
    page.wait(lambda: sum(page.times(row) for row in page.rows) == len(denied))
    assert all("User:bob" in row for row in page.rows)
    page.tab("decisions")
    page.wait(lambda: page.rows and all("denied" in row for row in page.rows))
    page.element("#denied").click()
    page.row("allowed", "User:alice")


@needs_browser
def test_a_filter_shows_the_number_of_hidden_rows(page: Page, broker: KafkaBroker) -> None:
    page.tab("acls")
    page.press("/", "nobody", "\ue00c")
    page.wait(lambda: page.element("#empty").text == "The filter hides all 3 rows.")
    page.tab("faults")
    page.element("#new-fault button").click()
    page.row("api Produce")
    assert page.element("#filter").get_attribute("value") == ""
    assert len(broker.faults.list()) == 1


@needs_browser
def test_faults_are_added_released_and_removed(page: Page, broker: KafkaBroker) -> None:
    page.tab("faults")
    page.fill("#fault", '{"action": {"pause": true}, "match": {"topic": "orders"}}')
    page.element("#new-fault button").click()
    page.row("pause", "topic orders", "active")
    assert [fault["match"] for fault in broker.faults.list()] == [{"topic": "orders"}]
    page.element("tbody button:last-child").click()
    page.wait(lambda: page.element("#empty").text == "No faults are set.")
    page.fill("#fault", '{"action": {"pauze": true}}')
    page.element("#new-fault button").click()
    page.wait(lambda: "unknown key `pauze` in `action`" in page.element("#note").text)


@needs_browser
def test_while_paused_the_rows_do_not_change(page: Page, broker: KafkaBroker) -> None:
    send(broker, "alice")
    page.row("Produce", "ok")
    page.press("p")
    assert page.element("#pause").get_attribute("aria-pressed") == "true"
    time.sleep(0.6)  # a call of the control API may be under way
    before = page.rows
    send(broker, "bob")
    time.sleep(1.2)
    assert page.rows == before
    page.press("p")
    page.row("User:bob")


@needs_browser
def test_the_keyboard_reaches_everything(page: Page) -> None:
    for name in TABS:
        page.tab(name)
        assert page.element(f"#tab-{name}").get_attribute("aria-selected") == "true"
    page.element("#tab-changes").send_keys("\ue014")  # arrow right, from last to first
    assert page.element("#tab-overview").get_attribute("aria-selected") == "true"
    page.press("?")
    assert page.element("#help").is_displayed()
    page.press("\ue00c")
    assert not page.element("#help").is_displayed()
    names = page.driver.execute_script(
        "return [...document.querySelectorAll('button, input, textarea')]"
        ".map(one => one.ariaLabel ?? one.labels?.[0]?.innerText ?? one.innerText)"
    )
    assert all(names)


@pytest.fixture
def narrow(chrome: Any) -> Iterator[None]:
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield
    chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@needs_browser
def test_a_narrow_page_fits(narrow: None, page: Page, broker: KafkaBroker) -> None:
    """Wide tables scroll, rows show principal and response, details cover the screen."""
    broker.faults.pause(api="JoinGroup")
    send(broker, "bob")
    page.row("Metadata", "User:bob")
    for name in TABS:
        page.tab(name)
        page.wait(lambda: page.rows or page.shows("#empty") or page.shows("#body"))
        script = "return document.scrollingElement.scrollWidth"
        assert page.driver.execute_script(script) <= 400
        heights = (
            "return [...document.querySelectorAll('#rows tbody tr')].map(row => row.offsetHeight)"
        )
        assert max(page.driver.execute_script(heights), default=0) < 50
    page.tab("requests")
    page.row("Metadata", "User:bob", "TOPIC_AUTHORIZATION_FAILED")
    edges = "return [...document.querySelectorAll('#rows tbody td')].filter(c => c.offsetWidth)"
    edges += ".map(cell => cell.getBoundingClientRect().right)"
    assert max(page.driver.execute_script(edges)) <= 400
    page.press("j", "\ue007")  # Enter
    page.wait(lambda: page.element("#detail").is_displayed())
    assert page.element("#detail").rect["width"] == 400
    assert page.element("#detail").rect["height"] == 800
    page.press("\ue00c")
    page.wait(lambda: not page.element("#detail").is_displayed())


@needs_browser
def test_names_with_html_are_shown_as_text(page: Page, broker: KafkaBroker) -> None:
    broker.acls.add(
        {"principal": "User:<img src=x onerror=alert(1)>", "allow": "Read", "topic": "t"}
    )
    page.tab("acls")
    page.row("User:<img src=x onerror=alert(1)>")
    assert page.driver.find_elements("css selector", "img") == []


@needs_browser
def test_a_token_is_asked_for_and_kept(chrome: Any, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    words = ["--listener", "PLAINTEXT://127.0.0.1:0", "--control", "127.0.0.1:0"]
    words += ["--control-token", "s3cret", "--ready-file", str(ready)]
    child = subprocess.Popen([*SHIM, "serve", *words], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not ready.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        address = dict(line.split("=", 1) for line in ready.read_text().splitlines())["CONTROL"]
        page = Page(chrome, f"http://{address}")
        page.wait(lambda: page.element("#token-dialog").is_displayed())
        page.press("wrong", "\ue007")
        page.wait(lambda: page.shows("#wrong-token", "The broker rejected this token."))
        page.fill("#token", "s3cret")
        page.press("\ue007")
        page.wait(lambda: not page.shows("#token-dialog"))
        page.tab("acls")
        page.wait(lambda: "There are no ACLs" in page.element("#empty").text)
        chrome.refresh()
        page.tab("matrix")
        page.wait(lambda: "No topics or no principals yet" in page.element("#body").text)
    finally:
        child.terminate()
        child.wait(10)
    chrome.get_log("browser")  # discard the messages about rejected calls


@needs_browser
def test_each_broker_has_its_own_page(chrome: Any, broker: KafkaBroker) -> None:
    api = Http(str(broker.control_url))
    made = works(api.ask("POST", "/brokers", {"topics": ["own"]}), CreatedBroker)
    page = Page(chrome, f"{broker.control_url}{made['path']}")
    servers = made["bootstrap_servers"]["PLAINTEXT"]
    AdminClient({"bootstrap.servers": servers, "client.id": "mine"}).list_topics(timeout=20)
    assert page.row("Metadata", "mine")
    page.tab("matrix")
    page.wait(lambda: "own" in page.element("#body").text)
    assert "payments" not in page.element("#body").text
    works(api.ask("DELETE", made["path"]), SetupReport)


def test_the_page_loads_nothing_from_elsewhere(broker: KafkaBroker) -> None:
    folder = ROOT / "src" / "kafka_shim" / "shim" / "control" / "inspector"
    for path in folder.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text, path.name
        with urlopen(f"{broker.control_url}/inspector/{path.name}") as response:
            assert response.read() == path.read_bytes()
            assert response.headers["content-security-policy"].startswith("default-src 'self'")
    with urlopen(f"{broker.control_url}/") as response:
        assert response.url == f"{broker.control_url}/inspector"
