"""Changes while a share group consumes (KIP-932): expired acquisitions, deleted and compacted
records, transactions, and requests to the share coordinator.
"""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.share_play import (
    ACCEPT,
    GAP,
    RELEASE,
    RENEW,
    RENEWS_SINCE,
    A,
    Sharer,
    compact_soon,
    configure,
    earliest,
    kept_topics,
    produce,
    roll,
    serves,
    state,
)

LOCK_MS = 15_000
"""The shortest duration of an acquisition."""
FIRST_SIZE = 88
SIZE_MAX = FIRST_SIZE + 79 + 79
"""Bytes of the first segment after compaction; a real response ends with a segment."""


def locks(play: ModernPlay) -> None:
    """Records are available again when their acquisition expires, unless it was renewed."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 4, 2)
    group = earliest(play, share_record_lock_duration_ms=str(LOCK_MS))
    sharer = Sharer(play, group).join(topic)
    at = (topic, 0)
    sharer.fetch("all", at)
    sharer.acknowledge("one", {at: [(1, 1, [ACCEPT])]})
    play.peer.pause(LOCK_MS // 3)
    if play.has(ApiKey.SHARE_ACKNOWLEDGE, RENEWS_SINCE):
        sharer.acknowledge("renewed", {at: [(4, 5, [RENEW])]}, is_renew_ack=True)
        sharer.acknowledge("renewed, one", {at: [(2, 3, [RENEW, GAP])]}, is_renew_ack=True)
        sharer.acknowledge("renewed, not its own", {at: [(1, 1, [RENEW])]}, is_renew_ack=True)
        sharer.acknowledge("renewed, nothing", {}, is_renew_ack=True)
        sharer.fetch("renewed on the way", acks={at: [(4, 5, [RENEW])]}, is_renew_ack=True)
        nothing: dict[str, Any] = {
            "max_bytes": 0,
            "min_bytes": 0,
            "max_records": 0,
            "max_wait_ms": 0,
        }
        renewed = {at: [(4, 5, [RENEW])]}
        sharer.fetch("renewed without a fetch", acks=renewed, is_renew_ack=True, **nothing)
    play.peer.pause(LOCK_MS * 2 // 3 + 500)
    state(play, "time is up", group, topic)
    sharer.fetch("what came back")
    sharer.acknowledge("too late", {at: [(4, 5, [ACCEPT])]})
    play.peer.pause(LOCK_MS + 500)
    state(play, "all is up", group, topic)
    sharer.fetch("all came back")


def renewing_switched_off(play: ModernPlay) -> None:
    if not serves(play) or play.peer.release < "4.3":
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 2)
    sharer = Sharer(play, earliest(play, share_renew_acknowledge_enable="false")).join(topic)
    sharer.fetch("all", (topic, 0))
    sharer.acknowledge("renewed", {(topic, 0): [(0, 1, [RENEW])]}, is_renew_ack=True)
    sharer.acknowledge("accepted", {(topic, 0): [(0, 1, [ACCEPT])]}, is_renew_ack=True)


def beginnings(play: ModernPlay) -> None:
    """The first offset of a group, and its next offset when records are deleted."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 3)
    at = (topic, 0)
    latest = play.text("latest")
    sharer = Sharer(play, latest).join(topic)
    sharer.fetch("latest", at)
    state(play, "latest", latest, topic)
    produce(play, topic, 2)
    sharer.fetch("latest, something new")
    for text in ("by_duration:PT1H", "by_duration:PT999999H"):
        group = play.text(text[-3:])
        configure(play, group, share_auto_offset_reset=text)
        Sharer(play, group).join(topic).fetch(text, at)
    group = earliest(play)
    another = Sharer(play, group).join(topic)
    _delete_records(play, topic, 1)
    another.fetch("earliest, trimmed", at)
    another.acknowledge("one", {at: [(1, 1, [RELEASE])]})
    _delete_records(play, topic, 4)
    another.fetch("trimmed under it")
    another.fetch("and again")
    another.acknowledge("all", {at: [(1, 4, [ACCEPT])]})
    state(play, "trimmed", group, topic)


def _delete_records(play: ModernPlay, topic: str, offset: int) -> None:
    rows = [{"partition_index": 0, "offset": offset}]
    topics = [{"name": topic, "partitions": rows}]
    play.ask(ApiKey.DELETE_RECORDS, 2, {"topics": topics, "timeout_ms": 5000})


