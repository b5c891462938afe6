"""Random requests about consumer groups and their offsets."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
)
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    RequestTopicPartitions,
)
from kafka_shim.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_shim.protocol.messages.describe_groups import DescribeGroupsRequest
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from kafka_shim.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
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
from kafka_shim.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from tests.recordings.conformance.draw import Asked, Draw

NULL_TOPICS_SINCE = 2
NOBODY = "nobody"


def subscription(*topics: str) -> bytes:
    """Return a consumer's subscription, version 0."""
    names = b"".join(len(name).to_bytes(2, "big") + name.encode() for name in topics)
    return b"\0\0" + len(topics).to_bytes(4, "big") + names + bytes(4)


def _member(draw: Draw) -> tuple[str, dict[str, str]]:
    """Return a group, and the values to take from the JoinGroup of its member."""
    joined = draw.earlier(ApiKey.JOIN_GROUP)
    if joined is None:
        return draw.group(), {}
    takes = {"member_id": f"{joined.label}:member_id"}
    if draw.chance(0.9):
        takes["generation_id"] = f"{joined.label}:generation_id"
    return joined.request.group_id, takes


def join_group(draw: Draw, version: int) -> Asked:
    """Join a group as its only member, so that no member waits for others."""
    joined = draw.earlier(ApiKey.JOIN_GROUP, share=0.5)
    request = JoinGroupRequest(
        group_id=draw.pick(draw.fresh("g-j"), draw.fresh("h")),
        session_timeout_ms=draw.weighted({30_000: 92, 10: 4, 3_000_000: 4}),
        rebalance_timeout_ms=30_000,
        member_id="",
        protocol_type=draw.weighted({"consumer": 92, "connect": 4, "": 4}),
        protocols=[
            JoinGroupRequestProtocol(name=name, metadata=subscription(*draw.topics[:2]))
            for name in draw.weighted({("range",): 85, ("range", "sticky"): 10, (): 5})
        ],
        reason=draw.pick(None, "a reason"),
    )
    if joined is not None:
        request.group_id = joined.request.group_id
        request.group_instance_id = joined.request.group_instance_id
        request.member_id = NOBODY
        return Asked(request, {"member_id": f"{joined.label}:member_id"})
    if draw.chance(0.2):
        request.group_instance_id = draw.fresh("instance")
    if draw.chance(0.2):
        request.member_id = NOBODY
    if draw.chance(0.05):
        request.group_id = ""
    return Asked(request)


def sync_group(draw: Draw, version: int) -> Asked:
    group, takes = _member(draw)
    request = SyncGroupRequest(
        group_id=group,
        generation_id=draw.pick(1, -1),
        member_id=NOBODY,
        protocol_type=draw.weighted({"consumer": 85, None: 10, "connect": 5}),
        protocol_name=draw.weighted({"range": 85, None: 10, "sticky": 5}),
    )
    if takes and draw.chance(0.8):
        request.assignments = [SyncGroupRequestAssignment(member_id=NOBODY, assignment=b"mine")]
        takes = takes | {"assignments.0.member_id": takes["member_id"]}
    return Asked(request, takes)


def heartbeat(draw: Draw, version: int) -> Asked:
    group, takes = _member(draw)
    instance = draw.weighted({None: 90, "unknown-instance": 10})
    request = HeartbeatRequest(
        group_id=group, generation_id=1, member_id=NOBODY, group_instance_id=instance
    )
    return Asked(request, takes)


def leave_group(draw: Draw, version: int) -> Asked:
    group, takes = _member(draw)
    members = [
        MemberIdentity(member_id=NOBODY, group_instance_id=draw.pick(None, None, "no-instance"))
        for _ in range(draw.number(0 if draw.chance(0.1) else 1, 2))
    ]
    takes = {key: source for key, source in takes.items() if key == "member_id"}
    if takes and members and draw.chance(0.7):
        members = [MemberIdentity(member_id=NOBODY)]
        takes = takes | {"members.0.member_id": takes["member_id"]}
    return Asked(LeaveGroupRequest(group_id=group, member_id=NOBODY, members=members), takes)


def offset_commit(draw: Draw, version: int) -> Asked:
    topics = [
        OffsetCommitRequestTopic(
            name=name,
            topic_id=draw.topic_id(name),
            partitions=[
                OffsetCommitRequestPartition(
                    partition_index=draw.weighted({0: 70, 1: 22, 7: 8}),
                    committed_offset=draw.weighted({3: 60, 0: 30, -1: 10}),
                    committed_leader_epoch=draw.pick(-1, -1, 0),
                    committed_metadata=draw.weighted({"m": 60, None: 20, "": 15, "m" * 5000: 5}),
                )
            ],
        )
        for name in draw.topic_names()
    ]
    request = OffsetCommitRequest(group_id=draw.group(), topics=topics)
    takes: dict[str, str] = {}
    if draw.chance(0.4):
        group, found = _member(draw)
        request.group_id, request.member_id = group, NOBODY
        request.generation_id_or_member_epoch = 1
        takes = {
            {"generation_id": "generation_id_or_member_epoch"}.get(key, key): source
            for key, source in found.items()
        }
    if draw.chance(0.05):
        request.group_instance_id = "no-instance"
    return Asked(request, takes)


