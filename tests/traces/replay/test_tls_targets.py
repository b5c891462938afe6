"""A replay to a target with TLS: client certificates, each mechanism, and users of its own."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.client.client import Client
from kafka_shim.client.config import ClientConfig, Login, read_client_config
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.shim.config import Config, ListenerConfig, SecurityProtocol, parse_address
from kafka_shim.traces.replay.events import Recording, TraceEvents
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import ReplayReport, report_lines
from kafka_shim.traces.replay.target import OnUnreplayableRequest, Target
from tests.cli.conftest import PLAINTEXT, SASL, USERS, Running
from tests.shim.sasl.bearer_cases import unsecured
from tests.traces.replay.recorded_clients import SUPER_USERS

REQUESTS, LOGINS = 3 * 5, 4 + 6
"""What the recording has: ApiVersions and two further requests of each client, and what the four
authentications consist of, of which two have a second message."""
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
SSL, SASL_SSL = (
    ListenerConfig(protocol.value, protocol, "127.0.0.1", 0)
    for protocol in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)
)
TRUST = "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location={}/ca.pem\n"
CERTIFICATE = "ssl.keystore.type=PEM\nssl.keystore.location={}/client.pem\n"
OWN_USER = """\
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-256
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
  username="admin" password="admin-secret";
ssl.truststore.type=PEM
ssl.truststore.location={}/ca.pem
"""


def running(*listeners: ListenerConfig, **properties: str) -> Running:
    return Running(
        Config(
            listeners=listeners,
            mechanisms=MECHANISMS,
            users=USERS,
            super_users=(*SUPER_USERS, "User:client"),
            properties={"sasl.enabled.mechanisms": ",".join(MECHANISMS), **properties},
        )
    )


@pytest.fixture(scope="module")
def token() -> str:
    now = datetime.now(UTC).timestamp()
    return unsecured({"sub": "alice", "exp": now + 3600, "iat": now})


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory, token: str) -> Path:
    """Record a client that does not authenticate, and one of each mechanism, without TLS."""
    folder = tmp_path_factory.mktemp("trace")
    broker = running(PLAINTEXT, SASL)
    broker.record(folder)
    with Client(*parse_address(broker.plaintext, "")) as client:
        create_topic(client, "plain")
    for mechanism in MECHANISMS:
        user = ("alice", token) if mechanism == "OAUTHBEARER" else ("admin", "admin-secret")
        config = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, Login(mechanism, *user))
        with Client(*parse_address(broker.sasl, ""), config) as client:
            create_topic(client, mechanism)
    broker.stop()
    return folder


def create_topic(client: Client, name: str) -> None:
    topic = CreatableTopic(name, num_partitions=1, replication_factor=1)
    client.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest([topic]))
    client.send_request(ApiKey.METADATA, MetadataRequest(topics=[]))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("trustme")
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def target(certificates: Path) -> Iterator[Running]:
    """Run a broker whose clients need a certificate, on both listeners."""
    broker = running(
        SSL,
        SASL_SSL,
        **{
            "shim.tls.directory": str(certificates),
            "ssl.client.auth": "required",
            "listener.name.sasl_ssl.ssl.client.auth": "none",
            "ssl.principal.mapping.rules": "RULE:^CN=([^,]+).*$/$1/",
        },
    )
    yield broker
    broker.stop()


def replay(
    trace: Path, properties: str, certificates: Path, token: str, *addresses: str
) -> tuple[ReplayReport, str]:
    file = certificates / "client.properties"
    file.write_text(properties.replace("{}", str(certificates)))
    plain, sasl = (parse_address(address, "") for address in addresses)
    target = Target(
        plain,
        routes={"SASL_PLAINTEXT": sasl},
        users={"admin": "admin-secret", "alice": token},
        on_miss=OnUnreplayableRequest.SKIP,
        config=read_client_config(str(file)),
    )
    report = Replayer(Recording(TraceEvents(trace), []), target).replay()
    return report, "\n".join(report_lines(report))


def test_each_mechanism_authenticates_over_tls(
    trace: Path, target: Running, certificates: Path, token: str
) -> None:
    addresses = target.bootstrap("SSL"), target.bootstrap("SASL_SSL")
    report, text = replay(trace, TRUST + CERTIFICATE, certificates, token, *addresses)
    assert report.matches_recording, text
    assert (report.responses, report.logins) == (REQUESTS, LOGINS), text
    assert {"plain", "SCRAM-SHA-256"} <= {topic.name for topic in target.cluster.topics}


def test_a_missing_certificate_is_named(
    trace: Path, target: Running, certificates: Path, token: str
) -> None:
    """Users with a password need none, as the listener for them says."""
    addresses = target.bootstrap("SSL"), target.bootstrap("SASL_SSL")
    report, text = replay(trace, TRUST, certificates, token, *addresses)
    reasons = {reason for _, reason in report.unreplayable_requests}
    assert "CERTIFICATE_REQUIRED" in str(reasons).upper(), text
    assert report.logins == LOGINS


def test_clients_without_a_user_get_that_of_the_settings(
    trace: Path, target: Running, certificates: Path, token: str
) -> None:
    """The target has no listener on which nobody authenticates."""
    addresses = target.bootstrap("SASL_SSL"), target.bootstrap("SASL_SSL")
    report, text = replay(trace, OWN_USER, certificates, token, *addresses)
    assert report.unreplayable_count == 0, text
    assert (report.responses, report.logins) == (REQUESTS, LOGINS), text


def test_the_command_names_what_is_wrong_with_tls(
    trace: Path, target: Running, certificates: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["replay", str(trace), "--target", target.bootstrap("SSL"), "--no-login"]
    stranger = certificates / "stranger.properties"
    stranger.write_text("security.protocol=SSL\n")
    assert main([*words, "--target-config", str(stranger)]) == 1
    assert "no TLS with" in capsys.readouterr().out
    assert main([*words, "--target-config", str(certificates / "none")]) == 2
    assert "--target-config" in capsys.readouterr().err
    assert main(words) == 1  # without TLS
