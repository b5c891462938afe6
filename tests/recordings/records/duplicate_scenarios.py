"""Requests that repeat a partition or a transaction."""

from itertools import product

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafka_shim.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.recordings.records.batches import TRANSACTIONAL, batch
from tests.recordings.records.play import Play

GOOD = batch([b"a"])
PAIR = batch([b"b", b"c"])
CONTENTS = {
    "good": GOOD,
    "pair": PAIR,
    "two batches": GOOD + PAIR,
    "damaged": batch([b"x"], damage=True),
    "empty": b"",
    "no batch": b"\0" * 10,
}
FIRST_VERSION = 3
BATCHED_SINCE = 4
UNKNOWN_PRODUCER = 424_242


def named_twice(play: Play) -> None:
    versions = [version for version in play.versions(ApiKey.PRODUCE) if version >= FIRST_VERSION]
    for version in sorted({versions[0], versions[-1]}):
        topic = play.topic(f"v{version}")
        for first, other in product(CONTENTS, CONTENTS):
            rows = [(0, CONTENTS[first]), (0, CONTENTS[other])]
            request = play.produce_request([(topic, rows)])
            play.call(f"{first}, {other} in {version}", ApiKey.PRODUCE, version, request)
        play.fetch(f"what remains in {version}", topic)


def transaction_twice(play: Play) -> None:
    """AddPartitionsToTxn adds or verifies a transaction twice, with different partitions."""
    versions = [
        version
        for version in play.versions(ApiKey.ADD_PARTITIONS_TO_TXN)
        if version >= BATCHED_SINCE
    ]
    if not versions:
        return
    topic, other = play.topic(partitions=2), play.topic("b", partitions=2)
    name = play.text("tx")
    producer_id, epoch = play.producer(name)
    rows = ((topic, 0), (other, 1), (topic, 7))
    for producer, verifies in product((producer_id, UNKNOWN_PRODUCER), (False, True)):
        for first, second in product(rows, rows):
            transactions = [
                AddPartitionsToTxnTransaction(
                    transactional_id=name,
                    producer_id=producer,
                    producer_epoch=epoch,
                    verify_only=verifies,
                    topics=[AddPartitionsToTxnTopic(name=topic_name, partitions=[index])],
                )
                for topic_name, index in (first, second)
            ]
            request = AddPartitionsToTxnRequest(transactions=transactions)
            known = "unknown" if producer == UNKNOWN_PRODUCER else "known"
            label = f"{first[1]}, {second[1]} of an {known} one, verifies: {verifies}"
            play.call_when_idle(label, ApiKey.ADD_PARTITIONS_TO_TXN, versions[-1], request)


def offsets_twice(play: Play) -> None:
    """TxnOffsetCommit with duplicate topics, of the transaction's producer and of others."""
    topics = [play.topic(name, partitions=2) for name in ("a", "b")]
    missing = play.unknown()
    name, group = play.text("tx"), play.text("group")
    producer_id, epoch = play.producer(name)
    orders = ((0, 1, 0), (0, 0), (0, 2, 0), (2, 0, 2))
    for version in play.versions(ApiKey.TXN_OFFSET_COMMIT):
        for producer, order in product((producer_id, UNKNOWN_PRODUCER), orders):
            rows = [
                TxnOffsetCommitRequestTopic(
                    name=[*topics, missing][at],
                    partitions=[TxnOffsetCommitRequestPartition(number % 2, committed_offset=2)],
                )
                for number, at in enumerate(order)
            ]
            request = TxnOffsetCommitRequest(
                transactional_id=name,
                group_id=group,
                producer_id=producer,
                producer_epoch=epoch,
                topics=rows,
            )
            label = f"{order} of {producer == UNKNOWN_PRODUCER} in {version}"
            play.call_when_idle(label, ApiKey.TXN_OFFSET_COMMIT, version, request)


def acks_and_transactions(play: Play) -> None:
    """The precedence of errors for records with two errors."""
    topic, name = play.topic(), play.text("tx")
    producer_id, epoch = play.producer(name)
    play.topic_ids["__consumer_offsets"] = bytes(16)
    version = play.newest(ApiKey.PRODUCE, 12)
    for producer, acks, at in product(
        (producer_id, UNKNOWN_PRODUCER), (1, 2), (topic, "__consumer_offsets")
    ):
        records = batch([b"x"], producer=(producer, epoch, 0), attributes=TRANSACTIONAL)
        request = play.produce_request([(at, [(0, records)])])
        request.transactional_id, request.acks = name, acks
        known = "unknown" if producer == UNKNOWN_PRODUCER else "known"
        play.call_when_idle(
            f"acks {acks}, {known}, internal: {at != topic}", ApiKey.PRODUCE, version, request
        )


SCENARIOS = (named_twice, transaction_twice, offsets_twice, acks_and_transactions)
