"""The kinds of requests, each repeated and all different."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple

import msgspec

from benchmarks.against.setting import (
    ACLS,
    GROUP,
    KIB_TOPIC,
    MIB,
    MIB_TOPIC,
    TOPICS,
    TRANSACTION,
    Setting,
    topic,
)
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from kafka_shim.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_shim.protocol.messages.end_txn import EndTxnRequest
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.records.batches import encode_batch
from kafka_shim.protocol.records.record_codec import Record

Request = tuple[ApiKey, int, msgspec.Struct]


class Kind(NamedTuple):
    """A kind of request; the n-th of the different ones (the 0th is used for equal requests).

    `group` is `read`, or `write` for kinds without cached responses. With `varies`, consecutive
    requests must differ, so only different ones are measured.
    """

    name: str
    group: str
    make: Callable[[int, Setting], Request]
    varies: bool = False

    def frames(self, setting: Setting, *, different: bool) -> Iterator[bytes]:
        """Yield frames endlessly; if `different`, none repeats (apart from a cycle of 90,000
        names).
        """
        if different or self.varies:
            return (framed(self.make(n, setting), f"bench-{n}") for n in count())
        same = framed(self.make(0, setting), "bench")
        return (same for _ in count())


def framed(request: Request, client_id: str) -> bytes:
    """Return a request's frame with its size."""
    api, version, message = request
    head = write_request_header(RequestHeader(api, version, 1, client_id))
    payload = head + codecs.write_request(message, version)
    return len(payload).to_bytes(4, "big") + payload


def two_of(number: int) -> tuple[str, str]:
    return topic(number), topic(number * 7 + number // TOPICS + 1)


def _versions(number: int, _: Setting) -> Request:
    return ApiKey.API_VERSIONS, 3, ApiVersionsRequest("bench", f"1.{number}")


def _coordinator(number: int, _: Setting) -> Request:
    asked = FindCoordinatorRequest(key_type=0, coordinator_keys=[f"group-{number}"])
    return ApiKey.FIND_COORDINATOR, 4, asked


def _metadata(number: int, _: Setting) -> Request:
    topics = [MetadataRequestTopic(name=name) for name in two_of(number)]
    return ApiKey.METADATA, 12, MetadataRequest(topics)


def _metadata_of_one(number: int, _: Setting) -> Request:
    return ApiKey.METADATA, 12, MetadataRequest([MetadataRequestTopic(name=topic(number))])


def _metadata_with_operations(number: int, _: Setting) -> Request:
    topics = [MetadataRequestTopic(name=name) for name in two_of(number)]
    asked = MetadataRequest(topics, include_topic_authorized_operations=True)
    return ApiKey.METADATA, 12, asked


def _metadata_of_many(number: int, _: Setting) -> Request:
    topics = [MetadataRequestTopic(name=topic(number + n)) for n in range(100)]
    asked = MetadataRequest(topics, include_topic_authorized_operations=True)
    return ApiKey.METADATA, 12, asked


def _cluster(_: int, __: Setting) -> Request:
    return ApiKey.DESCRIBE_CLUSTER, 0, DescribeClusterRequest()


def _acls(number: int, _: Setting) -> Request:
    """Describe the ACLs of a topic."""
    asked = DescribeAclsRequest(
        ResourceType.TOPIC,
        topic(number % (ACLS - 4)),
        PatternType.MATCH,
        operation=Operation.ANY,
        permission_type=Permission.ANY,
        principal_filter=None,
        host_filter=None,
    )
    return ApiKey.DESCRIBE_ACLS, 3, asked


def _list_offsets(number: int, _: Setting) -> Request:
    partitions = [ListOffsetsPartition(timestamp=-1)]
    topics = [ListOffsetsTopic(name, partitions) for name in two_of(number)]
    return ApiKey.LIST_OFFSETS, 7, ListOffsetsRequest(replica_id=-1, topics=topics)


def _offset_fetch(number: int, _: Setting) -> Request:
    topics = [OffsetFetchRequestTopics(name=name, partition_indexes=[0]) for name in two_of(number)]
    group = OffsetFetchRequestGroup(GROUP, topics=topics)
    return ApiKey.OFFSET_FETCH, 8, OffsetFetchRequest(groups=[group])


def _offset_commit(number: int, _: Setting) -> Request:
    partitions = [OffsetCommitRequestPartition(committed_offset=number)]
    topics = [OffsetCommitRequestTopic(topic(number), partitions=partitions)]
    return ApiKey.OFFSET_COMMIT, 8, OffsetCommitRequest(f"group-{1 + number % 10}", topics=topics)


def _heartbeat(_: int, setting: Setting) -> Request:
    asked = HeartbeatRequest(GROUP, setting.generation_id, setting.member_id)
    return ApiKey.HEARTBEAT, 4, asked


def _producer_id(_: int, __: Setting) -> Request:
    return ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest(None, 60_000)


def _transaction(number: int, setting: Setting) -> Request:
    """In turn, add a partition to the transaction and end it."""
    producer = (setting.producer_id, setting.producer_epoch)
    if number % 2:
        return ApiKey.END_TXN, 3, EndTxnRequest(TRANSACTION, *producer, committed=True)
    topics = [AddPartitionsToTxnTopic(topic(0), [0])]
    asked = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=TRANSACTION,
        v3_and_below_producer_id=setting.producer_id,
        v3_and_below_producer_epoch=setting.producer_epoch,
        v3_and_below_topics=topics,
    )
    return ApiKey.ADD_PARTITIONS_TO_TXN, 3, asked


def _produce(records: int) -> Callable[[int, Setting], Request]:
    """Produce a batch of this number of records of 100 bytes."""
    rows = [Record(offset=n, timestamp=0, key=None, value=b"x" * 100) for n in range(records)]
    batch = encode_batch(rows)

    def make(number: int, _: Setting) -> Request:
        data = [PartitionProduceData(0, batch)]
        topics = [TopicProduceData(topic(number), partition_data=data)]
        return ApiKey.PRODUCE, 9, ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics)

    return make


def _fetch(name: str) -> Callable[[int, Setting], Request]:
    """Fetch a whole topic."""

    def make(_: int, __: Setting) -> Request:
        partition = FetchPartition(partition_max_bytes=2 * MIB)
        topics = [FetchTopic(name, partitions=[partition])]
        return ApiKey.FETCH, 12, FetchRequest(min_bytes=1, max_bytes=2 * MIB, topics=topics)

    return make


KINDS = (
    Kind("ApiVersions", "read", _versions),
    Kind("FindCoordinator", "read", _coordinator),
    Kind("Metadata of a topic", "read", _metadata_of_one),
    Kind("Metadata of two", "read", _metadata),
    Kind("Metadata of two, operations", "read", _metadata_with_operations),
    Kind("Metadata of 100, operations", "read", _metadata_of_many),
    Kind("DescribeCluster", "read", _cluster),
    Kind("DescribeAcls", "read", _acls),
    Kind("ListOffsets of two", "read", _list_offsets),
    Kind("OffsetFetch", "read", _offset_fetch),
    Kind("Fetch of 1 KiB", "write", _fetch(KIB_TOPIC)),
    Kind("Fetch of 1 MiB", "write", _fetch(MIB_TOPIC)),
    Kind("Heartbeat", "write", _heartbeat),
    Kind("OffsetCommit", "write", _offset_commit),
    Kind("InitProducerId", "write", _producer_id),
    Kind("AddPartitionsToTxn, EndTxn", "write", _transaction, varies=True),
    Kind("Produce", "write", _produce(1)),
    Kind("Produce of 10", "write", _produce(10)),
)
