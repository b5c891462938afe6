"""The state of every broker before the measurement: topics, ACLs, a group and a transaction."""

import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from benchmarks.against.brokers import Broker
from benchmarks.against.client import Peer
from benchmarks.broker import framed
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.headers import response_header_version
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.messages.sync_group import SyncGroupRequest
from kafka_shim.protocol.records.batches import encode_batch
from kafka_shim.protocol.records.record_codec import Record
from kafka_shim.protocol.responses import nonzero_error_codes

TOPICS = 300
ACLS = 1_000
GROUP = "group-0"
TRANSACTION = "transaction"
KIB_TOPIC = "topic-of-1-kib"
MIB_TOPIC = "topic-of-1-mib"
MIB = 1024 * 1024
_WAIT_S = 30
_LARGE = CreatableTopicConfig("max.message.bytes", str(2 * MIB))


def topic(number: int) -> str:
    return f"topic-{number % TOPICS:03d}"


class Asker(Protocol):
    """A connection that has logged in."""

    def ask(self, frame: bytes) -> bytes: ...
    def close(self) -> None: ...


class Setting(msgspec.Struct):
    """Names and ids of that state, for requests."""

    member_id: str
    generation_id: int
    producer_id: int
    producer_epoch: int


def records_of(size: int) -> PartitionProduceData:
    """Return a batch of this size with records of 1 KiB, of today, so that they are not deleted."""
    now_ms = int(time.time() * 1000)  # noqa: TID251 - the other brokers have no clock of ours
    value = b"x" * 1024
    rows = [Record(offset=n, timestamp=now_ms, key=None, value=value) for n in range(size // 1024)]
    return PartitionProduceData(0, encode_batch(rows))


def ask(peer: Asker, api: ApiKey, version: int, request: msgspec.Struct) -> Any:
    """Send a request and return its decoded response."""
    return decoded(api, version, peer.ask(framed(api, version, request)))


def decoded(api: ApiKey, version: int, response: bytes) -> Any:
    """Decode a response from its frame without the size."""
    return codecs.read_response(api, version, response, 4 + response_header_version(api, version))


def until_well(peer: Asker, api: ApiKey, version: int, request: msgspec.Struct) -> Any:
    """Repeat a request while its response has an error: a real broker applies ACLs, and loads
    coordinators, later.
    """
    deadline = time.monotonic() + _WAIT_S
    while True:
        response = ask(peer, api, version, request)
        codes = nonzero_error_codes(response, version)
        if not codes:
            return response
        assert time.monotonic() < deadline, f"{api.name} is answered with {codes}"
        time.sleep(0.02)


def made(broker: Broker) -> Setting:
    """Create all of it in a broker."""
    return made_by(lambda user: Peer(broker, user))


def made_by(connect: Callable[[str], Asker]) -> Setting:
    """Create all of it, with a connection of each user."""
    admin, alice = connect("admin"), connect("alice")
    try:
        names = [KIB_TOPIC, MIB_TOPIC, *(topic(n) for n in range(TOPICS))]
        topics = [CreatableTopic(name, 1, 1, configs=[_LARGE]) for name in names]
        until_well(admin, ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest(topics))
        until_well(admin, ApiKey.CREATE_ACLS, 3, CreateAclsRequest(_acls()))
        for key, kind in ((GROUP, 0), (TRANSACTION, 1)):
            asked = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
            until_well(alice, ApiKey.FIND_COORDINATOR, 4, asked)
        for name, size in ((KIB_TOPIC, 1024), (MIB_TOPIC, MIB)):
            data = TopicProduceData(name, partition_data=[records_of(size)])
            until_well(alice, ApiKey.PRODUCE, 9, ProduceRequest(None, -1, 1000, [data]))
        member_id, generation_id = _joined(alice)
        begun = InitProducerIdRequest(TRANSACTION, 60_000)
        producer = until_well(alice, ApiKey.INIT_PRODUCER_ID, 4, begun)
        return Setting(member_id, generation_id, producer.producer_id, producer.producer_epoch)
    finally:
        admin.close()
        alice.close()


def _joined(peer: Asker) -> tuple[str, int]:
    """Join the group of all heartbeats; return member id and generation."""
    protocol = JoinGroupRequestProtocol("range", b"")
    asked = JoinGroupRequest(GROUP, 300_000, 300_000, protocol_type="consumer")
    asked.protocols = [protocol]
    asked.member_id = ask(peer, ApiKey.JOIN_GROUP, 7, asked).member_id
    response = until_well(peer, ApiKey.JOIN_GROUP, 7, asked)
    synced = SyncGroupRequest(GROUP, response.generation_id, response.member_id)
    until_well(peer, ApiKey.SYNC_GROUP, 4, synced)
    return response.member_id, response.generation_id


def _acls() -> list[AclCreation]:
    """Return alice's ACLs, by prefix, and ACLs of others up to a thousand."""
    wanted = [
        (ResourceType.TOPIC, "topic-", PatternType.PREFIXED),
        (ResourceType.GROUP, "group-", PatternType.PREFIXED),
        (ResourceType.TRANSACTIONAL_ID, "transaction", PatternType.PREFIXED),
        (ResourceType.CLUSTER, "kafka-cluster", PatternType.LITERAL),
    ]
    own = [_acl(kind, name, pattern, "User:alice", Operation.ALL) for kind, name, pattern in wanted]
    others = [
        _acl(ResourceType.TOPIC, topic(n), PatternType.LITERAL, f"User:user-{n}", Operation.READ)
        for n in range(ACLS - len(own))
    ]
    return own + others


def _acl(
    kind: ResourceType, name: str, pattern: PatternType, principal: str, operation: Operation
) -> AclCreation:
    return AclCreation(kind, name, pattern, principal, "*", operation, Permission.ALLOW)
