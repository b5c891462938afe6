"""Transactions from their beginning to their markers, and every way to get them wrong."""

from typing import Any

from protocol.enums import ApiKey
from protocol.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from protocol.messages.describe_producers_request import DescribeProducersRequest, TopicRequest
from protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from protocol.messages.end_txn_request import EndTxnRequest
from protocol.messages.fetch_request import FetchPartition
from protocol.messages.init_producer_id_request import InitProducerIdRequest
from protocol.messages.list_transactions_request import ListTransactionsRequest
from protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.shim.answers.batches import TRANSACTIONAL, batch
from tests.shim.answers.offset_scenarios import list_request
from tests.shim.answers.play import Play

CLIENT_ADDS_UP_TO = 3
"""AddPartitionsToTxn of clients; later versions are for brokers."""
VERSION_1 = {"end": 4, "produce": 11, "offsets": 4}
VERSION_2 = {"end": 5, "produce": 99, "offsets": 5}


class Producer:
    """A transactional producer; `suite` says up to which versions it speaks."""

    def __init__(self, play: Play, name: str, suite: dict[str, int]) -> None:
        self.play = play
        self.name = play.text(name)
        self.suite = suite
        play.producer(self.name)  # so that there is an epoch before its own
        self.producer_id, self.epoch = play.producer(self.name)
        self.sequences: dict[tuple[str, int], int] = {}

    @property
    def implies_partitions(self) -> bool:
        return self.suite is VERSION_2

    def add(self, label: str, *partitions: tuple[str, int], **changes: Any) -> Any:
        version = self.play.newest(ApiKey.ADD_PARTITIONS_TO_TXN, CLIENT_ADDS_UP_TO)
        version = changes.pop("version", version)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=changes.get("name", self.name),
            v3_and_below_producer_id=changes.get("producer_id", self.producer_id),
            v3_and_below_producer_epoch=changes.get("epoch", self.epoch),
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=topic, partitions=[index])
                for topic, index in partitions
            ],
        )
        return self.play.ask_when_idle(label, ApiKey.ADD_PARTITIONS_TO_TXN, version, request)

    def send(self, label: str, topic: str, index: int = 0, **changes: Any) -> Any:
        at = (topic, index)
        sequence = changes.get("sequence", self.sequences.get(at, 0))
        self.sequences[at] = sequence + 1
        who = (changes.get("producer_id", self.producer_id), changes.get("epoch", self.epoch))
        records = batch([label.encode()], producer=(*who, sequence), attributes=TRANSACTIONAL)
        version = self.play.newest(ApiKey.PRODUCE, self.suite["produce"])
        version = changes.get("version", version)
        request = self.play.produce_request([(topic, [(index, records)])], -1, self.name)
        return self.play.ask_when_idle(label, ApiKey.PRODUCE, version, request)

    def end(self, label: str, *, commit: bool, **changes: Any) -> Any:
        version = self.play.newest(ApiKey.END_TXN, self.suite["end"])
        version = changes.get("version", version)
        request = EndTxnRequest(
            transactional_id=changes.get("name", self.name),
            producer_id=changes.get("producer_id", self.producer_id),
            producer_epoch=changes.get("epoch", self.epoch),
            committed=commit,
        )
        answer = self.play.ask_when_idle(label, ApiKey.END_TXN, version, request)
        if version >= 5 and answer.error_code == 0:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self.sequences.clear()
        return answer


def suites(play: Play) -> list[tuple[str, dict[str, int]]]:
    found = [("v1", VERSION_1)]
    if play.newest(ApiKey.END_TXN) >= 5:
        found.append(("v2", VERSION_2))
    return found


def settle(play: Play, topic: str, index: int = 0) -> None:
    """Wait until no transaction is open on a partition."""
    for _ in range(100):
        wanted = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1)]
        request = play.fetch_request([(topic, wanted)], 1)
        answer = play.peer.ask(ApiKey.FETCH, play.newest(ApiKey.FETCH, 12), request)
        found = answer.responses[0].partitions[0]
        if found.last_stable_offset == found.high_watermark:
            return
        play.peer.pause(50)


def wait_for_ends(play: Play, request: DescribeTransactionsRequest) -> None:
    """Wait until no transaction is on its way from its end to being ended."""
    for _ in range(100):
        answer = play.peer.ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, request)
        states = [one.transaction_state for one in answer.transaction_states]
        if not any(state.startswith("Prepare") for state in states):
            return
        play.peer.pause(50)


