"""Stories in which sessions, transactions, revocations and locks of records time out.

They need brokers with low minimal timeouts: `interleaving.settings_of`.
"""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from kafka_shim.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from tests.recordings.conformance.requests.share import MEMBER_IDS
from tests.recordings.conformance.stories.consuming import Member, described, offsets_of
from tests.recordings.conformance.stories.fencing import Producer
from tests.recordings.conformance.stories.producing import fetched, offsets
from tests.recordings.conformance.stories.rebalancing import Modern, group_described
from tests.recordings.conformance.stories.sharing import (
    heartbeat,
    produced,
    share_offsets,
    topology,
)
from tests.recordings.conformance.stories.sharing_pairs import Sharer, group_setting
from tests.recordings.conformance.telling import Move, Story, Teller

TIMEOUT_MS = 3_000
EXPIRED_MS = 5_000
"""By then the timeout has passed, and a broker has noticed it."""


def _timely(*moves: Move) -> Story:
    """Yield moves that must follow each other directly."""
    for move in moves:
        yield move._replace(directly=True)


def classic_session(teller: Teller) -> Story:
    """A classic member sends no heartbeats until its session ends."""
    draw = teller.draw
    group, topic = draw.fresh("g-j"), draw.pick(*draw.topics)
    member = Member(teller, group, teller.user, timeout_ms=TIMEOUT_MS)
    yield from member.join()
    yield from _timely(member.sync(member.joined), member.commit(topic, 3))
    yield member.heartbeat()._replace(after_ms=EXPIRED_MS, directly=True)
    yield described(group)
    yield member.commit(topic, 4)
    yield offsets_of(group, topic)
    yield member.leave()


def classic_rebalance(teller: Teller) -> Story:
    """A member does not rejoin when another one joins, and is removed."""
    draw = teller.draw
    group, topic = draw.fresh("g-j"), draw.pick(*draw.topics)
    first = Member(teller, group, teller.user, timeout_ms=TIMEOUT_MS)
    second = Member(teller, group, f"{teller.user}/{teller.number}", timeout_ms=TIMEOUT_MS)
    yield from first.join()
    yield from _timely(first.sync(first.joined))
    *earlier, joins = second.join(later=True)
    yield from _timely(*earlier, joins)
    yield described(group)._replace(after_ms=EXPIRED_MS, directly=True)
    yield from _timely(second.sync(second.joined))
    yield first.heartbeat()
    yield first.commit(topic, 3)
    yield described(group)
    yield second.leave()


def modern_session(teller: Teller) -> Story:
    """A member of KIP-848 sends no heartbeats until its session ends."""
    draw = teller.draw
    group, topic = draw.fresh("g-c"), draw.pick(*draw.topics)
    member = Modern(teller, group, teller.user, draw.pick(None, "i"))
    yield _settings(group, "consumer")
    yield from _timely(
        member.join(subscribed_topic_names=[topic]), member.alive(topic), member.commit(topic)
    )
    yield member.alive()._replace(after_ms=EXPIRED_MS, directly=True)
    yield group_described(group)
    yield member.commit(topic)
    yield member.join(subscribed_topic_names=[topic])
    yield group_described(group)
    yield member.leave()


def modern_revocation(teller: Teller) -> Story:
    """A member does not revoke partitions within its rebalance timeout, and is fenced."""
    draw = teller.draw
    group, topic = draw.fresh("g-c"), draw.pick(*draw.topics)
    first = Modern(teller, group, teller.user)
    second = Modern(teller, group, f"{teller.user}/{teller.number}")
    yield first.join(timeout_ms=TIMEOUT_MS, subscribed_topic_names=[topic])
    yield first.alive(topic)
    yield second.join(subscribed_topic_names=[topic])
    yield from _timely(first.alive(topic), second.alive())
    yield second.alive()._replace(after_ms=EXPIRED_MS, directly=True)
    yield group_described(group)
    yield first.alive(topic) if draw.chance(0.5) else first.commit(topic)
    yield second.leave()


