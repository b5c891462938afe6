"""Stories with wrong assumptions: groups of another type, deleted topics, duplicate partitions."""

from collections.abc import Callable

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_shim.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from tests.recordings.conformance.requests.share import MEMBER_IDS
from tests.recordings.conformance.scenario import topic_id_of
from tests.recordings.conformance.stories.administering import deleted, made
from tests.recordings.conformance.stories.consuming import Member, described, offsets_of
from tests.recordings.conformance.stories.fencing import Producer
from tests.recordings.conformance.stories.producing import BATCHES_SINCE, fetched, offsets
from tests.recordings.conformance.stories.rebalancing import Modern, group_described, simple_commit
from tests.recordings.conformance.telling import Move, Story, Teller
from tests.recordings.records.batches import batch


def odd_members(teller: Teller) -> Story:
    """Members subscribe to nothing, or to missing topics, and rejoin."""
    draw = teller.draw
    group = draw.fresh("g-c")
    first = Modern(teller, group, teller.user)
    second = Modern(teller, group, f"{teller.user}/{teller.number}", draw.pick(None, "i"))

    def names() -> list[str]:
        return draw.pick([], [draw.ghosts[0]], draw.some(draw.topics, 1, 2))

    yield first.join(subscribed_topic_names=names())
    yield group_described(group)
    for member in draw.pick((first, second), (second, first, first), (first, first, second)):
        yield member.join(subscribed_topic_names=names())
        yield group_described(group)
    yield first.alive()
    yield second.alive(subscribed_topic_names=names())
    yield second.leave(draw.pick(-1, -2))
    yield group_described(group)
    yield first.leave()  # or a later join without names could take partitions away
    yield first.join(subscribed_topic_names=draw.some(draw.topics, 1, 2))
    yield group_described(group)


def other_kind(teller: Teller) -> Story:
    """Requests for one type of group are sent to a group of another type."""
    draw = teller.draw
    group, topic = draw.fresh("g-k"), draw.pick(*draw.topics)
    user = f"{teller.user}/{teller.number}"
    kinds = [_classic, _committed]
    if draw.has(ApiKey.CONSUMER_GROUP_DESCRIBE):
        kinds.append(_modern)
    if draw.has(ApiKey.SHARE_GROUP_DESCRIBE):
        kinds.append(_share)
    first, second = draw.random.sample(kinds, 2)
    yield from first(teller, group, topic, teller.user)
    yield from _looks(teller, group, topic)
    if {first, second} != {_classic, _modern}:  # these two types convert into each other
        yield from second(teller, group, topic, user)
    yield from _looks(teller, group, topic)
    yield Move(ApiKey.LIST_GROUPS, ListGroupsRequest())
    if draw.has(ApiKey.DELETE_GROUPS):
        yield Move(ApiKey.DELETE_GROUPS, DeleteGroupsRequest(groups_names=[group]))
    yield from _looks(teller, group, topic)


def _classic(teller: Teller, group: str, topic: str, user: str) -> Story:
    member = Member(teller, group, user)
    yield from member.join()
    yield member.sync(member.joined)
    yield member.commit(topic, 3)
    if teller.draw.chance(0.5):
        yield member.leave()


def _committed(teller: Teller, group: str, topic: str, user: str) -> Story:
    yield simple_commit(group, topic)._replace(user=user)


def _modern(teller: Teller, group: str, topic: str, user: str) -> Story:
    member = Modern(teller, group, user)
    yield member.join(subscribed_topic_names=[topic])
    yield member.commit(topic)
    if teller.draw.chance(0.5):
        yield member.leave()


def _share(teller: Teller, group: str, topic: str, user: str) -> Story:
    join = ShareGroupHeartbeatRequest(
        group_id=group, member_id=MEMBER_IDS[0], subscribed_topic_names=[topic]
    )
    yield Move(ApiKey.SHARE_GROUP_HEARTBEAT, join, user=user)
    if teller.draw.chance(0.5):
        gone = ShareGroupHeartbeatRequest(group_id=group, member_id=MEMBER_IDS[0], member_epoch=-1)
        yield Move(ApiKey.SHARE_GROUP_HEARTBEAT, gone, user=user)


def _looks(teller: Teller, group: str, topic: str) -> Story:
    draw = teller.draw
    ways = [described(group), offsets_of(group, topic)]
    if draw.has(ApiKey.CONSUMER_GROUP_DESCRIBE):
        ways.append(group_described(group))
    if draw.has(ApiKey.SHARE_GROUP_DESCRIBE):
        ways.append(Move(ApiKey.SHARE_GROUP_DESCRIBE, ShareGroupDescribeRequest(group_ids=[group])))
        row = DescribeShareGroupOffsetsRequestGroup(group_id=group, topics=None)
        ways.append(
            Move(
                ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
                DescribeShareGroupOffsetsRequest(groups=[row]),
            )
        )
    if draw.has(ApiKey.STREAMS_GROUP_DESCRIBE):
        ways.append(
            Move(ApiKey.STREAMS_GROUP_DESCRIBE, StreamsGroupDescribeRequest(group_ids=[group]))
        )
    yield from draw.random.sample(ways, min(len(ways), 3))


def topic_gone(teller: Teller) -> Story:
    """A topic is deleted despite an open transaction and committed offsets, then recreated."""
    draw = teller.draw
    topic, group = draw.fresh("gone"), draw.pick(*draw.groups)
    yield made(teller, topic)
    producer = Producer(teller, draw.fresh("tx"))
    yield producer.init()
    yield producer.add(topic)
    yield producer.produce(topic, 0)
    yield simple_commit(group, topic)
    yield deleted(topic)
    tries: list[Callable[[], Move]] = [
        lambda: producer.add(topic, 1),
        lambda: producer.produce(topic, 2),
        lambda: fetched(topic),
        lambda: offsets(topic),
        lambda: offsets_of(group, topic),
        lambda: simple_commit(group, topic),
    ]
    for attempt in draw.some(tries, 2, 4):
        yield attempt()
    if draw.chance(0.7):
        yield made(teller, topic)
    for attempt in draw.some(tries, 2, 4):
        yield attempt()
    yield producer.end(committed=draw.chance(0.5))
    yield offsets_of(group, topic)
    yield fetched(topic)


def named_twice(teller: Teller) -> Story:
    """A request has a partition several times: with valid records, without, with two batches."""
    draw = teller.draw
    topic = draw.pick(*draw.topics)
    contents = [batch([b"v1"]), batch([b"v1", b"v2"]), batch([b"x"], damage=True), b""]
    contents.append(contents[0] + contents[1])
    for _ in range(3):
        rows = [
            PartitionProduceData(index=draw.pick(0, 0, 1), records=draw.pick(*contents))
            for _ in range(draw.number(2, 3))
        ]
        half = draw.pick(len(rows), 1)
        data = [
            TopicProduceData(name=topic, topic_id=topic_id_of(topic), partition_data=part)
            for part in (rows[:half], rows[half:])
            if part
        ]
        request = ProduceRequest(acks=draw.pick(-1, 1), timeout_ms=5000, topic_data=data)
        yield Move(ApiKey.PRODUCE, request, version=teller.version(ApiKey.PRODUCE, BATCHES_SINCE))
        yield fetched(topic)
