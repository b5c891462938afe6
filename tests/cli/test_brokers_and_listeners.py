"""Broker ids, racks, and names and addresses of listeners, as real clients see them."""

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic
from kafka import KafkaAdminClient

from kafka_shim.shim.config import ListenerConfig, SecurityProtocol
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.kafka_properties import translate_settings
from tests.cli.conftest import Running
from tests.cli.test_defaults import make
from tests.support.commands import SHIM, environment

pytestmark = pytest.mark.client

Serving = Callable[..., tuple[str, list[str]]]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serving]:
    """Return a function that starts `serve`, and returns its bootstrap servers and output."""
    children = []

    def starting(*words: str) -> tuple[str, list[str]]:
        ready = tmp_path / "ready"
        child = subprocess.Popen(
            [*SHIM, "serve", *words, "--ready-file", str(ready)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
        )  # fmt: skip
        children.append(child)
        deadline = time.monotonic() + 20
        while not ready.exists() and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.02)
        assert child.stdout is not None
        assert ready.exists(), child.stderr and child.stderr.read()
        lines: list[str] = []
        while not lines or not lines[-1].startswith("[KafkaServer"):
            lines.append(child.stdout.readline().strip())
        found = [line.split("=", 1) for line in ready.read_text().splitlines()]
        return ",".join(address for name, address in found if name == found[0][0]), lines

    yield starting
    for child in children:
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=10)


OPEN = ("--listener", "PLAINTEXT://127.0.0.1:0", "--super-user", "User:ANONYMOUS")


def test_brokers_have_the_given_ids_and_racks(serve: Serving) -> None:
    words = ("--brokers", "3", "--first-broker-id", "0", "--rack", "a,b", "--rack", "c")
    servers, lines = serve(*OPEN, *words)
    assert lines[-1].startswith("[KafkaServer id=0] started")
    admin = KafkaAdminClient(bootstrap_servers=servers.split(","))
    described = admin.describe_cluster()
    racks = {broker["broker_id"]: broker["rack"] for broker in described["brokers"]}
    assert racks == {0: "a", 1: "b", 2: "c"}
    assert described["controller_id"] == 0
    admin.close()