def share_session(teller: Teller) -> Story:
    """A member of a share group sends no heartbeats until its session ends."""
    draw = teller.draw
    group, topic = draw.fresh("g-s"), draw.pick(*draw.topics)
    member = Sharer(teller, group, topic, MEMBER_IDS[0], teller.user)
    yield _settings(group, "share")
    yield from _timely(member.join(), member.alive())
    yield member.alive()._replace(after_ms=EXPIRED_MS, directly=True)
    yield _share_described(group)
    yield member.join()
    yield _share_described(group)
    yield member.leave()


def share_locks(teller: Teller) -> Story:
    """Locks of records end, so that another member gets them, or nobody does any more."""
    draw = teller.draw
    group, topic = draw.fresh("g-s"), draw.pick(*draw.topics)
    first = Sharer(teller, group, topic, MEMBER_IDS[0], teller.user)
    second = Sharer(teller, group, topic, MEMBER_IDS[1], f"{teller.user}/{teller.number}")
    yield group_setting(group, "share.record.lock.duration.ms", str(TIMEOUT_MS))
    for member in (first, second):
        yield member.join()
        yield member.alive()
        yield member.fetch()
    yield produced(topic)
    yield first.fetch(records_max=draw.pick(1, 10))
    late = first.acknowledge(0, 1, draw.pick(1, 2, 3))
    yield late._replace(after_ms=EXPIRED_MS, directly=True)
    yield second.fetch()
    yield share_offsets(group)
    yield second.acknowledge(0, 1, draw.pick(1, 2))
    yield share_offsets(group)
    yield first.leave()
    yield second.leave()


def streams_session(teller: Teller) -> Story:
    """A member of a streams group sends no heartbeats until its session ends."""
    draw = teller.draw
    group, topic, member = draw.fresh("g-t"), draw.pick(*draw.topics), draw.fresh("member")
    joined = teller.label()
    takes = {"member_epoch": f"{joined}:member_epoch"}
    describe = StreamsGroupDescribeRequest(group_ids=[group], include_authorized_operations=True)
    yield _settings(group, "streams")
    join = heartbeat(group, member, label=joined, topology=topology(topic, ""))
    yield from _timely(join, heartbeat(group, member, takes))
    yield heartbeat(group, member, takes)._replace(after_ms=EXPIRED_MS, directly=True)
    yield Move(ApiKey.STREAMS_GROUP_DESCRIBE, describe)
    yield heartbeat(group, member, topology=topology(topic, ""))
    yield Move(ApiKey.STREAMS_GROUP_DESCRIBE, describe)
    yield heartbeat(group, member, member_epoch=-1)


def transaction(teller: Teller) -> Story:
    """The coordinator aborts a transaction that takes too long; the producer goes on."""
    draw = teller.draw
    topic, group = draw.pick(*draw.topics), draw.pick(*draw.groups)
    producer = Producer(teller, draw.fresh("tx"), timeout_ms=TIMEOUT_MS)
    yield producer.init()
    moves = [producer.add(topic), producer.produce(topic, 0)]
    if draw.chance(0.5):
        moves += [producer.add_offsets(group), producer.commit_offsets(group, topic)]
    yield from _timely(*moves)
    ways = (
        lambda: producer.end(committed=True),
        lambda: producer.produce(topic, 2),
        lambda: producer.add(topic, 1),
    )
    yield draw.pick(*ways)()._replace(after_ms=EXPIRED_MS, directly=True)
    yield fetched(topic)
    yield offsets(topic)
    yield offsets_of(group, topic)
    yield producer.init(as_known=draw.chance(0.5))
    yield producer.add(topic)
    yield producer.produce(topic, 0)
    yield producer.end(committed=True)
    yield fetched(topic)


def _settings(group: str, kind: str) -> Move:
    return group_setting(group, f"{kind}.session.timeout.ms", str(TIMEOUT_MS))


def _share_described(group: str) -> Move:
    request = ShareGroupDescribeRequest(group_ids=[group], include_authorized_operations=True)
    return Move(ApiKey.SHARE_GROUP_DESCRIBE, request)
