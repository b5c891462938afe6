"""Requests whose change makes a record of a coordinator larger than `message.max.bytes`."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.classic_play import subscription
from tests.recordings.limits.play import LimitsPlay

MESSAGE_BYTES_MAX = 5_000
BELOW, ABOVE = 2_000, 6_000


def _commits(play: LimitsPlay) -> None:
    """Offsets whose records together exceed a batch."""
    (topic,) = play.topic("t", partitions=3)
    for count in (1, 2, 3):
        group = play.text(f"cg{count}")
        rows = [(topic, index, 5) for index in range(count)]
        play.commit(f"commit: {count} offsets", group, rows, metadata="x" * 4_000)
        play.fetch(f"commit: after {count} offsets", group, [(topic, list(range(count)))])
    for label, offset in (("one partition", 5), ("the same one again", 6)):
        group = play.text("csame")
        play.commit(f"commit: {label}", group, [(topic, 0, offset)] * 3, metadata="x" * 2_000)
        play.fetch(f"commit: after {label}", group, [(topic, [0])])


def _assignments(play: LimitsPlay) -> None:
    """A leader that assigns more than a batch may have."""
    for size in (BELOW, ABOVE):
        group = play.text(f"ag{size}")
        member = play.join(f"assignment: joins {size}", group).member_id
        if not member:
            continue
        play.sync(f"assignment: syncs {size}", group, 1, member, {member: b"x" * size})
        play.heartbeat(f"assignment: heartbeat {size}", group, 1, member)
        play.describe(f"assignment: described {size}", group)
        play.join(f"assignment: joins again {size}", group, member=member)
        play.describe(f"assignment: described again {size}", group)


def _subscriptions(play: LimitsPlay) -> None:
    """A member whose own metadata exceed a batch."""
    for size in (BELOW, ABOVE):
        group = play.text(f"ug{size}")
        metadata = subscription(["t" * 200] * (size // 200))
        member = play.join(
            f"subscription: joins {size}", group, protocols=(("range", metadata),)
        ).member_id
        if not member:
            continue
        play.sync(f"subscription: syncs {size}", group, 1, member, {member: b"x"})
        play.heartbeat(f"subscription: heartbeat {size}", group, 1, member)
        play.describe(f"subscription: described {size}", group)


def _static_members(play: LimitsPlay) -> None:
    """A static member with large metadata, which comes back."""
    for size in (BELOW, ABOVE):
        group, more = play.text(f"ig{size}"), dict[str, Any](group_instance_id="i")
        metadata = subscription(["t" * 200] * (size // 200))
        protocols = (("range", metadata),)
        member = play.join(
            f"static_member: joins {size}", group, protocols=protocols, **more
        ).member_id
        if member:
            play.sync(
                f"static_member: syncs {size}",
                group,
                1,
                member,
                {member: b"x"},
                group_instance_id="i",
            )
        play.join(f"static_member: comes back {size}", group, protocols=protocols, **more)
        play.describe(f"static_member: described {size}", group)


def _consumers(play: LimitsPlay) -> None:
    """Members of consumer groups with many topics."""
    for size in (BELOW, ABOVE):
        group = play.text(f"kc{size}")
        names = ["t" * 200 + str(number) for number in range(size // 200)]
        play.enter(f"consumer: joins {size}", group, "m", *names)
        play.consumer_groups(f"consumer: described {size}", group)


def _sharers(play: LimitsPlay) -> None:
    """Members of share groups with many topics."""
    for size in (BELOW, ABOVE):
        group = play.text(f"hs{size}")
        names = ["t" * 200 + str(number) for number in range(size // 200)]
        play.share(f"sharer: joins {size}", group, "m", 0, names)


def _streams(play: LimitsPlay) -> None:
    """Members of streams groups with large topologies."""
    for size in (BELOW, ABOVE):
        names = ["t" * 200 + str(number) for number in range(size // 200)]
        topology = {"epoch": 0, "subtopologies": [{"subtopology_id": "0", "source_topics": names}]}
        play.start(f"stream: joins {size}", play.text(f"tt{size}"), "m", topology)


def _transactions(play: LimitsPlay) -> None:
    """Partitions whose names together exceed a batch of the transaction log."""
    topics = play.topic(*(f"{number:03}" + "t" * 190 for number in range(30)), partitions=1)
    for count in (10, 30):
        text = play.text(f"x{count}")
        request = {"transactional_id": text, "transaction_timeout_ms": 60_000}
        got = play.call(f"begins {count}", ApiKey.INIT_PRODUCER_ID, 1, request)
        for label in ("adds", "adds again"):
            add = {
                "v3_and_below_transactional_id": text,
                "v3_and_below_producer_id": got.producer_id,
                "v3_and_below_producer_epoch": got.producer_epoch,
                "v3_and_below_topics": [
                    {"name": name, "partitions": [0]} for name in topics[:count]
                ],
            }
            play.codes(f"{label} {count}", ApiKey.ADD_PARTITIONS_TO_TXN, 1, add)
        end = {
            "transactional_id": text,
            "producer_id": got.producer_id,
            "producer_epoch": got.producer_epoch,
            "committed": True,
        }
        play.codes(f"ends {count}", ApiKey.END_TXN, 1, end)


def batches(play: LimitsPlay) -> None:
    """Records of each coordinator below and above the size of a batch."""
    _commits(play)
    _assignments(play)
    _subscriptions(play)
    _static_members(play)
    _consumers(play)
    _sharers(play)
    _streams(play)
    _transactions(play)


SCENARIOS = (batches,)

OWN_SETTINGS = {"record-batches": {"message.max.bytes": str(MESSAGE_BYTES_MAX)}}
