"""Stories of groups with members that replace each other or share partitions."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
)
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    RequestTopicPartitions,
)
from kafka_shim.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_shim.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
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
from tests.recordings.conformance.scenario import topic_id_of
from tests.recordings.conformance.stories.consuming import Member, described, offsets_of
from tests.recordings.conformance.telling import Move, Story, Teller


def static_replacement(teller: Teller) -> Story:
    """A second member joins with the instance id of the first, which is fenced (KIP-345)."""
    draw = teller.draw
    group, instance = draw.fresh("g-j"), draw.fresh("instance")
    first = Member(teller, group, teller.user, instance)
    second = Member(teller, group, f"{teller.user}/{teller.number}", instance)
    yield from first.join()
    yield first.sync(first.joined)
    yield first.commit(draw.topics[0], 2)
    yield from second.join()
    yield from draw.some(
        [first.heartbeat(), first.commit(draw.topics[0], 3), first.sync(first.joined)], 1, 3
    )
    yield second.heartbeat()
    yield described(group)
    yield second.sync(second.joined)
    yield second.heartbeat()
    yield offsets_of(group, draw.topics[0])
    members = [MemberIdentity(group_instance_id=instance), MemberIdentity(member_id="nobody")]
    version = teller.version(ApiKey.LEAVE_GROUP, 3)
    request = LeaveGroupRequest(group_id=group, members=draw.some(members, 1, 2))
    yield Move(ApiKey.LEAVE_GROUP, request, version=version)
    yield second.heartbeat()
    yield described(group)


def busy_group(teller: Teller) -> Story:
    """Others try to commit to an active group, to delete its offsets, and to delete it."""
    draw = teller.draw
    group, topic = draw.fresh("g-j"), draw.pick(*draw.topics)
    member = Member(teller, group, teller.user)
    yield from member.join()
    yield _outsider(teller, group, topic)
    yield member.sync(member.joined)
    yield member.commit(topic, 4)
    tries = [_outsider(teller, group, topic), simple_commit(group, topic)]
    if draw.has(ApiKey.OFFSET_DELETE):
        tries.append(_offset_delete(group, topic))
    if draw.has(ApiKey.DELETE_GROUPS):
        tries.append(Move(ApiKey.DELETE_GROUPS, DeleteGroupsRequest(groups_names=[group])))
    yield from draw.some(tries, 2, 4)
    yield offsets_of(group, topic)
    yield member.leave()
    yield member.commit(topic, 6)
    yield from draw.some(tries, 2, 4)
    yield offsets_of(group, topic)
    yield described(group)


def _commit_of(group: str, topic: str, member: str, generation: int) -> Move:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=9)
    request = OffsetCommitRequest(
        group_id=group,
        member_id=member,
        generation_id_or_member_epoch=generation,
        topics=[
            OffsetCommitRequestTopic(
                name=topic, topic_id=topic_id_of(topic), partitions=[partition]
            )
        ],
    )
    return Move(ApiKey.OFFSET_COMMIT, request)


def _outsider(teller: Teller, group: str, topic: str) -> Move:
    return _commit_of(group, topic, "nobody", teller.draw.pick(1, 1, 4))


def simple_commit(group: str, topic: str) -> Move:
    return _commit_of(group, topic, "", -1)


def _offset_delete(group: str, topic: str) -> Move:
    partitions = [OffsetDeleteRequestPartition(partition_index=0)]
    topics = [OffsetDeleteRequestTopic(name=topic, partitions=partitions)]
    return Move(ApiKey.OFFSET_DELETE, OffsetDeleteRequest(group_id=group, topics=topics))


class Modern:
    """Makes the moves of a KIP-848 member; heartbeats have the epoch of the last response."""

    def __init__(self, teller: Teller, group: str, user: str, instance: str | None = None) -> None:
        self._teller = teller
        self._group = group
        self._user = user
        self._instance = instance
        self._last = ""
        self._name = teller.draw.fresh("member")

    def join(self, *, timeout_ms: int = 30_000, **subscription: object) -> Move:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self._group,
            member_id=self._name,
            instance_id=self._instance,
            member_epoch=0,
            rebalance_timeout_ms=timeout_ms,
            topic_partitions=[],
        )
        return self._beat(request, subscription)

    def alive(self, *owned: str, **changed: object) -> Move:
        """Send a heartbeat that owns both partitions of the topics in `owned`, if there are any."""
        request = ConsumerGroupHeartbeatRequest(group_id=self._group, member_id=self._name)
        if owned:
            request.topic_partitions = [
                RequestTopicPartitions(topic_id=topic_id_of(topic), partitions=[0, 1])
                for topic in owned
            ]
        return self._beat(request, changed)

    def leave(self, epoch: int = -1) -> Move:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self._group,
            member_id=self._name,
            member_epoch=epoch,
            instance_id=self._instance,
        )
        return Move(ApiKey.CONSUMER_GROUP_HEARTBEAT, request, user=self._user)

    def commit(self, topic: str) -> Move:
        move = _commit_of(self._group, topic, self._name, 1)
        takes = {"generation_id_or_member_epoch": f"{self._last}:member_epoch"}
        version = self._teller.version(ApiKey.OFFSET_COMMIT, 9)
        return move._replace(takes=takes, version=version, user=self._user)

    def _beat(self, request: ConsumerGroupHeartbeatRequest, more: dict[str, object]) -> Move:
        for name, value in more.items():
            setattr(request, name, value)
        takes = {}
        if self._last and request.member_epoch == 0 and request.rebalance_timeout_ms < 0:
            takes = {"member_epoch": f"{self._last}:member_epoch"}
        self._last = self._teller.label()
        version = self._teller.version(
            ApiKey.CONSUMER_GROUP_HEARTBEAT, 1 if request.subscribed_topic_regex else 0
        )
        return Move(
            ApiKey.CONSUMER_GROUP_HEARTBEAT, request, takes, self._last, version, self._user
        )


def modern_pair(teller: Teller) -> Story:
    """The second member gets half of the partitions after the first one has revoked them."""
    draw = teller.draw
    group, topic = draw.fresh("g-c"), draw.pick(*draw.topics)
    first = Modern(teller, group, teller.user)
    second = Modern(teller, group, f"{teller.user}/{teller.number}")
    yield first.join(subscribed_topic_names=[topic])
    yield first.alive(topic)
    yield first.commit(topic)
    yield second.join(subscribed_topic_names=[topic])
    yield group_described(group)
    yield draw.pick(first.commit(topic), second.commit(topic))
    yield second.leave()
    yield first.alive()
    yield group_described(group)
    if draw.chance(0.5):
        yield first.join(subscribed_topic_names=draw.some(draw.topics, 1, 2))
    yield first.alive()
    yield first.leave()
    yield group_described(group)


def modern_static(teller: Teller) -> Story:
    """A static member leaves temporarily; another one with the same instance id replaces it."""
    draw = teller.draw
    group, topic, instance = draw.fresh("g-c"), draw.pick(*draw.topics), draw.fresh("instance")
    first = Modern(teller, group, teller.user, instance)
    second = Modern(teller, group, f"{teller.user}/{teller.number}", instance)
    yield first.join(subscribed_topic_names=[topic])
    yield first.alive(topic)
    if draw.chance(0.3):
        yield second.join(subscribed_topic_names=[topic])
    yield first.leave(-2)
    yield group_described(group)
    yield second.join(subscribed_topic_names=[topic])
    yield first.alive() if draw.chance(0.5) else first.commit(topic)
    yield second.alive(topic)
    yield second.commit(topic)
    yield group_described(group)
    yield second.leave()
    yield Move(ApiKey.DELETE_GROUPS, DeleteGroupsRequest(groups_names=[group]))


def by_expression(teller: Teller) -> Story:
    """Subscribe by a regular expression, which is evaluated between heartbeats (KIP-848)."""
    draw = teller.draw
    group = draw.fresh("g-c")
    member = Modern(teller, group, teller.user)
    expressions = (f"{draw.prefix}-orders.*", f"{draw.prefix}.*", f"{draw.prefix}-none", "(")
    yield member.join(subscribed_topic_regex=draw.pick(*expressions))
    yield member.alive()
    yield member.alive()
    yield group_described(group)
    yield member.alive(subscribed_topic_regex=draw.pick("", *expressions[:2]))
    yield member.alive()
    yield group_described(group)
    yield member.leave()


def group_described(group: str) -> Move:
    request = ConsumerGroupDescribeRequest(group_ids=[group], include_authorized_operations=True)
    return Move(ApiKey.CONSUMER_GROUP_DESCRIBE, request)
