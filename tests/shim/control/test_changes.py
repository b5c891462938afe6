"""The list of changes: what was changed, by whom, and the calls that undo it."""

from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from kafka_shim.shim.control import bodies, state_bodies
from kafka_shim.testing import KafkaBroker, start
from tests.shim.control.plain_http import Http, fails, works

pytestmark = pytest.mark.client


@pytest.fixture
def api(shared: KafkaBroker) -> Http:
    shared.reset()
    return Http(str(shared.control_url))


def changes(api: Http, after: int = 0) -> list[dict[str, Any]]:
    rows = works(api.ask("GET", f"/changes?after={after}"), state_bodies.ChangeRows)["changes"]
    return [row for row in rows if row["kind"] != "cluster"]


def undo(api: Http, change: dict[str, Any]) -> None:
    assert change["undo"]
    for call in change["undo"]:
        status, answer = api.ask(call["method"], f"/{call['path']}", call["body"])
        assert status == 200, answer


def test_changes_name_clients_the_inspector_and_the_control_api(
    api: Http, shared: KafkaBroker
) -> None:
    rule = {"principal": "User:alice", "allow": "Read", "topic": "orders"}
    api.ask("POST", "/acls", {"acls": [rule]}, X_Requested_By="inspector")
    api.ask("POST", "/users", {"name": "dave", "password": "d"})
    admin = AdminClient(shared.config() | {"client.id": "ops"})
    resource = ConfigResource(ConfigResource.Type.TOPIC, "orders")
    shared.topics.create("orders", configs={"retention.ms": "1000"})
    resource.add_incremental_config(
        ConfigEntry("retention.ms", "5", incremental_operation=AlterConfigOpType.SET)
    )
    admin.incremental_alter_configs([resource])[resource].result(20)
    acl, user, topic, settings = changes(api)
    assert (acl["kind"], acl["action"], acl["by"]["kind"]) == ("acl", "added", "inspector")
    assert [item["name"] for item in acl["items"]] == [
        "{principal: User:alice, allow: Read, topic: orders}"
    ]
    assert (user["action"], user["items"][0]["name"]) == ("added", "dave")
    assert user["by"]["kind"] == topic["by"]["kind"] == "control API"
    assert topic["items"][0]["after"] == {"partitions": 1, "retention.ms": "1000"}
    assert settings["items"] == [
        {
            "name": "topic orders",
            "before": {"retention.ms": "1000"},
            "after": {"retention.ms": "5"},
        }
    ]
    by = settings["by"]
    assert (by["kind"], by["principal"], by["client_id"]) == ("client", "User:ANONYMOUS", "ops")
    [request] = shared.requests(api="IncrementalAlterConfigs")
    assert by["request"] == request.number
    assert changes(api, after=topic["number"]) == [settings]
    undo(api, settings)
    assert shared.topics.list()[0].configs == {"retention.ms": "1000"}


def test_a_topic_that_a_request_created_is_named_with_its_client(
    api: Http, shared: KafkaBroker
) -> None:
    producer = Producer(shared.config() | {"client.id": "typo"})
    producer.produce("ordres", b"1")
    producer.flush(10)
    [created] = [row for row in changes(api) if row["kind"] == "topic"]
    assert created["items"][0]["name"] == "ordres"
    assert created["by"]["client_id"] == "typo"


def test_changes_are_undone(api: Http, shared: KafkaBroker) -> None:
    rules = [{"principal": "User:alice", "allow": "Read", "topic": f"t{n}"} for n in range(3)]
    api.ask("POST", "/acls", {"acls": rules})
    [added] = changes(api)
    assert len(added["items"]) == 3
    undo(api, added)
    assert shared.acls.list() == []
    removed = changes(api)[-1]
    assert (removed["kind"], removed["action"]) == ("acl", "removed")
    undo(api, removed)
    assert len(shared.acls.list()) == 3

    shared.topics.create("orders")
    undo(api, changes(api)[-1])
    assert "orders" not in [topic.name for topic in shared.topics.list()]
    assert changes(api)[-1]["undo"] == []  # its records are lost

    fault = shared.faults.error("REQUEST_TIMED_OUT", api="Produce")
    api.ask("POST", f"/faults/{fault.id}/disable")
    undo(api, changes(api)[-1])
    assert not shared.faults.list()[0].is_disabled
    api.ask("DELETE", "/faults")
    undo(api, changes(api)[-1])
    assert [row.action for row in shared.faults.list()] == [{"error": "REQUEST_TIMED_OUT"}]
    api.ask("DELETE", "/faults")


def test_a_stopped_broker_and_its_leaders_are_changes() -> None:
    with start(brokers=2, topics={"orders": 4}, in_process=False) as broker:
        api = Http(str(broker.control_url))
        api.ask("POST", "/nodes/2/stop")
        stopped, leaders = changes(api)
        assert (stopped["kind"], stopped["action"]) == ("broker", "removed")
        assert leaders["kind"] == "leader"
        assert all(item["before"] == 2 for item in leaders["items"])
        undo(api, stopped)
        assert all(node["is_alive"] for node in api.ask("GET", "/nodes")[1]["nodes"])


def test_a_change_of_very_many_acls_is_one_row_and_cannot_be_undone(api: Http) -> None:
    rules = [{"principal": "User:alice", "allow": "Read", "topic": f"t{n}"} for n in range(1_500)]
    api.ask("POST", "/acls", {"acls": rules})
    [added] = changes(api)
    assert (len(added["items"]), added["items_left_out"], added["undo"]) == (1_000, 500, [])


def test_a_reset_drops_what_it_undoes(api: Http, shared: KafkaBroker) -> None:
    shared.topics.create("orders")
    shared.reset()
    rows = api.ask("GET", "/changes")[1]["changes"]
    assert [(row["kind"], row["items"][0]["name"]) for row in rows] == [
        ("cluster", "reset to the state at startup")
    ]
    shared.topics.create("orders")
    assert [row["items"][0]["name"] for row in changes(api)] == ["orders"]


def test_settings_of_a_topic_are_changed_and_checked(api: Http, shared: KafkaBroker) -> None:
    shared.topics.create("orders", configs={"retention.ms": "1000", "segment.ms": "7"})
    new = {"configs": {"retention.ms": None, "cleanup.policy": "compact"}}
    topic = works(api.ask("POST", "/topics/orders/settings", new), bodies.TopicRow)
    assert topic["configs"] == {"segment.ms": "7", "cleanup.policy": "compact"}
    undo(api, changes(api)[-1])
    assert shared.topics.list()[0].configs == {"retention.ms": "1000", "segment.ms": "7"}
    for wrong in ({"retention.ms": "soon"}, {"retention.msec": "1"}):
        path = "/topics/orders/settings"
        fails(api.ask("POST", path, {"configs": wrong}), 400, "topic `orders`: ")
    fails(api.ask("POST", "/topics/nothing/settings", new), 404, "unknown topic `nothing`")
