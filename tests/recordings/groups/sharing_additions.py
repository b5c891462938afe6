"""Where a share group begins to read partitions that are added to its topic."""

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.share_play import (
    ACCEPT,
    A,
    Sharer,
    configure,
    kept_topics,
    produce,
    serves,
    state,
)

RESETS = {"latest": "latest", "earliest": "earliest", "duration": "by_duration:PT1H"}


def added_partitions(play: ModernPlay) -> None:
    """Records older than the group's assignment, with each `share.auto.offset.reset`."""
    if not serves(play):
        return
    for name, reset in RESETS.items():
        (topic,) = kept_topics(play, name, partitions=1)
        produce(play, topic, 2, times=[play.peer.now_ms()] * 2)
        group = play.text(f"{name}-g")
        configure(play, group, share_auto_offset_reset=reset)
        sharer = Sharer(play, group).join(topic)
        sharer.fetch(f"{name}, the first", (topic, 0))
        _add(play, topic, 3)
        for index in (1, 2):
            produce(play, topic, 1, 2, index=index)
        state(play, f"{name}, before it is known", group, topic, 1)
        sharer.join(topic, partitions=3)
        state(play, f"{name}, known", group, topic, 1)
        sharer.fetch(f"{name}, fetched", (topic, 1))
        sharer.fetch(f"{name}, fetched again", (topic, 1))
        state(play, f"{name}, fetched", group, topic, 1)
        state(play, f"{name}, not fetched", group, topic, 2)


def added_while_away(play: ModernPlay) -> None:
    """Partitions are added while the group is empty."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    group = play.text("g")
    sharer = Sharer(play, group).join(topic)
    sharer.fetch("the first", (topic, 0))
    play.share("leaves", group, A, -1, None)
    _add(play, topic, 2)
    produce(play, topic, 1, index=1)
    play.peer.hang_up(sharer.connection)
    play.settle()
    sharer = Sharer(play, group).join(topic, partitions=2)
    state(play, "back", group, topic, 1)
    sharer.fetch("fetched", (topic, 1))
    sharer.fetch("fetched again", (topic, 1))
    state(play, "fetched", group, topic, 1)


def added_topics(play: ModernPlay) -> None:
    """A topic to which the group subscribes later, with partitions added right after that."""
    if not serves(play):
        return
    topic, other = kept_topics(play, "t", "u", partitions=1)
    group = play.text("g")
    produce(play, other, 2)
    sharer = Sharer(play, group).join(topic)
    sharer.fetch("the first", (topic, 0))
    _add(play, other, 2)
    produce(play, other, 1, index=1)
    sharer.join(topic, other)
    for index in (0, 1):
        state(play, f"subscribed, {index}", group, other, index)
        sharer.fetch(f"fetched {index}", (other, index))
        sharer.fetch(f"fetched {index} again", (other, index))
        state(play, f"fetched, {index}", group, other, index)


def added_after_altered(play: ModernPlay) -> None:
    """Partitions added to a topic for which the group only has altered offsets."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    group = play.text("g")
    produce(play, topic, 3)
    sharer = Sharer(play, group).join(topic)
    play.share("leaves", group, A, -1, None)
    play.settle()
    rows = [{"topic_name": topic, "partitions": [{"partition_index": 0, "start_offset": 1}]}]
    altered = {"group_id": group, "topics": rows}
    play.call("altered", ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, altered)
    _add(play, topic, 2)
    produce(play, topic, 2, index=1)
    sharer = Sharer(play, group).join(topic, partitions=2)
    for index in (0, 1):
        sharer.fetch(f"fetched {index}", (topic, index))
        sharer.fetch(f"fetched {index} again", (topic, index))
        state(play, f"fetched, {index}", group, topic, index)
    sharer.acknowledge("acknowledged", {(topic, 0): [(1, 2, [ACCEPT])]})
    named = {"group_id": group, "topics": [{"topic_name": topic}]}
    play.share("leaves again", group, A, -1, None)
    play.settle()
    play.call("deleted", ApiKey.DELETE_SHARE_GROUP_OFFSETS, 0, named)
    _add(play, topic, 3)
    produce(play, topic, 1, index=2)
    sharer = Sharer(play, group).join(topic, partitions=3)
    for index in (1, 2):
        sharer.fetch(f"anew, {index}", (topic, index))
        sharer.fetch(f"anew, {index} again", (topic, index))
        state(play, f"anew, {index}", group, topic, index)


def _add(play: ModernPlay, topic: str, count: int) -> None:
    """Increase the number of partitions to `count`."""
    added = {"topics": [{"name": topic, "count": count, "assignments": None}], "timeout_ms": 9000}
    response = play.ask(ApiKey.CREATE_PARTITIONS, 3, added)
    assert response.results[0].error_code == 0, response
    play.peer.pause(1000)
