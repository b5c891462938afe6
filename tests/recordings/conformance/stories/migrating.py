"""Stories of groups with members of both protocols (KIP-848), also with transactions (KIP-447)."""

from collections.abc import Callable

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition as Assigned,
)
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from tests.recordings.conformance.requests.groups import subscription
from tests.recordings.conformance.stories.consuming import Member, described, offsets_of
from tests.recordings.conformance.stories.fencing import MEMBERS_SINCE, Producer
from tests.recordings.conformance.stories.rebalancing import Modern, group_described
from tests.recordings.conformance.telling import Move, Story, Teller

EPOCH = "generation_id_or_member_epoch"


def both_protocols(teller: Teller) -> Story:
    """A classic and a consumer protocol member join in either order, then one leaves."""
    draw = teller.draw
    group, topic = draw.fresh("g-m"), draw.pick(*draw.topics)
    classic = Member(teller, group, teller.user)
    modern = Modern(teller, group, f"{teller.user}/{teller.number}")
    entrances = [lambda: _joined(classic, topic), lambda: _entered(modern, topic)]
    draw.random.shuffle(entrances)
    for entrance in entrances:
        yield from entrance()
    looks: list[Callable[[], Move]] = [lambda: group_described(group), lambda: described(group)]
    moves: list[Callable[[], Move]] = [
        classic.heartbeat,
        lambda: classic.commit(topic, 4),
        modern.alive,
        lambda: modern.alive(topic),
        lambda: modern.commit(topic),
        *looks,
    ]
    for _ in range(draw.number(3, 5)):
        yield draw.pick(*moves)()
    if draw.chance(0.7):
        yield from _joined(classic, topic)
        yield draw.pick(*moves)()
    exits: list[Callable[[], Move]] = [classic.leave, modern.leave]
    yield draw.pick(*exits)()
    for move in draw.some(moves, 2, 4):
        yield move()
    yield Move(ApiKey.LIST_GROUPS, ListGroupsRequest())
    yield offsets_of(group, topic)


def _joined(member: Member, topic: str) -> Story:
    for move in member.join():
        move.request.protocols[0].metadata = subscription(topic)
        yield move
    synced = member.sync(member.joined)
    synced.request.assignments[0].assignment = _all_of(topic)
    yield synced


def _all_of(topic: str) -> bytes:
    """Return an assignment (version 0) of both partitions.

    With only one partition for each member, a hash of generated member ids would decide.
    """
    row = Assigned(topic=topic, partitions=[0, 1])
    return b"\0\0" + codecs.write_message(ConsumerProtocolAssignment(assigned_partitions=[row]), 0)


def _entered(member: Modern, topic: str) -> Story:
    yield member.join(subscribed_topic_names=[topic])
    yield member.alive(topic)


def members_in_transactions(teller: Teller) -> Story:
    """A producer commits offsets as a group member, without a member, and as a wrong member."""
    draw = teller.draw
    group, topic = draw.fresh("g-p"), draw.pick(*draw.topics)
    identity, member_id = {}, ""
    if draw.has(ApiKey.CONSUMER_GROUP_DESCRIBE) and draw.chance(0.5):
        modern = Modern(teller, group, teller.user)
        yield from _entered(modern, topic)
        committed = modern.commit(topic)
        member_id = committed.request.member_id
        identity[EPOCH] = committed.takes[EPOCH]
    else:
        classic = Member(teller, group, teller.user)
        yield from _joined(classic, topic)
        identity = classic.identity(EPOCH)
    producer = Producer(teller, draw.fresh("tx"))
    yield producer.init()
    yield producer.add_offsets(group)
    for _ in range(draw.number(3, 5)):
        move = producer.commit_offsets(group, topic, member_id or "nobody")
        left_out = draw.pick("", "", EPOCH, "member_id")
        if move.version >= MEMBERS_SINCE:
            more = {field: taken for field, taken in identity.items() if field != left_out}
            move = move._replace(takes={**move.takes, **more})
        yield move
        if draw.chance(0.3):
            yield offsets_of(group, topic)
    yield producer.end(committed=draw.chance(0.7))
    yield offsets_of(group, topic)
