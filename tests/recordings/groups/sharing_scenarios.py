"""Consuming in share groups (KIP-932): sessions, deliveries, acknowledgements, limits."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.share_play import (
    ACCEPT,
    GAP,
    REJECT,
    RELEASE,
    RENEW,
    RENEWS_SINCE,
    SETTLED_MS,
    B,
    Sharer,
    earliest,
    kept_topics,
    produce,
    serves,
    state,
)
from tests.recordings.groups.sharing_additions import (
    added_after_altered,
    added_partitions,
    added_topics,
    added_while_away,
)
from tests.recordings.groups.sharing_changes import (
    altered_offsets,
    beginnings,
    compacted,
    compacted_while_held,
    fenced_states,
    isolation,
    locks,
    renewing_switched_off,
    written_states,
)
from tests.recordings.groups.sharing_recreations import (
    deleted_topics,
    recreated_and_begun_again,
    recreated_topics,
)


def without_state(play: ModernPlay) -> None:
    """Partitions that nobody has initialized for the group: of a new group, of a topic to which no
    member subscribes, and of a deleted group.
    """
    if not serves(play):
        return
    topic, other, empty = kept_topics(play, "t", "u", "v")
    for name in (topic, other):
        produce(play, name, 2)
    stranger = Sharer(play, play.text("new"))
    for label in ("first", "second"):
        stranger.fetch(f"a new group, {label}", (topic, 0))
    stranger.acknowledge("a new group", {(topic, 0): [(0, 1, [ACCEPT])]})
    stranger.fetch("a new group, acks", acks={(topic, 0): [(0, 1, [ACCEPT])]})
    sharer = Sharer(play, earliest(play), B).join(topic)
    sharer.fetch("without and with state", (other, 0), (topic, 0))
    play.peer.pause(SETTLED_MS)
    sharer.fetch("again")
    produce(play, topic, 1)
    play.peer.pause(SETTLED_MS)
    sharer.fetch("new records")
    sharer.fetch("without a wait", max_wait_ms=0)
    sharer.acknowledge("both", {(topic, 0): [(0, 1, [ACCEPT])], (other, 0): [(0, 1, [ACCEPT])]})
    waiting = Sharer(play, earliest(play, "w")).join(empty)
    waiting.fetch("records in neither", (empty, 0), (other, 0))


def sessions(play: ModernPlay) -> None:
    """Epochs and partitions of share sessions."""
    if not serves(play):
        return
    topic, other = kept_topics(play, "t", "u")
    produce(play, topic, 2)
    sharer = Sharer(play, earliest(play)).join(topic, other)
    at = (topic, 0)
    sharer.fetch("no session, 1", at, share_session_epoch=1)
    sharer.fetch("no session, -1", at, share_session_epoch=-1)
    for epoch in (0, 1, -1):
        sharer.acknowledge(f"no session, {epoch}", {}, share_session_epoch=epoch)
    sharer.fetch("acks before a session", acks={at: [(0, 0, [ACCEPT])]})
    sharer.fetch("first", at)
    sharer.fetch("wrong epoch", at, share_session_epoch=5)
    sharer.fetch("nothing new")
    sharer.fetch("another partition", (topic, 1), (other, 0))
    sharer.fetch("nothing new of three")
    produce(play, other, 1)
    sharer.fetch("something new")
    sharer.fetch("forget", forgotten=[at])
    produce(play, topic, 1)
    sharer.fetch("forgotten")
    sharer.fetch("no such partition", (topic, 7))
    sharer.fetch("told again")
    sharer.fetch("forgotten again", forgotten=[(topic, 7), (topic, 6)])
    sharer.acknowledge("wrong epoch", {at: [(0, 1, [ACCEPT])]}, share_session_epoch=1)
    sharer.acknowledge("with nothing", {})
    sharer.acknowledge("with an empty row", {at: []})
    sharer.acknowledge("one of a forgotten one", {at: [(0, 1, [ACCEPT])]})
    sharer.fetch("anew", at, share_session_epoch=0)
    sharer.epoch = 1
    sharer.fetch("goes on")
    sharer.fetch("the end", at, share_session_epoch=-1)
    sharer.fetch("it is gone", at)
    sharer.epoch = 0
    sharer.fetch("begun once more", at)
    sharer.acknowledge("ended by an acknowledgement", {}, share_session_epoch=-1)
    sharer.acknowledge("ended twice", {}, share_session_epoch=-1)
    sharer.epoch = 0
    sharer.fetch("nothing wanted")
    sharer.fetch("still nothing wanted")


def bad_requests(play: ModernPlay) -> None:
    """Errors for invalid members, groups, limits and topics."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t")
    produce(play, topic, 2)
    sharer = Sharer(play, earliest(play)).join(topic)
    at = (topic, 0)
    for label, more in (
        ("no group", {"group_id": None}),
        ("empty group", {"group_id": ""}),
        ("unknown group", {"group_id": play.text("x")}),
        ("no member", {"member_id": ""}),
        ("null member", {"member_id": None}),
        ("long member", {"member_id": "m" * 37}),
        ("unknown member", {"member_id": B}),
    ):
        sharer.fetch(label, at, share_session_epoch=0, **more)
        sharer.acknowledge(label, {}, share_session_epoch=-1, **more)
    sharer.epoch = 0
    sharer.fetch("no records", at, max_records=0)
    sharer.fetch("no bytes", max_bytes=0)
    play.peer.pause(SETTLED_MS)
    sharer.fetch("no wait", max_wait_ms=0)
    sharer.fetch("unknown topic id", (play.unknown(), 0))
    sharer.epoch = 0
    sharer.fetch("unknown topic id at first", at, (play.unknown(), 0))
    sharer.epoch = 0
    sharer.fetch("known", at)
    sharer.acknowledge("unknown topic id", {(play.unknown(), 0): [(0, 0, [ACCEPT])]})


