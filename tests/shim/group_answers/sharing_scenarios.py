"""Consuming in share groups (KIP-932): sessions, deliveries, acknowledgements, locks."""

from typing import Any

from protocol.enums import ApiKey
from tests.shim.group_answers.modern_play import ModernPlay
from tests.shim.group_answers.share_play import (
    ACCEPT,
    GAP,
    REJECT,
    RELEASE,
    RENEW,
    SETTLED_MS,
    A,
    B,
    Sharer,
    configure,
    kept_topics,
    produce,
    state,
)

LOCK_MS = 15_000
"""The shortest time for which records can be locked."""
RENEWS_SINCE = 2


def _serves(play: ModernPlay) -> bool:
    """Whether share groups are switched on."""
    if not play.has(ApiKey.SHARE_FETCH):
        return False
    request = {"group_id": "off", "member_id": A, "member_epoch": -1}
    answer = play.ask(ApiKey.SHARE_GROUP_HEARTBEAT, 1, request)
    return bool(answer.error_code != 35)


def _earliest(play: ModernPlay, name: str = "g", **settings: str) -> str:
    group = play.text(name)
    configure(play, group, share_auto_offset_reset="earliest", **settings)
    return group


def sessions(play: ModernPlay) -> None:
    """Epochs and what a session remembers."""
    if not _serves(play):
        return
    topic, other = kept_topics(play, "t", "u")
    produce(play, topic, 2)
    one = Sharer(play, _earliest(play)).join(topic, other)
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
    if not _serves(play):
        return
    (topic,) = kept_topics(play, "t")
    produce(play, topic, 2)
    one = Sharer(play, _earliest(play)).join(topic)
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
    if not _serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    group = _earliest(play)
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
    if not _serves(play):
        return
    (topic,) = kept_topics(play, "t")
    produce(play, topic, 4, 4)
    group = _earliest(play)
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
    if not _serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 8)
    group = _earliest(play)
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
    if not _serves(play):
        return
    topic, other = kept_topics(play, "t", "u", partitions=2)
    one = Sharer(play, _earliest(play)).join(topic, other)
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
    two = Sharer(play, _earliest(play, "h")).join(topic)
    two.fetch("batch size 0", (topic, 0), batch_size=0)
    three = Sharer(play, _earliest(play, "i")).join(topic)
    three.fetch("batch size 1", (topic, 0), batch_size=1)
    three.fetch("max records -1", max_records=-1)


def strict_limits(play: ModernPlay) -> None:
    """KIP-1206: not one record more than wanted."""
    if not _serves(play) or not play.has(ApiKey.SHARE_FETCH, RENEWS_SINCE):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 5, 5)
    group = _earliest(play)
    one = Sharer(play, group).join(topic)
    two = Sharer(play, group, B)
    at = (topic, 0)
    strict = {"share_acquire_mode": 1}
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
    if not _serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 2, 2, 2)
    group = _earliest(play)
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


