"""The authorizer logs of real brokers, one file per release."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Protocol

import msgspec

from kafka_shim.client.client import connect
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.config import SecurityProtocol
from tests.oracle.real_kafka import PASSWORDS, RealKafka, fetched, numbers
from tests.recordings.recorder import Kind
from tests.recordings.store import Recordings

LINES = "lines"
"""The name of the only scenario."""
GROUP = "a:b c"
"""A group name with the separators that log lines use."""
TRANSACTIONAL = "tx"

_LOG4J = ("org.slf4j", "slf4j-log4j12", "1.7.30")
_OTHERS = ("slf4j-nop", "slf4j-log4j12", "slf4j-reload4j", "slf4j-api", "log4j-1")
_SETTINGS = """log4j.rootLogger=OFF
log4j.logger.kafka.authorizer.logger={}, out
log4j.appender.out=org.apache.log4j.FileAppender
log4j.appender.out.file=audit.log
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


class AuditedKafka(RealKafka):
    """A real broker that writes the authorizer's log, in the layout of Kafka's log4j.properties.

    With `level` TRACE it also logs denied probes. `loggers` are settings of further logs.
    """

    level = "DEBUG"
    loggers = ""

    def _java(self, libs: Path, main: str, argument: str, *options: str) -> None:
        if main != "kafka.Kafka":  # ZooKeeper runs in another folder
            super()._java(libs, main, argument, *options)
            return
        (self.folder / "log4j.properties").write_text(_SETTINGS.format(self.level) + self.loggers)
        own = self.folder / "libs"
        own.mkdir()
        kept = [jar for jar in libs.iterdir() if not jar.name.startswith(_OTHERS)]
        for jar in (*kept, *fetched("log4j", [_LOG4J]).iterdir()):
            (own / jar.name).symlink_to(jar)
        super()._java(own, main, argument, *options, "-Dlog4j.configuration=file:log4j.properties")

    def lines(self) -> list[str]:
        return (self.folder / "audit.log").read_text().splitlines()


class Audited(Protocol):
    """A broker with users that writes an authorizer log; addresses are `host:port`."""

    @property
    def release(self) -> str: ...
    @property
    def plain(self) -> str: ...
    @property
    def sasl(self) -> str: ...


def recorded(release: str) -> list[str]:
    """Return the recorded log lines of a release about alice."""
    return msgspec.json.decode(KIND.recordings.written(release)[LINES], type=list[str])


def play(kafka: Audited) -> None:
    """Let alice use a group, and be denied a topic, a transactional id and the cluster."""
    patterns = [(ResourceType.GROUP, GROUP, PatternType.LITERAL, Permission.ALLOW)]
    if numbers(kafka.release) >= (2,):
        patterns.append((ResourceType.TOPIC, "au", PatternType.PREFIXED, Permission.DENY))
    acls = [
        AclCreation(kind, name, pattern, "User:alice", "*", Operation.READ, permission)
        for kind, name, pattern, permission in patterns
    ]
    with connect(kafka.plain) as admin:
        created = admin.send_request(ApiKey.CREATE_ACLS, CreateAclsRequest(acls))
        assert {result.error_code for result in created.results} == {0}
    login = Login("PLAIN", "alice", PASSWORDS["alice"])
    with connect(kafka.sasl, ClientConfig(SecurityProtocol.SASL_PLAINTEXT, login)) as alice:
        topic = MetadataRequest(topics=[MetadataRequestTopic(name="audited")])
        alice.send_request(ApiKey.METADATA, topic)
        for kind, name in ((0, GROUP), (1, TRANSACTIONAL)):
            alice.send_request(ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(name, kind), 1)
        alice.send_request(ApiKey.CREATE_ACLS, CreateAclsRequest(acls))


def played(name: str, kafka: AuditedKafka) -> list[str]:
    """Play the scenario; return the log lines about alice."""
    play(kafka)
    return [line for line in kafka.lines() if "User:alice" in line.partition(" is ")[0]]


class LogRecordings(Recordings):
    """Recordings that are log files, stored unchanged."""

    @staticmethod
    def pack(responses: Mapping[str, Any]) -> bytes:
        return "".join(f"{line}\n" for line in responses[LINES]).encode()

    @staticmethod
    def unpack(content: bytes) -> dict[str, msgspec.Raw]:
        lines = content.decode().splitlines()
        return {LINES: msgspec.Raw(msgspec.json.encode(lines))}


KIND = Kind(
    LogRecordings(Path(__file__).parent / "recorded", ".txt"),
    lambda release: [LINES],
    played,
    mode="authorizer",
    start=AuditedKafka,
    connect=nullcontext,
)
RELEASES = KIND.recordings.releases()