def acknowledgements(play: ModernPlay) -> None:
    """Each type, for a whole batch and for each record, and the stored state."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    group = earliest(play)
    produce(play, topic, 3, 4, 2)
    sharer = Sharer(play, group).join(topic)
    at = (topic, 0)
    state(play, "before", group, topic)
    sharer.fetch("all", at)
    state(play, "acquired", group, topic)
    sharer.acknowledge("accept a batch", {at: [(0, 2, [ACCEPT])]})
    state(play, "accepted", group, topic)
    sharer.acknowledge("one by one", {at: [(3, 6, [ACCEPT, RELEASE, REJECT, GAP])]})
    state(play, "one by one", group, topic)
    sharer.fetch("what was released")
    sharer.acknowledge("two batches", {at: [(4, 4, [RELEASE]), (7, 8, [REJECT])]})
    state(play, "two batches", group, topic)
    sharer.fetch("released again", acks={})
    produce(play, topic, 1, 1)
    sharer.fetch("accepted on the way", acks={at: [(4, 4, [ACCEPT])]})
    state(play, "on the way", group, topic)
    sharer.acknowledge("across batches", {at: [(9, 10, [RELEASE])]})
    sharer.fetch("both again")
    sharer.acknowledge("types across batches", {at: [(9, 10, [ACCEPT, ACCEPT])]})
    state(play, "all done", group, topic)
    sharer.fetch("nothing left")


def bad_acknowledgements(play: ModernPlay) -> None:
    """Invalid acknowledgements: nothing in the request takes effect."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t")
    produce(play, topic, 4, 4)
    group = earliest(play)
    sharer = Sharer(play, group).join(topic)
    at = (topic, 0)
    sharer.fetch("all", at)
    for label, rows in (
        ("last before first", [(3, 2, [ACCEPT])]),
        ("out of order", [(2, 3, [ACCEPT]), (0, 1, [ACCEPT])]),
        ("overlapping", [(0, 1, [ACCEPT]), (1, 2, [ACCEPT])]),
        ("no types", [(0, 1, [])]),
        ("too few types", [(0, 3, [ACCEPT, ACCEPT])]),
        ("type 5", [(0, 3, [5])]),
        ("type -1", [(0, 3, [-1])]),
        ("renew without saying so", [(0, 3, [RENEW])]),
        ("beyond", [(0, 9, [ACCEPT])]),
        ("all beyond", [(20, 21, [ACCEPT])]),
        ("good, then beyond", [(0, 1, [ACCEPT]), (4, 8, [ACCEPT])]),
        ("negative", [(-2, -1, [ACCEPT])]),
        ("from a negative one", [(-2, 1, [ACCEPT])]),
    ):
        sharer.acknowledge(label, {at: rows})
    state(play, "nothing done", group, topic)
    sharer.acknowledge("accepted", {at: [(0, 1, [ACCEPT])]})
    sharer.acknowledge("accepted twice", {at: [(0, 1, [ACCEPT])]})
    sharer.acknowledge("partly accepted", {at: [(0, 3, [ACCEPT])]})
    sharer.acknowledge("released", {at: [(2, 3, [RELEASE])]})
    sharer.acknowledge("released twice", {at: [(2, 3, [RELEASE])]})
    sharer.acknowledge("another partition", {(topic, 1): [(0, 0, [ACCEPT])]})
    sharer.acknowledge("no such partition", {(topic, 7): [(0, 0, [ACCEPT])]})
    sharer.fetch("bad ones on the way", acks={at: [(0, 0, [ACCEPT])], (topic, 7): [(0, 0, [])]})
    another = Sharer(play, group, B)
    another.fetch("of another", at)
    another.acknowledge("what another has", {at: [(4, 7, [ACCEPT])]})
    sharer.acknowledge("the rest", {at: [(2, 7, [ACCEPT])]})
    sharer.acknowledge("when nothing is left", {at: [(4, 7, [ACCEPT])]})


