"""The requests to record with a real broker's decisions, and the ACLs for them."""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import msgspec

from kafka_shim.client.client import Client
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_shim.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
)
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.list_transactions import ListTransactionsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kafka_shim.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

NO_ID = bytes(16)
TOPICS = ("open", "seen", "closed", "doomed", "doomed-by-id", "listed")
"""Existing topics: alice may use `open`, only describe `seen`, and has no rights on `closed`."""

Op = Operation
GRANTS: dict[ResourceType, dict[str, tuple[Operation, ...]]] = {
    ResourceType.TOPIC: {
        "open": (Op.READ, Op.WRITE, Op.ALTER),
        "seen": (Op.DESCRIBE,),
        "listed": (Op.READ,),
        "doomed": (Op.DELETE,),
        "doomed-by-id": (Op.DELETE,),
        "missing": (Op.DESCRIBE,),
        "missing-deletable": (Op.DELETE,),
        "missing-writable": (Op.WRITE,),
        "made": (Op.CREATE,),
        "made-and-told": (Op.CREATE, Op.DESCRIBE_CONFIGS),
    },
    ResourceType.GROUP: {
        "readers": (Op.READ,),
        "watched": (Op.DESCRIBE,),
        "droppable": (Op.DELETE,),
    },
    ResourceType.TRANSACTIONAL_ID: {"writer": (Op.WRITE,), "told": (Op.DESCRIBE,)},
}


class Ask(msgspec.Struct):
    """A request; without a version, the newest that the broker supports."""

    name: str
    api: ApiKey
    request: msgspec.Struct
    version: int | None = None


def set_up(admin: Client) -> None:
    """Create topics, and groups and transactions for requests that list them."""
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in TOPICS]
    made = admin.send_request(
        ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=topics, timeout_ms=10_000)
    )
    assert {topic.error_code for topic in made.topics} == {0}
    for group in ("readers", "watched", "hidden", "droppable"):
        assert _until(partial(_committed, admin, group))
    for transactional_id in ("writer", "told", "unseen"):
        assert _until(partial(_begun, admin, transactional_id))


def _until(act: Callable[[], bool]) -> bool:
    for _ in range(100):
        if act():
            return True
        time.sleep(0.2)
    return False


def _committed(admin: Client, group: str) -> bool:
    admin.send_request(ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(coordinator_keys=[group]))
    request = commit(group, "open", "closed", "listed")
    response = admin.send_request(ApiKey.OFFSET_COMMIT, request, 8)
    return {part.error_code for topic in response.topics for part in topic.partitions} == {0}


def _begun(admin: Client, transactional_id: str) -> bool:
    find = FindCoordinatorRequest(key_type=1, coordinator_keys=[transactional_id])
    admin.send_request(ApiKey.FIND_COORDINATOR, find)
    request = InitProducerIdRequest(transactional_id, transaction_timeout_ms=60_000)
    return bool(admin.send_request(ApiKey.INIT_PRODUCER_ID, request, 4).error_code == 0)


def commit(group: str, *topics: str) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=group,
        topics=[
            OffsetCommitRequestTopic(name=name, partitions=[OffsetCommitRequestPartition()])
            for name in topics
        ],
    )


def asks(ids: Mapping[str, bytes]) -> Iterator[Ask]:
    """Yield all requests; `ids` are the ids of topics by name."""
    yield from _transactions()
    yield from _topics(ids)
    yield from _groups()
    yield from _lists()
    yield from _deletions(ids)


def _transactions() -> Iterator[Ask]:
    def partitions(transactional_id: str, *topics: str) -> AddPartitionsToTxnRequest:
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=transactional_id,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name, [0]) for name in topics],
        )

    def offsets(transactional_id: str, group: str, *topics: str) -> TxnOffsetCommitRequest:
        rows = [
            TxnOffsetCommitRequestTopic(name, partitions=[TxnOffsetCommitRequestPartition()])
            for name in topics
        ]
        return TxnOffsetCommitRequest(transactional_id, group, topics=rows)

    add, offset = ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.TXN_OFFSET_COMMIT
    for version in (0, 3):
        yield Ask("partitions allowed", add, partitions("writer", "open"), version)
        yield Ask("partitions denied", add, partitions("writer", "open", "closed"), version)
        yield Ask("partitions missing", add, partitions("writer", "missing-writable"), version)
        internal = partitions("writer", "__consumer_offsets", "open")
        yield Ask("partitions internal", add, internal, version)
        yield Ask("partitions of another's", add, partitions("unseen", "open"), version)
    allowed = offsets("writer", "readers", "open", "seen")
    yield Ask("transactional offsets", offset, allowed, 3)
    yield Ask("transactional offsets, no id", offset, offsets("unseen", "readers", "open"), 3)
    yield Ask("transactional offsets, no group", offset, offsets("writer", "hidden", "open"), 3)
    for name, group in (("unseen", "readers"), ("writer", "hidden")):
        request = AddOffsetsToTxnRequest(transactional_id=name, group_id=group)
        yield Ask(f"offsets of {name}, {group}", ApiKey.ADD_OFFSETS_TO_TXN, request, 3)