def test_each_broker_has_the_listed_port_of_each_listener(serve: Serving) -> None:
    """As in kafkactl's compose file: neighbouring ranges would collide."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(6)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    plain, host = ports[:3], ports[3:]
    servers, _ = serve(
        "--brokers", "3", "--super-user", "User:ANONYMOUS",
        "-c", "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,HOST:PLAINTEXT",
        "--listener", f"PLAINTEXT://127.0.0.1:{','.join(map(str, plain))}",
        "--listener", f"HOST://127.0.0.1:{','.join(map(str, host))}",
    )  # fmt: skip
    assert servers == ",".join(f"127.0.0.1:{port}" for port in plain)
    admin = KafkaAdminClient(bootstrap_servers=f"127.0.0.1:{host[2]}")
    brokers = admin.describe_cluster()["brokers"]
    assert {each["broker_id"]: each["port"] for each in brokers} == dict(enumerate(host, 1))
    admin.close()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--listener", "PLAINTEXT://127.0.0.1:19092", "--listener", "SSL://127.0.0.1:19093"),
            "listener SSL of broker 1 and listener PLAINTEXT of broker 2 have the same port 19093",
        ),
        (
            ("--listener", "PLAINTEXT://127.0.0.1:19092,29092"),
            "listener PLAINTEXT: 2 ports for 3 brokers: expected one for each broker",
        ),
    ],
)
def test_colliding_or_missing_ports_are_reported(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        make("--brokers", "3", *words)
    assert message in str(error.value)


def test_leaders_settings_and_coordinators_have_the_given_ids(serve: Serving) -> None:
    servers, _ = serve(*OPEN, "--brokers", "3", "--first-broker-id", "0", "--rack", "r")
    admin = AdminClient({"bootstrap.servers": servers})
    [made] = admin.create_topics([NewTopic("orders", 6, 3)]).values()
    made.result(10)
    metadata = admin.list_topics("orders", timeout=10)
    partitions = metadata.topics["orders"].partitions.values()
    assert set(metadata.brokers) == {0, 1, 2}
    assert {partition.leader for partition in partitions} == {0, 1, 2}
    assert all(sorted(partition.replicas) == [0, 1, 2] for partition in partitions)
    for node_id in metadata.brokers:
        resource = ConfigResource(ConfigResource.Type.BROKER, str(node_id))
        [described] = admin.describe_configs([resource]).values()
        found = {name: entry.value for name, entry in described.result(10).items()}
        assert (found["node.id"], found["broker.id"], found["broker.rack"]) == (
            *(str(node_id), str(node_id)),
            "r",
        )
    producer = Producer({"bootstrap.servers": servers})
    for index in range(6):
        producer.produce("orders", b"x", partition=index)
    assert producer.flush(10) == 0
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["orders"])
    deadline, read = time.monotonic() + 20, 0
    while read < 6 and time.monotonic() < deadline:
        message = consumer.poll(1)
        read += message is not None and message.error() is None
    consumer.commit(asynchronous=False)
    consumer.close()
    assert read == 6
    [group] = admin.describe_consumer_groups(["g"]).values()
    assert group.result(10).coordinator.id in (0, 1, 2)


def test_node_id_and_rack_are_read_from_server_properties(serve: Serving, tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("node.id=7\nbroker.rack=east\nlisteners=PLAINTEXT://127.0.0.1:0\n")
    servers, lines = serve("--config", str(path))
    assert lines[-1].startswith("[KafkaServer id=7] started")
    admin = KafkaAdminClient(bootstrap_servers=servers)
    [broker] = admin.describe_cluster()["brokers"]
    assert (broker["broker_id"], broker["rack"]) == (7, "east")
    admin.close()


@pytest.mark.parametrize(
    ("words", "environ", "expected"),
    [
        ((), {}, (1, ())),  # as in Kafka's default server.properties
        ((), {"KAFKA_NODE_ID": "4", "KAFKA_BROKER_RACK": "r"}, (4, ("r",))),
        ((), {"KAFKA_BROKER_ID": "0"}, (0, ())),
        ((), {"KAFKA_BROKER_ID": "-1"}, (1001, ())),
        ((), {"KAFKA_BROKER_ID": "-1", "KAFKA_RESERVED_BROKER_MAX_ID": "9"}, (10, ())),
        ((), {"KAFKA_BROKER_ID": "2", "KAFKA_NODE_ID": "2"}, (2, ())),
        (("--first-broker-id", "3", "--rack", "t"), {"KAFKA_NODE_ID": "4"}, (3, ("t",))),
        (("-c", "node.id=5", "-c", "broker.rack=s"), {"KAFKA_NODE_ID": "4"}, (5, ("s",))),
    ],
)
def test_ids_and_racks_are_taken_from_options_environment_or_settings(
    words: tuple[str, ...], environ: dict[str, str], expected: tuple[int, tuple[str, ...]]
) -> None:
    config = make(*words, **environ)
    assert (config.first_broker_id, config.racks) == expected


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--first-broker-id -1", "invalid id -1 of the first broker: must be between 0 and"),
        ("--first-broker-id 2147483647", "invalid id 2147483647"),
        ("--rack a,b --brokers 3", "2 racks (a, b) for 3 brokers: expected one for each broker"),
        ("--rack a,,b --brokers 3", "--rack `a,,b`: a rack without a name"),
        ("-c node.id=x", "--broker-config: invalid node.id `x`: must be between 0 and"),
        ("-c node.id=-1", "--broker-config: invalid node.id `-1`"),
        ("-c node.id=1 -c broker.id=2", "node.id and broker.id must be the same"),
        ("--listener CLIENT://127.0.0.1:0", "`CLIENT` is not one of PLAINTEXT, SASL_PLAINTEXT"),
        ("--listener CLIENT://127.0.0.1:0", "-c listener.security.protocol.map=CLIENT:SASL"),
        ("--listener CLIENT://127.0.0.1:0 -c listener.security.protocol.map=CLIENT:TLS",
         "listener.security.protocol.map: invalid entry `CLIENT:TLS`; expected NAME:PROTOCOL"),
        ("--listener ://127.0.0.1:0", "expected NAME://HOST:PORT"),
    ],
)  # fmt: skip
def test_impossible_ids_and_racks_are_reported(words: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(complaint)):
        make(*words.split())


def test_broker_rack_may_list_the_racks_of_several_brokers() -> None:
    found = translate_settings({"broker.rack": "a, b"}, {}, "here").config_fields
    assert found == {"racks": ("a", "b")}


def test_ports_do_not_depend_on_the_first_broker_id(serve: Serving) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ("--listener", f"PLAINTEXT://127.0.0.1:{port}", "--first-broker-id", "100")
    servers, _ = serve(*words)
    assert servers == f"127.0.0.1:{port}"


def test_localhost_is_advertised_as_localhost(serve: Serving) -> None:
    words = ("--listener", "PLAINTEXT://localhost:0", "--super-user", "User:ANONYMOUS")
    servers, lines = serve(*words)
    assert re.fullmatch(r"localhost:\d+", servers)
    assert lines[0] == f"listening on PLAINTEXT://{servers}"
    [broker] = AdminClient({"bootstrap.servers": servers}).list_topics(timeout=10).brokers.values()
    assert f"{broker.host}:{broker.port}" == servers


@pytest.mark.skipif(not socket.has_ipv6, reason="this Python is built without IPv6")
def test_a_host_with_two_addresses_listens_on_one_port(
    start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = socket.getaddrinfo

    def both(host: Any, *more: Any) -> Any:
        hosts = ("127.0.0.1", "::1") if host == "localhost" else (host,)
        return [found for host in hosts for found in original(host, *more)]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    listener = ListenerConfig("PLAINTEXT", SecurityProtocol.PLAINTEXT, "localhost", 0)
    running = start(listeners=(listener,))
    host, _, port = running.plaintext.partition(":")
    assert host == "localhost"
    for address in ("127.0.0.1", "::1"):
        socket.create_connection((address, int(port)), 5).close()


def test_advertised_addresses_are_printed_too(serve: Serving) -> None:
    told = "advertised.listeners=PLAINTEXT://kafka.example:9094"
    _, lines = serve(*OPEN, "--listener", "SASL_PLAINTEXT://127.0.0.1:0", "-c", told)
    first = r"listening on PLAINTEXT://127\.0\.0\.1:\d+, advertised as kafka\.example:9094"
    assert re.fullmatch(first, lines[0])
    assert re.fullmatch(r"listening on SASL_PLAINTEXT://127\.0\.0\.1:\d+", lines[1])


def test_settings_of_clients_are_printed_for_each_listener(serve: Serving, tmp_path: Path) -> None:
    """They connect a client; only name and password are missing."""
    words = ("--listener", "SASL_SSL://127.0.0.1:0", "--tls-dir", str(tmp_path))
    users = ("--user", "alice:alice-secret", "--super-user", "User:alice")
    _, lines = serve(*OPEN, *words, *users)
    printed = [line.partition("settings of clients: ") for line in lines]
    plain, secure = (dict(re.findall(r"(\S+?)=(\S+)", text)) for _, found, text in printed if found)
    assert plain["security.protocol"] == "PLAINTEXT"
    authority = {"ssl.ca.location": secure.pop("ssl.truststore.location")}
    assert secure.pop("ssl.truststore.type") == "PEM"
    login = {"sasl.username": "alice", "sasl.password": "alice-secret"}
    for settings in (plain, secure | authority | login):
        assert AdminClient(settings).list_topics(timeout=10).brokers


def test_settings_have_listeners_and_advertised_addresses(
    start: Callable[..., Running],
) -> None:
    listener = ListenerConfig(
        "PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 0, advertised=("kafka.example", 9094)
    )
    cluster = start(listeners=(listener,)).cluster
    bound = cluster.configs.effective_broker_value("listeners")
    assert bound is not None
    assert bound.startswith("PLAINTEXT://127.0.0.1:")
    advertised = cluster.configs.effective_broker_value("advertised.listeners")
    assert advertised == "PLAINTEXT://kafka.example:9094"


def test_an_advertised_port_0_becomes_the_bound_port(start: Callable[..., Running]) -> None:
    listener = ListenerConfig(
        "PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 0, advertised=("localhost", 0)
    )
    running = start(listeners=(listener,), brokers=2)
    for node in running.cluster.nodes.values():
        _, port = node.bound["PLAINTEXT"]
        assert node.endpoints["PLAINTEXT"] == ("localhost", port)
        assert port


CUSTOM = """
import os
from confluent_kafka.admin import AdminClient
admin = AdminClient({
    "bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS_CLIENT"],
    "security.protocol": os.environ["KAFKA_SECURITY_PROTOCOL_CLIENT"],
    "sasl.mechanism": os.environ["KAFKA_SASL_MECHANISM_CLIENT"],
    "sasl.username": "alice", "sasl.password": "secret",
})
print(list(admin.list_topics(timeout=10).topics))
"""


def test_a_listener_may_have_any_name() -> None:
    words = ["--listener", "CLIENT://127.0.0.1:0", "--user", "alice:secret", "--topic", "orders"]
    words += ["-c", "listener.security.protocol.map=CLIENT:SASL_PLAINTEXT"]
    command = [*SHIM, "run", *words, "--super-user", "User:alice", "--", sys.executable]
    done = subprocess.run(
        [*command, "-c", CUSTOM],
        capture_output=True, text=True, timeout=60, check=False, env=environment(),
    )  # fmt: skip
    assert done.stdout == "['orders']\n", done.stderr
    assert "note:" not in done.stderr


def test_the_protocol_map_may_come_from_the_environment() -> None:
    environ = {"KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "client:SASL_SSL"}
    [listener] = make("--listener", "CLIENT://127.0.0.1:0", **environ).listeners
    assert listener.protocol is SecurityProtocol.SASL_SSL
