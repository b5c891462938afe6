"""Settings of brokers created with POST /brokers, and settings that it rejects."""

import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kafka_shim.shim.control import bodies, broker_bodies
from tests.shim.control.creating import Create, Serving, client, produce
from tests.shim.control.plain_http import Http, fails, works

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]


def test_settings_are_those_of_the_body(api: Http, create: Create) -> None:
    made = create(
        id="mine",
        kafka_version="2.7",
        brokers=3,
        first_broker_id=7,
        racks=["a", "b", "c"],
        users={"alice": "secret"},
        super_users=["User:ANONYMOUS", "User:root"],
        topics={"orders": {"partitions": 2, "configs": {"retention.ms": 60000}}},
        acls=[{"principal": "User:alice", "allow": ["Write"], "topic": "orders"}],
        faults=[{"action": {"error": "REQUEST_TIMED_OUT"}, "match": {"api": "Heartbeat"}}],
        properties={"num.partitions": "4"},
        manual_clock=True,
    )
    assert (made["id"], made["path"], made["release"]) == ("mine", "/brokers/mine", "2.7")
    assert all(servers.count(",") == 2 for servers in made["bootstrap_servers"].values())
    state = works(api.ask("GET", "/brokers/mine/state"), bodies.ClusterState)
    assert state["users"] == ["alice"]
    assert state["super_users"] == ["User:ANONYMOUS", "User:root"]
    assert [acl["operation"] for acl in state["acls"]] == ["WRITE"]
    [topic] = state["topics"]
    assert (topic["partitions"], topic["configs"]) == (2, {"retention.ms": "60000"})
    nodes = works(api.ask("GET", "/brokers/mine/nodes"), bodies.NodeRows)["nodes"]
    assert [node["node_id"] for node in nodes] == [7, 8, 9]
    assert len(works(api.ask("GET", "/brokers/mine/faults"), bodies.FaultRows)["faults"]) == 1
    assert produce(client(made), "automatic") is None
    listed = works(api.ask("GET", "/brokers/mine/topics"), bodies.TopicRows)["topics"]
    assert {row["name"]: row["partitions"] for row in listed} == {"orders": 2, "automatic": 4}
    now = works(api.ask("GET", "/brokers/mine/clock"), bodies.ClusterTime)
    moved = works(api.ask("POST", "/brokers/mine/clock/advance", {"by_ms": 9}), bodies.ClusterTime)
    assert (now["is_manual"], moved["now_ms"] - now["now_ms"]) == (True, 9)
    assert works(api.ask("GET", "/clock"), bodies.ClusterTime)["is_manual"] is False


def test_by_default_anonymous_is_a_super_user_and_users_need_acls(create: Create) -> None:
    made = create(
        users={"alice": "a", "bob": "b"},
        topics=["orders"],
        acls=[{"principal": "User:alice", "allow": "Write", "topic": "orders"}],
    )
    assert produce(client(made)) is None
    assert produce(client(made, "alice", "a")) is None
    assert produce(client(made, "bob", "b")) == "TOPIC_AUTHORIZATION_FAILED"


def test_initial_acls_are_not_delayed(api: Http, create: Create) -> None:
    made = create(
        users={"alice": "a"},
        topics=["orders"],
        acls=[{"principal": "User:alice", "allow": "Write", "topic": "orders"}],
        acl_propagation_delay=60_000,
    )
    number = works(api.ask("POST", f"{made['path']}/snapshots"), bodies.SnapshotRow)["id"]
    for path in "reset", f"snapshots/{number}/restore":
        assert produce(client(made, "alice", "a")) is None
        works(api.ask("POST", f"{made['path']}/{path}"), bodies.SetupReport)
    assert produce(client(made, "alice", "a")) is None


def test_listeners_can_be_chosen(create: Create) -> None:
    made = create(listeners=["PLAINTEXT://127.0.0.1:0"], topics=["orders"])
    assert set(made["bootstrap_servers"]) == {"PLAINTEXT"}
    assert produce(client(made)) is None  # a listener alone keeps the default super users
    for more, error in (
        ({"authorizer": "standard"}, "TOPIC_AUTHORIZATION_FAILED"),
        ({"authorizer": "none"}, None),
    ):
        other = create(listeners=["PLAINTEXT://127.0.0.1:0"], topics=["orders"], **more)
        assert produce(client(other)) == error


def test_super_users_and_principals_are_those_named(create: Create) -> None:
    rule = {"principal": "User:ci", "allow": "Write", "topic": "orders"}
    principals = {"PLAINTEXT": "User:ci"}
    made = create(topics=["orders"], acls=[rule], listener_principals=principals)
    assert produce(client(made)) is None
    nobody = create(topics=["orders"], super_users=[])
    assert produce(client(nobody)) == "TOPIC_AUTHORIZATION_FAILED"