def look(play: Play, label: str, topic: str, *names: str) -> None:
    """What readers and administrators see now."""
    for level in (0, 1):
        play.fetch(f"{label}: isolation {level}", topic, isolation=level)
        request = list_request(topic, -1)
        request.isolation_level = level
        version = play.newest(ApiKey.LIST_OFFSETS)
        play.ask(f"{label}: end, isolation {level}", ApiKey.LIST_OFFSETS, version, request)
    if play.has(ApiKey.DESCRIBE_TRANSACTIONS):
        described = DescribeTransactionsRequest(transactional_ids=list(names))
        wait_for_ends(play, described)
        play.ask(f"{label}: described", ApiKey.DESCRIBE_TRANSACTIONS, 0, described)
    if play.has(ApiKey.DESCRIBE_PRODUCERS):
        topics = [TopicRequest(name=topic, partition_indexes=[0])]
        request = DescribeProducersRequest(topics=topics)
        play.ask(f"{label}: producers", ApiKey.DESCRIBE_PRODUCERS, 0, request)


def life(play: Play) -> None:
    for label, suite in suites(play):
        topic = play.topic(label)
        one = Producer(play, f"one{label}", suite)
        play.produce(f"{label}: plain before", topic, batch([b"plain"]))
        if not one.implies_partitions:
            one.add(f"{label}: add", (topic, 0))
        one.send(f"{label}-1", topic)
        one.send(f"{label}-2", topic)
        look(play, f"{label}: open", topic, one.name)
        one.end(f"{label}: commit", commit=True)
        settle(play, topic)
        look(play, f"{label}: committed", topic, one.name)
        play.produce(f"{label}: plain between", topic, batch([b"plain"]))
        if not one.implies_partitions:
            one.add(f"{label}: add again", (topic, 0))
        one.send(f"{label}-3", topic)
        play.produce(f"{label}: plain within", topic, batch([b"plain"]))
        look(play, f"{label}: open again", topic, one.name)
        one.end(f"{label}: abort", commit=False)
        settle(play, topic)
        look(play, f"{label}: aborted", topic, one.name)
        for offset in range(9):
            play.fetch(f"{label}: committed from {offset}", topic, offset, isolation=1)


def two_producers(play: Play) -> None:
    """Open transactions side by side: the oldest holds readers back."""
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
    """EndTxn in every state, with every identity."""
    for version in play.versions(ApiKey.END_TXN):
        suite = VERSION_2 if version >= 5 else VERSION_1
        topic = play.topic(f"t{version}")
        one = Producer(play, f"one{version}", suite)
        two = Producer(play, f"two{version}", suite)

        def end(label: str, who: Producer = one, at: int = version, **changes: Any) -> None:
            commit = changes.pop("commit", True)
            who.end(f"{label}, {at}", commit=commit, version=at, **changes)

        end("commit nothing")
        end("abort nothing", commit=False)
        end("unknown id", name=play.text("nobody"))
        end("empty id", name="")
        end("wrong producer id", producer_id=123_456)
        if not one.implies_partitions:
            one.add(f"add {version}", (topic, 0))
        one.send(f"s{version}", topic)
        end("older epoch", epoch=one.epoch - 1)
        if play.newest(ApiKey.INIT_PRODUCER_ID) >= 4:  # once, it wedged the transaction
            end("newer epoch", epoch=one.epoch + 1)
        before = one.epoch
        end("commit")
        settle(play, topic)
        end("commit again", epoch=before)
        end("now abort", epoch=before, commit=False)
        end("commit with what is now the epoch")
        end("abort with what is now the epoch", commit=False)
        if not two.implies_partitions:
            two.add(f"add two {version}", (topic, 0))
        two.send(f"two{version}", topic)
        before = two.epoch
        end("abort", who=two, commit=False)
        settle(play, topic)
        end("abort again", who=two, epoch=before, commit=False)
        end("now commit", who=two, epoch=before)