def _topics(ids: Mapping[str, bytes]) -> Iterator[Ask]:
    def create(*names: str) -> CreateTopicsRequest:
        topics = [
            CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names
        ]
        return CreateTopicsRequest(topics=topics, timeout_ms=10_000, validate_only=True)

    for version in (4, 5, 7):
        both = create("made", "made-and-told")
        yield Ask("create", ApiKey.CREATE_TOPICS, both, version)
        yield Ask("create denied", ApiKey.CREATE_TOPICS, create("made", "closed-new"), version)
    yield Ask("create existing", ApiKey.CREATE_TOPICS, create("open", "made"), 7)


def _groups() -> Iterator[Ask]:
    for version in (2, 8):
        topics = ("open", "seen", "closed", "missing")
        yield Ask("commit", ApiKey.OFFSET_COMMIT, commit("readers", *topics), version)
        yield Ask("commit denied", ApiKey.OFFSET_COMMIT, commit("hidden", *topics), version)
    for group in ("watched", "hidden"):
        rows = [OffsetFetchRequestTopic(name, [0]) for name in ("open", "closed")]
        fetch = OffsetFetchRequest(group_id=group, topics=rows)
        yield Ask(f"offsets of {group}", ApiKey.OFFSET_FETCH, fetch, 7)
    named = [OffsetFetchRequestTopics(name, partition_indexes=[0]) for name in ("open", "closed")]
    groups = [OffsetFetchRequestGroup(group, topics=named) for group in ("watched", "hidden")]
    yield Ask("offsets of two", ApiKey.OFFSET_FETCH, OffsetFetchRequest(groups=groups), 9)
    for group in ("droppable", "hidden"):
        request = OffsetDeleteRequest(
            group,
            [
                OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition()])
                for name in ("open", "closed")
            ],
        )
        yield Ask(f"delete offsets of {group}", ApiKey.OFFSET_DELETE, request, 0)
    for group in ("readers", "hidden"):
        beat = ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id="m",
            rebalance_timeout_ms=1000,
            subscribed_topic_names=["open", "closed"],
            topic_partitions=[],
        )
        yield Ask(f"heartbeat of {group}", ApiKey.CONSUMER_GROUP_HEARTBEAT, beat, 1)


def _lists() -> Iterator[Ask]:
    yield Ask("all groups", ApiKey.LIST_GROUPS, ListGroupsRequest(), 4)
    yield Ask("all topics", ApiKey.METADATA, MetadataRequest(topics=None), 12)
    named = [MetadataRequestTopic(name=name) for name in ("open", "closed", "missing")]
    some = MetadataRequest(topics=named, allow_auto_topic_creation=False)
    yield Ask("some topics", ApiKey.METADATA, some, 12)
    yield Ask("all transactions", ApiKey.LIST_TRANSACTIONS, ListTransactionsRequest(), 1)
    for group in ("watched", "hidden"):
        fetch = OffsetFetchRequest(group_id=group, topics=None)
        yield Ask(f"all offsets of {group}", ApiKey.OFFSET_FETCH, fetch, 7)
    groups = [OffsetFetchRequestGroup(group, topics=None) for group in ("watched", "hidden")]
    yield Ask("all offsets of two", ApiKey.OFFSET_FETCH, OffsetFetchRequest(groups=groups), 9)
    every = DescribeTopicPartitionsRequest(topics=[])
    yield Ask("all partitions", ApiKey.DESCRIBE_TOPIC_PARTITIONS, every, 0)


def _deletions(ids: Mapping[str, bytes]) -> Iterator[Ask]:
    names = ("open", "seen", "closed", "missing", "missing-deletable", "missing-unseen")
    by_name = DeleteTopicsRequest(topic_names=list(names), timeout_ms=10_000)
    yield Ask("delete", ApiKey.DELETE_TOPICS, by_name, 5)
    states = [DeleteTopicState(name=name) for name in (*names, "doomed")]
    yield Ask("delete by name", ApiKey.DELETE_TOPICS, DeleteTopicsRequest(states, [], 10_000), 6)
    wanted = ("seen", "closed", "doomed-by-id")
    by_id = [DeleteTopicState(None, ids[name]) for name in wanted]
    by_id.append(DeleteTopicState(None, bytes(15) + b"\7"))
    yield Ask("delete by id", ApiKey.DELETE_TOPICS, DeleteTopicsRequest(by_id, [], 10_000), 6)
