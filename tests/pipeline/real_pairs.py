"""Pairs of requests with different decisions but equal responses of a real broker.

`python -m tests.pipeline.real_pairs 4.3.1` records them again; it needs Java and Maven. Each pair
proves that messages do not determine a decision, since its halves look the same. They are sent by
two principals, or to two brokers; the second broker creates no topics and has no topic `hidden`.
"""

import sys
import time
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any, Final

import msgspec

from kafka_shim.authorizer.decide import PROBED_NAME
from kafka_shim.authorizer.model import WILDCARD
from kafka_shim.client.client import Client
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.protocol.enums import (
    CLUSTER_NAME,
    ApiKey,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.records.batches import BatchOptions, Record, encode_batch
from kafka_shim.shim.config import SecurityProtocol
from kafka_shim.traces.importers.authorizer_log import parse_authorizer_log_line
from tests.oracle.real_kafka import PASSWORDS
from tests.pipeline.real_accesses import FOLDER, RecordingClient
from tests.recordings.traffic.recording import REQUEST_LOG, LoggingKafka

NAME: Final = "{}-pairs.json"
SETTLE_S = 2.0
ALICE, BOB, CAROL = "alice", "bob", "carol"
TOPICS = ("there", "kept", "sent", "hidden")
WRITER = "writer"
CREATES_NOTHING = MappingProxyType({"auto.create.topics.enable": "false"})
COUNTED = frozenset({"producer_id", "base_offset", "brokers", "cluster_id", "topic_id"})
"""Fields with generated ids and addresses, which are independent of decisions."""

Op = Operation
_TOPIC, _CLUSTER, _TRANSACTION = (
    ResourceType.TOPIC,
    ResourceType.CLUSTER,
    ResourceType.TRANSACTIONAL_ID,
)
GRANTS: dict[str, dict[tuple[ResourceType, str], tuple[Operation, ...]]] = {
    ALICE: {
        (_TOPIC, "new"): (Op.CREATE,),
        (_TOPIC, "there"): (Op.CREATE,),
        (_TOPIC, "gone"): (Op.DESCRIBE,),
        (_TOPIC, "auto"): (Op.DESCRIBE, Op.CREATE),
        (_TOPIC, "sent"): (Op.WRITE,),
        (_TRANSACTION, WRITER): (Op.WRITE,),
        (_CLUSTER, CLUSTER_NAME): (Op.IDEMPOTENT_WRITE, Op.CLUSTER_ACTION),
    },
    BOB: {
        (_TOPIC, "new"): (Op.CREATE, Op.DESCRIBE_CONFIGS),
        (_TOPIC, "there"): (Op.CREATE, Op.DESCRIBE_CONFIGS, Op.DESCRIBE),
        (_TOPIC, "closed"): (Op.DESCRIBE_CONFIGS,),
        (_TOPIC, "kept"): (Op.DESCRIBE,),
        (_TOPIC, "gone"): (Op.DELETE,),
        (_TOPIC, "nowhere"): (Op.DESCRIBE,),
        (_TOPIC, "sent"): (Op.WRITE,),
    },
    CAROL: {(_CLUSTER, CLUSTER_NAME): (Op.CREATE, Op.DELETE)},
}


class Decided(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A line of the authorizer's log."""

    api: str
    operation: str
    resource_type: str
    resource_name: str
    allowed: bool

    @property
    def kind(self) -> str:
        return f"{self.api} {self.operation} {self.resource_type}"


class Half(msgspec.Struct):
    """A request and its response in hexadecimal, its line in the request log, its decisions."""

    request: str
    response: str
    line: str
    decisions: list[Decided]


class Pair(msgspec.Struct):
    """Two requests of the same version about the same name, with their responses."""

    name: str
    about: str
    api: int
    version: int
    halves: tuple[Half, Half]


class Ask(msgspec.Struct):
    """A pair to record: sent by two principals, or by alice to two brokers.

    `half` returns the request of the first or second half; only Produce has different requests.
    """

    name: str
    about: str
    api: ApiKey
    version: int
    half: Callable[[bool, int], msgspec.Struct]
    by: tuple[str, str] = (ALICE, BOB)
    at: tuple[int, int] = (0, 0)


def asks() -> Iterator[Ask]:
    def create(name: str) -> Callable[[bool, int], msgspec.Struct]:
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        return _same(CreateTopicsRequest([topic], timeout_ms=5000, validate_only=True))

    def delete(name: str) -> Callable[[bool, int], msgspec.Struct]:
        return _same(DeleteTopicsRequest([DeleteTopicState(name)], timeout_ms=5000))

    def metadata(name: str) -> Callable[[bool, int], msgspec.Struct]:
        return _same(MetadataRequest([MetadataRequestTopic(name=name)]))

    twice, once_each = (ALICE, ALICE), (0, 1)
    every = _same(MetadataRequest(topics=None))
    yield Ask("left out of a list", "hidden", ApiKey.METADATA, 13, every, twice, once_each)
    yield Ask("configurations, old answer", "new", ApiKey.CREATE_TOPICS, 4, create("new"))
    yield Ask("not created", "closed", ApiKey.CREATE_TOPICS, 7, create("closed"))
    yield Ask("exists", "there", ApiKey.CREATE_TOPICS, 7, create("there"))
    yield Ask("not deleted", "kept", ApiKey.DELETE_TOPICS, 6, delete("kept"))
    yield Ask("missing, not deleted", "gone", ApiKey.DELETE_TOPICS, 6, delete("gone"))
    yield Ask("not created by Metadata", "nowhere", ApiKey.METADATA, 13, metadata("nowhere"))
    yield Ask(
        *("created by Metadata", "auto", ApiKey.METADATA, 13, metadata("auto"), twice, once_each)
    )
    by_cluster = (ALICE, CAROL)
    yield Ask(
        "one of two ways to create", "new", ApiKey.CREATE_TOPICS, 7, create("new"), by_cluster
    )
    yield Ask(
        "one of two ways to delete", "gone", ApiKey.DELETE_TOPICS, 6, delete("gone"), by_cluster
    )
    initial = _same(InitProducerIdRequest(None, transaction_timeout_ms=60_000))
    yield Ask("one of two ways to write", "", ApiKey.INIT_PRODUCER_ID, 5, initial)
    place = OffsetForLeaderTopic("there", [OffsetForLeaderPartition()])
    epochs = _same(OffsetForLeaderEpochRequest(topics=[place]))
    yield Ask("one of two ways to ask", "there", ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, epochs)
    yield Ask("records are not logged", WRITER, ApiKey.PRODUCE, 9, _produce, twice)


def _same(request: msgspec.Struct) -> Callable[[bool, int], msgspec.Struct]:
    return lambda *_: request


def _produce(is_second: bool, producer_id: int) -> msgspec.Struct:
    options = BatchOptions(
        producer_id=producer_id, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    records = [Record(0, 1_700_000_000_000, None, b"x")]
    batch = encode_batch(records, options) if is_second else encode_batch(records)
    part = PartitionProduceData(records=batch)
    return ProduceRequest(WRITER, -1, 5000, [TopicProduceData("sent", partition_data=[part])])


def recorded(release: str) -> list[Pair]:
    return msgspec.json.decode((FOLDER / NAME.format(release)).read_bytes(), type=list[Pair])


def record(release: str) -> None:
    found: dict[tuple[str, int], Half] = {}
    for number, settings in enumerate(({}, CREATES_NOTHING)):
        kafka = LoggingKafka(release, settings=settings)
        with kafka, RecordingClient("127.0.0.1", kafka.plain_port) as admin:
            _set_up(admin, TOPICS[: len(TOPICS) - number])
            producer_id = _begin(kafka)
            for ask in asks():
                for half, (user, at) in enumerate(zip(ask.by, ask.at, strict=True)):
                    if at == number:
                        request = ask.half(half == 1, producer_id)
                        found[ask.name, half] = _exchanged(kafka, ask, user, request)
    pairs = [
        Pair(ask.name, ask.about, ask.api, ask.version, (found[ask.name, 0], found[ask.name, 1]))
        for ask in asks()
    ]
    path = FOLDER / NAME.format(release)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(pairs)) + b"\n")


def _exchanged(kafka: LoggingKafka, ask: Ask, user: str, request: msgspec.Struct) -> Half:
    """Send a request on a new connection; log lines that appear meanwhile belong to it."""
    with _client(kafka, user) as client:
        before, logged = len(kafka.lines()), len(_request_lines(kafka))
        client.send_request(ask.api, request, ask.version)
        time.sleep(1)
        decisions = sorted(set(_decided(kafka.lines()[before:], user)))
        signs = (f"User:{user}", f'"requestApiKey":{int(ask.api)},', '"isForwarded":false')
        lines = _request_lines(kafka)[logged:]
        (line,) = (line for line in lines if all(sign in line for sign in signs))
        return Half(client.sent.hex(), client.received.hex(), line, decisions)


def _client(kafka: LoggingKafka, user: str) -> RecordingClient:
    login = Login("PLAIN", user, PASSWORDS[user])
    config = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, login)
    return RecordingClient("127.0.0.1", kafka.sasl_port, config)


