"""Partitions and offsets in transactions, and all errors in adding them."""

from functools import partial
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafka_shim.protocol.messages.describe_transactions import DescribeTransactionsRequest
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kafka_shim.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.recordings.records.play import Play
from tests.recordings.records.transactional_producer import (
    CLIENT_ADDS_UP_TO,
    VERSION_1,
    VERSION_2,
    Producer,
    settle,
)

Wanted = tuple[Producer, bool, list[int], dict[str, Any]]
"""A producer, whether to verify only, its partitions, and other fields to change."""


def partitions(play: Play) -> None:
    """AddPartitionsToTxn of clients, with all possible errors."""
    topic = play.topic(partitions=3)
    for version in play.versions(ApiKey.ADD_PARTITIONS_TO_TXN):
        if version > CLIENT_ADDS_UP_TO:
            continue
        producer = Producer(play, f"one{version}", VERSION_1)

        def add(
            label: str,
            *where: tuple[str, int],
            at: int = version,
            by: Producer = producer,
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
        add("older epoch", (topic, 0), epoch=producer.epoch - 1)
        add("newer epoch", (topic, 0), epoch=producer.epoch + 1)
        add("good", (topic, 0), (topic, 1))
        add("again", (topic, 0))
        add("more", (topic, 2), (topic, 0))
        if play.has(ApiKey.DESCRIBE_TRANSACTIONS):
            described = DescribeTransactionsRequest(transactional_ids=[producer.name])
            play.call(f"described {version}", ApiKey.DESCRIBE_TRANSACTIONS, 0, described)
        producer.end(f"end {version}", commit=False)
        settle(play, topic)


def partitions_of_brokers(play: Play) -> None:
    """AddPartitionsToTxn since version 4: many transactions, to add or to verify."""
    topic = play.topic(partitions=3)
    for version in play.versions(ApiKey.ADD_PARTITIONS_TO_TXN):
        if version <= CLIENT_ADDS_UP_TO:
            continue
        producer = Producer(play, f"one{version}", VERSION_1)
        other = Producer(play, f"two{version}", VERSION_1)
        producer.add(f"add {version}", (topic, 0))

        ask = partial(_ask_as_broker, play, version, topic)
        ask("nothing")
        ask("verify", (producer, True, [0], {}))
        ask("verify some", (producer, True, [0, 1, 9], {}))
        ask("verify what is not open", (other, True, [0], {}))
        ask("two at once", (producer, True, [0], {}), (other, True, [0], {}))
        ask("wrong epoch", (producer, True, [0], {"producer_epoch": 9}))
        ask("wrong id", (producer, True, [0], {"producer_id": 123_456}))
        ask("unknown id", (producer, True, [0], {"transactional_id": play.text("nobody")}))
        ask("empty id", (producer, True, [0], {"transactional_id": ""}))
        ask("add", (other, False, [1, 2], {}))
        ask("add unknown partition", (other, False, [9], {}))
        ask("add with wrong epoch", (other, False, [1], {"producer_epoch": 9}))
        ask("add and verify", (producer, False, [1], {}), (other, True, [0], {}))
        producer.end(f"end {version}", commit=False)
        other.end(f"end two {version}", commit=False)
        settle(play, topic)


def _ask_as_broker(play: Play, version: int, topic: str, label: str, *rows: Wanted) -> None:
    """Send an AddPartitionsToTxn about transactions of several producers."""
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
    title = f"{label}, {version}"
    play.call_when_idle(title, ApiKey.ADD_PARTITIONS_TO_TXN, version, request)


class _Offsets:
    """Commits offsets in a producer's transactions, with one version of TxnOffsetCommit."""

    def __init__(self, play: Play, version: int) -> None:
        suite = VERSION_2 if version >= 5 else VERSION_1
        self._play = play
        self._version = version
        self.topic = play.topic(f"t{version}", partitions=2)
        self.producer = Producer(play, f"one{version}", suite)
        self._group = play.text(f"g{version}")

    def add(self, label: str, who: Producer | None = None, **changes: Any) -> None:
        """Add the group to the transaction."""
        play, who = self._play, who or self.producer
        request = AddOffsetsToTxnRequest(
            transactional_id=changes.get("name", who.name),
            producer_id=changes.get("producer_id", who.producer_id),
            producer_epoch=changes.get("epoch", who.epoch),
            group_id=changes.get("group", self._group),
        )
        newest = play.newest(ApiKey.ADD_OFFSETS_TO_TXN, self._version)
        title = f"add: {label}, {self._version}"
        play.call_when_idle(title, ApiKey.ADD_OFFSETS_TO_TXN, newest, request)

    def commit(
        self,
        label: str,
        topic: str | None = None,
        index: int = 0,
        who: Producer | None = None,
        **changes: Any,
    ) -> None:
        who = who or self.producer
        row = TxnOffsetCommitRequestPartition(
            partition_index=index,
            committed_offset=changes.pop("offset", 5),
            committed_metadata=changes.pop("metadata", "m"),
        )
        topics = [
            TxnOffsetCommitRequestTopic(
                name=self.topic if topic is None else topic, partitions=[row]
            )
        ]
        request = TxnOffsetCommitRequest(
            transactional_id=who.name,
            group_id=self._group,
            producer_id=who.producer_id,
            producer_epoch=who.epoch,
            topics=topics,
        )
        for name, value in changes.items():
            setattr(request, name, value)
        title = f"commit: {label}, {self._version}"
        self._play.call_when_idle(title, ApiKey.TXN_OFFSET_COMMIT, self._version, request)

    def fetch(self, label: str) -> None:
        """Fetch the group's offsets with and without require_stable."""
        for stable in (False, True):
            version = self._play.newest(ApiKey.OFFSET_FETCH, 9)
            if stable and version < 7:
                return
            request = OffsetFetchRequest(
                group_id=self._group,
                topics=[OffsetFetchRequestTopic(name=self.topic, partition_indexes=[0, 1])],
                groups=[
                    OffsetFetchRequestGroup(
                        group_id=self._group,
                        topics=[
                            OffsetFetchRequestTopics(name=self.topic, partition_indexes=[0, 1])
                        ],
                    )
                ],
                require_stable=stable,
            )
            self._play.call(
                f"{label}, {self._version}, stable {stable}", ApiKey.OFFSET_FETCH, version, request
            )


def offsets(play: Play) -> None:
    """Offsets that take effect when their transaction is committed."""
    for version in play.versions(ApiKey.TXN_OFFSET_COMMIT):
        offsets = _Offsets(play, version)
        _commit_every_way(play, offsets)
        _end_both_ways(play, offsets, version)


def _commit_every_way(play: Play, offsets: _Offsets) -> None:
    producer, topic = offsets.producer, offsets.topic
    offsets.commit("not added")
    offsets.add("unknown id", name=play.text("nobody"))
    offsets.add("empty id", name="")
    offsets.add("wrong producer", producer_id=123_456)
    offsets.add("older epoch", epoch=producer.epoch - 1)
    offsets.add("newer epoch", epoch=producer.epoch + 1)
    offsets.add("empty group", group="")
    offsets.add("add")
    offsets.commit("commit")
    offsets.commit("empty group", group_id="")
    offsets.commit("no topic", play.unknown())
    offsets.commit("no partition", topic, 9)
    offsets.commit("newer epoch", producer_epoch=producer.epoch + 1)
    offsets.commit("older epoch", producer_epoch=producer.epoch - 1)
    offsets.commit("other producer", producer_id=123_456)
    offsets.commit("unknown member", member_id="nobody", generation_id_or_member_epoch=3)
    offsets.commit("generation alone", generation_id_or_member_epoch=3)
    offsets.commit("long metadata", metadata="m" * 5000)
    offsets.commit("no metadata", topic, 1, metadata=None)
    offsets.fetch("before the end")


def _end_both_ways(play: Play, offsets: _Offsets, version: int) -> None:
    offsets.producer.end(f"end {version}", commit=True)
    play.peer.pause(300)
    offsets.fetch("after the end")
    other = Producer(play, f"two{version}", offsets.producer.suite)
    if not other.implies_partitions:
        offsets.add("add two", who=other)
    offsets.commit("commit two", offset=9, who=other)
    other.end(f"abort {version}", commit=False)
    play.peer.pause(300)
    offsets.fetch("after the abort")
