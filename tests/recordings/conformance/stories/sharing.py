"""Stories of share groups (KIP-932) and streams groups (KIP-1071)."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kafka_shim.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_shim.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from kafka_shim.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafka_shim.protocol.messages.share_fetch import (
    FetchPartition,
    FetchTopic,
    ShareFetchRequest,
)
from kafka_shim.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    RequestTaskIds,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TopicInfo,
    Topology,
)
from tests.recordings.conformance.requests.share import MEMBER_IDS
from tests.recordings.conformance.scenario import topic_id_of
from tests.recordings.conformance.telling import Move, Story, Teller
from tests.recordings.records.batches import batch

MEMBER = MEMBER_IDS[0]
LONG_ENOUGH_MS = 300


def share_member(teller: Teller) -> Story:
    """A member joins, fetches records, acknowledges some in one of three ways, and leaves."""
    draw = teller.draw
    group, topic = draw.fresh("g-s"), draw.pick(*draw.topics)
    joined = teller.label()
    join = ShareGroupHeartbeatRequest(
        group_id=group, member_id=MEMBER, subscribed_topic_names=[topic]
    )
    yield Move(ApiKey.SHARE_GROUP_HEARTBEAT, join, label=joined)
    alive = ShareGroupHeartbeatRequest(group_id=group, member_id=MEMBER)
    takes = {"member_epoch": f"{joined}:member_epoch"}
    yield Move(ApiKey.SHARE_GROUP_HEARTBEAT, alive, takes)
    yield _fetch(group, topic, 0)
    yield produced(topic)
    yield _fetch(group, topic, 1)
    yield _acknowledge(group, topic, 2, draw.pick([1], [2], [3], [1, 2]))
    describe = ShareGroupDescribeRequest(group_ids=[group], include_authorized_operations=True)
    yield Move(ApiKey.SHARE_GROUP_DESCRIBE, describe)
    yield _fetch(group, topic, 3)
    yield share_offsets(group)
    gone = ShareGroupHeartbeatRequest(group_id=group, member_id=MEMBER, member_epoch=-1)
    yield _fetch(group, topic, -1)
    yield Move(ApiKey.SHARE_GROUP_HEARTBEAT, gone)
    partition = AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=0)
    altered = AlterShareGroupOffsetsRequestTopic(topic_name=topic, partitions=[partition])
    alter = AlterShareGroupOffsetsRequest(group_id=group, topics=[altered])
    yield Move(ApiKey.ALTER_SHARE_GROUP_OFFSETS, alter)
    yield share_offsets(group)
    removed = DeleteShareGroupOffsetsRequestTopic(topic_name=topic)
    delete = DeleteShareGroupOffsetsRequest(group_id=group, topics=[removed])
    yield Move(ApiKey.DELETE_SHARE_GROUP_OFFSETS, delete)
    yield Move(ApiKey.DELETE_GROUPS, DeleteGroupsRequest(groups_names=[group]))


def _fetch(group: str, topic: str, epoch: int) -> Move:
    partition = FetchPartition(partition_index=0)
    topics = [FetchTopic(topic_id=topic_id_of(topic), partitions=[partition])]
    request = ShareFetchRequest(
        group_id=group,
        member_id=MEMBER,
        share_session_epoch=epoch,
        max_wait_ms=LONG_ENOUGH_MS,
        min_bytes=1,
        max_bytes=1 << 20,
        max_records=10,
        batch_size=10,
        topics=topics if epoch == 0 else [],
    )
    return Move(ApiKey.SHARE_FETCH, request)


def _acknowledge(group: str, topic: str, epoch: int, types: list[int]) -> Move:
    batches = [AcknowledgementBatch(first_offset=0, last_offset=1, acknowledge_types=types)]
    partition = AcknowledgePartition(partition_index=0, acknowledgement_batches=batches)
    topics = [AcknowledgeTopic(topic_id=topic_id_of(topic), partitions=[partition])]
    request = ShareAcknowledgeRequest(
        group_id=group, member_id=MEMBER, share_session_epoch=epoch, topics=topics
    )
    return Move(ApiKey.SHARE_ACKNOWLEDGE, request)


def produced(topic: str) -> Move:
    partition = PartitionProduceData(index=0, records=batch([b"v1", b"v2"]))
    row = TopicProduceData(name=topic, topic_id=topic_id_of(topic), partition_data=[partition])
    return Move(ApiKey.PRODUCE, ProduceRequest(acks=-1, timeout_ms=3000, topic_data=[row]))


def share_offsets(group: str) -> Move:
    row = DescribeShareGroupOffsetsRequestGroup(group_id=group, topics=None)
    return Move(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, DescribeShareGroupOffsetsRequest(groups=[row]))


def streams_member(teller: Teller) -> Story:
    """A member joins with a topology, runs its tasks, changes the topology, and leaves."""
    draw = teller.draw
    group, member = draw.fresh("g-t"), draw.fresh("member")
    joined = teller.label()
    changelog = draw.fresh("changelog") if draw.chance(0.4) else ""
    yield heartbeat(group, member, label=joined, topology=topology(draw.topics[0], changelog))
    takes = {"member_epoch": f"{joined}:member_epoch"}
    again = teller.label()
    yield heartbeat(group, member, takes, label=again)
    describe = StreamsGroupDescribeRequest(group_ids=[group], include_authorized_operations=True)
    yield Move(ApiKey.STREAMS_GROUP_DESCRIBE, describe)
    takes = {"member_epoch": f"{again}:member_epoch"}
    tasks = [RequestTaskIds(subtopology_id="0", partitions=[0, 1])]
    yield heartbeat(group, member, takes, active_tasks=tasks, standby_tasks=[], warmup_tasks=[])
    yield heartbeat(group, member, takes, topology=topology(draw.topics[1], "", epoch=1))
    yield Move(ApiKey.STREAMS_GROUP_DESCRIBE, describe)
    yield heartbeat(group, member, member_epoch=-1)
    yield Move(ApiKey.STREAMS_GROUP_DESCRIBE, describe)
    yield Move(ApiKey.DELETE_GROUPS, DeleteGroupsRequest(groups_names=[group]))


def topology(topic: str, changelog: str, epoch: int = 0) -> Topology:
    logs = [TopicInfo(name=changelog, partitions=0, replication_factor=1)] if changelog else []
    subtopology = Subtopology(
        subtopology_id="0", source_topics=[topic], state_changelog_topics=logs
    )
    return Topology(epoch=epoch, subtopologies=[subtopology])


def heartbeat(
    group: str, member: str, takes: dict[str, str] | None = None, label: str = "", **more: object
) -> Move:
    request = StreamsGroupHeartbeatRequest(group_id=group, member_id=member)
    if isinstance(more.get("topology"), Topology) and not takes:
        request.rebalance_timeout_ms, request.process_id = 30_000, "process"
        request.active_tasks, request.standby_tasks, request.warmup_tasks = [], [], []
        request.client_tags = []
    for name, value in more.items():
        setattr(request, name, value)
    return Move(ApiKey.STREAMS_GROUP_HEARTBEAT, request, takes or {}, label)