def mixed_versions(play: Play) -> None:
    """Transactions begun the one way and ended the other."""
    if play.newest(ApiKey.END_TXN) < 5:
        return
    topic = play.topic(partitions=2)
    one = Producer(play, "one", VERSION_2)
    one.add("added by the client", (topic, 0))
    one.send("x", topic, version=11)
    one.end("ended as version 2", commit=True)
    settle(play, topic)
    two = Producer(play, "two", VERSION_2)
    two.send("y", topic, 1)
    two.end("ended as version 1", commit=True, version=4)
    settle(play, topic, 1)
    two.send("z", topic, 1)
    two.end("then as version 2", commit=False)
    settle(play, topic, 1)
    look(play, "at last", topic, one.name, two.name)
    play.fetch("the other partition", topic, index=1, isolation=1)


def partitions(play: Play) -> None:
    """AddPartitionsToTxn of clients, with everything that can be wrong."""
    topic = play.topic(partitions=3)
    for version in play.versions(ApiKey.ADD_PARTITIONS_TO_TXN):
        if version > CLIENT_ADDS_UP_TO:
            continue
        one = Producer(play, f"one{version}", VERSION_1)

        def add(
            label: str,
            *where: tuple[str, int],
            at: int = version,
            by: Producer = one,
            **changes: Any,
        ) -> None:
            by.add(f"{label}, {at}", *where, version=at, **changes)

        add("nothing")
        add("no topic", (play.unknown(), 0))
        add("no partition", (topic, 7))
        add("some of each", (topic, 0), (play.unknown(), 0), (topic, 7), (topic, 1))
        add("internal", ("__consumer_offsets", 0))
        add("internal and good", ("__consumer_offsets", 0), (topic, 0))
        add("unknown id", (topic, 0), name=play.text("nobody"))
        add("empty id", (topic, 0), name="")
        add("wrong producer", (topic, 0), producer_id=123_456)
        add("older epoch", (topic, 0), epoch=one.epoch - 1)
        add("newer epoch", (topic, 0), epoch=one.epoch + 1)
        add("good", (topic, 0), (topic, 1))
        add("again", (topic, 0))
        add("more", (topic, 2), (topic, 0))
        if play.has(ApiKey.DESCRIBE_TRANSACTIONS):
            described = DescribeTransactionsRequest(transactional_ids=[one.name])
            play.ask(f"described {version}", ApiKey.DESCRIBE_TRANSACTIONS, 0, described)
        one.end(f"end {version}", commit=False)
        settle(play, topic)


def partitions_of_brokers(play: Play) -> None:
    """AddPartitionsToTxn from version 4 on: many transactions, to add or to verify."""
    topic = play.topic(partitions=3)
    for version in play.versions(ApiKey.ADD_PARTITIONS_TO_TXN):
        if version <= CLIENT_ADDS_UP_TO:
            continue
        one = Producer(play, f"one{version}", VERSION_1)
        two = Producer(play, f"two{version}", VERSION_1)
        one.add(f"add {version}", (topic, 0))

        def ask(
            label: str, *rows: tuple[Producer, bool, list[int], dict[str, Any]], at: int = version
        ) -> None:
            transactions = []
            for who, verify, indexes, changes in rows:
                row = AddPartitionsToTxnTransaction(
                    transactional_id=who.name,
                    producer_id=who.producer_id,
                    producer_epoch=who.epoch,
                    verify_only=verify,
                    topics=[AddPartitionsToTxnTopic(name=topic, partitions=indexes)],
                )
                for name, value in changes.items():
                    setattr(row, name, value)
                transactions.append(row)
            request = AddPartitionsToTxnRequest(transactions=transactions)
            play.ask_when_idle(f"{label}, {at}", ApiKey.ADD_PARTITIONS_TO_TXN, at, request)

        ask("nothing")
        ask("verify", (one, True, [0], {}))
        ask("verify some", (one, True, [0, 1, 9], {}))
        ask("verify what is not open", (two, True, [0], {}))
        ask("two at once", (one, True, [0], {}), (two, True, [0], {}))
        ask("wrong epoch", (one, True, [0], {"producer_epoch": 9}))
        ask("wrong id", (one, True, [0], {"producer_id": 123_456}))
        ask("unknown id", (one, True, [0], {"transactional_id": play.text("nobody")}))
        ask("empty id", (one, True, [0], {"transactional_id": ""}))
        ask("add", (two, False, [1, 2], {}))
        ask("add unknown partition", (two, False, [9], {}))
        ask("add with wrong epoch", (two, False, [1], {"producer_epoch": 9}))
        ask("add and verify", (one, False, [1], {}), (two, True, [0], {}))
        one.end(f"end {version}", commit=False)
        two.end(f"end two {version}", commit=False)
        settle(play, topic)


