"""Undo restores what was there; a fault that is edited keeps what is not edited."""

import json

import pytest

from kafka_shim.testing import KafkaBroker
from tests.shim.control.inspector.page import Page, needs_browser, send
from tests.shim.control.plain_http import Http

pytestmark = [
    pytest.mark.folders("src/kafka_shim/shim/control", "tests/shim/control"),
    pytest.mark.client,
    pytest.mark.timeout(300, func_only=True),
    pytest.mark.filterwarnings("ignore:fault .* never fired"),
    needs_browser,
]


def acls_of(broker: KafkaBroker) -> set[str]:
    return {str(acl) for acl in broker.acls.list()}


def definitions(broker: KafkaBroker) -> list[str]:
    names = ("action", "match", "trigger")
    return [
        json.dumps({name: fault[name] for name in names}, sort_keys=True)
        for fault in broker.faults.list()
    ]


def add_fault(broker: KafkaBroker, *parts: object) -> None:
    fault = dict(zip(("action", "match", "trigger"), parts, strict=True))
    assert Http(str(broker.control_url)).ask("POST", "/faults", fault)[0] == 200


@pytest.fixture
def denied(page: Page, broker: KafkaBroker) -> set[str]:
    """Carol was denied by an ACL, and lacks another one; the ACLs of before."""
    broker.acls.add(principal="carol", deny="Describe", topic="orders")
    before = acls_of(broker)
    send(broker, "carol")
    page.tab("decisions")
    page.press("d")
    page.row("denied", "User:carol")
    page.click("//tr[td='User:carol']")
    return before


def test_both_steps_of_a_remedy_are_undone(
    page: Page, broker: KafkaBroker, denied: set[str]
) -> None:
    page.click("//button[.='Do all']")
    page.wait(lambda: page.shows("#note", "1 ACL added, 1 ACL removed · Undo"))
    assert acls_of(broker) != denied
    page.click("//*[@id='note']//button")
    page.wait(lambda: page.shows("#note", "Undone"))
    assert acls_of(broker) == denied


def test_undo_keeps_acls_that_were_there_before(page: Page, broker: KafkaBroker) -> None:
    before = acls_of(broker)
    page.tab("acls")
    page.row("User:alice")
    page.click("//*[@id='import']/summary")
    page.fill(
        "#import-acls textarea",
        "- {principal: User:alice, allow: [Write, Read], topic: orders}\n",  # Write exists
    )
    page.click("//*[@id='import-acls']//button")
    page.wait(lambda: page.shows("#note", "ACLs imported: 2 · Undo"))
    page.click("//*[@id='note']//button")
    page.wait(lambda: page.shows("#note", "Undone"))
    assert acls_of(broker) == before


REJECT_FIRST_REMOVAL = """
const real = window.fetch;
window.fetch = (path, options) => {
  if (path !== "acls/remove" || options.method !== "POST") return real(path, options);
  window.fetch = real;
  return Promise.resolve(new Response('{"error": "rejected"}', { status: 400 }));
};
"""


def test_a_change_that_fails_halfway_is_taken_back(
    page: Page, broker: KafkaBroker, denied: set[str]
) -> None:
    page.driver.execute_script(REJECT_FIRST_REMOVAL)
    page.click("//button[.='Do all']")
    page.wait(lambda: page.shows("#note", "rejected"))
    page.wait(lambda: acls_of(broker) == denied)


def test_an_edited_fault_keeps_its_effect_and_trigger(page: Page, broker: KafkaBroker) -> None:
    add_fault(
        broker,
        {"error": "REQUEST_TIMED_OUT", "delay_ms": 20},
        {"api": "Fetch"},
        {"with_probability": 0.25},
    )
    [original] = definitions(broker)
    page.tab("faults")
    page.row("REQUEST_TIMED_OUT")
    page.click("//button[.='Edit']")
    page.fill('#new-fault [name="topic"]', "orders")
    page.click("//button[.='Replace the fault']")
    page.wait(lambda: page.shows("#note", "replaced · Undo"))
    [edited] = [json.loads(one) for one in definitions(broker)]
    assert edited == json.loads(original) | {"match": {"api": "Fetch", "topic": "orders"}}
    page.click("//*[@id='note']//button")
    page.wait(lambda: page.shows("#note", "Undone"))
    assert definitions(broker) == [original]


@pytest.mark.parametrize(
    ("action", "trigger"),
    [
        ({"delay_ms": 70}, {"on_call": 3}),
        ({"pause": True}, {"every_time": True}),
        ({"disconnect": "after"}, {"times": 2}),
        ({"error": "NOT_COORDINATOR"}, {"with_probability": 0.5}),
    ],
)
def test_the_form_shows_what_an_edited_fault_does(
    page: Page,
    broker: KafkaBroker,
    action: dict[str, object],
    trigger: dict[str, object],
) -> None:
    add_fault(broker, action, {"api": "Produce"}, trigger)
    [original] = definitions(broker)
    page.tab("faults")
    page.row("api Produce")
    page.click("//button[.='Duplicate']")
    page.choose('#new-fault [name="action"]', "black_hole")
    page.choose('#new-fault [name="trigger"]', "every_time")
    changed = json.loads(str(page.element("#fault").get_attribute("value")))
    assert (changed["action"], changed["trigger"]) == ({"black_hole": True}, {"every_time": True})
    page.click("//button[.='Duplicate']")
    [[kind, value]] = action.items()
    shown = page.element('#new-fault [name="action"]').get_attribute("value")
    assert shown == (f"{kind}:{value}" if kind == "disconnect" else kind)
    [[kind, value]] = trigger.items()
    assert page.element('#new-fault [name="trigger"]').get_attribute("value") == kind
    if value is not True:
        typed = page.element('#new-fault [name="trigger-value"]').get_attribute("value")
        assert float(str(typed)) == value
    again = json.loads(str(page.element("#fault").get_attribute("value")))
    assert again == json.loads(original)