def offset_fetch(draw: Draw, version: int) -> Asked:
    names = draw.topic_names()
    is_all = version >= NULL_TOPICS_SINCE and draw.chance(0.4)
    indexes = draw.pick([0, 1], [0], [7, 0], [])
    old = [OffsetFetchRequestTopic(name=name, partition_indexes=indexes) for name in names]
    new = [
        OffsetFetchRequestTopics(name=name, topic_id=draw.topic_id(name), partition_indexes=indexes)
        for name in names
    ]
    groups = [
        OffsetFetchRequestGroup(
            group_id=group,
            member_id=draw.weighted({None: 90, NOBODY: 10}),
            member_epoch=draw.weighted({-1: 90, 4: 10}),
            topics=None if draw.chance(0.4) else new,
        )
        for group in draw.some([*draw.groups, draw.group()], 1, 3)
    ]
    request = OffsetFetchRequest(
        group_id=draw.group(),
        topics=None if is_all else old,
        groups=groups,
        require_stable=draw.chance(0.2),
    )
    return Asked(request)


def find_coordinator(draw: Draw, version: int) -> Asked:
    kind = draw.weighted({0: 45, 1: 35, 2: 15, 5: 5})
    kind = 0 if version == 0 or (version < 6 and kind == 2 and draw.chance(0.7)) else kind
    share = f"{draw.groups[0]}:AAAAAAAAAAAAAAAAAAAAAQ:0"
    names = {0: draw.groups, 1: draw.transactional_ids, 2: [share, "bad"]}.get(kind, draw.groups)
    request = FindCoordinatorRequest(
        key="" if draw.chance(0.03) else draw.pick(*names),
        key_type=kind,
        coordinator_keys=draw.some(names, 0 if draw.chance(0.1) else 1, 2),
    )
    return Asked(request)


def describe_groups(draw: Draw, version: int) -> Asked:
    known = [made.request.group_id for made in draw.made.get(ApiKey.JOIN_GROUP, ())]
    names = [*draw.groups, f"{draw.prefix}-g-none", draw.group(), *known[-2:]]
    request = DescribeGroupsRequest(
        groups=draw.some(names, 0 if draw.chance(0.1) else 1, 3),
        include_authorized_operations=draw.chance(0.8),
    )
    return Asked(request)


def list_groups(draw: Draw, version: int) -> Asked:
    request = ListGroupsRequest(
        states_filter=draw.pick([], [], ["Empty"], ["Stable", "empty"], ["nonsense"]),
        types_filter=draw.pick([], [], ["classic"], ["consumer", "Share"], ["nonsense"]),
    )
    return Asked(request)


def delete_groups(draw: Draw, version: int) -> Asked:
    known = [made.request.group_id for made in draw.made.get(ApiKey.JOIN_GROUP, ())]
    names = [f"{draw.prefix}-g-none", draw.groups[2], draw.group(), *known[-2:]]
    return Asked(DeleteGroupsRequest(groups_names=draw.some(names, 1, 2)))


def offset_delete(draw: Draw, version: int) -> Asked:
    topics = [
        OffsetDeleteRequestTopic(
            name=name,
            partitions=[OffsetDeleteRequestPartition(partition_index=draw.pick(0, 1, 1, 7))],
        )
        for name in draw.topic_names()
    ]
    return Asked(OffsetDeleteRequest(group_id=draw.group(), topics=topics))


def consumer_group_heartbeat(draw: Draw, version: int) -> Asked:
    before = draw.earlier(ApiKey.CONSUMER_GROUP_HEARTBEAT, share=0.6)
    if before is not None:
        takes = {
            "member_id": f"{before.label}:member_id",
            "member_epoch": f"{before.label}:member_epoch",
        }
        request = ConsumerGroupHeartbeatRequest(
            group_id=before.request.group_id, member_id=before.request.member_id, member_epoch=1
        )
        if draw.chance(0.3):
            request.member_epoch = draw.pick(-1, 0, 5)
            del takes["member_epoch"]
        if draw.chance(0.4):
            owned = RequestTopicPartitions(
                topic_id=draw.topic_id(draw.topics[0]), partitions=[0, 1]
            )
            request.topic_partitions = draw.pick([], [owned])
        if request.member_epoch == 0:
            request.rebalance_timeout_ms, request.topic_partitions = 30_000, []
            request.subscribed_topic_names = draw.topic_names()
        return Asked(request, takes)
    member = draw.fresh("member") if version >= 1 else ""
    request = ConsumerGroupHeartbeatRequest(
        group_id=draw.pick(draw.fresh("g-c"), draw.fresh("h"), draw.group()),
        member_id=member,
        member_epoch=draw.weighted({0: 85, 5: 10, -1: 5}),
        instance_id=draw.fresh("instance") if draw.chance(0.15) else None,
        rebalance_timeout_ms=draw.weighted({30_000: 95, -1: 5}),
        subscribed_topic_names=draw.topic_names() if draw.chance(0.85) else None,
        server_assignor=draw.weighted({None: 85, "range": 10, "nonsense": 5}),
        topic_partitions=[] if draw.chance(0.95) else None,
    )
    if draw.chance(0.15):
        request.subscribed_topic_regex = draw.pick(f"{draw.prefix}.*", f"{draw.topics[0]}.*", "(")
        request.subscribed_topic_names = draw.pick(None, None, request.subscribed_topic_names)
    return Asked(request)


def consumer_group_describe(draw: Draw, version: int) -> Asked:
    known = [m.request.group_id for m in draw.made.get(ApiKey.CONSUMER_GROUP_HEARTBEAT, ())]
    names = [*draw.groups, f"{draw.prefix}-g-none", *known[-3:], *known[-3:]]
    request = ConsumerGroupDescribeRequest(
        group_ids=draw.some(names, 1, 3), include_authorized_operations=draw.chance(0.8)
    )
    return Asked(request)
