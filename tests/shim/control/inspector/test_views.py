"""Each view of the inspector in a real browser, with clients that see its effects."""

import json
from importlib.resources import files
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.inspector import fill_history
from kafka_shim.policy.formats.yaml_rules import rule_line
from kafka_shim.shim.faults.spec import Match
from kafka_shim.testing import KafkaBroker, start
from tests.shim.control.inspector.page import TABS, Page, needs_browser, send
from tests.shim.control.plain_http import Http

pytestmark = [
    pytest.mark.folders("src/kafka_shim/shim/control", "tests/shim/control"),
    pytest.mark.client,
    pytest.mark.timeout(300, func_only=True),
    pytest.mark.filterwarnings("ignore:fault .* never fired"),  # of faults that are only shown
    needs_browser,
]


def http(broker: KafkaBroker) -> Http:
    return Http(str(broker.control_url))


def test_the_overview_shows_brokers_listeners_and_counts(page: Page, broker: KafkaBroker) -> None:
    page.tab("overview")
    text = page.wait(
        lambda: "2 topics" in page.element("#body").text and page.element("#body").text
    )
    for servers in broker.listeners.values():
        assert servers in text
    assert "1, controller" in text
    assert "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512" in text
    assert "UTC" in page.element("#now").text
    assert not page.element("#advance").is_displayed()
    page.element("#body [data-part=counts] a").click()
    page.row("orders")


def test_a_snippet_of_the_overview_works(page: Page, broker: KafkaBroker) -> None:
    broker.config("alice")
    page.tab("overview")
    page.wait(lambda: page.shows("#snippet", broker.bootstrap_servers))
    for client in ("Python: confluent-kafka", "Python: kafka-python"):
        for listener in ("PLAINTEXT", "SASL_PLAINTEXT"):
            page.choose("#snippet-client", client)
            page.choose("#snippet-listener", listener)
            text = page.element("#snippet").text
            user, password = "alice", broker.config("alice")["sasl.password"]
            exec(text.replace("USER", user).replace("PASSWORD", password), {})
    assert broker.topics.list()[0].end_offsets == [4]


def test_every_client_has_a_snippet_with_the_address(page: Page, broker: KafkaBroker) -> None:
    page.wait(lambda: page.shows("#snippet", broker.bootstrap_servers))  # before any request
    clients = page.driver.find_elements("css selector", "#snippet-client option")
    assert len(clients) == 6
    for client in clients:
        client.click()
        assert broker.bootstrap_servers in page.element("#snippet").text


def test_frozen_time_can_be_advanced(chrome: Any) -> None:
    with start(manual_clock=True, in_process=False) as broker:
        page = Page(chrome, broker.control_url, "overview")
        page.wait(lambda: page.shows("#advance"))
        before = broker.clock.now_ms()
        page.fill("#advance input", "1500")
        page.element("#advance button").click()
        page.wait(lambda: broker.clock.now_ms() == before + 1500)
        page.element("#steps button").click()
        page.wait(lambda: broker.clock.now_ms() == before + 2500)


def test_changes_say_if_those_of_acls_are_not_seen(chrome: Any) -> None:
    for authorizer, is_said in (("none", True), ("standard", False)):
        with start(authorizer=authorizer, in_process=False) as broker:
            broker.topics.create("orders")
            page = Page(chrome, broker.control_url, "changes")
            page.row("1", "Topic created")
            assert page.shows("#tools", "Changes of ACLs are not listed") is is_said


def test_a_topic_is_created_and_a_record_produced(page: Page, broker: KafkaBroker) -> None:
    page.tab("topics")
    page.fill("#new-topic input", "prices")
    page.element("#new-topic button").click()
    page.row("prices", "1")
    page.element('tr[data-key="prices"]').click()
    page.wait(lambda: page.element("#detail").is_displayed())
    page.fill('#produce [name="key"]', "book")
    page.fill("#produce textarea", '{"eur": [12]}')
    page.fill('#produce [name="headers"]', "by=hand")
    page.element("#produce button").click()
    shown = page.wait(
        lambda: "book" in page.element("#records").text and page.element("#records").text
    )
    assert "#0" in shown
    assert "UTC" in shown
    assert "by: hand" in shown
    page.choose("#format", "json")
    page.wait(lambda: '"eur": [\n    12' in page.element("#records pre").text)
    page.choose("#format", "hex")
    page.wait(lambda: "7b 22 65 75" in page.element("#records pre").text)
    consumer = Consumer(broker.config() | {"group.id": "g"})
    consumer.assign([TopicPartition("prices", 0, 0)])
    message = consumer.poll(20)
    consumer.close()
    assert message is not None
    assert (message.key(), message.headers()) == (b"book", [("by", b"hand")])