def altered_offsets(play: ModernPlay) -> None:
    """Altered offsets of a group that has consumed before."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 6)
    group = earliest(play)
    sharer = Sharer(play, group).join(topic)
    at = (topic, 0)
    sharer.fetch("all", at)
    sharer.acknowledge("two", {at: [(0, 1, [ACCEPT])]}, share_session_epoch=-1)
    play.share("leaves", group, A, -1, None)
    play.peer.hang_up(sharer.connection)
    play.peer.pause(1000)
    rows = [{"topic_name": topic, "partitions": [{"partition_index": 0, "start_offset": 1}]}]
    request = {"group_id": group, "topics": rows}
    play.call("altered", ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, request)
    state(play, "altered", group, topic)
    sharer = Sharer(play, group).join(topic)
    sharer.fetch("from one on", at)
    sharer.acknowledge("one more", {at: [(1, 1, [ACCEPT])]})
    state(play, "one more", group, topic)


def isolation(play: ModernPlay) -> None:
    """Aborted transactions, with read_uncommitted and read_committed."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    producer = _transaction(play, topic)
    produce(play, topic, 1)
    produce(play, topic, 2, producer=(*producer, 0), attributes=0x10)
    _end(play, producer, committed=False)
    produce(play, topic, 1)
    at = (topic, 0)
    group = earliest(play, share_isolation_level="read_committed")
    sharer = Sharer(play, group).join(topic)
    sharer.fetch("committed", at)
    state(play, "committed", group, topic)
    Sharer(play, earliest(play, "all")).join(topic).fetch("all", at)
    producer = _transaction(play, topic)
    produce(play, topic, 2, producer=(*producer, 0), attributes=0x10)
    sharer.fetch("open")
    _end(play, producer, committed=True)
    sharer.fetch("committed at last")


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
    """State written to a coordinator before the first ShareFetch is where consuming begins."""
    if not serves(play):
        return
    (topic,) = kept_topics(play, "t", partitions=1)
    produce(play, topic, 4, 4)
    group = play.text("g")
    sharer = Sharer(play, group)
    at = (topic, 0)
    sharer.fetch("never begun", at)
    sharer.epoch = 0
    rows: list[dict[str, Any]] = [{"partition": 0, "state_epoch": 3, "start_offset": 1}]
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
    sharer.fetch("goes on", at)
    sharer.acknowledge("done", {at: [(2, 3, [ACCEPT])]})
    state(play, "done", group, topic)
    sharer.fetch("the rest")


def compacted(play: ModernPlay) -> None:
    """Records that are compacted away before they are acquired."""
    if not serves(play):
        return
    topic, sharer = _keyed(play)
    at = (topic, 0)
    play.peer.compact(topic, lambda: roll(play, topic))
    sharer.fetch("with gaps", at, max_bytes=SIZE_MAX)
    state(play, "with gaps", sharer.group, topic)
    sharer.acknowledge("over gaps", {at: [(4, 7, [ACCEPT])]})
    sharer.acknowledge("a gap alone", {at: [(8, 8, [GAP]), (9, 10, [RELEASE])]})
    state(play, "acknowledged", sharer.group, topic)
    sharer.fetch("released", max_bytes=SIZE_MAX - FIRST_SIZE)
    sharer.acknowledge("from before the first", {at: [(0, 12, [ACCEPT])]})
    sharer.acknowledge("all", {at: [(9, 12, [ACCEPT])]})
    state(play, "all", sharer.group, topic)
    sharer.fetch("the rest")


def compacted_while_held(play: ModernPlay) -> None:
    """Records that are compacted away while they are acquired."""
    if not serves(play):
        return
    topic, sharer = _keyed(play)
    at = (topic, 0)
    sharer.fetch("two", at, max_records=2, batch_size=2)
    play.peer.compact(topic, lambda: roll(play, topic))
    sharer.acknowledge("released", {at: [(0, 1, [RELEASE])]})
    state(play, "released", sharer.group, topic)
    sharer.fetch("some are gone", max_bytes=SIZE_MAX)
    state(play, "some are gone", sharer.group, topic)
    sharer.fetch("the rest")


def _keyed(play: ModernPlay) -> tuple[str, Sharer]:
    """Create a compacted topic; return it with a member of a share group."""
    (topic,) = kept_topics(play, "t", partitions=1)
    compact_soon(play, topic)
    sharer = Sharer(play, earliest(play)).join(topic)
    for keys in (b"a b c", b"a", b"b c d", b"e", b"a e", b"f f g"):
        produce(play, topic, len(keys.split()), keys=keys.split())
    return topic, sharer


def fenced_states(play: ModernPlay) -> None:
    """Leader epochs and state epochs that a share coordinator rejects as outdated."""
    if not serves(play):
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
