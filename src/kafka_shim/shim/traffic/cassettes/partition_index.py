"""The records of a trace by partition: which were produced, and what Fetch responses had."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.records.batches import batch_bounds_and_magic, iterate_batches
from kafka_shim.protocol.records.message_sets import iterate_outer_messages
from kafka_shim.shim.traffic.cassettes.request_content import (
    digest_of_record,
    records_in_complete_batches,
    topic_partitions,
)

_TABLES = """
create table produced (
    id integer primary key, interaction integer, connection integer, topic text,
    partition integer, content blob, has_key integer, at_in_request integer, offset integer);
create index by_interaction on produced (interaction);
create table fetched (
    id integer primary key, interaction integer, principal text, topic text, partition integer,
    fetch_offset integer, first_offset integer, last_offset integer, error integer,
    is_committed_only integer, is_transactional integer);
"""
_INDEXES = """
create index by_record on produced (topic, content, id);
create index by_offset on produced (topic, partition, offset);
create index by_source on produced (topic, partition, connection, id);
create index by_fetched on fetched (topic, partition, last_offset);
create index by_end on fetched (topic, partition, error, id);
create index by_error on fetched (topic, partition, id) where error!=0;
"""


class ProducedRecord(NamedTuple):
    """A recorded record of a Produce request; `offset` is -1 if it was rejected."""

    id: int
    interaction: int
    connection: int
    topic: str
    partition: int
    content: bytes
    has_key: bool
    at_in_request: int
    offset: int


class FetchedPartition(NamedTuple):
    """A partition of a recorded Fetch response; `last_offset` is -1 without records."""

    id: int
    interaction: int
    principal: str
    topic: str
    partition: int
    fetch_offset: int
    first_offset: int
    last_offset: int
    error: int
    is_committed_only: bool
    is_transactional: bool


class FetchSource(NamedTuple):
    """The interaction, connection and principal of a recorded Fetch."""

    interaction: int
    connection: int
    principal: str


class BatchRange(NamedTuple):
    """The offsets of a batch, and where it is in its blob."""

    first_offset: int
    last_offset: int
    start: int
    end: int
    is_transactional: bool


def complete_batch_ranges(blob: bytes) -> list[BatchRange]:
    """Return the complete batches of a blob of any format."""
    ranges = []
    for start, end, magic in batch_bounds_and_magic(blob, allows_truncated_end=True):
        part = blob[start:end]
        if magic == 2:
            batch = next(iterate_batches(part))
            offsets = batch.base_offset, batch.last_offset
            is_transactional = batch.is_transactional
        else:
            offset = next(iterate_outer_messages(part)).offset
            offsets, is_transactional = (offset, offset), False
        ranges.append(BatchRange(*offsets, start, end, is_transactional))
    return ranges


_FetchPlace = tuple[str, int]


class PartitionIndex:
    """The produced records and the fetched partitions of a trace."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.executescript(_TABLES)
        self._fetch_offsets: dict[int, dict[_FetchPlace, int]] = {}
        """Of each connection, since incremental requests name only what changes."""
        self._last_empty: dict[tuple[str, _FetchPlace], tuple[object, ...]] = {}

    def finish_adding_by_creating_indexes(self) -> None:
        """Finish: no more entries are added."""
        self._database.executescript(_INDEXES)
        self._fetch_offsets.clear()
        self._last_empty.clear()

    def add_produce_request(
        self, interaction: int, connection: int, message: Any, topic_names: Mapping[bytes, str]
    ) -> Counter[str]:
        """Add the records of a request; return their number by topic."""
        counts: Counter[str] = Counter()
        rows = topic_partitions(message.topic_data, topic_names, "partition_data")
        for topic, _, partition in rows:
            try:
                records = records_in_complete_batches(partition.records)
            except ProtocolError:
                continue
            self._database.executemany(
                "insert into produced values (null,?,?,?,?,?,?,?,-1)",
                (
                    (
                        *(interaction, connection, topic, partition.index),
                        *(digest_of_record(record), record.key is not None, number),
                    )
                    for number, record in enumerate(records)
                ),
            )
            counts[topic] += len(records)
        return counts

    def add_produce_response(
        self, interaction: int, response: Any, topic_names: Mapping[bytes, str]
    ) -> None:
        rows = topic_partitions(response.responses, topic_names, "partition_responses")
        for topic, _, partition in rows:
            if partition.error_code == 0 and partition.base_offset >= 0:
                self._database.execute(
                    "update produced set offset=?+at_in_request"
                    " where interaction=? and topic=? and partition=?",
                    (partition.base_offset, interaction, topic, partition.index),
                )

    def note_requested_fetch_offsets(
        self, connection: int, message: Any, topic_names: Mapping[bytes, str]
    ) -> None:
        """Remember the offsets that a request asks for, and those of its session."""
        if message.session_id == 0 or message.session_epoch <= 0:
            self._fetch_offsets[connection] = {}
        offsets = self._fetch_offsets.setdefault(connection, {})
        for topic, _, partition in topic_partitions(message.topics, topic_names, "partitions"):
            offsets[topic, partition.partition] = partition.fetch_offset

    def add_fetch_response_folding_repeated_empty_rows(
        self,
        source: FetchSource,
        request: Any,
        response: Any,
        topic_names: Mapping[bytes, str],
    ) -> None:
        """Add the partitions of a response; repeated ones without records are folded."""
        interaction, connection, principal = source
        offsets = self._fetch_offsets.get(connection, {})
        rows = topic_partitions(response.responses, topic_names, "partitions")
        for topic, _, row in rows:
            place = topic, row.partition_index
            ranges = complete_batch_ranges(row.records or b"")
            description = (
                row.error_code, row.high_watermark, row.last_stable_offset, row.log_start_offset,
            )  # fmt: skip
            if not ranges:
                if self._last_empty.get((principal, place)) == description:
                    continue
                self._last_empty[principal, place] = description
            else:
                self._last_empty.pop((principal, place), None)
            self._database.execute(
                "insert into fetched values (null,?,?,?,?,?,?,?,?,?,?)",
                (
                    *(interaction, principal, *place, offsets.get(place, -1)),
                    *(ranges[0].first_offset if ranges else -1,),
                    *(ranges[-1].last_offset if ranges else -1, row.error_code),
                    *(request.isolation_level == 1, any(each.is_transactional for each in ranges)),
                ),
            )

    def produced_with_content(
        self, topic: str, content: bytes, first_id: int
    ) -> Iterator[ProducedRecord]:
        """Yield the produced records of a topic with this content, in recorded order."""
        condition = "topic=? and content=? and id>=? order by id"
        return self._select_produced(condition, topic, content, first_id)

    def produced_record_ids_at_offsets(
        self, topic: str, partition: int, first: int, last: int
    ) -> Iterator[int]:
        """Yield the ids of the records that were produced with these offsets."""
        query = "select id from produced where topic=? and partition=? and offset between ? and ?"
        for (number,) in self._database.execute(query, (topic, partition, first, last)):
            yield number

    def earlier_produced_on_connection_and_partition(
        self, record: ProducedRecord
    ) -> Iterator[ProducedRecord]:
        """Yield the records of the same connection and partition before one, the latest first."""
        return self._select_produced(
            "topic=? and partition=? and connection=? and id<? order by id desc",
            *(record.topic, record.partition, record.connection, record.id),
        )

    def produced_in_topic(self, topic: str, limit: int) -> Iterator[ProducedRecord]:
        """Yield up to `limit` records that were produced to a topic."""
        return self._select_produced("topic=? order by id limit ?", topic, limit)

    def produced_topics(self) -> list[str]:
        """Return the topics that records were produced to."""
        rows = self._database.execute("select distinct topic from produced order by topic")
        return [topic for (topic,) in rows]

    def count_produced(self) -> int:
        """Return the number of records in all Produce requests."""
        return int(self._database.execute("select count(*) from produced").fetchone()[0])

    def all_produced(self) -> Iterator[ProducedRecord]:
        """Yield all produced records."""
        return self._select_produced("1 order by id")

    def last_fetched_without_error(
        self, topic: str, partition: int, principal: str | None
    ) -> FetchedPartition | None:
        """Return the last row without an error that a principal got of a partition."""
        query = (
            "select * from fetched where topic=? and partition=? and error=0"
            " and principal=coalesce(?, principal) order by id desc limit 1"
        )
        row = self._database.execute(query, (topic, partition, principal)).fetchone()
        return None if row is None else FetchedPartition(*row)

    def fetched_errors(self, topic: str, partition: int) -> Iterator[FetchedPartition]:
        """Yield the errors that Fetch responses had of a partition, in recorded order."""
        query = "select * from fetched where error!=0 and topic=? and partition=? order by id"
        for row in self._database.execute(query, (topic, partition)):
            yield FetchedPartition(*row)

    def fetched_partitions_of_topic(self, topic: str, principal: str | None) -> Iterator[int]:
        """Yield the partitions of a topic that a principal fetched."""
        query = (
            "select distinct partition from fetched where topic=?"
            " and principal=coalesce(?, principal)"
        )
        for (partition,) in self._database.execute(query, (topic, principal)):
            yield partition

    def first_fetched_reaching_offset(
        self, topic: str, partition: int, offset: int
    ) -> Iterator[FetchedPartition]:
        """Yield the fetched partitions that have the record with this offset or a later one."""
        query = (
            "select * from fetched where topic=? and partition=? and last_offset>=?"
            " order by last_offset, id limit 50"
        )
        for row in self._database.execute(query, (topic, partition, offset)):
            yield FetchedPartition(*row)

    def _select_produced(self, condition: str, *values: object) -> Iterator[ProducedRecord]:
        query = f"select * from produced where {condition}"  # noqa: S608 - our own texts
        for row in self._database.execute(query, values):
            yield ProducedRecord(*row)