def test_a_group_is_shown_and_its_offsets_are_reset(page: Page, broker: KafkaBroker) -> None:
    for number in range(3):
        http(broker).ask("POST", "/topics/orders/records", {"value": str(number)})
    config = {"group.id": "billing", "client.id": "shop", "auto.offset.reset": "earliest"}
    consumer = Consumer(broker.config() | config)
    consumer.subscribe(["orders"])
    message = consumer.poll(20)
    assert message is not None
    consumer.commit(message=message, asynchronous=False)
    page.tab("groups")
    page.row("billing", "classic", "Stable", "1", "2")
    page.element('tr[data-key="billing"]').click()
    detail = page.wait(lambda: page.element("#detail").text)
    assert "shop" in detail
    assert "orders 0" in detail
    page.element("#reset button").click()
    page.wait(lambda: "has members" in page.element("#note").text)
    consumer.close()
    page.row("billing", "Empty", "2")
    page.choose('#reset [name="kind"]', "latest")
    page.element("#reset button").click()
    page.wait(lambda: page.shows("#offset-changes", "orders 0 1 3 2"))
    page.row("billing", "Empty", "2")  # nothing is changed yet
    page.element("#reset-now").click()
    page.row("billing", "Empty", "0")
    page.wait(lambda: "lag 0" in page.element("#detail").text)


def test_transactions_and_producers_are_shown(page: Page, broker: KafkaBroker) -> None:
    producer = Producer(broker.config() | {"transactional.id": "tx"})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce("orders", b"1")
    producer.flush(20)
    page.tab("transactions")
    page.row("tx", "Ongoing", "UTC", "orders-0")
    page.element('tr[data-key="tx"]').click()
    page.wait(lambda: "orders-0" in page.element("#detail").text)
    producer.commit_transaction(20)
    page.row("tx", "committed")


def test_users_are_added_and_removed(page: Page, broker: KafkaBroker) -> None:
    page.tab("principals")
    page.row("User:admin", "super user")
    page.fill('#new-user [name="name"]', "dave")
    page.fill('#new-user [name="password"]', "d")
    page.element("#new-user button").click()
    page.row("User:dave", "0 ACLs", "password")
    assert "dave" in broker.state().users
    page.click("//tr[td='User:dave']//button")
    page.driver.switch_to.alert.accept()
    page.wait(lambda: "dave" not in broker.state().users)


def test_acls_are_added_and_removed(page: Page, broker: KafkaBroker) -> None:
    page.tab("acls")
    page.row("User:bob", "deny", "Read", "Topic", "pay", "prefixed", "*")
    page.fill('#new-acl [name="principal"]', "carol")
    page.choose('#new-acl [name="operation"]', "DESCRIBE_CONFIGS")
    page.fill('#new-acl [name="resource_name"]', "orders")
    page.element("#new-acl button").click()
    page.row("User:carol", "allow", "DescribeConfigs", "Topic", "orders", "literal", "*")
    page.fill("#filter", "carol")
    page.wait(lambda: len(page.rows) == 1)
    page.element("#rows tbody button").click()
    page.wait(lambda: not [acl for acl in broker.acls.list() if acl["principal"] == "User:carol"])


def test_acls_are_imported(page: Page, broker: KafkaBroker) -> None:
    page.tab("acls")
    page.element("#import summary").click()
    page.fill("#import textarea", "acls:\n- {principal: User:zoe, allow: Read, topic: t}")
    page.element("#import button").click()
    page.row("User:zoe", "allow", "Read", "Topic", "t", "literal")
    page.wait(lambda: "ACLs imported: 1" in page.element("#note").text)
    page.fill("#import textarea", "nothing of the kind")
    page.element("#import button").click()
    page.wait(lambda: page.shows("#note.bad"))


