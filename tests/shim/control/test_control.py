"""Calls of the control API over HTTP, to a broker in its own process."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from openapi_spec_validator import validate

from kafka_shim.shim.control import bodies
from kafka_shim.shim.control.broker_registry import BROKER_ROUTES
from kafka_shim.shim.control.openapi import openapi_document
from kafka_shim.shim.control.routes import ROUTES, Route
from kafka_shim.testing import KafkaBroker, start
from kafka_shim.testing.transport import BrokerError
from tests.shim.control.plain_http import Http, fails, works

pytestmark = pytest.mark.timeout(300, func_only=True)


@pytest.fixture(scope="module")
def shared() -> Iterator[KafkaBroker]:
    with start(topics={"seeded": 2}, users={"bob": "pass"}) as broker:
        yield broker


@pytest.fixture
def api(broker: KafkaBroker) -> Http:
    assert broker.control_url is not None
    return Http(broker.control_url)


def produce(config: dict[str, Any], topic: str = "seeded") -> str | None:
    outcome: list[Any] = []
    producer = Producer(config | {"log_level": 0})
    producer.produce(topic, b"1", on_delivery=lambda error, _: outcome.append(error))
    assert producer.flush(20) == 0
    return None if outcome[0] is None else str(outcome[0].name())


def test_health_and_state_are_returned(api: Http) -> None:
    assert works(api.ask("GET", "/health"), bodies.Health)["status"] == "ok"
    state = works(api.ask("GET", "/state"), bodies.ClusterState)
    assert [topic["name"] for topic in state["topics"]] == ["seeded"]
    assert state["users"] == ["admin", "bob"]
    assert state["super_users"] == ["User:ANONYMOUS", "User:admin"]
    assert set(state["listeners"]) == {"PLAINTEXT", "SASL_PLAINTEXT"}


def test_topics_are_created_listed_and_deleted(api: Http, broker: KafkaBroker) -> None:
    new = {"name": "orders", "partitions": 3, "configs": {"retention.ms": "1000"}}
    made = works(api.ask("POST", "/topics", new), bodies.TopicRow)
    assert (made["partitions"], made["configs"], made["end_offsets"]) == (
        3, {"retention.ms": "1000"}, [0, 0, 0],
    )  # fmt: skip
    fails(api.ask("POST", "/topics", new), 409, "already exists")
    fails(api.ask("POST", "/topics", {"name": "a b"}), 400, "a b")
    fails(api.ask("POST", "/topics", {"name": "x", "configs": {"no.such": "1"}}), 400, "no.such")
    listed = AdminClient(broker.config()).list_topics(timeout=20).topics
    assert {"orders", "seeded"} <= set(listed)
    works(api.ask("DELETE", "/topics/orders"), bodies.Done)
    fails(api.ask("DELETE", "/topics/orders"), 404, "unknown topic `orders`")
    rows = works(api.ask("GET", "/topics"), bodies.TopicRows)["topics"]
    assert [row["name"] for row in rows] == ["seeded"]


@pytest.mark.client
def test_a_topic_is_compacted(api: Http, broker: KafkaBroker) -> None:
    broker.topics.create("latest", 2, configs={"cleanup.policy": "compact"})
    producer = Producer(broker.config())
    for number in range(10):
        producer.produce("latest", b"%d" % number, key=b"k%d" % (number % 3), partition=1)
    producer.flush(20)
    rows = works(api.ask("POST", "/topics/latest/compact"), bodies.CompactedPartitions)[
        "partitions"
    ]
    assert [(row["records_before"], row["records_after"]) for row in rows] == [(0, 0), (10, 3)]
    assert rows[1]["bytes_after"] < rows[1]["bytes_before"]
    assert [row.records_after for row in broker.topics.compact("latest")] == [0, 3]
    assert _values(broker, "latest") == [b"7", b"8", b"9"]
    fails(api.ask("POST", "/topics/none/compact"), 404, "unknown topic `none`")
    fails(api.ask("POST", "/topics/seeded/compact"), 409, "cleanup.policy")


def _values(broker: KafkaBroker, topic: str) -> list[bytes | None]:
    """Return the values that a consumer reads from partition 1."""
    config = broker.config() | {"group.id": "g", "enable.partition.eof": True}
    consumer = Consumer(config)
    consumer.assign([TopicPartition(topic, 1, 0)])
    values = []
    while (message := consumer.poll(20)) is not None and message.error() is None:
        values.append(message.value())
    consumer.close()
    return values


@pytest.mark.client
def test_users_are_added_and_removed(api: Http, broker: KafkaBroker) -> None:
    works(api.ask("POST", "/users", {"name": "carol", "password": "c"}), bodies.SetupReport)
    assert "carol" in works(api.ask("GET", "/users"), bodies.UserNames)["users"]
    broker.acls.add(principal="carol", allow="Write", topic="seeded")
    config = broker.config("bob") | {"sasl.username": "carol", "sasl.password": "c"}
    assert produce(config) is None
    works(api.ask("DELETE", "/users/carol"), bodies.Done)
    fails(api.ask("DELETE", "/users/carol"), 404, "carol")
    fails(api.ask("POST", "/users", {"name": "x"}), 400, "password")
    assert produce(config | {"message.timeout.ms": 500}) == "_MSG_TIMED_OUT"


def test_acls_are_added_listed_and_removed(api: Http) -> None:
    rule = {"principal": "User:alice", "allow": ["Read", "Write"], "topic": "orders"}
    created = works(api.ask("POST", "/acls", {"acls": [rule]}), bodies.AclRows)
    assert created["warnings"] == []
    added = created["acls"]
    assert [acl["operation"] for acl in added] == ["READ", "WRITE"]
    other = {**added[0], "principal": "User:bob"}
    works(api.ask("POST", "/acls", {"acls": [other]}), bodies.AclRows)
    assert works(api.ask("GET", "/acls?principal=User%3Abob"), bodies.AclRows)["acls"] == [other]
    gone = works(api.ask("POST", "/acls/remove", {"acls": [added[0]]}), bodies.AclRows)
    assert gone == {"acls": [added[0]], "warnings": []}
    again = works(api.ask("POST", "/acls/remove", {"acls": [added[0]]}), bodies.AclRows)
    assert again["acls"] == []
    assert "does not exist, so it was not removed" in again["warnings"][0]
    left = works(api.ask("GET", "/acls"), bodies.AclRows)["acls"]
    assert sorted(acl["principal"] for acl in left) == ["User:alice", "User:bob"]
    ineffective = {"principal": "User:alice", "allow": "Write", "group": "billing"}
    warned = works(api.ask("POST", "/acls", {"acls": [ineffective]}), bodies.AclRows)
    assert ["has no effect" in warning for warning in warned["warnings"]] == [True]
    fails(
        api.ask("POST", "/acls", {"acls": [{"principal": "User:x"}]}),
        400,
        "expected exactly one resource",
    )
    misnamed = {"principal": "User:x", "allow": "Alter", "cluster": "other"}
    fails(api.ask("POST", "/acls", {"acls": [misnamed]}), 400, "Kafka rejects")


@pytest.mark.client
def test_requests_and_decisions_are_returned(api: Http, broker: KafkaBroker) -> None:
    assert produce(broker.config("alice")) == "TOPIC_AUTHORIZATION_FAILED"
    broker.acls.add(principal="alice", allow="Write", topic="seeded")
    assert produce(broker.config("alice", **{"client.id": "second"})) is None
    response = works(api.ask("GET", "/requests?api=produce"), bodies.RequestRows)
    [seen] = response["requests"]
    assert seen["principal"] == "User:alice"
    assert seen["client_id"] == "second"
    assert seen["errors"] == []
    assert seen["request"]["topicData"][0]["partitionData"][0]["recordsSizeInBytes"] > 0
    login = works(api.ask("GET", "/requests?api=SaslAuthenticate"), bodies.RequestRows)
    assert all(row["request"]["authBytes"] == "" for row in login["requests"])
    denied = works(api.ask("GET", "/decisions?allowed=false&logged=true"), bodies.DecisionRows)
    assert {row["operation"] for row in denied["decisions"]} == {"DESCRIBE"}
    assert denied["decisions"][0]["would_allow"] == {
        "remove": [],
        "add": [{"principal": "User:alice", "allow": ["Describe"], "topic": "seeded"}],
        "complete": True,
        "advice": "a producer needs Write, a consumer Read; both include Describe",
    }
    allowed = works(
        api.ask("GET", "/decisions?api=Produce&operation=write&resource_name=seeded"),
        bodies.DecisionRows,
    )["decisions"]
    assert allowed[0]["rule"] == "{principal: User:alice, allow: Write, topic: seeded}"
    nobody = works(api.ask("GET", "/requests?principal=User%3Azoe"), bodies.RequestRows)
    assert nobody["requests"] == []


@pytest.mark.client
def test_requests_come_page_by_page(api: Http, broker: KafkaBroker) -> None:
    AdminClient(broker.config()).list_topics(timeout=20)
    whole = works(api.ask("GET", "/requests"), bodies.RequestRows)
    numbers = [row["number"] for row in whole["requests"]]
    paged: list[int] = []
    after = 0
    while len(paged) < len(numbers):
        page = works(api.ask("GET", f"/requests?limit=1&after={after}"), bodies.RequestRows)
        paged += [row["number"] for row in page["requests"]]
        after = page["last"]
    assert paged == numbers
    assert broker.last_request() >= numbers[-1]


@pytest.mark.client
def test_a_snapshot_is_taken_restored_and_deleted(api: Http, broker: KafkaBroker) -> None:
    broker.topics.create("orders", partitions=2)
    broker.acls.add(principal="User:alice", allow="Write", topic="orders")
    config = broker.config("alice")
    assert produce(config, "orders") is None
    before = broker.state()
    number = works(api.ask("POST", "/snapshots"), bodies.SnapshotRow)["id"]
    assert produce(config, "orders") is None
    works(api.ask("POST", "/reset"), bodies.SetupReport)
    assert [topic["name"] for topic in broker.state().topics] == ["seeded"]
    for _ in range(2):
        works(api.ask("POST", f"/snapshots/{number}/restore"), bodies.SetupReport)
        assert broker.state() == before
        assert produce(config, "orders") is None
    works(api.ask("DELETE", f"/snapshots/{number}"), bodies.Done)
    fails(api.ask("POST", f"/snapshots/{number}/restore"), 404, "unknown snapshot")


def test_faults_are_added_released_and_removed(api: Http) -> None:
    spec = {
        "action": {"error": "REQUEST_TIMED_OUT"},
        "match": {"api": "Produce"},
        "trigger": {"times": 2},
    }
    made = works(api.ask("POST", "/faults", spec), bodies.FaultRow)
    assert (made["calls"], made["fired"]) == (0, 0)
    assert {key: made[key] for key in spec} == spec
    paused = works(api.ask("POST", "/faults", {"action": {"pause": True}}), bodies.FaultRow)
    assert len(works(api.ask("GET", "/faults"), bodies.FaultRows)["faults"]) == 2
    released = api.ask("POST", f"/faults/{paused['id']}/release")
    assert works(released, bodies.ReleasedResponses)["released"] == 0
    works(api.ask("DELETE", f"/faults/{paused['id']}"), bodies.SetupReport)
    fails(api.ask("GET", f"/faults/{paused['id']}"), 404, "unknown fault")
    assert works(api.ask("GET", f"/faults/{made['id']}"), bodies.FaultRow) == made
    works(api.ask("DELETE", "/faults"), bodies.SetupReport)
    assert works(api.ask("GET", "/faults"), bodies.FaultRows)["faults"] == []
    fails(api.ask("POST", "/faults", {"action": {"eror": 1}}), 400, "eror")
    fails(api.ask("POST", "/faults", {"action": {"error": "NOPE"}}), 400, "NOPE")


@pytest.mark.client
def test_metrics_count_decisions_errors_and_connections(api: Http, broker: KafkaBroker) -> None:
    assert produce(broker.config("alice")) == "TOPIC_AUTHORIZATION_FAILED"
    bad = broker.config("bob") | {"sasl.password": "wrong", "message.timeout.ms": 300}
    produce(bad)
    status, text = api.ask("GET", "/metrics")
    assert status == 200
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    denied = (
        'kafka_shim_authz_decisions_total{api="Metadata",operation="DESCRIBE",'
        'resource_type="TOPIC",result="denied",rule_kind="default_deny"}'
    )
    assert float(samples[denied]) >= 1
    assert float(samples["kafka_shim_failed_authentications_total"]) >= 1
    assert float(samples["kafka_shim_connections_total"]) >= 2
    errors = [name for name in samples if 'error="TOPIC_AUTHORIZATION_FAILED"' in name]
    assert errors
    assert all(name.startswith('kafka_shim_requests_total{api="Metadata"') for name in errors)


def test_running_time_cannot_be_advanced(api: Http) -> None:
    assert works(api.ask("GET", "/clock"), bodies.ClusterTime)["is_manual"] is False
    fails(api.ask("POST", "/clock/advance", {"by_ms": 1}), 409, "--manual-clock")


def test_frozen_time_can_be_advanced(broker: KafkaBroker) -> None:
    with start(manual_clock=True) as still:
        now = still.clock.now_ms()
        assert still.clock.advance(5000) == now + 5000
        assert still.clock.now_ms() == now + 5000
        with pytest.raises(BrokerError, match="time cannot go back"):
            still.clock.advance(-1)
        with pytest.raises(BrokerError, match="after the year 9999"):
            still.clock.advance(2**63)
        assert still.clock.now_ms() == now + 5000


def test_invalid_bodies_are_rejected(api: Http) -> None:
    fails(api.ask("POST", "/topics", b"{"), 400, "not JSON")
    fails(api.ask("POST", "/topics", {"nme": "x"}), 400, "nme")
    fails(api.ask("GET", "/requests?prinicpal=x"), 400, "prinicpal")
    fails(api.ask("GET", "/requests?after=x"), 400, "after")
    fails(api.ask("GET", "/decisions?allowed=yes"), 400, "true or false")
    fails(api.ask("GET", "/requests?api=Prodcue"), 400, "unknown API `Prodcue`")
    fails(api.ask("GET", "/decisions?api=Prodcue"), 400, "unknown API `Prodcue`")
    fails(api.ask("GET", "/requests?principal=:bob"), 400, "`:bob`; expected one such as")
    fails(api.ask("GET", "/decisions?operation=Wrote"), 400, "unknown operation `Wrote`")
    fails(api.ask("GET", "/decisions?resource_type=Tpic"), 400, "unknown resource type `Tpic`")
    fails(api.ask("POST", "/topics", b"[" * 100_000), 400, "not JSON")
    fails(api.ask("GET", "/nothing"), 404, "there is no GET /nothing; see /openapi.json")
    fails(api.ask("PUT", "/topics"), 405, "there is no PUT /topics; see /openapi.json")
    fails(api.ask("POST", "/topics", {"name": "x", "partitions": 10**9}), 400, "at most 100000")


def test_web_pages_of_other_origins_cannot_call(api: Http) -> None:
    fails(api.ask("POST", "/reset", Origin="http://evil.example"), 403, "this machine")
    fails(api.ask("GET", "/state", Host="evil.example:80"), 403, "this machine")
    own = f"http://{api.address}"
    works(api.ask("GET", "/health", Origin=own), bodies.Health)


def test_without_an_authorizer_there_are_no_acls() -> None:
    with start(authorizer="none", in_process=True) as broker:
        with pytest.raises(BrokerError, match="no authorizer"):
            broker.acls.list()
        with pytest.raises(BrokerError, match="no authorizer"):
            broker.faults.deny()
        assert broker.state().acls == []


# the OpenAPI document


def test_the_document_is_valid_openapi(api: Http) -> None:
    status, found = api.ask("GET", "/openapi.json")
    assert status == 200
    validate(found)
    assert found == json.loads(msgspec.json.encode(openapi_document(found["info"]["version"])))


def test_every_route_is_in_the_document_and_has_a_unique_name() -> None:
    found = openapi_document("0")
    described = {(method.upper(), path) for path, item in found["paths"].items() for method in item}
    routes: list[Route[Any]] = [*BROKER_ROUTES, *ROUTES]
    assert described == {(route.method, route.path) for route in routes}
    names = [route.name for route in routes]
    assert len(set(names)) == len(names)


def test_calls_may_come_from_many_threads(broker: KafkaBroker) -> None:
    def many(name: str) -> None:
        for number in range(20):
            broker.topics.create(f"{name}-{number}")

    threads = [threading.Thread(target=many, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(broker.topics.list()) == 81
