"""Transactions from their beginning to their markers, and all errors in using them."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from kafka_shim.protocol.messages.describe_transactions import DescribeTransactionsRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.list_transactions import ListTransactionsRequest
from kafka_shim.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.recordings.records.batches import batch
from tests.recordings.records.play import Play
from tests.recordings.records.transaction_contents import offsets, partitions, partitions_of_brokers
from tests.recordings.records.transactional_producer import (
    VERSION_1,
    VERSION_2,
    Producer,
    look,
    settle,
    suites,
)


def markers(play: Play) -> None:
    """WriteTxnMarkers, as coordinators on other brokers send it."""
    for version in play.versions(ApiKey.WRITE_TXN_MARKERS):
        topic = play.topic(f"t{version}", partitions=2)
        producer = Producer(play, f"one{version}", VERSION_1)
        producer.add(f"add {version}", (topic, 0))
        producer.send(f"s{version}", topic)

        def mark(
            label: str,
            where: str = topic,
            at: int = version,
            by: Producer = producer,
            **changes: Any,
        ) -> None:
            marker = WritableTxnMarker(
                producer_id=by.producer_id,
                producer_epoch=by.epoch,
                transaction_result=True,
                topics=[WritableTxnMarkerTopic(name=where, partition_indexes=[0])],
            )
            for name, value in changes.items():
                setattr(marker, name, value)
            request = WriteTxnMarkersRequest(markers=[marker])
            play.call(f"{label}, {at}", ApiKey.WRITE_TXN_MARKERS, at, request)

        mark("no topic", play.unknown())
        mark("older epoch", producer_epoch=-1)
        mark("good", coordinator_epoch=5)
        look(play, f"marked {version}", topic, producer.name)
        mark("again", coordinator_epoch=5)
        mark("older coordinator", coordinator_epoch=4)
        mark("unknown producer", producer_id=7_000_000)
        mark("newer epoch", producer_epoch=producer.epoch + 3, coordinator_epoch=6)
        mark("then an older one", coordinator_epoch=6)
        mark("no partition", topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[9])])
        mark("nowhere", topics=[])
        request = WriteTxnMarkersRequest(markers=[])
        play.call(f"no markers, {version}", ApiKey.WRITE_TXN_MARKERS, version, request)
        look(play, f"at last {version}", topic, producer.name)


def listed(play: Play) -> None:
    """ListTransactions and DescribeTransactions with filters."""
    if not play.has(ApiKey.LIST_TRANSACTIONS):
        return
    topic = play.topic()
    idle = Producer(play, "idle", VERSION_1)
    busy = Producer(play, "busy", VERSION_1)
    done = Producer(play, "done", VERSION_1)
    for producer in (busy, done):
        producer.add(f"add {producer is done}", (topic, 0))
        producer.send(f"send {producer is done}", topic)
    done.end("done", commit=True)
    play.peer.pause(400)
    _list(play, busy)
    wanted = [busy.name, play.text("nobody"), idle.name, done.name, busy.name, ""]
    described = DescribeTransactionsRequest(transactional_ids=wanted)
    play.call("described", ApiKey.DESCRIBE_TRANSACTIONS, 0, described)
    places = [
        TopicRequest(name=topic, partition_indexes=[0, 9]),
        TopicRequest(name=play.unknown(), partition_indexes=[0]),
        TopicRequest(name="not a name!", partition_indexes=[0]),
        TopicRequest(name="", partition_indexes=[0]),
    ]
    producers = DescribeProducersRequest(topics=places)
    play.call("producers", ApiKey.DESCRIBE_PRODUCERS, 0, producers)
    busy.end("end", commit=False)


def _list(play: Play, busy: Producer) -> None:
    """Use every filter of ListTransactions in every version that supports it."""
    filters: dict[str, dict[str, Any]] = {
        "everything": {},
        "ongoing": {"state_filters": ["Ongoing"]},
        "two states": {"state_filters": ["Empty", "CompleteCommit"]},
        "unknown state": {"state_filters": ["Nonsense", "Empty"]},
        "wrong case": {"state_filters": ["ongoing"]},
        "producer": {"producer_id_filters": [busy.producer_id]},
        "producer and state": {
            "producer_id_filters": [busy.producer_id],
            "state_filters": ["Empty"],
        },
        "unknown producer": {"producer_id_filters": [55_555_555]},
        "duration 0": {"duration_filter": 0},
        "duration long": {"duration_filter": 3_600_000},
        "pattern": {"transactional_id_pattern": ".*busy"},
        "pattern of a part": {"transactional_id_pattern": "busy"},
        "bad pattern": {"transactional_id_pattern": "(["},
        "empty pattern": {"transactional_id_pattern": ""},
    }
    for version in play.versions(ApiKey.LIST_TRANSACTIONS):
        for label, fields in filters.items():
            if version < 1 and "duration_filter" in fields:
                continue
            if version < 2 and "transactional_id_pattern" in fields:
                continue
            request = ListTransactionsRequest(**fields)
            play.call(f"{label}, {version}", ApiKey.LIST_TRANSACTIONS, version, request)


def life(play: Play) -> None:
    for label, suite in suites(play):
        topic = play.topic(label)
        producer = Producer(play, f"one{label}", suite)
        play.produce(f"{label}: plain before", topic, batch([b"plain"]))
        if not producer.implies_partitions:
            producer.add(f"{label}: add", (topic, 0))
        producer.send(f"{label}-1", topic)
        producer.send(f"{label}-2", topic)
        look(play, f"{label}: open", topic, producer.name)
        producer.end(f"{label}: commit", commit=True)
        settle(play, topic)
        look(play, f"{label}: committed", topic, producer.name)
        play.produce(f"{label}: plain between", topic, batch([b"plain"]))
        if not producer.implies_partitions:
            producer.add(f"{label}: add again", (topic, 0))
        producer.send(f"{label}-3", topic)
        play.produce(f"{label}: plain within", topic, batch([b"plain"]))
        look(play, f"{label}: open again", topic, producer.name)
        producer.end(f"{label}: abort", commit=False)
        settle(play, topic)
        look(play, f"{label}: aborted", topic, producer.name)
        for offset in range(9):
            play.fetch(f"{label}: committed from {offset}", topic, offset, isolation=1)


def two_producers(play: Play) -> None:
    """Two open transactions: the older one limits the last stable offset."""
    for label, suite in suites(play):
        topic = play.topic(label)
        first = Producer(play, f"first{label}", suite)
        second = Producer(play, f"second{label}", suite)
        for producer in (first, second):
            if not producer.implies_partitions:
                producer.add(f"{label}: add {producer is first}", (topic, 0))
        first.send(f"{label}-a", topic)
        second.send(f"{label}-b", topic)
        first.send(f"{label}-c", topic)
        second.end(f"{label}: second aborts", commit=False)
        play.peer.pause(300)
        look(play, f"{label}: first is open", topic, first.name, second.name)
        first.end(f"{label}: first commits", commit=True)
        settle(play, topic)
        look(play, f"{label}: both ended", topic, first.name, second.name)


def ends(play: Play) -> None:
    """EndTxn in every state, with correct and wrong producer ids and epochs."""
    for version in play.versions(ApiKey.END_TXN):
        suite = VERSION_2 if version >= 5 else VERSION_1
        topic = play.topic(f"t{version}")
        producer = Producer(play, f"one{version}", suite)
        other = Producer(play, f"two{version}", suite)

        def end(label: str, who: Producer = producer, at: int = version, **changes: Any) -> None:
            commit = changes.pop("commit", True)
            who.end(f"{label}, {at}", commit=commit, version=at, **changes)

        end("commit nothing")
        end("abort nothing", commit=False)
        end("unknown id", name=play.text("nobody"))
        end("empty id", name="")
        end("wrong producer id", producer_id=123_456)
        if not producer.implies_partitions:
            producer.add(f"add {version}", (topic, 0))
        producer.send(f"s{version}", topic)
        end("older epoch", epoch=producer.epoch - 1)
        if play.newest(ApiKey.INIT_PRODUCER_ID) >= 4:  # it blocks the transaction of older brokers
            end("newer epoch", epoch=producer.epoch + 1)
        before = producer.epoch
        end("commit")
        settle(play, topic)
        end("commit again", epoch=before)
        end("now abort", epoch=before, commit=False)
        end("commit with what is now the epoch")
        end("abort with what is now the epoch", commit=False)
        if not other.implies_partitions:
            other.add(f"add two {version}", (topic, 0))
        other.send(f"two{version}", topic)
        before = other.epoch
        end("abort", who=other, commit=False)
        settle(play, topic)
        end("abort again", who=other, epoch=before, commit=False)
        end("now commit", who=other, epoch=before)


def mixed_versions(play: Play) -> None:
    """Transactions begun by one version of the protocol and ended by the other (KIP-890)."""
    if play.newest(ApiKey.END_TXN) < 5:
        return
    topic = play.topic(partitions=2)
    producer = Producer(play, "one", VERSION_2)
    producer.add("added by the client", (topic, 0))
    producer.send("x", topic, version=11)
    producer.end("ended as version 2", commit=True)
    settle(play, topic)
    other = Producer(play, "two", VERSION_2)
    other.send("y", topic, 1)
    other.end("ended as version 1", commit=True, version=4)
    settle(play, topic, 1)
    other.send("z", topic, 1)
    other.end("then as version 2", commit=False)
    settle(play, topic, 1)
    look(play, "at last", topic, producer.name, other.name)
    play.fetch("the other partition", topic, index=1, isolation=1)


def fencing(play: Play) -> None:
    """A producer that was fenced by its successor."""
    for label, suite in suites(play):
        topic = play.topic(label)
        old = Producer(play, f"one{label}", suite)
        if not old.implies_partitions:
            old.add(f"{label}: add", (topic, 0))
        old.send(f"{label}-1", topic)
        request = InitProducerIdRequest(transactional_id=old.name, transaction_timeout_ms=60_000)
        version = play.newest(ApiKey.INIT_PRODUCER_ID)
        play.call(f"{label}: new while open", ApiKey.INIT_PRODUCER_ID, version, request)
        settle(play, topic)
        play.call_when_idle(f"{label}: new again", ApiKey.INIT_PRODUCER_ID, version, request)
        old.send(f"{label}-2", topic)
        for at in play.versions(ApiKey.PRODUCE):
            if at >= 7:
                old.send(f"{label}: produce {at}", topic, version=at)
        old.add(f"{label}: fenced add", (topic, 0))
        for at in play.versions(ApiKey.END_TXN):
            old.end(f"{label}: fenced end {at}", commit=True, version=at)
        for at in play.versions(ApiKey.INIT_PRODUCER_ID):
            if at >= 3:
                own = InitProducerIdRequest(
                    transactional_id=old.name,
                    transaction_timeout_ms=60_000,
                    producer_id=old.producer_id,
                    producer_epoch=old.epoch,
                )
                play.call(f"{label}: fenced init {at}", ApiKey.INIT_PRODUCER_ID, at, own)
        look(play, f"{label}: afterwards", topic, old.name)
        played_on = Producer(play, f"one{label}", suite)
        if not played_on.implies_partitions:
            played_on.add(f"{label}: the new one adds", (topic, 0))
        played_on.send(f"{label}-3", topic)
        played_on.end(f"{label}: the new one commits", commit=True)
        settle(play, topic)
        look(play, f"{label}: at last", topic, old.name)


def wrong_batches(play: Play) -> None:
    """Batches that do not belong to the open transaction."""
    for label, suite in suites(play):
        topic = play.topic(label, partitions=4)
        producer = Producer(play, f"one{label}", suite)
        producer.add(f"{label}: add", (topic, 0))
        for at in play.versions(ApiKey.PRODUCE):
            if at >= 8:
                producer.send(
                    f"{label}: newer epoch {at}", topic, epoch=producer.epoch + 1, version=at
                )
                producer.send(
                    f"{label}: other producer {at}", topic, producer_id=7_654_321, version=at
                )
        producer.send(f"{label}: right", topic, sequence=0)
        producer.send(f"{label}: older epoch", topic, epoch=producer.epoch - 1, sequence=1)
        producer.send(f"{label}: partition that was not added", topic, 1, sequence=0)
        plain = batch(producer=(producer.producer_id, producer.epoch, 1))
        play.produce(f"{label}: not transactional", topic, plain)
        producer.end(f"{label}: commit", commit=True)
        settle(play, topic)
        producer.send(
            f"{label}: after the end", topic, sequence=1, version=play.newest(ApiKey.PRODUCE, 11)
        )
        play.fetch(f"{label}: what remains", topic, isolation=1)


def overdue(play: Play) -> None:
    """A transaction that exceeds its producer's timeout."""
    topic = play.topic()
    name = play.text("slow")
    request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=1000)
    version = play.newest(ApiKey.INIT_PRODUCER_ID, 4)
    play.settled(ApiKey.INIT_PRODUCER_ID, version, request)
    slow = Producer(play, "slow", VERSION_1)
    play.settled(ApiKey.INIT_PRODUCER_ID, version, request)
    slow.epoch += 1
    slow.add("add", (topic, 0))
    slow.send("x", topic)
    play.peer.pause(14_000)
    settle(play, topic)
    look(play, "overdue", topic, name)
    slow.send("y", topic)
    slow.add("add after it", (topic, 0))
    slow.end("commit after it", commit=True)
    again = Producer(play, "slow", VERSION_1)
    play.steps.append(("the next epoch is higher by", again.epoch - slow.epoch))