def test_client_metrics_are_accepted_on_request(api: Http, create: Create) -> None:
    for made, is_asked in (create(client_telemetry=True), True), (create(), False):
        producer = Producer(client(made))
        producer.list_topics(timeout=20)
        path = f"{made['path']}/requests?api=GetTelemetrySubscriptions"
        deadline = time.monotonic() + (20 if is_asked else 0.5)
        while not (rows := api.ask("GET", path)[1]["requests"]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert bool(rows) == is_asked


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({"id": "first"}, 409, "`first` already exists"),
        ({"id": "../x"}, 400, "$.id"),
        ({"id": ""}, 400, "$.id"),
        ({"brokers": 0}, 400, "$.brokers"),
        ({"brokers": 101}, 400, "$.brokers"),
        ({"kafka_version": "9.9"}, 400, "unknown Kafka release `9.9`"),
        ({"kafka_versoin": "3.9"}, 400, "key `kafka_versoin`; did you mean `kafka_version`?"),
        ({"listeners": []}, 400, "listeners is empty"),
        ({"listeners": ["PLAIN://x:1"]}, 400, "`PLAIN` is not one of"),
        ({"listeners": ["SSL://127.0.0.1:0"]}, 400, "a TLS listener needs a certificate"),
        ({"qqq": 1}, 400, "invalid body: unknown key `qqq`; expected id, kafka_version, "),
        ({"topics": {"a b": 1}}, 400, "a b"),
        ({"topics": {"a": {"partitons": 1}}}, 400, "unknown key `partitons`"),
        ({"racks": ["a", "b"], "brokers": 3}, 400, "2 racks (a, b) for 3 brokers"),
        ({"listener_principals": {"SSL": "User:a"}}, 400, "no listener is named SSL"),
        ({"listener_principals": {"PLAINTEXT": "a"}}, 400, "is not of the form Type:name"),
        ({"acl_propagation_delay": -1}, 400, "$.acl_propagation_delay"),
        ({"users": {"alice": ""}}, 400, "`users.alice`"),
        ({"super_users": ["root"]}, 400, "`root` is not of the form Type:name"),
        ({"acls": [{"principal": "User:x"}]}, 400, "expected exactly one resource"),
        ({"acls": [{"principal": "User:x", "allow": "Read", "topic": "t"}], "authorizer": "none"},
         400, "the broker has no authorizer"),
        ({"faults": [{"action": {"eror": 1}}]}, 400, "eror"),
        ({"authorizer": "os:path"}, 400, "expected standard, none, or the class"),
        ({"properties": {"authorizer.class.name": "os:path"}}, 400, "expected standard, none"),
        ({"properties": {"shim.tls.directory": "/tmp/x"}}, 400, "shim.tls.directory cannot be set"),
        ({"properties": {"num.partitions": "many"}}, 400, "num.partitions"),
        ({"properties": {"principal.builder.class": "a.B"}}, 400, "decides which principal"),
        ({"properties": {"process.roles": "controller"}}, 400, "a controller alone"),
        (
            {"properties": {"port": "many"}, "kafka_version": "2.8"},
            400,
            "invalid port `many`: must be between 0 and 65535",
        ),
        ([], 400, "invalid body"),
    ],
)  # fmt: skip
def test_impossible_brokers_are_rejected(api: Http, body: Any, status: int, text: str) -> None:
    before = api.ask("GET", "/brokers")
    response = api.ask("POST", "/brokers", body)
    fails(response, status, text)
    assert "\n" not in response[1]["error"]
    assert api.ask("GET", "/brokers") == before


def test_certificates_are_signed_by_the_authority_of_the_process(tmp_path: Path) -> None:
    words = ["--control", "127.0.0.1:0", "--ready-file", "ready", "--tls-dir", "tls"]
    with Serving(tmp_path, *words) as api:
        body = {"listeners": ["SSL://127.0.0.1:0"], "authorizer": "none", "topics": ["orders"]}
        for _ in range(2):
            made = works(api.ask("POST", "/brokers", body), broker_bodies.CreatedBroker)
            config = {
                "bootstrap.servers": made["bootstrap_servers"]["SSL"],
                "security.protocol": "SSL",
                "ssl.ca.location": str(tmp_path / "tls" / "ca.pem"),
            }
            assert produce(config) is None
        other = {"properties": {"shim.tls.directory": "elsewhere"}}
        fails(api.ask("POST", "/brokers", other), 400, "shim.tls.directory cannot be set here")
