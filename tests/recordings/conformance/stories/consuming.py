"""Stories of groups: classic members, alone and in pairs, and members of KIP-848."""

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
from tests.recordings.conformance.requests.groups import subscription
from tests.recordings.conformance.scenario import topic_id_of
from tests.recordings.conformance.telling import Move, Story, Teller


class Member:
    """Makes the moves of a classic member; `joined` is the label of its last JoinGroup."""

    def __init__(
        self,
        teller: Teller,
        group: str,
        user: str,
        instance: str | None = None,
        timeout_ms: int = 30_000,
    ) -> None:
        self._teller = teller
        self._group = group
        self.user = user
        self._instance = instance
        self._timeout_ms = timeout_ms
        self.joined = ""

    def join(self, *, later: bool = False) -> Story:
        """Join the group, by a second JoinGroup if the first only returns a member id (KIP-394)."""
        version = self._teller.version(ApiKey.JOIN_GROUP, 5 if self._instance else 0)
        for is_last in (False, True):
            takes = {"member_id": f"{self.joined}:member_id"} if self.joined else {}
            request = JoinGroupRequest(
                group_id=self._group,
                session_timeout_ms=self._timeout_ms,
                rebalance_timeout_ms=self._timeout_ms,
                group_instance_id=self._instance,
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range", metadata=subscription("t"))],
            )
            is_needed = is_last or (version >= 4 and self._instance is None and not self.joined)
            if is_needed:
                self.joined = self._teller.label()
                yield Move(
                    ApiKey.JOIN_GROUP,
                    request,
                    takes,
                    self.joined,
                    version,
                    self.user,
                    later=later and is_last,
                )

    def identity(self, generation: str = "generation_id") -> dict[str, str]:
        return {
            "member_id": f"{self.joined}:member_id",
            generation: f"{self.joined}:generation_id",
        }

    def sync(self, *assigned: str, later: bool = False) -> Move:
        """Sync: a leader passes the join labels of the members to assign to, a follower none."""
        rows = [SyncGroupRequestAssignment(assignment=label.encode()) for label in assigned]
        takes = {
            f"assignments.{at}.member_id": f"{label}:member_id" for at, label in enumerate(assigned)
        }
        request = SyncGroupRequest(
            group_id=self._group,
            group_instance_id=self._instance,
            protocol_type="consumer",
            protocol_name="range",
            assignments=rows,
        )
        version = self._teller.version(ApiKey.SYNC_GROUP, 3 if self._instance else 0)
        takes |= self.identity()
        return Move(ApiKey.SYNC_GROUP, request, takes, "", version, self.user, later)

    def heartbeat(self) -> Move:
        request = HeartbeatRequest(group_id=self._group, group_instance_id=self._instance)
        version = self._teller.version(ApiKey.HEARTBEAT, 3 if self._instance else 0)
        return Move(ApiKey.HEARTBEAT, request, self.identity(), "", version, self.user)

    def commit(self, topic: str, offset: int) -> Move:
        partition = OffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata="m"
        )
        request = OffsetCommitRequest(
            group_id=self._group,
            topics=[
                OffsetCommitRequestTopic(
                    name=topic, topic_id=self._teller.draw.topic_id(topic), partitions=[partition]
                )
            ],
        )
        takes = self.identity("generation_id_or_member_epoch")
        return Move(ApiKey.OFFSET_COMMIT, request, takes, user=self.user)

    def leave(self) -> Move:
        version = self._teller.version(ApiKey.LEAVE_GROUP)
        if version < 3:
            request = LeaveGroupRequest(group_id=self._group)
            takes = {"member_id": f"{self.joined}:member_id"}
        else:
            request = LeaveGroupRequest(group_id=self._group, members=[MemberIdentity()])
            takes = {"members.0.member_id": f"{self.joined}:member_id"}
        return Move(ApiKey.LEAVE_GROUP, request, takes, "", version, self.user)


def classic_member(teller: Teller) -> Story:
    """A member joins, commits offsets that others fetch, and leaves."""
    draw = teller.draw
    group = draw.fresh("g-j")
    instance = (
        draw.fresh("instance") if draw.has(ApiKey.JOIN_GROUP, 5) and draw.chance(0.3) else None
    )
    member = Member(teller, group, teller.user, instance)
    yield from member.join()
    yield member.sync(member.joined)
    yield member.heartbeat()
    topic = draw.pick(*draw.topics)
    yield member.commit(topic, 3)
    yield offsets_of(group, topic)
    yield described(group)
    if draw.chance(0.6):
        yield from member.join()
        yield member.sync(member.joined)
        yield member.heartbeat()
    yield Move(ApiKey.LIST_GROUPS, ListGroupsRequest())
    yield member.leave()
    yield described(group)
    if draw.has(ApiKey.OFFSET_DELETE):
        partitions = [OffsetDeleteRequestPartition(partition_index=0)]
        topics = [OffsetDeleteRequestTopic(name=topic, partitions=partitions)]
        yield Move(ApiKey.OFFSET_DELETE, OffsetDeleteRequest(group_id=group, topics=topics))
    yield offsets_of(group, topic)
    if draw.has(ApiKey.DELETE_GROUPS):
        yield Move(ApiKey.DELETE_GROUPS, DeleteGroupsRequest(groups_names=[group]))
        yield described(group)