def deliveries(play: ModernPlay) -> None:
    """Up to five deliveries; after two, each acquires half as many records."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 8)
    group = earliest(play)
    sharer = Sharer(play, group).join(topic)
    at = (topic, 0)
    response = sharer.fetch("first", at)
    for turn in range(30):
        rows = _acquired(response)
        if not rows:
            break
        sharer.acknowledge(f"released {turn}", {at: [(*row, [RELEASE]) for row in rows]})
        response = sharer.fetch(f"turn {turn}")
    state(play, "worn out", group, topic)


def _acquired(response: Any) -> list[tuple[int, int]]:
    """Return the first and last offsets of the acquired batches."""
    return [
        (row.first_offset, row.last_offset)
        for topic in response.responses
        for partition in topic.partitions
        for row in partition.acquired_records
    ]


def limits(play: ModernPlay) -> None:
    """Limits on records, batch size and bytes, over several partitions."""
    if not serves(play):
        return
    topic, other = kept_topics(play, "t", "u", partitions=2)
    sharer = Sharer(play, earliest(play)).join(topic, other)
    sharer.fetch("nothing there", (topic, 0), (topic, 1), (other, 0))
    sharer.fetch("still nothing there")  # now all partitions are loaded
    for index in (0, 1):
        produce(play, topic, 3, 3, 3, 3, index=index)
    produce(play, other, 2, 2, 2)
    sharer.fetch("four records", max_records=4)
    sharer.fetch("batches of two", batch_size=2, max_records=5)
    sharer.fetch("a few bytes", max_bytes=240)
    sharer.fetch("one record", max_records=1, batch_size=1)
    sharer.fetch("the rest", batch_size=4)
    sharer.fetch("much is wanted", min_bytes=100_000)
    another = Sharer(play, earliest(play, "h")).join(topic)
    another.fetch("batch size 0", (topic, 0), batch_size=0)
    three = Sharer(play, earliest(play, "i")).join(topic)
    three.fetch("batch size 1", (topic, 0), batch_size=1)
    three.fetch("max records -1", max_records=-1)


def strict_limits(play: ModernPlay) -> None:
    """KIP-1206: never more records than `max_records`."""
    if not serves(play) or not play.has(ApiKey.SHARE_FETCH, RENEWS_SINCE):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 5, 5)
    group = earliest(play)
    sharer = Sharer(play, group).join(topic)
    another = Sharer(play, group, B)
    at = (topic, 0)
    strict: dict[str, Any] = {"share_acquire_mode": 1}
    sharer.fetch("three", at, max_records=3, **strict)
    another.fetch("three more", at, max_records=3, **strict)
    sharer.acknowledge("two back", {at: [(0, 1, [RELEASE])]})
    another.fetch("one of them", max_records=1, **strict)
    another.fetch("all of them", max_records=20, **strict)
    another.acknowledge("a whole batch back", {at: [(6, 9, [RELEASE])]})
    sharer.fetch("a part of it", max_records=2, **strict)
    sharer.fetch("unknown mode", max_records=2, share_acquire_mode=9)


def members(play: ModernPlay) -> None:
    """Two members; records of one that closes its session or disconnects are available again."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 2, 2, 2)
    group = earliest(play)
    sharer = Sharer(play, group).join(topic)
    another = Sharer(play, group, B)
    at = (topic, 0)
    sharer.fetch("the first two", at, max_records=2)
    another.fetch("the next two", at, max_records=2)
    sharer.fetch("the first is done", acks={at: [(0, 1, [ACCEPT])]}, share_session_epoch=-1)
    another.fetch("the rest")
    sharer.epoch = 0
    sharer.fetch("nothing for it", at)
    another.acknowledge("one ends", {at: [(2, 2, [ACCEPT])]}, share_session_epoch=-1)
    sharer.fetch("all that was given back")
    state(play, "given back", group, topic)
    play.peer.hang_up(sharer.connection)
    play.peer.pause(1000)
    state(play, "hung up", group, topic)
    another.epoch = 0
    another.fetch("all once more", at)
    sharer.epoch = 0
    sharer.fetch("nothing for who comes back", at)


SCENARIOS = (
    without_state,
    sessions,
    bad_requests,
    acknowledgements,
    bad_acknowledgements,
    deliveries,
    limits,
    strict_limits,
    members,
    locks,
    renewing_switched_off,
    beginnings,
    altered_offsets,
    isolation,
    written_states,
    fenced_states,
    compacted,
    compacted_while_held,
    added_partitions,
    added_while_away,
    added_topics,
    added_after_altered,
    deleted_topics,
    recreated_topics,
    recreated_and_begun_again,
)
