"""Consuming in share groups (KIP-932): sessions, deliveries, acknowledgements, limits."""

from typing import Any

from protocol.enums import ApiKey
from tests.shim.group_answers.modern_play import ModernPlay
from tests.shim.group_answers.share_play import (
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
from tests.shim.group_answers.sharing_changes import (
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


def sessions(play: ModernPlay) -> None:
    """Epochs and what a session remembers."""
    if not serves(play):
        return
    topic, other = kept_topics(play, "t", "u")
    produce(play, topic, 2)
    one = Sharer(play, earliest(play)).join(topic, other)
    at = (topic, 0)
    one.fetch("no session, 1", at, share_session_epoch=1)
    one.fetch("no session, -1", at, share_session_epoch=-1)
    for epoch in (0, 1, -1):
        one.acknowledge(f"no session, {epoch}", {}, share_session_epoch=epoch)
    one.fetch("acks before a session", acks={at: [(0, 0, [ACCEPT])]})
    one.fetch("first", at)
    one.fetch("wrong epoch", at, share_session_epoch=5)
    one.fetch("nothing new")
    one.fetch("another partition", (topic, 1), (other, 0))
    one.fetch("nothing new of three")
    produce(play, other, 1)
    one.fetch("something new")
    one.fetch("forget", forgotten=[at])
    produce(play, topic, 1)
    one.fetch("forgotten")
    one.fetch("no such partition", (topic, 7))
    one.fetch("told again")
    one.fetch("forgotten again", forgotten=[(topic, 7), (topic, 6)])
    one.acknowledge("wrong epoch", {at: [(0, 1, [ACCEPT])]}, share_session_epoch=1)
    one.acknowledge("with nothing", {})
    one.acknowledge("with an empty row", {at: []})
    one.acknowledge("one of a forgotten one", {at: [(0, 1, [ACCEPT])]})
    one.fetch("anew", at, share_session_epoch=0)
    one.epoch = 1
    one.fetch("goes on")
    one.fetch("the end", at, share_session_epoch=-1)
    one.fetch("it is gone", at)
    one.epoch = 0
    one.fetch("begun once more", at)
    one.acknowledge("ended by an acknowledgement", {}, share_session_epoch=-1)
    one.acknowledge("ended twice", {}, share_session_epoch=-1)
    one.epoch = 0
    one.fetch("nothing wanted")
    one.fetch("still nothing wanted")


def bad_requests(play: ModernPlay) -> None:
    """What is said about members, groups, limits, topics that cannot be."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t")
    produce(play, topic, 2)
    one = Sharer(play, earliest(play)).join(topic)
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
        one.fetch(label, at, share_session_epoch=0, **more)
        one.acknowledge(label, {}, share_session_epoch=-1, **more)
    one.epoch = 0
    one.fetch("no records", at, max_records=0)
    one.fetch("no bytes", max_bytes=0)
    play.peer.pause(SETTLED_MS)
    one.fetch("no wait", max_wait_ms=0)
    one.fetch("unknown topic id", (play.unknown(), 0))
    one.epoch = 0
    one.fetch("unknown topic id at first", at, (play.unknown(), 0))
    one.epoch = 0
    one.fetch("known", at)
    one.acknowledge("unknown topic id", {(play.unknown(), 0): [(0, 0, [ACCEPT])]})


def acknowledgements(play: ModernPlay) -> None:
    """Each type, one for all and one for each, and what is kept of them."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    group = earliest(play)
    produce(play, topic, 3, 4, 2)
    one = Sharer(play, group).join(topic)
    at = (topic, 0)
    state(play, "before", group, topic)
    one.fetch("all", at)
    state(play, "acquired", group, topic)
    one.acknowledge("accept a batch", {at: [(0, 2, [ACCEPT])]})
    state(play, "accepted", group, topic)
    one.acknowledge("one by one", {at: [(3, 6, [ACCEPT, RELEASE, REJECT, GAP])]})
    state(play, "one by one", group, topic)
    one.fetch("what was released")
    one.acknowledge("two batches", {at: [(4, 4, [RELEASE]), (7, 8, [REJECT])]})
    state(play, "two batches", group, topic)
    one.fetch("released again", acks={})
    produce(play, topic, 1, 1)
    one.fetch("accepted on the way", acks={at: [(4, 4, [ACCEPT])]})
    state(play, "on the way", group, topic)
    one.acknowledge("across batches", {at: [(9, 10, [RELEASE])]})
    one.fetch("both again")
    one.acknowledge("types across batches", {at: [(9, 10, [ACCEPT, ACCEPT])]})
    state(play, "all done", group, topic)
    one.fetch("nothing left")


def bad_acknowledgements(play: ModernPlay) -> None:
    """What cannot be acknowledged, and that nothing of such a request is done."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t")
    produce(play, topic, 4, 4)
    group = earliest(play)
    one = Sharer(play, group).join(topic)
    at = (topic, 0)
    one.fetch("all", at)
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
        one.acknowledge(label, {at: rows})
    state(play, "nothing done", group, topic)
    one.acknowledge("accepted", {at: [(0, 1, [ACCEPT])]})
    one.acknowledge("accepted twice", {at: [(0, 1, [ACCEPT])]})
    one.acknowledge("partly accepted", {at: [(0, 3, [ACCEPT])]})
    one.acknowledge("released", {at: [(2, 3, [RELEASE])]})
    one.acknowledge("released twice", {at: [(2, 3, [RELEASE])]})
    one.acknowledge("another partition", {(topic, 1): [(0, 0, [ACCEPT])]})
    one.acknowledge("no such partition", {(topic, 7): [(0, 0, [ACCEPT])]})
    one.fetch("bad ones on the way", acks={at: [(0, 0, [ACCEPT])], (topic, 7): [(0, 0, [])]})
    two = Sharer(play, group, B)
    two.fetch("of another", at)
    two.acknowledge("what another has", {at: [(4, 7, [ACCEPT])]})
    one.acknowledge("the rest", {at: [(2, 7, [ACCEPT])]})
    one.acknowledge("when nothing is left", {at: [(4, 7, [ACCEPT])]})


def deliveries(play: ModernPlay) -> None:
    """Until there were five, and fewer at once after two (by halves)."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 8)
    group = earliest(play)
    one = Sharer(play, group).join(topic)
    at = (topic, 0)
    answer = one.fetch("first", at)
    for turn in range(30):
        rows = _acquired(answer)
        if not rows:
            break
        one.acknowledge(f"released {turn}", {at: [(*row, [RELEASE]) for row in rows]})
        answer = one.fetch(f"turn {turn}")
    state(play, "worn out", group, topic)


def _acquired(answer: Any) -> list[tuple[int, int]]:
    """What was given out, first and last offsets."""
    return [
        (row.first_offset, row.last_offset)
        for topic in answer.responses
        for partition in topic.partitions
        for row in partition.acquired_records
    ]


def limits(play: ModernPlay) -> None:
    """How many records, in batches of which size, of which partitions."""
    if not serves(play):
        return
    topic, other = kept_topics(play, "t", "u", partitions=2)
    one = Sharer(play, earliest(play)).join(topic, other)
    one.fetch("nothing there", (topic, 0), (topic, 1), (other, 0))
    one.fetch("still nothing there")  # by now all of them are loaded
    for index in (0, 1):
        produce(play, topic, 3, 3, 3, 3, index=index)
    produce(play, other, 2, 2, 2)
    one.fetch("four records", max_records=4)
    one.fetch("batches of two", batch_size=2, max_records=5)
    one.fetch("a few bytes", max_bytes=240)
    one.fetch("one record", max_records=1, batch_size=1)
    one.fetch("the rest", batch_size=4)
    one.fetch("much is wanted", min_bytes=100_000)
    two = Sharer(play, earliest(play, "h")).join(topic)
    two.fetch("batch size 0", (topic, 0), batch_size=0)
    three = Sharer(play, earliest(play, "i")).join(topic)
    three.fetch("batch size 1", (topic, 0), batch_size=1)
    three.fetch("max records -1", max_records=-1)


def strict_limits(play: ModernPlay) -> None:
    """KIP-1206: not one record more than wanted."""
    if not serves(play) or not play.has(ApiKey.SHARE_FETCH, RENEWS_SINCE):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 5, 5)
    group = earliest(play)
    one = Sharer(play, group).join(topic)
    two = Sharer(play, group, B)
    at = (topic, 0)
    strict: dict[str, Any] = {"share_acquire_mode": 1}
    one.fetch("three", at, max_records=3, **strict)
    two.fetch("three more", at, max_records=3, **strict)
    one.acknowledge("two back", {at: [(0, 1, [RELEASE])]})
    two.fetch("one of them", max_records=1, **strict)
    two.fetch("all of them", max_records=20, **strict)
    two.acknowledge("a whole batch back", {at: [(6, 9, [RELEASE])]})
    one.fetch("a part of it", max_records=2, **strict)
    one.fetch("unknown mode", max_records=2, share_acquire_mode=9)


def members(play: ModernPlay) -> None:
    """Two members, and the records of one that ends its session or hangs up."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 2, 2, 2)
    group = earliest(play)
    one = Sharer(play, group).join(topic)
    two = Sharer(play, group, B)
    at = (topic, 0)
    one.fetch("the first two", at, max_records=2)
    two.fetch("the next two", at, max_records=2)
    one.fetch("the first is done", acks={at: [(0, 1, [ACCEPT])]}, share_session_epoch=-1)
    two.fetch("the rest")
    one.epoch = 0
    one.fetch("nothing for it", at)
    two.acknowledge("one ends", {at: [(2, 2, [ACCEPT])]}, share_session_epoch=-1)
    one.fetch("all that was given back")
    state(play, "given back", group, topic)
    play.peer.hang_up(one.connection)
    play.peer.pause(1000)
    state(play, "hung up", group, topic)
    two.epoch = 0
    two.fetch("all once more", at)
    one.epoch = 0
    one.fetch("nothing for who comes back", at)


SCENARIOS = (
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
)
