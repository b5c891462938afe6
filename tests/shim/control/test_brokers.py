"""Many brokers in one process, created and removed over HTTP, each with its own state."""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from kafka_shim.shim.control import bodies, broker_bodies
from kafka_shim.testing import KafkaBroker
from tests.shim.control.creating import Create, Serving, client, produce
from tests.shim.control.plain_http import Http, fails, works
from tests.support.commands import is_listening, split

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]


def topics_of(row: Any) -> set[str]:
    return set(AdminClient(client(row)).list_topics(timeout=20).topics)


def is_open(peer: socket.socket) -> bool:
    peer.setblocking(False)
    try:
        return peer.recv(1) != b""
    except BlockingIOError:
        return True


def test_a_broker_is_created_and_removed(api: Http, create: Create) -> None:
    made = create(topics=["orders"])
    assert made["path"] == f"/brokers/{made['id']}"
    assert set(made["bootstrap_servers"]) == {"PLAINTEXT", "SASL_PLAINTEXT"}
    assert topics_of(made) == {"orders"}
    assert works(api.ask("GET", made["path"]), broker_bodies.BrokerRow).items() <= made.items()
    listed = works(api.ask("GET", "/brokers"), broker_bodies.BrokerRows)["brokers"]
    assert [row["id"] for row in listed] == ["first", made["id"]]
    works(api.ask("DELETE", made["path"]), bodies.SetupReport)
    assert not any(is_listening(address) for address in made["bootstrap_servers"].values())
    for method, path in ("GET", ""), ("DELETE", ""), ("GET", "/health"), ("POST", "/reset"):
        fails(api.ask(method, made["path"] + path), 404, f"unknown broker `{made['id']}`")
    for path in ("/inspector", "/inspector/topics.js", "/openapi.json"):
        fails(api.ask("GET", made["path"] + path), 404, f"unknown broker `{made['id']}`")


def test_brokers_share_nothing(api: Http, process: KafkaBroker, create: Create) -> None:
    first, second = create(topics=["orders"]), create(topics=["orders"])
    everybody = {"action": {"error": "TOPIC_AUTHORIZATION_FAILED"}, "match": {"api": "Produce"}}
    works(api.ask("POST", f"{first['path']}/faults", everybody), bodies.FaultRow)
    user = {"name": "alice", "password": "a"}
    works(api.ask("POST", f"{first['path']}/users", user), bodies.SetupReport)
    rule = {"principal": "User:alice", "allow": ["Write"], "topic": "orders"}
    works(api.ask("POST", f"{first['path']}/acls", {"acls": [rule]}), bodies.AclRows)
    number = works(api.ask("POST", f"{first['path']}/snapshots"), bodies.SnapshotRow)["id"]

    assert produce(client(second)) is None
    assert produce(client(first)) == "TOPIC_AUTHORIZATION_FAILED"
    seen = [
        len(api.ask("GET", f"{base}/requests?api=Produce")[1]["requests"])
        for base in (first["path"], second["path"], "")
    ]
    assert seen == [1, 1, 0]
    state = works(api.ask("GET", f"{second['path']}/state"), bodies.ClusterState)
    assert (state["users"], state["acls"]) == ([], [])
    assert state["topics"][0]["end_offsets"] == [1]
    fails(api.ask("POST", f"{second['path']}/snapshots/{number}/restore"), 404, "unknown snapshot")
    assert process.topics.list() == []
    assert process.state().users == ["admin"]


def test_a_reset_affects_one_broker_only(api: Http, create: Create) -> None:
    first, second = create(topics=["orders"]), create(topics=["orders"])
    for made in first, second:
        assert produce(client(made)) is None
    with closing(_connected(first)) as hung_up, closing(_connected(second)) as kept:
        works(api.ask("POST", f"{first['path']}/reset"), bodies.SetupReport)
        assert hung_up.recv(1) == b""
        assert is_open(kept)
    ends = [
        api.ask("GET", f"{made['path']}/topics")[1]["topics"][0]["end_offsets"]
        for made in (first, second)
    ]
    assert ends == [[0], [1]]


