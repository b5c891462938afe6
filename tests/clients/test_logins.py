"""Every client with every way to log in: allowed calls work, others are denied."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.clients.broker import FOREIGN, Bootstrap
from tests.clients.driver import ClientError, Driver, User, started
from tests.clients.drivers.json_lines import Login
from tests.clients.stage import Stage
from tests.clients.toolchains import (
    DRIVERS,
    WITH_TOOLS,
    go_driver,
    java_driver,
    java_tools_driver,
    kcat_driver,
    node_driver,
)
from tests.clients.workshop import KINDS, PASSWORD, USER, Workshop

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

TOPIC_AUTHORIZATION_FAILED = 29
VALUES = ["one", "two", "three"]
SECONDS = 20
SHARE_SECONDS = 40
"""A real broker first creates the fifty partitions of its share group state."""


class Client(NamedTuple):
    """A client under test, and the log-ins that it does not offer."""

    command: Callable[[Path], list[str]]
    without: tuple[str, ...] = ()


def _python(name: str) -> Callable[[Path], list[str]]:
    return lambda _: [sys.executable, str(DRIVERS / f"{name}_driver.py")]


TOKEN = "delegation token"
JAVA_WITH_TOOLS = f"java {WITH_TOOLS}"
CLIENTS = {
    "librdkafka": Client(_python("confluent_kafka"), (TOKEN,)),
    # kcat is often built with a librdkafka that sends a wrong nonce in SCRAM, which brokers reject
    # since 4.0. It gets signed tokens only from a token server.
    "kcat": Client(kcat_driver, (TOKEN, "OAUTHBEARER", "SCRAM-SHA-256", "SCRAM-SHA-512")),
    "kafka-python": Client(_python("kafka_python"), (TOKEN,)),
    "aiokafka": Client(_python("aiokafka"), (TOKEN,)),
    "kafkajs": Client(node_driver, (TOKEN,)),
    "franz-go": Client(go_driver),
    "java": Client(java_driver),
    JAVA_WITH_TOOLS: Client(java_tools_driver),
}


def _marks(client: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.heavy] if client == JAVA_WITH_TOOLS else []


@pytest.fixture(scope="module")
def drivers(
    bootstrap: Bootstrap, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Driver]]:
    """Yield a function from a client's name to its driver, started on the first call."""
    running: dict[str, Driver] = {}
    with contextlib.ExitStack() as stack:

        def driver_of(name: str) -> Driver:
            if name not in running:
                folder = tmp_path_factory.mktemp(name)
                command = CLIENTS[name].command(folder)
                running[name] = stack.enter_context(started(command, bootstrap, folder))
            return running[name]

        yield driver_of


@pytest.fixture
def driver(drivers: Callable[[str], Driver]) -> Driver:
    """Return the driver that prepares topics and ACLs; its client supports all calls."""
    return drivers("librdkafka")


@pytest.fixture(scope="module")
def logins(bootstrap: Bootstrap, workshop: Workshop) -> Callable[[str], User]:
    """Return a function from the kind of log-in to alice's log-in."""
    if not bootstrap.ssl:
        pytest.skip(f"the broker that {FOREIGN} names was not made for these log-ins")
    admin = AdminClient({"bootstrap.servers": bootstrap.plaintext})
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        stored = UserScramCredentialUpsertion(
            USER, ScramCredentialInfo(mechanism, 4096), PASSWORD.encode()
        )
        admin.alter_user_scram_credentials([stored])[USER].result(SECONDS)
    made: dict[str, Login] = {}

    def login_of(kind: str) -> Login:
        if kind not in made:
            made[kind] = workshop.login(kind, bootstrap.sasl_plaintext)
        return made[kind]

    return login_of


