"""Log-ins of a replay: connections do not wait for each other, sessions are the target's."""

import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_shim.client.client import Client, ClientError
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.shim.config import Config, SecurityProtocol, parse_address
from kafka_shim.trace_format.entries import Request
from kafka_shim.traces.replay.events import Event, Recording, TraceEvents
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import report_lines
from kafka_shim.traces.replay.target import Target
from tests.cli.conftest import PLAINTEXT, SASL, USERS, Running
from tests.shim.sasl.bearer_cases import unsecured
from tests.traces.replay.recorded_clients import SUPER_USERS, replay

SASL_PLAINTEXT = SecurityProtocol.SASL_PLAINTEXT
ADMIN = ClientConfig(SASL_PLAINTEXT, Login("PLAIN", "admin", "admin-secret"))
REJECTED = ClientConfig(SASL_PLAINTEXT, Login("PLAIN", "admin", "wrong"))
FAILURES = 8


MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")


def running(**properties: str) -> Running:
    return Running(
        Config(
            listeners=(PLAINTEXT, SASL),
            mechanisms=MECHANISMS,
            users=USERS,
            super_users=SUPER_USERS,
            properties=properties,
        )
    )


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record an idle connection of nobody, rejected users, and an admin who changes ACLs."""
    folder = tmp_path_factory.mktemp("trace")
    broker = running(**{"connection.failed.authentication.delay.ms": "0"})
    broker.record(folder)
    address = parse_address(broker.sasl, "")
    idle = Client(*address, ClientConfig(SecurityProtocol.PLAINTEXT))
    with Client(*address, ADMIN) as admin, idle:
        for number in range(FAILURES):
            with pytest.raises(ClientError):
                Client(*address, REJECTED)
            acl = (ResourceType.TOPIC, f"t{number}", PatternType.LITERAL, "User:alice", "*")
            created = AclCreation(*acl, Operation.READ, Permission.ALLOW)
            admin.send_request(ApiKey.CREATE_ACLS, CreateAclsRequest([created]))
    broker.stop()
    return folder


@pytest.fixture
def target() -> Iterator[Running]:
    broker = running(**{"connection.failed.authentication.delay.ms": "500"})
    yield broker
    broker.stop()


def test_nothing_waits_for_rejected_users_or_asks_on_idle_connections(
    trace: Path, target: Running
) -> None:
    start = time.monotonic()
    report = replay(trace, target.plaintext, target.sasl)
    assert report.matches_recording, "\n".join(report_lines(report))
    assert report.logins == 2 * (FAILURES + 1)
    assert time.monotonic() - start < FAILURES * 0.5 / 2


def test_each_mechanism_is_replayed_with_its_own(tmp_path: Path) -> None:
    """A rejected SCRAM exchange is rejected at its end, if the user exists."""
    now = datetime.now(UTC).timestamp()
    token = unsecured({"sub": "admin", "exp": now + 3600, "iat": now})
    recorded = running()
    recorded.record(tmp_path)
    for mechanism in MECHANISMS:
        secret = token if mechanism == "OAUTHBEARER" else "admin-secret"
        passwords = [secret] if mechanism == "OAUTHBEARER" else [secret, "wrong"]
        for password in passwords:
            with suppress(ClientError):
                config = ClientConfig(SASL_PLAINTEXT, Login(mechanism, "admin", password))
                with Client(*parse_address(recorded.sasl, ""), config) as client:
                    client.send_request(ApiKey.METADATA, MetadataRequest(topics=[]))
    recorded.stop()
    for mechanism in MECHANISMS:
        target = running(**{"sasl.enabled.mechanisms": ",".join(MECHANISMS)})
        secret = token if mechanism == "OAUTHBEARER" else "admin-secret"
        report = Replayer(
            Recording([*events_of(tmp_path, mechanism)], []),
            Target(parse_address(target.sasl, ""), users={"admin": secret}),
        ).replay()
        target.stop()
        text = "\n".join(report_lines(report))
        assert report.matches_recording, text
        assert report.logins >= 2, text
        assert report.responses >= 2, text  # ApiVersions and Metadata


def events_of(trace: Path, mechanism: str) -> Iterator[Event]:
    """Yield the events of the connections with this mechanism."""
    events = [*TraceEvents(trace)]
    connections = {
        event.connection_id
        for event in events
        if isinstance(event.entry, Request)
        and event.entry.api_key == ApiKey.SASL_HANDSHAKE
        and mechanism.encode() in event.entry.frame
    }
    yield from (event for event in events if event.connection_id in connections)


def test_a_session_is_renewed_when_the_targets_lifetime_of_it_ends(tmp_path: Path) -> None:
    """The recorded broker has no limit, so that the recorded client never logged in again."""
    recorded = running()
    recorded.record(tmp_path)
    client = Client(*parse_address(recorded.sasl, ""), ADMIN)
    login_1(client)
    for _ in range(6):
        client.send_request(ApiKey.METADATA, MetadataRequest(topics=[]))
        time.sleep(0.4)
    client.close()
    recorded.stop()
    target = running(**{"connections.max.reauth.ms": "1500"})
    report = replay(tmp_path, target.plaintext, target.sasl, speed=1.0)
    target.stop()
    assert report.matches_recording, "\n".join(report_lines(report))
    assert report.renewed_sessions == 1


def login_1(client: Client) -> None:
    """Check that the recorded log-in has a version whose response has a lifetime."""
    assert client.negotiated_version(ApiKey.SASL_AUTHENTICATE) >= 1
    client.send_request(ApiKey.API_VERSIONS, ApiVersionsRequest(), 0)