def test_the_first_broker_has_a_path_too(api: Http, process: KafkaBroker) -> None:
    process.topics.create("here")
    listed = works(api.ask("GET", "/brokers/first/topics"), bodies.TopicRows)["topics"]
    assert [row["name"] for row in listed] == ["here"]
    process.reset()
    fails(api.ask("DELETE", "/brokers/first"), 409, "`first` cannot be removed")


def test_a_port_in_use_is_a_conflict(api: Http, create: Create) -> None:
    taken = create(listeners=["PLAINTEXT://127.0.0.1:0"])["bootstrap_servers"]["PLAINTEXT"]
    body = {"listeners": ["SASL_PLAINTEXT://127.0.0.1:0", f"PLAINTEXT://{taken}"]}
    fails(api.ask("POST", "/brokers", body), 409, f"cannot listen on {taken}: address already in")
    assert len(api.ask("GET", "/brokers")[1]["brokers"]) == 2


def test_clients_of_a_removed_broker_are_disconnected(api: Http, create: Create) -> None:
    made, other = create(), create()
    peers = [_connected(row) for row in (made, made, other)]
    works(api.ask("DELETE", made["path"]), bodies.SetupReport)
    with closing(peers[0]), closing(peers[1]), closing(peers[2]):
        assert [peer.recv(1) for peer in peers[:2]] == [b"", b""]
        assert is_open(peers[2])


def _connected(row: Any) -> socket.socket:
    return socket.create_connection(split(row["bootstrap_servers"]["PLAINTEXT"]), 20)


def test_many_brokers_are_created_and_used_at_once(api: Http) -> None:
    def live(number: int) -> str | None:
        answer = api.ask("POST", "/brokers", {"topics": ["orders"]})
        made = works(answer, broker_bodies.CreatedBroker)
        outcome = produce(client(made))
        [topic] = api.ask("GET", f"{made['path']}/topics")[1]["topics"]
        assert topic["end_offsets"] == [1]
        works(api.ask("DELETE", made["path"]), bodies.SetupReport)
        return outcome

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(live, range(24))) == [None] * 24
    assert [row["id"] for row in api.ask("GET", "/brokers")[1]["brokers"]] == ["first"]


def test_an_id_requested_twice_at_once_is_given_once(api: Http) -> None:
    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(lambda _: api.ask("POST", "/brokers", {"id": "x"}), range(8)))
    assert sorted(status for status, _ in responses) == [200] + [409] * 7


def test_calls_need_the_token_below_the_base_path_too(tmp_path: Path) -> None:
    words = ["--control", "127.0.0.1:0", "--control-token", "t", "--ready-file", "ready"]
    with Serving(tmp_path, *words) as api:
        fails(api.ask("POST", "/brokers", {}), 401, "control token")
        known = {"Authorization": "Bearer t"}
        made = works(api.ask("POST", "/brokers", {}, **known), broker_bodies.CreatedBroker)
        fails(api.ask("GET", f"{made['path']}/topics"), 401, "control token")
        works(api.ask("GET", f"{made['path']}/topics", **known), bodies.TopicRows)


def test_without_open_files_creation_fails_and_brokers_continue(tmp_path: Path) -> None:
    words = ["--control", "127.0.0.1:0", "--ready-file", "ready"]
    with Serving(tmp_path, *words, limit=64) as api:
        made = []
        while (response := api.ask("POST", "/brokers", {"brokers": 5}))[0] == 200:
            made.append(response[1])
        fails(response, 409, "too many open files")
        assert 1 < len(made) < 6
        for row in made:
            works(api.ask("DELETE", row["path"]), bodies.SetupReport)
        works(api.ask("POST", "/brokers", {"brokers": 5}), broker_bodies.CreatedBroker)


def test_clients_of_a_removed_broker_cannot_reach_another_one(create: Create, api: Http) -> None:
    """Clients of a removed broker never get responses of another one."""
    made = create()
    admin = AdminClient(client(made))
    admin.list_topics(timeout=20)
    works(api.ask("DELETE", made["path"]), bodies.SetupReport)
    create()
    with pytest.raises(KafkaException):
        admin.list_topics(timeout=0.5)