@pytest.mark.parametrize(
    ("client", "kind"),
    [
        pytest.param(name, kind, marks=_marks(name))
        for name, client in CLIENTS.items()
        for kind in KINDS
        if kind not in client.without
    ],
)
def test_a_client_logs_in_and_has_the_rights_of_its_user(
    drivers: Callable[[str], Driver],
    logins: Callable[[str], User],
    stage: Stage,
    client: str,
    kind: str,
) -> None:
    tested, login = drivers(client), logins(kind)
    topic, hidden, group = stage.topic(), stage.topic("hidden"), stage.group()
    stage.grant(USER, "READ", "GROUP", group)
    stage.grant(USER, "READ", "TOPIC", topic)
    stage.grant(USER, "WRITE", "TOPIC", topic)
    assert tested.produce(topic, VALUES, login) == [0, 1, 2]
    assert tested.consume(topic, group, len(VALUES), login) == VALUES
    with pytest.raises(ClientError) as denied:
        tested.produce(hidden, VALUES, login)
    assert denied.value.code == TOPIC_AUTHORIZATION_FAILED


@pytest.mark.parametrize("client", [pytest.param(name, marks=_marks(name)) for name in CLIENTS])
def test_a_client_works_without_a_log_in(
    drivers: Callable[[str], Driver], stage: Stage, client: str
) -> None:
    topic, group = stage.topic(), stage.group()
    assert drivers(client).produce(topic, VALUES, None, idempotent=True) == [0, 1, 2]
    assert drivers(client).consume(topic, group, len(VALUES), None) == VALUES


@pytest.fixture(
    params=[None, "mTLS", *(pytest.param(kind, marks=pytest.mark.heavy) for kind in KINDS[:-1])]
)
def who(request: pytest.FixtureRequest, logins: Callable[[str], User]) -> User:
    """Return alice's log-in of each kind, and None for the anonymous user."""
    return None if request.param is None else logins(request.param)


class TestJava:
    """Features that only Kafka's own client has."""

    @pytest.fixture(
        params=[pytest.param(name, marks=_marks(name)) for name in ("java", JAVA_WITH_TOOLS)]
    )
    def java(self, drivers: Callable[[str], Driver], request: pytest.FixtureRequest) -> Driver:
        return drivers(request.param)

    def test_a_consumer_of_the_new_protocol(self, java: Driver, stage: Stage, who: User) -> None:
        topic, group = stage.topic(), stage.group()
        stage.grant(USER, "READ", "GROUP", group)
        stage.grant(USER, "ALL", "TOPIC", topic)
        java.produce(topic, VALUES, who)
        assert java.consume(topic, group, len(VALUES), who, group_protocol="consumer") == VALUES

    def test_transactions(
        self, drivers: Callable[[str], Driver], java: Driver, stage: Stage, who: User
    ) -> None:
        topic, output, group = stage.topic(), stage.topic("output"), stage.group()
        stage.grant(USER, "ALL", "TOPIC", stage.name, pattern_type="PREFIXED")
        stage.grant(USER, "READ", "GROUP", group)
        stage.grant(USER, "WRITE", "TRANSACTIONAL_ID", stage.name)
        java.produce(topic, VALUES, who)
        copied = java.transact(topic, output, group, stage.name, len(VALUES), who)
        assert copied == ["ONE", "TWO", "THREE"]
        assert drivers("librdkafka").offset_fetch(group, topic, None) == {f"{topic}-0": 3}

    def test_a_share_consumer(self, java: Driver, stage: Stage, who: User) -> None:
        topic, group = stage.topic(), stage.group()
        stage.grant(USER, "READ", "GROUP", group)
        stage.grant(USER, "ALL", "TOPIC", topic)
        java.share_from_the_start(group)
        java.produce(topic, VALUES, who)
        read = java.share_consume(topic, group, len(VALUES), who, seconds=SHARE_SECONDS)
        assert read == [(value, 1) for value in VALUES]

    def test_the_word_count_of_streams(
        self, drivers: Callable[[str], Driver], stage: Stage, who: User
    ) -> None:
        topic, output, group = stage.topic(), stage.topic("output"), stage.group()
        stage.grant(USER, "ALL", "TOPIC", stage.name, pattern_type="PREFIXED")
        stage.grant(USER, "ALL", "GROUP", stage.name, pattern_type="PREFIXED")
        java = drivers("java")
        java.produce(topic, ["to be or", "not to be"], who)
        counted = drivers(JAVA_WITH_TOOLS).count_words(topic, output, group, 6, who)
        assert counted == {"be": 2, "not": 1, "or": 1, "to": 2}
        written = java.consume(output, f"{group}-reader", len(counted), who)
        assert len(written) >= len(counted)
