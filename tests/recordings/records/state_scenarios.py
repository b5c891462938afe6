"""The records in `__transaction_state`, one for each change."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.recordings.coordinator_log import CoordinatorLog
from tests.recordings.peers.peer import ask_root
from tests.recordings.records.batches import TRANSACTIONAL, batch
from tests.recordings.records.play import Play
from tests.recordings.records.transactional_producer import VERSION_1, Producer, suites

TOPIC = "__transaction_state"
MESSAGES = ("TransactionLogKey", "TransactionLogValue")
PREPARED = (2, 3)
"""States in which a coordinator waits until markers are written."""


class _Log:
    """Reads the records of a scenario's transactional ids after each step."""

    def __init__(self, play: Play) -> None:
        request = FindCoordinatorRequest(key=play.name, key_type=1, coordinator_keys=[play.name])
        ask_root(play.peer, ApiKey.FIND_COORDINATOR, request)
        self._play = play
        self._log = CoordinatorLog(play, TOPIC, lambda _: MESSAGES)

    def look(self, label: str) -> None:
        """Record the new records; wait until prepared transactions are complete."""
        rows = self._log.new()
        for _ in range(60):
            if not any(_is_prepared(rows, row["key"]) for row in rows):
                break
            self._play.peer.pause(50)
            rows += self._log.new()
        self._play.steps.append((f"{label}: written", rows))


def _is_prepared(rows: list[dict[str, Any]], key: Any) -> bool:
    last = [row["value"] for row in rows if row["key"] == key][-1]
    return last is not None and last["transaction_status"] in PREPARED


def life(play: Play) -> None:
    """A transactional id from its first producer to committed and aborted transactions."""
    log = _Log(play)
    for label, suite in suites(play):
        topic = play.topic(label, partitions=3)
        producer = Producer(play, f"one-{label}", suite)
        log.look(f"{label}: two producers")
        if not producer.implies_partitions:
            producer.add(f"{label}: add", (topic, 0))
            log.look(f"{label}: added")
            producer.add(f"{label}: again", (topic, 0))
            log.look(f"{label}: added again")
            producer.add(f"{label}: more", (topic, 2), (topic, 1), (topic, 0))
            log.look(f"{label}: added more")
        for index in (0, 0, 1):
            producer.send(f"{label} {index}", topic, index)
        log.look(f"{label}: sent")
        _send_to_all(play, producer, topic)
        log.look(f"{label}: sent to all")
        before = producer.epoch
        producer.end(f"{label}: commit", commit=True)
        log.look(f"{label}: committed")
        producer.end(f"{label}: commit again", commit=True, epoch=before)
        log.look(f"{label}: committed again")
        _with_offsets(play, producer, label)
        log.look(f"{label}: offsets")
        producer.end(f"{label}: abort", commit=False)
        log.look(f"{label}: aborted")
        producer.end(f"{label}: abort nothing", commit=False)
        log.look(f"{label}: nothing aborted")


def _send_to_all(play: Play, producer: Producer, topic: str) -> None:
    """Produce to three partitions in one request."""
    rows: list[tuple[int, bytes | None]] = []
    for index, sequence in ((0, 2), (1, 1), (2, 0)):
        owner = (producer.producer_id, producer.epoch, sequence)
        rows.append((index, batch([b"v"], producer=owner, attributes=TRANSACTIONAL)))
    version = play.newest(ApiKey.PRODUCE, producer.suite["produce"])
    request = play.produce_request([(topic, rows)], -1, producer.name)
    play.call_when_idle("sent to all", ApiKey.PRODUCE, version, request)


def _with_offsets(play: Play, producer: Producer, label: str) -> None:
    """Commit a group's offsets in a transaction."""
    request = AddOffsetsToTxnRequest(
        transactional_id=producer.name,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        group_id=play.text(label),
    )
    version = play.newest(ApiKey.ADD_OFFSETS_TO_TXN, producer.suite["offsets"])
    play.call_when_idle(f"{label}: add offsets", ApiKey.ADD_OFFSETS_TO_TXN, version, request)