def classic_pair(teller: Teller) -> Story:
    """A second member joins and leaves; the other one must rejoin each time."""
    draw = teller.draw
    group = draw.fresh("g-j")
    first = Member(teller, group, teller.user)
    second = Member(teller, group, f"{teller.user}/{teller.number}")
    yield from first.join()
    yield first.sync(first.joined)
    yield from second.join(later=True)
    yield first.heartbeat()
    yield described(group)
    yield from first.join()
    yield second.sync(later=True)
    yield first.sync(first.joined, second.joined)
    yield second.heartbeat()
    yield first.heartbeat()
    yield second.commit(draw.topics[0], 7)
    yield described(group)
    yield second.leave()
    yield first.heartbeat()
    yield from first.join()
    yield first.sync(first.joined)
    yield offsets_of(group, draw.topics[0])
    yield first.leave()


def modern_member(teller: Teller) -> Story:
    """The only member of a group sends ConsumerGroupHeartbeat requests."""
    draw = teller.draw
    group, member = draw.fresh("g-c"), draw.fresh("member")
    topics = draw.some(draw.topics, 1, 2)
    joined = teller.label()
    request = ConsumerGroupHeartbeatRequest(
        group_id=group,
        member_id=member,
        member_epoch=0,
        rebalance_timeout_ms=30_000,
        subscribed_topic_names=topics,
        topic_partitions=[],
    )
    yield Move(ApiKey.CONSUMER_GROUP_HEARTBEAT, request, label=joined)
    identity = {"member_id": f"{joined}:member_id", "member_epoch": f"{joined}:member_epoch"}
    owned = [
        RequestTopicPartitions(topic_id=draw.topic_id(topic), partitions=[0, 1]) for topic in topics
    ]
    alive = ConsumerGroupHeartbeatRequest(group_id=group, topic_partitions=owned)
    yield Move(ApiKey.CONSUMER_GROUP_HEARTBEAT, alive, identity)
    if draw.has(ApiKey.CONSUMER_GROUP_DESCRIBE):
        describe = ConsumerGroupDescribeRequest(
            group_ids=[group], include_authorized_operations=True
        )
        yield Move(ApiKey.CONSUMER_GROUP_DESCRIBE, describe)
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    commit = OffsetCommitRequest(
        group_id=group,
        topics=[
            OffsetCommitRequestTopic(
                name=topics[0], topic_id=draw.topic_id(topics[0]), partitions=[partition]
            )
        ],
    )
    takes = {
        "member_id": identity["member_id"],
        "generation_id_or_member_epoch": identity["member_epoch"],
    }
    yield Move(ApiKey.OFFSET_COMMIT, commit, takes, version=teller.version(ApiKey.OFFSET_COMMIT, 9))
    yield offsets_of(group, topics[0])
    changed = ConsumerGroupHeartbeatRequest(
        group_id=group, subscribed_topic_names=draw.some(draw.topics, 1, 2)
    )
    yield Move(ApiKey.CONSUMER_GROUP_HEARTBEAT, changed, identity)
    yield Move(ApiKey.LIST_GROUPS, ListGroupsRequest())
    gone = ConsumerGroupHeartbeatRequest(group_id=group, member_epoch=-1)
    yield Move(ApiKey.CONSUMER_GROUP_HEARTBEAT, gone, {"member_id": identity["member_id"]})
    yield described(group)
    yield Move(ApiKey.DELETE_GROUPS, DeleteGroupsRequest(groups_names=[group]))


def described(group: str) -> Move:
    request = DescribeGroupsRequest(groups=[group], include_authorized_operations=True)
    return Move(ApiKey.DESCRIBE_GROUPS, request)


def offsets_of(group: str, topic: str) -> Move:
    request = OffsetFetchRequest(
        group_id=group,
        topics=[OffsetFetchRequestTopic(name=topic, partition_indexes=[0, 1])],
        groups=[
            OffsetFetchRequestGroup(
                group_id=group,
                topics=[
                    OffsetFetchRequestTopics(
                        name=topic, topic_id=topic_id_of(topic), partition_indexes=[0, 1]
                    )
                ],
            )
        ],
    )
    return Move(ApiKey.OFFSET_FETCH, request)