def fencing(play: Play) -> None:
    """A producer whose successor has come."""
    for label, suite in suites(play):
        topic = play.topic(label)
        old = Producer(play, f"one{label}", suite)
        if not old.implies_partitions:
            old.add(f"{label}: add", (topic, 0))
        old.send(f"{label}-1", topic)
        request = InitProducerIdRequest(transactional_id=old.name, transaction_timeout_ms=60_000)
        version = play.newest(ApiKey.INIT_PRODUCER_ID)
        play.ask(f"{label}: new while open", ApiKey.INIT_PRODUCER_ID, version, request)
        settle(play, topic)
        play.ask_when_idle(f"{label}: new again", ApiKey.INIT_PRODUCER_ID, version, request)
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
                play.ask(f"{label}: fenced init {at}", ApiKey.INIT_PRODUCER_ID, at, own)
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
        one = Producer(play, f"one{label}", suite)
        one.add(f"{label}: add", (topic, 0))
        for at in play.versions(ApiKey.PRODUCE):
            if at >= 8:
                one.send(f"{label}: newer epoch {at}", topic, epoch=one.epoch + 1, version=at)
                one.send(f"{label}: other producer {at}", topic, producer_id=7_654_321, version=at)
        one.send(f"{label}: right", topic, sequence=0)
        one.send(f"{label}: older epoch", topic, epoch=one.epoch - 1, sequence=1)
        one.send(f"{label}: partition that was not added", topic, 1, sequence=0)
        plain = batch(producer=(one.producer_id, one.epoch, 1))
        play.produce(f"{label}: not transactional", topic, plain)
        one.end(f"{label}: commit", commit=True)
        settle(play, topic)
        one.send(
            f"{label}: after the end", topic, sequence=1, version=play.newest(ApiKey.PRODUCE, 11)
        )
        play.fetch(f"{label}: what remains", topic, isolation=1)


def offsets(play: Play) -> None:
    """Offsets that count once their transaction is committed."""
    for version in play.versions(ApiKey.TXN_OFFSET_COMMIT):
        suite = VERSION_2 if version >= 5 else VERSION_1
        topic = play.topic(f"t{version}", partitions=2)
        one = Producer(play, f"one{version}", suite)
        group = play.text(f"g{version}")

        def add(label: str, at: int = version, who: Producer = one, **changes: Any) -> None:
            request = AddOffsetsToTxnRequest(
                transactional_id=changes.get("name", who.name),
                producer_id=changes.get("producer_id", who.producer_id),
                producer_epoch=changes.get("epoch", who.epoch),
                group_id=changes.get("group", play.text(f"g{at}")),
            )
            newest = play.newest(ApiKey.ADD_OFFSETS_TO_TXN, at)
            play.ask_when_idle(f"add: {label}, {at}", ApiKey.ADD_OFFSETS_TO_TXN, newest, request)

        def commit(
            label: str,
            where: str = topic,
            index: int = 0,
            at: int = version,
            who: Producer = one,
            **changes: Any,
        ) -> None:
            row = TxnOffsetCommitRequestPartition(
                partition_index=index,
                committed_offset=changes.pop("offset", 5),
                committed_metadata=changes.pop("metadata", "m"),
            )
            request = TxnOffsetCommitRequest(
                transactional_id=who.name,
                group_id=play.text(f"g{at}"),
                producer_id=who.producer_id,
                producer_epoch=who.epoch,
                topics=[TxnOffsetCommitRequestTopic(name=where, partitions=[row])],
            )
            for name, value in changes.items():
                setattr(request, name, value)
            play.ask_when_idle(f"commit: {label}, {at}", ApiKey.TXN_OFFSET_COMMIT, at, request)

        commit("not added")
        add("unknown id", name=play.text("nobody"))
        add("empty id", name="")
        add("wrong producer", producer_id=123_456)
        add("older epoch", epoch=one.epoch - 1)
        add("newer epoch", epoch=one.epoch + 1)
        add("empty group", group="")
        add("add")
        commit("commit")
        commit("empty group", group_id="")
        commit("no topic", play.unknown())
        commit("no partition", topic, 9)
        commit("newer epoch", producer_epoch=one.epoch + 1)
        commit("older epoch", producer_epoch=one.epoch - 1)
        commit("other producer", producer_id=123_456)
        commit("unknown member", member_id="nobody", generation_id=3)
        commit("generation alone", generation_id=3)
        commit("long metadata", metadata="m" * 5000)
        commit("no metadata", topic, 1, metadata=None)
        fetch_offsets(play, f"before the end, {version}", group, topic)
        one.end(f"end {version}", commit=True)
        play.peer.pause(300)
        fetch_offsets(play, f"after the end, {version}", group, topic)
        two = Producer(play, f"two{version}", suite)
        if not two.implies_partitions:
            add("add two", who=two)
        commit("commit two", offset=9, who=two)
        two.end(f"abort {version}", commit=False)
        play.peer.pause(300)
        fetch_offsets(play, f"after the abort, {version}", group, topic)