def refusals(play: Play) -> None:
    """Rejected requests write no records."""
    log = _Log(play)
    topic = play.topic()
    producer = Producer(play, "one", VERSION_1)
    log.look("begun")
    producer.add("wrong id", (topic, 0), producer_id=123_456)
    producer.add("old epoch", (topic, 0), epoch=producer.epoch - 1)
    producer.add("unknown topic", (play.unknown(), 0), (topic, 0))
    producer.end("commit nothing", commit=True)
    producer.end("abort nothing", commit=False)
    log.look("refused")


def fenced(play: Play) -> None:
    """A producer initialises while the transaction of another one is open."""
    log = _Log(play)
    for label, suite in suites(play):
        topic = play.topic(label)
        producer = Producer(play, f"one-{label}", suite)
        if not producer.implies_partitions:
            producer.add(f"{label}: add", (topic, 0))
        producer.send(label, topic)
        log.look(f"{label}: open")
        play.producer(producer.name)
        log.look(f"{label}: fenced")
        producer.end(f"{label}: commit", commit=True)
        log.look(f"{label}: refused")


def named(play: Play) -> None:
    """Producers that send their previous id and epoch in InitProducerId (KIP-360)."""
    if play.newest(ApiKey.INIT_PRODUCER_ID) < 3:
        return
    log = _Log(play)
    topic = play.topic()
    for label, suite in suites(play):
        producer = Producer(play, f"one-{label}", suite)
        log.look(f"{label}: begun")
        for turn in ("once", "again"):
            _begin(play, f"{label}: {turn}", producer)
            log.look(f"{label}: {turn}")
        if not producer.implies_partitions:
            producer.epoch += 1
            producer.add(f"{label}: add", (topic, 0))
            producer.send(label, topic)
            _begin(play, f"{label}: open", producer)
            log.look(f"{label}: open")


def _begin(play: Play, label: str, producer: Producer) -> None:
    request = InitProducerIdRequest(
        transactional_id=producer.name,
        transaction_timeout_ms=60_000,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
    )
    version = play.newest(ApiKey.INIT_PRODUCER_ID, 4)
    play.call_when_idle(label, ApiKey.INIT_PRODUCER_ID, version, request)


def overdue(play: Play) -> None:
    """A transaction that is aborted after its timeout."""
    log = _Log(play)
    topic = play.topic()
    producer = Producer(play, "one", VERSION_1)
    request = InitProducerIdRequest(transactional_id=producer.name, transaction_timeout_ms=500)
    version = play.newest(ApiKey.INIT_PRODUCER_ID, 2)
    response = play.settled(ApiKey.INIT_PRODUCER_ID, version, request)
    producer.epoch = response.producer_epoch
    producer.add("add", (topic, 0))
    producer.send("sent", topic)
    log.look("open")
    play.peer.pause(3_000)
    log.look("too late")


def expired(play: Play) -> None:
    """Unused transactional ids expire with a tombstone; open transactions remain."""
    log = _Log(play)
    topic = play.topic()
    Producer(play, "idle", VERSION_1)
    done = Producer(play, "done", VERSION_1)
    done.add("add", (topic, 0))
    done.end("commit", commit=True)
    busy = Producer(play, "open", VERSION_1)
    busy.add("add another", (topic, 0))
    log.look("begun")
    play.peer.pause(6_000)
    log.look("expired")
    done.add("add to what is gone", (topic, 0))
    busy.end("commit what is open", commit=True)
    log.look("ended")
    if play.has(ApiKey.LIST_TRANSACTIONS):
        play.call("listed", ApiKey.LIST_TRANSACTIONS, 0, {})
    play.peer.pause(6_000)
    log.look("all are gone")
    if play.has(ApiKey.LIST_TRANSACTIONS):
        play.call("none is listed", ApiKey.LIST_TRANSACTIONS, 0, {})


SCENARIOS = (life, refusals, fenced, named, overdue, expired)

OWN_SETTINGS = {
    "state-overdue": {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "300"},
    "state-expired": {
        "transactional.id.expiration.ms": "3000",
        "transaction.remove.expired.transaction.cleanup.interval.ms": "300",
    },
}
