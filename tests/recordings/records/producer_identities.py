"""Producer ids: how clients get them, and their sequence numbers."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.recordings.records.batches import TRANSACTIONAL, batch
from tests.recordings.records.play import Play


def sequences(play: Play) -> None:
    topic = play.topic()
    producer_id, epoch = play.producer()

    def send(label: str, sequence: int, count: int = 1, bump: int = 0) -> None:
        values = [b"v"] * count
        records = batch(values, producer=(producer_id, epoch + bump, sequence))
        play.produce(label, topic, records)

    send("first", 0)
    send("second", 1, 3)
    send("second again", 1, 3)
    send("first again", 0)
    send("same start, other end", 1, 2)
    send("gap", 10)
    for at in range(4, 9):
        send(f"sequence {at}", at)
    send("long ago", 0)
    send("sequence 4 again", 4)
    send("newer epoch, not from 0", 9, bump=1)
    send("newer epoch from 0", 0, bump=1)
    send("older epoch", 9)
    send("older epoch from 0", 0)
    send("newer epoch continues", 1, bump=1)
    send("negative sequence", -1, bump=1)
    send("negative sequence -5", -5, bump=1)
    play.fetch("what remains", topic)


def first_sequences(play: Play) -> None:
    """The first sequence of a producer id that is new to the partition."""
    topic = play.topic(partitions=4)
    producer_id, epoch = play.producer()
    play.produce("not from 0", topic, batch(producer=(producer_id, epoch, 5)))
    play.produce("then from 6", topic, batch(producer=(producer_id, epoch, 6)))
    play.produce("then from 0", topic, batch(producer=(producer_id, epoch, 0)))
    wrap = batch([b"v"] * 3, producer=(producer_id, epoch, 2**31 - 2))
    play.produce("wraps around", topic, wrap, index=1)
    play.produce("after the wrap", topic, batch(producer=(producer_id, epoch, 1)), index=1)
    play.produce("made-up id", topic, batch(producer=(987_654_321, 0, 0)), index=2)
    play.produce("made-up epoch", topic, batch(producer=(987_654_322, 7, 0)), index=2)
    play.produce("made-up, not from 0", topic, batch(producer=(987_654_323, 7, 3)), index=2)
    play.produce("id without epoch", topic, batch(producer=(987_654_324, -1, 0)), index=3)
    play.produce("id without sequence", topic, batch(producer=(987_654_325, 0, -1)), index=3)
    play.produce("epoch alone", topic, batch(producer=(-1, 0, 0)), index=3)


def transactional_without_transaction(play: Play) -> None:
    topic = play.topic(partitions=4)
    name = play.text("t")
    producer_id, epoch = play.producer(name)
    records = batch(producer=(producer_id, epoch, 0), attributes=TRANSACTIONAL)
    for at, version in enumerate(
        version for version in play.versions(ApiKey.PRODUCE) if version >= 9
    ):
        play.produce(
            f"not added {version}",
            topic,
            records,
            version=version,
            index=at % 4,
            transactional_id=name,
        )
    if play.newest(ApiKey.PRODUCE) < 9:
        play.produce("not added", topic, records, transactional_id=name)
    play.produce("no transactional id", topic, records)
    plain = batch(producer=(producer_id, epoch, 0))
    play.produce("id, but no transactional batch", topic, plain, transactional_id=name, index=3)
    no_producer = batch(attributes=TRANSACTIONAL)
    play.produce("no producer id", topic, no_producer, transactional_id=name, index=3)
    both = [(topic, [(0, batch(producer=(producer_id, epoch, 0))), (1, records)])]
    request = play.produce_request(both, -1, name)
    play.call("one of each", ApiKey.PRODUCE, play.newest(ApiKey.PRODUCE), request)


def producer_ids(play: Play) -> None:
    """InitProducerId with and without a transactional id."""
    api = ApiKey.INIT_PRODUCER_ID

    def init(label: str, version: int, **fields: object) -> None:
        fields = {"transaction_timeout_ms": 60_000, "transactional_id": None} | fields
        play.call(label, api, version, InitProducerIdRequest(**fields))  # type: ignore[arg-type]

    for version in play.versions(api):
        init(f"idempotent {version}", version)
        init(f"idempotent, no timeout {version}", version, transaction_timeout_ms=0)
        init(f"empty id {version}", version, transactional_id="")
    newest = play.newest(api, 5)
    known = play.text("known")
    play.producer(known)
    for timeout in (0, -1, 1, 900_000, 900_001, 2**31 - 1):
        name = play.text(f"timeout{timeout}")
        init(f"timeout {timeout}", newest, transactional_id=name, transaction_timeout_ms=timeout)
    for version in play.versions(api):
        init(f"again {version}", version, transactional_id=known)
    if newest < 3:
        return
    producer_id, epoch = play.producer(known)
    for version in range(3, newest + 1):
        init(f"id alone {version}", version, transactional_id=known, producer_id=producer_id)
        init(f"epoch alone {version}", version, transactional_id=known, producer_epoch=0)
        fields = {"transactional_id": known, "producer_id": producer_id}
        init(f"too new an epoch {version}", version, **fields, producer_epoch=epoch + 5)
        init(f"own {version}", version, **fields, producer_epoch=epoch)
        init(f"own again {version}", version, **fields, producer_epoch=epoch)
        init(f"old {version}", version, **fields, producer_epoch=0)
        init(f"other id {version}", version, **fields | {"producer_id": 399_999}, producer_epoch=1)
        epoch += 1
        idempotent = {"producer_id": producer_id, "producer_epoch": 0}
        init(f"idempotent with id {version}", version, **idempotent)
        unknown = {"transactional_id": play.text(f"new{version}"), "producer_id": producer_id}
        init(f"unknown with id {version}", version, **unknown, producer_epoch=0)