@pytest.mark.parametrize("form", ["commands", "yaml", "json"])
def test_exported_acls_are_imported_again(page: Page, broker: KafkaBroker, form: str) -> None:
    before = broker.acls.list()
    page.tab("acls")
    page.element("#import summary").click()
    page.choose('#export-acls [name="format"]', form)
    page.element("#export-acls button").click()
    text = page.wait(lambda: page.element("#exported").text)
    [download] = page.driver.find_elements("css selector", "#detail a[download]")
    assert download.get_attribute("href").startswith("blob:")
    http(broker).ask("POST", "/acls/remove", {"acls": before})
    page.wait(lambda: not page.rows)
    page.fill("#import textarea", text)
    page.element("#import-acls button").click()
    page.wait(lambda: "ACLs imported: 3" in page.element("#note").text)
    assert sorted(map(str, broker.acls.list())) == sorted(map(str, before))


def test_acls_that_a_format_cannot_express_are_an_error(page: Page, broker: KafkaBroker) -> None:
    broker.acls.add({"principal": "Group:staff", "allow": "Read", "topic": "orders"})
    page.tab("acls")
    page.element("#import summary").click()
    page.choose('#export-acls [name="format"]', "strimzi")
    page.element("#export-acls button").click()
    page.wait(lambda: "cannot be written as strimzi" in page.element("#note.bad").text)


def test_allowed_and_denied_principals_are_shown(page: Page, broker: KafkaBroker) -> None:
    broker.acls.add(
        {"principal": "bob", "allow": "Read", "topic": "payments"},
    )
    page.tab("acls")
    page.fill('#who-may [name="resource_name"]', "payments")
    page.element("#who-may button").click()
    detail = page.wait(lambda: page.element("#detail").text)
    assert "Read on Topic payments" in detail
    assert "allowed User:admin from everywhere" in detail
    assert "denied User:bob" in detail
    assert "{principal: User:bob, deny: Read, topic: pay, pattern: prefixed}" in detail


def test_a_remedy_is_granted(page: Page, broker: KafkaBroker) -> None:
    send(broker, "carol")
    page.tab("decisions")
    page.row("denied", "User:carol")
    page.click("//tr[td[.='denied']]")
    page.wait(lambda: page.driver.find_elements("css selector", "#detail .grant"))
    page.element("#detail .grant").click()
    page.wait(lambda: [acl for acl in broker.acls.list() if acl["principal"] == "User:carol"])


def test_the_matrix_is_shown_for_each_resource_type(page: Page, broker: KafkaBroker) -> None:
    broker.acls.add({"principal": "bob", "allow": "Read", "group": "billing"})
    page.tab("matrix")
    text = page.wait(lambda: page.grid)
    assert "Principal orders payments" in text
    assert "User:alice W D \u2013" in text
    assert "User:admin R W C X A D dc ac" in text
    page.choose("#matrix-type", "GROUP")
    page.wait(lambda: "User:bob R D" in page.grid and "billing" in page.grid)


def test_a_cell_of_the_matrix_explains_and_grants(page: Page, broker: KafkaBroker) -> None:
    broker.topics.create("warehouse-stock-levels-eu-west-1")
    page.tab("matrix")
    page.wait(lambda: "wareho\u2026-west-1" in page.grid)
    row = "//tr[th='User:bob']"
    denied = page.driver.find_element("xpath", f"{row}//s")
    assert denied.text == "R"  # by the ACL about names that begin with "pay"
    denied.click()
    page.wait(
        lambda: page.shows(
            "#detail", "{principal: User:bob, deny: Read, topic: pay, pattern: prefixed}"
        )
    )
    page.click("//tr[td='Write']//button[.='Grant']")
    page.wait(lambda: page.shows("#detail", "{principal: User:bob, allow: Write, topic: payments}"))
    page.wait(lambda: "User:bob \u2013 W D R" in page.grid)
    page.click("//tr[td='Read']//button[.='Remove the ACL']")
    page.wait(lambda: "User:bob \u2013 W D \u2013" in page.grid)
    assert [acl.permission for acl in broker.acls.list("bob")] == ["ALLOW"]


