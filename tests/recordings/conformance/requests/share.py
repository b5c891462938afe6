"""Random requests of share groups (KIP-932) and streams groups (KIP-1071)."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages import (
    delete_share_group_state as delete_share_group_state_messages,
    initialize_share_group_state as initialize_share_group_state_messages,
    read_share_group_state as read_share_group_state_messages,
    read_share_group_state_summary as read_share_group_state_summary_messages,
    share_acknowledge as share_acknowledge_messages,
    share_fetch as share_fetch_messages,
    write_share_group_state as write_share_group_state_messages,
)
from kafka_shim.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kafka_shim.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from kafka_shim.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from kafka_shim.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TopicInfo,
    Topology,
)
from kafka_shim.protocol.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from tests.recordings.conformance.draw import Asked, Draw
from tests.recordings.conformance.scenario import GHOST_ID

MEMBER_IDS = ("AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg", "no-uuid")


def share_group_heartbeat(draw: Draw, version: int) -> Asked:
    before = draw.earlier(ApiKey.SHARE_GROUP_HEARTBEAT, share=0.6)
    if before is not None:
        request = ShareGroupHeartbeatRequest(
            group_id=before.request.group_id, member_id=before.request.member_id, member_epoch=1
        )
        takes = {"member_epoch": f"{before.label}:member_epoch"}
        if draw.chance(0.3):
            request.member_epoch, takes = draw.pick(-1, 0, 5), {}
            request.subscribed_topic_names = draw.topic_names()
        return Asked(request, takes)
    request = ShareGroupHeartbeatRequest(
        group_id=draw.pick(draw.fresh("g-s"), draw.fresh("h"), draw.group()),
        member_id=draw.weighted({MEMBER_IDS[0]: 85, "": 8, MEMBER_IDS[2]: 7}),
        member_epoch=draw.weighted({0: 85, 5: 10, -1: 5}),
        subscribed_topic_names=draw.topic_names() if draw.chance(0.9) else None,
    )
    return Asked(request)


def _share_group(draw: Draw) -> str:
    made = draw.earlier(ApiKey.SHARE_GROUP_HEARTBEAT, share=0.6)
    return draw.group() if made is None else str(made.request.group_id)


def share_group_describe(draw: Draw, version: int) -> Asked:
    groups = list(dict.fromkeys([_share_group(draw), draw.group()]))
    return Asked(
        ShareGroupDescribeRequest(group_ids=groups, include_authorized_operations=draw.chance(0.8))
    )


def _id(draw: Draw) -> bytes:
    return draw.weighted({GHOST_ID: 15, **{draw.topic_id(name): 28 for name in draw.topics[:3]}})


def share_fetch(draw: Draw, version: int) -> Asked:
    message = share_fetch_messages
    topics = [
        message.FetchTopic(
            topic_id=topic_id,
            partitions=[message.FetchPartition(partition_index=draw.pick(0, 0, 1, 7))],
        )
        for topic_id in {_id(draw), _id(draw)}
    ]
    request = message.ShareFetchRequest(
        group_id=None if draw.chance(0.03) else _share_group(draw),
        member_id=draw.pick(*MEMBER_IDS[:2], MEMBER_IDS[0], *MEMBER_IDS),
        share_session_epoch=draw.weighted({0: 80, 1: 10, -1: 10}),
        max_wait_ms=300,  # partitions must be loaded first
        min_bytes=1,
        max_bytes=1 << 20,
        max_records=10,
        batch_size=10,
        topics=topics,
    )
    return Asked(request)


def share_acknowledge(draw: Draw, version: int) -> Asked:
    message = share_acknowledge_messages
    batches = [message.AcknowledgementBatch(first_offset=0, last_offset=1, acknowledge_types=[1])]
    partitions = [message.AcknowledgePartition(partition_index=0, acknowledgement_batches=batches)]
    request = message.ShareAcknowledgeRequest(
        group_id=None if draw.chance(0.03) else _share_group(draw),
        member_id=draw.pick(*MEMBER_IDS),
        share_session_epoch=draw.weighted({1: 70, 0: 15, -1: 15}),
        topics=[message.AcknowledgeTopic(topic_id=_id(draw), partitions=partitions)],
    )
    return Asked(request)


def _state(draw: Draw, message: Any, name: str, rows: str, **partition: int) -> Asked:
    """Return a request to the share coordinator, whose five requests have similar classes."""
    topic = getattr(message, rows)(
        topic_id=_id(draw),
        partitions=[message.PartitionData(partition=draw.pick(0, 0, 1, -1), **partition)],
    )
    group = "" if draw.chance(0.05) else _share_group(draw)
    return Asked(getattr(message, name)(group_id=group, topics=[topic]))


def initialize_share_group_state(draw: Draw, version: int) -> Asked:
    message = initialize_share_group_state_messages
    return _state(
        draw, message, "InitializeShareGroupStateRequest", "InitializeStateData", state_epoch=1
    )


def read_share_group_state(draw: Draw, version: int) -> Asked:
    return _state(
        draw, read_share_group_state_messages, "ReadShareGroupStateRequest", "ReadStateData"
    )


def write_share_group_state(draw: Draw, version: int) -> Asked:
    return _state(
        draw,
        write_share_group_state_messages,
        "WriteShareGroupStateRequest",
        "WriteStateData",
        state_epoch=1,
    )


def delete_share_group_state(draw: Draw, version: int) -> Asked:
    return _state(
        draw, delete_share_group_state_messages, "DeleteShareGroupStateRequest", "DeleteStateData"
    )


def read_share_group_state_summary(draw: Draw, version: int) -> Asked:
    return _state(
        draw,
        read_share_group_state_summary_messages,
        "ReadShareGroupStateSummaryRequest",
        "ReadStateSummaryData",
    )


def describe_share_group_offsets(draw: Draw, version: int) -> Asked:
    groups = [
        DescribeShareGroupOffsetsRequestGroup(
            group_id=group,
            topics=None
            if draw.chance(0.4)
            else [
                DescribeShareGroupOffsetsRequestTopic(topic_name=name, partitions=[0, 1])
                for name in draw.topic_names()
            ],
        )
        for group in dict.fromkeys([_share_group(draw), draw.group()])
    ]
    return Asked(DescribeShareGroupOffsetsRequest(groups=groups))


def alter_share_group_offsets(draw: Draw, version: int) -> Asked:
    partition = AlterShareGroupOffsetsRequestPartition(
        partition_index=draw.pick(0, 0, 7), start_offset=0
    )
    topics = [
        AlterShareGroupOffsetsRequestTopic(topic_name=name, partitions=[partition])
        for name in draw.topic_names()
    ]
    return Asked(AlterShareGroupOffsetsRequest(group_id=_share_group(draw), topics=topics))


def delete_share_group_offsets(draw: Draw, version: int) -> Asked:
    topics = [
        DeleteShareGroupOffsetsRequestTopic(topic_name=topic_name)
        for topic_name in draw.topic_names()
    ]
    return Asked(DeleteShareGroupOffsetsRequest(group_id=_share_group(draw), topics=topics))


def streams_group_heartbeat(draw: Draw, version: int) -> Asked:
    before = draw.earlier(ApiKey.STREAMS_GROUP_HEARTBEAT, share=0.5)
    if before is not None:
        request = StreamsGroupHeartbeatRequest(
            group_id=before.request.group_id,
            member_id=before.request.member_id,
            member_epoch=draw.weighted({1: 60, -1: 25, 5: 15}),
        )
        return Asked(request)
    topology = Topology(
        epoch=0,
        subtopologies=[
            Subtopology(
                subtopology_id="0",
                source_topics=draw.topic_names(),
                state_changelog_topics=[
                    TopicInfo(name=draw.fresh("changelog"), partitions=0, replication_factor=1)
                ]
                if draw.chance(0.3)
                else [],
            )
        ],
    )
    request = StreamsGroupHeartbeatRequest(
        group_id=draw.pick(draw.fresh("g-t"), draw.fresh("h"), draw.group()),
        member_id=draw.fresh("member"),
        member_epoch=draw.weighted({0: 90, 5: 10}),
        rebalance_timeout_ms=30_000,
        topology=topology if draw.chance(0.9) else None,
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id="process",
        client_tags=[],
    )
    return Asked(request)


def streams_group_describe(draw: Draw, version: int) -> Asked:
    known = [m.request.group_id for m in draw.made.get(ApiKey.STREAMS_GROUP_HEARTBEAT, ())]
    groups = draw.some([*draw.groups, f"{draw.prefix}-g-none", *known[-3:]], 1, 3)
    return Asked(
        StreamsGroupDescribeRequest(
            group_ids=groups, include_authorized_operations=draw.chance(0.8)
        )
    )


def streams_group_topology_description_update(draw: Draw, version: int) -> Asked:
    known = [m.request.group_id for m in draw.made.get(ApiKey.STREAMS_GROUP_HEARTBEAT, ())]
    request = StreamsGroupTopologyDescriptionUpdateRequest(
        group_id=draw.pick(*draw.groups, *known[-3:], draw.group()), member_id="member"
    )
    return Asked(request)