def _request_lines(kafka: LoggingKafka) -> list[str]:
    return (kafka.folder / REQUEST_LOG).read_text().splitlines()


def _decided(lines: list[str], user: str) -> Iterator[Decided]:
    for text in lines:
        line = parse_authorizer_log_line(text)
        if line is not None and line.principal == f"User:{user}":
            is_any = line.api_key == ApiKey.INIT_PRODUCER_ID and line.resource_name == PROBED_NAME
            name = WILDCARD if is_any else line.resource_name
            what = (line.operation.name, line.resource_type.name, name)
            yield Decided(ApiKey(line.api_key).wire_name, *what, line.allowed)


def _set_up(admin: Client, names: tuple[str, ...]) -> None:
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    made = admin.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics, timeout_ms=10_000))
    assert {topic.error_code for topic in made.topics} == {0}
    creations = [
        AclCreation(
            *(kind, name, PatternType.LITERAL, f"User:{user}", "*", operation, Permission.ALLOW)
        )
        for user, grants in GRANTS.items()
        for (kind, name), operations in grants.items()
        for operation in operations
    ]
    created = admin.send_request(ApiKey.CREATE_ACLS, CreateAclsRequest(creations))
    assert {result.error_code for result in created.results} == {0}
    time.sleep(SETTLE_S)


def _begin(kafka: LoggingKafka) -> int:
    """Begin a transaction with the topic that Produce uses; return its producer id."""
    initial = InitProducerIdRequest(WRITER, transaction_timeout_ms=60_000)
    topics = [AddPartitionsToTxnTopic("sent", [0])]
    with _client(kafka, ALICE) as alice:
        while (made := alice.send_request(ApiKey.INIT_PRODUCER_ID, initial, 4)).error_code:
            find = FindCoordinatorRequest(key_type=1, coordinator_keys=[WRITER])
            alice.send_request(ApiKey.FIND_COORDINATOR, find)
            time.sleep(0.2)
        add = AddPartitionsToTxnRequest([], WRITER, made.producer_id, 0, topics)
        while _code_of(alice.send_request(ApiKey.ADD_PARTITIONS_TO_TXN, add, 3)):
            time.sleep(0.2)
    return int(made.producer_id)


def _code_of(response: Any) -> int:
    (topic,) = response.results_by_topic_v3_and_below
    return int(topic.results_by_partition[0].partition_error_code)


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        record(wanted)