def test_acls_show_and_link_to_what_used_them(page: Page, broker: KafkaBroker) -> None:
    send(broker, "alice")
    page.tab("acls")
    page.row("User:bob", "unused since")
    page.row("User:alice", "Write", "decision")
    page.click("//tr[td='Write']//a")
    page.row("allowed", "User:alice", "Write Topic orders")
    assert len(page.rows) <= 2


def test_a_large_matrix_renders_visible_cells_only(page: Page, broker: KafkaBroker) -> None:
    for number in range(500):
        http(broker).ask("POST", "/topics", {"name": f"t{number:03}"})
    rules = [
        {"principal": f"User:p{number:03}", "allow": "Read", "topic": f"t{number:03}"}
        for number in range(200)
    ]
    http(broker).ask("POST", "/acls", {"acls": rules})
    page.tab("matrix")
    page.wait(lambda: "p000" in page.grid)
    assert len(page.driver.find_elements("css selector", "#grid td")) < 1500
    page.driver.execute_script(
        "const g = document.getElementById('grid'); g.scrollTo(199 * 160 + 400, 1e6)"
    )
    page.wait(lambda: "User:p199" in page.grid and "t199" in page.grid and "p000" not in page.grid)


def test_the_matrix_is_filtered_by_parts_of_names(page: Page, broker: KafkaBroker) -> None:
    page.tab("matrix")
    page.wait(lambda: "User:admin" in page.grid)
    assert not page.element("#filter").is_displayed()
    page.fill("#matrix-principal", "ALI")
    page.fill("#matrix-resource", "pay")
    page.wait(lambda: page.grid.endswith("Principal payments User:alice \u2013"))
    page.fill("#matrix-resource", "nothing")
    page.wait(lambda: "No topics or no principals match" in page.element("#sizes").text)
    page.fill("#matrix-principal", " ")
    page.fill("#matrix-resource", " ")
    page.wait(lambda: "orders" in page.grid)


def test_all_rows_that_the_broker_keeps_can_be_reached(page: Page, broker: KafkaBroker) -> None:
    fill_history(broker, 2500)
    page.driver.refresh()
    page.wait(lambda: "The newest 500 of 25" in page.element("#more").text)
    page.element("#more button").click()
    page.wait(lambda: len(page.rows) == 1000)
    page.fill("#filter", "metadata t7 -t70")
    page.wait(lambda: 0 < len(page.rows) < 500 and not page.shows("#more button"))


def test_a_fault_is_added_with_the_form(page: Page, broker: KafkaBroker) -> None:
    page.tab("faults")
    page.choose('#new-fault [name="action"]', "delay_ms")
    page.fill('#new-fault [name="action-value"]', "50")
    page.choose('#new-fault [name="trigger"]', "every_time")
    page.fill('#new-fault [name="topic"]', "orders")
    assert '"delay_ms": 50' in page.element("#fault").get_attribute("value")
    page.element("#new-fault button").click()
    page.row("delay ms 50", "api Produce, topic orders", "every time")
    assert len(broker.faults.list()) == 1


def test_the_form_has_all_conditions_of_faults(page: Page, broker: KafkaBroker) -> None:
    page.tab("faults")
    for name in Match.__struct_fields__:
        assert page.shows(f'#new-fault [name="{name}"]'), name
    page.fill('#new-fault [name="api"]', "Fetch")
    page.fill('#new-fault [name="partition"]', "2")
    page.fill('#new-fault [name="client_id"]', "shop")
    page.element("#new-fault button").click()
    page.row("api Fetch, client id shop, partition 2", "active")
    page.click("//td//button[.='Duplicate']")
    page.fill('#new-fault [name="partition"]', "3")
    page.element("#new-fault button").click()
    page.row("api Fetch, client id shop, partition 3", "active")
    assert [fault.match["partition"] for fault in broker.faults.list()] == [2, 3]


