"""Odd values: invalid expressions, share fetches without size, and unusual start offsets."""

from collections.abc import Sequence
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.share_play import (
    Sharer,
    earliest,
    kept_topics,
    produce,
    serves,
)

HEARTBEAT = ApiKey.CONSUMER_GROUP_HEARTBEAT


def invalid_expressions(play: ModernPlay) -> None:
    """An invalid regular expression of members that are known, unknown, or have another epoch."""
    if not play.has(HEARTBEAT, 1):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    bad: dict[str, Any] = {"subscribed_topic_regex": "(", "subscribed_topic_names": None}
    play.enter("new group", play.text("-new"), "m", **bad)
    play.beat("no group", play.text("-none"), "m", 5, **bad)
    play.beat("leaves no group", play.text("-none"), "m", -1, **bad)
    play.enter("joins", group, "m", topic)
    play.beat("unknown member", group, "x", 1, **bad)
    play.beat("newer epoch", group, "m", ahead=5, **bad)
    play.beat("older epoch", group, "m", ahead=-1, owned={topic: [0, 1]}, **bad)
    play.beat("current epoch", group, "m", **bad)
    play.enter("another joins", group, "n", **bad)
    play.enter("joins again", group, "m", **bad)
    play.enter("a static one", group, "s", instance_id="i", **bad)
    play.beat("unknown instance", group, "s", 1, instance_id="i", **bad)
    play.enter("no assignor", group, "m", server_assignor="bogus", **bad)
    play.beat("leaves", group, "m", -1, **bad)
    play.consumer_groups("in the end", group)
    play.commit("classic", play.text("-classic"), [(topic, 0, 1)])
    play.enter("classic group", play.text("-classic"), "m", **bad)
    play.consumer_groups("classic group", play.text("-classic"))


def share_sizes(play: ModernPlay) -> None:
    """ShareFetch with odd sizes and counts."""
    if not serves(play):
        return
    changes: dict[str, dict[str, Any]] = {
        "max_bytes -1": {"max_bytes": -1},
        "max_bytes 0": {"max_bytes": 0},
        "max_bytes 1": {"max_bytes": 1},
        "max_bytes least": {"max_bytes": -(2**31)},
        "min_bytes -1": {"min_bytes": -1},
        "max_records 0": {"max_records": 0},
        "max_records -1": {"max_records": -1},
        "batch_size 0": {"batch_size": 0},
        "batch_size -1": {"batch_size": -1},
        "max_wait_ms -1": {"max_wait_ms": -1},
        "max_wait_ms 0": {"max_wait_ms": 0},
    }
    for name, change in changes.items():
        label = name.replace(" ", "")
        (topic,) = kept_topics(play, label, partitions=1)
        produce(play, topic, 10, 10)
        sharer = Sharer(play, earliest(play, f"-g{label}")).join(topic)
        sharer.fetch(f"{name}: loads", (topic, 0))
        produce(play, topic, 10, 10)
        sharer.fetch(f"{name}: odd", (topic, 0), **change)
        sharer.fetch(f"{name}: then", (topic, 0))


def share_starts(play: ModernPlay) -> None:
    """Start offsets of share groups below 0 and beyond the end."""
    _alter_share_starts(play, (-5, -2, -1, 0, 1, 99, 2**62))


def lowest_share_starts(play: ModernPlay) -> None:
    """Start offsets whose distance to the end is no 64-bit integer."""
    _alter_share_starts(play, (-(2**63), 5 - 2**63, 99 - 2**63))


def _alter_share_starts(play: ModernPlay, offsets: Sequence[int]) -> None:
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 10, 10)
    for offset in offsets:
        group = earliest(play, f"-g{offset}")
        Sharer(play, group).join(topic)
        play.ask(
            ApiKey.SHARE_GROUP_HEARTBEAT,
            1,
            {"group_id": group, "member_id": "AAAAAAAAAAAAAAAAAAAAAQ", "member_epoch": -1},
        )
        play.settle()
        rows = [{"partition_index": 0, "start_offset": offset}]
        request: dict[str, Any] = {"group_id": group}
        request["topics"] = [{"topic_name": topic, "partitions": rows}]
        play.call(f"alter to {offset}", ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, request)
        request["topics"] = [{"topic_name": topic, "partitions": []}]
        play.call(f"no partitions {offset}", ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, request)
        for version in play.versions(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS):
            named = [{"topic_name": topic, "partitions": [0]}]
            asked = {"groups": [{"group_id": group, "topics": named}]}
            play.call(f"{offset}, {version}", ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, version, asked)


def share_fetch_without_state(play: ModernPlay) -> None:
    """ShareFetch of groups that do not exist, have no state, or have another type."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 10, 10)
    Sharer(play, play.text("-missing")).fetch("missing group", (topic, 0))
    classic = play.text("-classic")
    play.commit("classic", classic, [(topic, 0, 1)])
    Sharer(play, classic).fetch("classic group", (topic, 0))
    consumers = play.text("-consumers")
    play.enter("consumer", consumers, "m", topic)
    Sharer(play, consumers).fetch("consumer group", (topic, 0))
    sharer = Sharer(play, play.text("-early"))
    play.share("joins", play.text("-early"), sharer.member, 0, [topic])
    sharer.fetch("joined just now", (topic, 0))
    play.settle()
    sharer.fetch("joined", (topic, 0))


SCENARIOS = (
    invalid_expressions,
    share_sizes,
    share_starts,
    lowest_share_starts,
    share_fetch_without_state,
)