def fetch_offsets(play: Play, label: str, group: str, topic: str) -> None:
    for stable in (False, True):
        version = play.newest(ApiKey.OFFSET_FETCH, 9)
        if stable and version < 7:
            return
        request = OffsetFetchRequest(
            group_id=group,
            topics=[OffsetFetchRequestTopic(name=topic, partition_indexes=[0, 1])],
            groups=[
                OffsetFetchRequestGroup(
                    group_id=group,
                    topics=[OffsetFetchRequestTopics(name=topic, partition_indexes=[0, 1])],
                )
            ],
            require_stable=stable,
        )
        play.ask(f"{label}, stable {stable}", ApiKey.OFFSET_FETCH, version, request)


def markers(play: Play) -> None:
    """WriteTxnMarkers, as coordinators of other brokers would send it."""
    for version in play.versions(ApiKey.WRITE_TXN_MARKERS):
        topic = play.topic(f"t{version}", partitions=2)
        one = Producer(play, f"one{version}", VERSION_1)
        one.add(f"add {version}", (topic, 0))
        one.send(f"s{version}", topic)

        def mark(
            label: str,
            where: str = topic,
            at: int = version,
            by: Producer = one,
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
            play.ask(f"{label}, {at}", ApiKey.WRITE_TXN_MARKERS, at, request)

        mark("no topic", play.unknown())
        mark("older epoch", producer_epoch=-1)
        mark("good", coordinator_epoch=5)
        look(play, f"marked {version}", topic, one.name)
        mark("again", coordinator_epoch=5)
        mark("older coordinator", coordinator_epoch=4)
        mark("unknown producer", producer_id=7_000_000)
        mark("newer epoch", producer_epoch=one.epoch + 3, coordinator_epoch=6)
        mark("then an older one", coordinator_epoch=6)
        mark("no partition", topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[9])])
        mark("nowhere", topics=[])
        request = WriteTxnMarkersRequest(markers=[])
        play.ask(f"no markers, {version}", ApiKey.WRITE_TXN_MARKERS, version, request)
        look(play, f"at last {version}", topic, one.name)


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
    names = {
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
        for label, fields in names.items():
            if version < 1 and "duration_filter" in fields:
                continue
            if version < 2 and "transactional_id_pattern" in fields:
                continue
            request = ListTransactionsRequest(**fields)  # type: ignore[arg-type]
            play.ask(f"{label}, {version}", ApiKey.LIST_TRANSACTIONS, version, request)
    wanted = [busy.name, play.text("nobody"), idle.name, done.name, busy.name, ""]
    described = DescribeTransactionsRequest(transactional_ids=wanted)
    play.ask("described", ApiKey.DESCRIBE_TRANSACTIONS, 0, described)
    places = [
        TopicRequest(name=topic, partition_indexes=[0, 9]),
        TopicRequest(name=play.unknown(), partition_indexes=[0]),
        TopicRequest(name="not a name!", partition_indexes=[0]),
        TopicRequest(name="", partition_indexes=[0]),
    ]
    request = DescribeProducersRequest(topics=places)
    play.ask("producers", ApiKey.DESCRIBE_PRODUCERS, 0, request)
    busy.end("end", commit=False)


def overdue(play: Play) -> None:
    """A transaction that takes longer than its producer said."""
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


SCENARIOS = (
    life,
    two_producers,
    ends,
    mixed_versions,
    partitions,
    partitions_of_brokers,
    fencing,
    wrong_batches,
    offsets,
    markers,
    listed,
    overdue,
)