def locks(play: ModernPlay) -> None:
    """Records come back when their time is up, unless it was renewed."""
    if not _serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 4, 2)
    group = _earliest(play, share_record_lock_duration_ms=str(LOCK_MS))
    one = Sharer(play, group).join(topic)
    at = (topic, 0)
    one.fetch("all", at)
    one.acknowledge("one", {at: [(1, 1, [ACCEPT])]})
    play.peer.pause(LOCK_MS // 3)
    if play.has(ApiKey.SHARE_ACKNOWLEDGE, RENEWS_SINCE):
        one.acknowledge("renewed", {at: [(4, 5, [RENEW])]}, is_renew_ack=True)
        one.acknowledge("renewed, one", {at: [(2, 3, [RENEW, GAP])]}, is_renew_ack=True)
        one.acknowledge("renewed, not its own", {at: [(1, 1, [RENEW])]}, is_renew_ack=True)
        one.acknowledge("renewed, nothing", {}, is_renew_ack=True)
        one.fetch("renewed on the way", acks={at: [(4, 5, [RENEW])]}, is_renew_ack=True)
        nothing = {"max_bytes": 0, "min_bytes": 0, "max_records": 0, "max_wait_ms": 0}
        renewed = {at: [(4, 5, [RENEW])]}
        one.fetch("renewed without a fetch", acks=renewed, is_renew_ack=True, **nothing)
    play.peer.pause(LOCK_MS * 2 // 3 + 500)
    state(play, "time is up", group, topic)
    one.fetch("what came back")
    one.acknowledge("too late", {at: [(4, 5, [ACCEPT])]})
    play.peer.pause(LOCK_MS + 500)
    state(play, "all is up", group, topic)
    one.fetch("all came back")


def renewing_switched_off(play: ModernPlay) -> None:
    if not _serves(play) or play.peer.release < "4.3":
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 2)
    one = Sharer(play, _earliest(play, share_renew_acknowledge_enable="false")).join(topic)
    one.fetch("all", (topic, 0))
    one.acknowledge("renewed", {(topic, 0): [(0, 1, [RENEW])]}, is_renew_ack=True)
    one.acknowledge("accepted", {(topic, 0): [(0, 1, [ACCEPT])]}, is_renew_ack=True)


def beginnings(play: ModernPlay) -> None:
    """Where a group begins to read, and what it does when records are gone."""
    if not _serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 3)
    at = (topic, 0)
    latest = play.text("latest")
    one = Sharer(play, latest).join(topic)
    one.fetch("latest", at)
    state(play, "latest", latest, topic)
    produce(play, topic, 2)
    one.fetch("latest, something new")
    for text in ("by_duration:PT1H", "by_duration:PT999999H"):
        group = play.text(text[-3:])
        configure(play, group, share_auto_offset_reset=text)
        Sharer(play, group).join(topic).fetch(text, at)
    earliest = _earliest(play)
    two = Sharer(play, earliest).join(topic)
    _delete_records(play, topic, 1)
    two.fetch("earliest, trimmed", at)
    two.acknowledge("one", {at: [(1, 1, [RELEASE])]})
    _delete_records(play, topic, 4)
    two.fetch("trimmed under it")
    two.fetch("and again")
    two.acknowledge("all", {at: [(1, 4, [ACCEPT])]})
    state(play, "trimmed", earliest, topic)


def _delete_records(play: ModernPlay, topic: str, offset: int) -> None:
    rows = [{"partition_index": 0, "offset": offset}]
    topics = [{"name": topic, "partitions": rows}]
    play.ask(ApiKey.DELETE_RECORDS, 2, {"topics": topics, "timeout_ms": 5000})


def altered_offsets(play: ModernPlay) -> None:
    """Another beginning, of a group that has consumed before."""
    if not _serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 6)
    group = _earliest(play)
    one = Sharer(play, group).join(topic)
    at = (topic, 0)
    one.fetch("all", at)
    one.acknowledge("two", {at: [(0, 1, [ACCEPT])]}, share_session_epoch=-1)
    play.share("leaves", group, A, -1, None)
    play.peer.hang_up(one.connection)
    play.peer.pause(1000)
    rows = [{"topic_name": topic, "partitions": [{"partition_index": 0, "start_offset": 1}]}]
    request = {"group_id": group, "topics": rows}
    play.call("altered", ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, request)
    state(play, "altered", group, topic)
    one = Sharer(play, group).join(topic)
    one.fetch("from one on", at)
    one.acknowledge("one more", {at: [(1, 1, [ACCEPT])]})
    state(play, "one more", group, topic)


def isolation(play: ModernPlay) -> None:
    """Aborted transactions, to those who read all and to those who read what is committed."""
    if not _serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    producer = _transaction(play, topic)
    produce(play, topic, 1)
    produce(play, topic, 2, producer=(*producer, 0), attributes=0x10)
    _end(play, producer, committed=False)
    produce(play, topic, 1)
    at = (topic, 0)
    group = _earliest(play, share_isolation_level="read_committed")
    one = Sharer(play, group).join(topic)
    one.fetch("committed", at)
    state(play, "committed", group, topic)
    Sharer(play, _earliest(play, "all")).join(topic).fetch("all", at)
    producer = _transaction(play, topic)
    produce(play, topic, 2, producer=(*producer, 0), attributes=0x10)
    one.fetch("open")
    _end(play, producer, committed=True)
    one.fetch("committed at last")


