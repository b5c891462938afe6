"""Authorization checks of a real broker for requests whose accesses the pipeline derives.

`python -m tests.pipeline.real_accesses 4.3.1` records them again; it needs Java and Maven. The file
has the bytes of each request and response, and the decisions in the authorizer's log.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kafka_shim.client.client import Client
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.protocol.enums import ApiKey, PatternType, Permission
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.shim.config import SecurityProtocol
from kafka_shim.traces.importers.authorizer_log import parse_authorizer_log_line
from tests.oracle.real_kafka import PASSWORDS
from tests.pipeline.real_requests import GRANTS, Ask, asks, set_up
from tests.recordings.audit.recording import AuditedKafka

FOLDER = Path(__file__).parent / "real_accesses"
PRINCIPAL = "User:alice"
SETTLE_S = 2.0


class Decision(msgspec.Struct, frozen=True, array_like=True):
    """A line of the authorizer's log."""

    operation: str
    resource_type: str
    resource_name: str
    allowed: bool


class Exchange(msgspec.Struct):
    """A request and its response in hexadecimal, and the decisions for it."""

    name: str
    api: str
    version: int
    request: str
    response: str
    decisions: list[Decision]


class Recorded(msgspec.Struct):
    """The recording of a release; `topics` are the names of topics by id."""

    release: str
    topics: dict[str, str]
    exchanges: list[Exchange]


class TracedKafka(AuditedKafka):
    """A real broker that also logs denied probes."""

    level = "TRACE"


class RecordingClient(Client):
    """A client that keeps the last request and response."""

    sent = b""
    received = b""

    def _exchange(self, payload: bytes, what: str) -> bytes:
        self.sent, self.received = payload, b""
        self.received = super()._exchange(payload, what)
        return self.received


def recorded(release: str) -> Recorded:
    text = (FOLDER / f"{release}.json").read_bytes()
    return msgspec.json.decode(text, type=Recorded)


def record(release: str) -> None:
    kafka = TracedKafka(release)
    with kafka, RecordingClient("127.0.0.1", kafka.plain_port) as admin:
        set_up(admin)
        _grant(admin)
        time.sleep(SETTLE_S)
        metadata = admin.send_request(ApiKey.METADATA, MetadataRequest(topics=None))
        topics = {topic.topic_id.hex(): topic.name for topic in metadata.topics}
        ids = {name: bytes.fromhex(topic_id) for topic_id, name in topics.items()}
        exchanges = [_exchanged(kafka, ask) for ask in asks(ids)]
    FOLDER.mkdir(exist_ok=True)
    found = msgspec.json.format(msgspec.json.encode(Recorded(release, topics, exchanges)))
    (FOLDER / f"{release}.json").write_bytes(found + b"\n")


def _exchanged(kafka: TracedKafka, ask: Ask) -> Exchange:
    """Send a request as alice on a new connection; log lines that appear meanwhile belong to it."""
    login = Login("PLAIN", "alice", PASSWORDS["alice"])
    config = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, login)
    with RecordingClient("127.0.0.1", kafka.sasl_port, config) as alice:
        before = len(kafka.lines())
        version = alice.negotiated_version(ask.api) if ask.version is None else ask.version
        alice.send_request(ask.api, ask.request, version)
        time.sleep(0.3)
        decisions = list(_decisions(kafka.lines()[before:], ask.api))
        return Exchange(
            *(ask.name, ask.api.wire_name, version),
            *(alice.sent.hex(), alice.received.hex(), decisions),
        )


def _decisions(lines: list[str], api: ApiKey) -> Iterator[Decision]:
    for line in lines:
        found = parse_authorizer_log_line(line)
        if found is not None and found.principal == PRINCIPAL and found.api_key == api:
            yield Decision(
                found.operation.name, found.resource_type.name, found.resource_name, found.allowed
            )


def _grant(admin: Client) -> None:
    creations = [
        AclCreation(kind, name, PatternType.LITERAL, PRINCIPAL, "*", operation, Permission.ALLOW)
        for kind, names in GRANTS.items()
        for name, operations in names.items()
        for operation in operations
    ]
    created = admin.send_request(ApiKey.CREATE_ACLS, CreateAclsRequest(creations))
    assert {result.error_code for result in created.results} == {0}


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        record(wanted)