def first_numbers(play: Play) -> None:
    """The first sequence on a partition without state of the producer."""
    for label, suite in suites(play):
        producer = Producer(play, f"one{label}", suite)
        for first in (0, 1, 5):
            topic = play.topic(f"{label}{first}")
            producer.add(f"{label}: add {first}", (topic, 0))
            producer.send(f"{label}: from {first}", topic, sequence=first)
            producer.send(f"{label}: after {first}", topic, sequence=first + 1)
            producer.send(f"{label}: before {first}", topic, sequence=max(first - 1, 0))
            play.fetch(f"{label}: what came of {first}", topic)
        producer.end(f"{label}: commit", commit=True)
        idempotent = play.topic(f"{label}-idempotent")
        for first in (3, 4, 0):
            plain = batch(producer=(producer.producer_id, producer.epoch, first))
            version = play.newest(ApiKey.PRODUCE, suite["produce"])
            title = f"{label}: not transactional, from {first}"
            play.produce(title, idempotent, plain, version=version)


def first_numbers_by_version(play: Play) -> None:
    """The first sequence, with alternating versions of Produce from before and since KIP-890."""
    if play.newest(ApiKey.END_TXN) < 5:
        return
    for versions in ((11, 12, 11, 12), (12, 11, 12, 11)):
        name = "-".join(map(str, versions))
        for is_added in (False, True):
            label = f"{name}, {'added' if is_added else 'not added'}"
            topic = play.topic(f"{name}-{is_added}")
            producer = Producer(play, f"one{name}{is_added}", VERSION_2)
            if is_added:
                producer.add(f"{label}: add", (topic, 0))
            for version, first in zip(versions, (2, 2, 1, 1), strict=True):
                producer.send(
                    f"{label}: {first} at {version}", topic, sequence=first, version=version
                )
            for version in versions:
                producer.send(f"{label}: 0 at {version}", topic, sequence=0, version=version)
            play.fetch(f"{label}: what came of it", topic)
            producer.end(f"{label}: abort", commit=False)


SCENARIOS = (
    life,
    two_producers,
    ends,
    mixed_versions,
    partitions,
    partitions_of_brokers,
    fencing,
    wrong_batches,
    first_numbers,
    first_numbers_by_version,
    offsets,
    markers,
    listed,
    overdue,
)