def _transaction(play: ModernPlay, topic: str) -> tuple[int, int]:
    request = {"transactional_id": play.text("tx"), "transaction_timeout_ms": 60_000}
    found = play.ask(ApiKey.INIT_PRODUCER_ID, 4, request)
    assert found.error_code == 0, found
    request = {
        "v3_and_below_transactional_id": play.text("tx"),
        "v3_and_below_producer_id": found.producer_id,
        "v3_and_below_producer_epoch": found.producer_epoch,
        "v3_and_below_topics": [{"name": topic, "partitions": [0]}],
    }
    play.ask(ApiKey.ADD_PARTITIONS_TO_TXN, 3, request)
    return found.producer_id, found.producer_epoch


def _end(play: ModernPlay, producer: tuple[int, int], *, committed: bool) -> None:
    request = {
        "transactional_id": play.text("tx"),
        "producer_id": producer[0],
        "producer_epoch": producer[1],
        "committed": committed,
    }
    play.ask(ApiKey.END_TXN, 3, request)
    play.peer.pause(1000)


def written_states(play: ModernPlay) -> None:
    """What a coordinator was told before anybody fetched is where fetching goes on."""
    if not _serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 4, 4)
    group = play.text("g")
    one = Sharer(play, group)
    at = (topic, 0)
    one.fetch("never begun", at)
    one.epoch = 0
    rows = [{"partition": 0, "state_epoch": 3, "start_offset": 1}]
    topics = [{"topic_id": play.topic_ids[topic], "partitions": rows}]
    request: dict[str, Any] = {"group_id": group, "topics": topics}
    play.call("begun", ApiKey.INITIALIZE_SHARE_GROUP_STATE, 0, request)
    names = ("first_offset", "last_offset", "delivery_state", "delivery_count")
    batches = [
        dict(zip(names, row, strict=True))
        for row in ((1, 1, 2, 1), (2, 3, 0, 2), (4, 4, 4, 5), (6, 6, 0, 1))
    ]
    rows = [
        {
            "partition": 0,
            "state_epoch": 3,
            "leader_epoch": 0,
            "start_offset": 1,
            "state_batches": batches,
        }
    ]
    topics = [{"topic_id": play.topic_ids[topic], "partitions": rows}]
    request = {"group_id": group, "topics": topics}
    play.call("written", ApiKey.WRITE_SHARE_GROUP_STATE, 0, request)
    state(play, "written", group, topic)
    one.fetch("goes on", at)
    one.acknowledge("done", {at: [(2, 3, [ACCEPT])]})
    state(play, "done", group, topic)
    one.fetch("the rest")


def fenced_states(play: ModernPlay) -> None:
    """Which epochs of leaders and states a share coordinator takes for old."""
    if not _serves(play):
        return
    (topic,) = play.topic("t", partitions=1)
    group = play.text("g")

    def ask(label: str, api: ApiKey, **row: Any) -> None:
        rows = [{"partition": 0} | row]
        topics = [{"topic_id": play.topic_ids[topic], "partitions": rows}]
        play.call(label, api, 99, {"group_id": group, "topics": topics})

    ask("begun", ApiKey.INITIALIZE_SHARE_GROUP_STATE, state_epoch=2, start_offset=1)
    ask("begun, older", ApiKey.INITIALIZE_SHARE_GROUP_STATE, state_epoch=1, start_offset=2)
    writing = ApiKey.WRITE_SHARE_GROUP_STATE
    for state_epoch, leader_epoch in ((2, 5), (1, 5), (2, 4), (1, 4), (3, 4), (-1, -1), (2, 4)):
        label = f"state {state_epoch}, leader {leader_epoch}"
        epochs = {"state_epoch": state_epoch, "leader_epoch": leader_epoch}
        ask(label, writing, start_offset=3, delivery_complete_count=0, **epochs)
        ask(f"summary, {label}", ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, leader_epoch=leader_epoch)
    ask("read by 7", ApiKey.READ_SHARE_GROUP_STATE, leader_epoch=7)
    ask("read by 6", ApiKey.READ_SHARE_GROUP_STATE, leader_epoch=6)
    ask("written by 6", writing, state_epoch=1, leader_epoch=6, start_offset=4)
    ask("summary for 6", ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, leader_epoch=6)


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
)