def test_topics_and_groups_are_deleted_after_a_question(page: Page, broker: KafkaBroker) -> None:
    page.tab("topics")
    page.click("//tr[td='payments']")
    page.click("//button[.='Delete the topic']")
    page.driver.switch_to.alert.dismiss()
    page.click("//button[.='Delete the topic']")
    page.driver.switch_to.alert.accept()
    page.wait(lambda: page.shows("#note", "topic payments deleted") and not page.shows("#detail"))
    assert [topic.name for topic in broker.topics.list()] == ["orders"]
    consumer = Consumer(broker.config() | {"group.id": "billing"})
    consumer.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
    consumer.close()
    page.tab("groups")
    page.click("//tr[td='billing']")
    page.click("//button[.='Delete the group']")
    page.driver.switch_to.alert.accept()
    page.wait(lambda: page.shows("#note", "group billing deleted"))
    page.wait(lambda: not page.rows)


def test_the_theme_can_be_chosen_and_stays(page: Page) -> None:
    script = "return getComputedStyle(document.body).backgroundColor"
    seen = {}
    for name in ("light", "dark", "system"):
        page.element("#theme").click()
        page.driver.refresh()
        page.wait(lambda: page.shows("#theme"))
        assert page.element("#theme").text == f"Theme: {name}"
        seen[name] = page.driver.execute_script(script)
    assert seen["light"] == "rgb(246, 247, 249)"
    assert seen["dark"] == "rgb(20, 23, 27)"
    assert seen["system"] in (seen["light"], seen["dark"])


def test_request_and_response_are_shown_side_by_side(page: Page, broker: KafkaBroker) -> None:
    send(broker, "alice")
    page.row("Produce", "orders", "s")
    page.fill("#filter", "produce")
    page.press("\ue00c", "j", "\ue007")
    detail = page.wait(lambda: page.element("#detail").text)
    assert '"acks": -1' in detail
    assert '"baseOffset": 0' in detail
    page.element("#bytes").click()
    page.wait(lambda: "0000  00 00 00" in page.element("#detail").text)


def test_repeated_requests_are_folded_into_one_row(page: Page, broker: KafkaBroker) -> None:
    producer = Producer(broker.config() | {"client.id": "again"})
    for _ in range(5):
        producer.list_topics("orders", timeout=20)
    page.fill("#filter", "metadata again orders")
    page.wait(lambda: max(map(page.times, page.rows), default=0) >= 3)
    page.press("\ue00c", "f")
    page.wait(lambda: len(page.rows) >= 3)
    page.press("f")


AXE = """
const [source, done] = arguments;
if (!window.axe) new Function(source)();
axe.run({resultTypes: ["violations"]}).then(found => done(found.violations
  .filter(one => ["serious", "critical"].includes(one.impact))
  .map(one => [one.id, ...one.nodes.map(node => node.html)])));
"""


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious(
    page: Page, broker: KafkaBroker, scheme: str, width: int
) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 800}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    broker.faults.pause(api="JoinGroup")
    send(broker, "bob")
    features = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    page.driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    source = files("axe_core_python").joinpath("axe.min.js").read_text()
    page.row("Metadata", "User:bob")
    for name in TABS:
        page.tab(name)
        page.wait(lambda: page.rows or page.shows("#empty") or page.shows("#body"))
        if name in ("requests", "topics"):
            page.press("j", "\ue007")
            page.wait(lambda: page.shows("#detail"))
        assert page.driver.execute_async_script(AXE, source) == [], name
        page.press("\ue00c")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_acls_are_the_lines_that_other_outputs_print(page: Page) -> None:
    """The page quotes what YAML would read as something else, as the commands do."""
    names = ("orders", "yes", "Null", "a b", "*", "1", "x: y", "10.0.0.0/8", "User:*")
    rules = [{"principal": "User:a", "allow": ["Read", "Write"], "topic": name} for name in names]
    script = (
        "const done = arguments[1]; const module = document.querySelector('script[src]').src;"
        "const rules = JSON.parse(arguments[0]);"
        "import(new URL('acls.js', module)).then((acls) => done(rules.map(acls.ruleText)))"
    )
    shown = page.driver.execute_async_script(script, json.dumps(rules))
    assert shown == list(map(rule_line, rules))
