"""The entries of a Produce request by partition, which the request may have more than once."""

from collections.abc import Iterable
from itertools import islice

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.messages.produce_request import ProduceRequest, TopicProduceData
from kafka_shim.protocol.records.batches import Batch, batches, entry_bounds, single_batch
from kafka_shim.protocol.releases.records import RecordFacts
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers.producing.checks_before_append import Checked, checked
from kafka_shim.shim.handlers.producing.record_checks import (
    FORMAT_2_SINCE,
    Limits,
    RecordsRejected,
    check_compression,
    only_batch,
)
from kafka_shim.shim.request.context import RequestContext


class Row(msgspec.Struct, gc=False):
    """An entry of a request for a partition.

    `batch` is the batch that `content` consists of from version 3; None until it is searched, if
    there is more than one. `checked`: the outcome of checks that were made beforehand.
    """

    index: int
    content: bytes | None
    batch: Batch | None
    checked: Checked | None = None


class TopicRows(msgspec.Struct, gc=False):
    """A topic, and all that a request has for each of its partitions."""

    topic: TopicProduceData
    partitions: dict[int, list[Row]]
    has_nulls: bool = False
    """Whether there is a partition without records, which no client sends."""


def rows_of(
    request: ProduceRequest, context: RequestContext
) -> tuple[list[Batch], list[TopicRows]]:
    """Return the first batches of format 2 in a request, and all entries by topic.

    Raise CloseConnection if the release cannot parse it.
    """
    has_batches = context.version >= FORMAT_2_SINCE
    first_batches: list[Batch] = []
    topics: dict[tuple[str, bytes], TopicRows] = {}
    for topic in request.topic_data:
        key = (topic.name, topic.topic_id)
        found = topics.get(key)
        if found is None:
            found = topics[key] = TopicRows(topic, {})
        for data in topic.partition_data:
            content = data.records or b""
            batch = single_batch(content)
            if batch is not None:
                first_batches.append(batch)
            else:
                first_batches += _first_batch(content, context)
                found.has_nulls = found.has_nulls or data.records is None
            index = data.index
            row = Row(index, data.records, batch if has_batches else None)
            if index in found.partitions:
                found.partitions[index].append(row)
            else:
                found.partitions[index] = [row]
    return first_batches, list(topics.values())


def _first_batch(records: bytes, context: RequestContext) -> list[Batch]:
    """Return the first batch of a partition if it has format 2."""
    found: list[Batch] = []
    try:
        sizes = list(islice(entry_bounds(records, partial=True), 2))
        if sizes and sizes[0][2] == 2:
            found = list(batches(records[: sizes[0][1]]))
    except DecodeError:
        sizes = []
    _check_form([magic for *_, magic in sizes], context)
    return found


def _check_form(formats: list[int], context: RequestContext) -> None:
    """Close the connection where a release could not parse the records of a partition."""
    facts = context.facts.records
    is_unreadable = not formats or formats[0] > 2
    if context.version < FORMAT_2_SINCE:
        if is_unreadable and facts.empty_produce_v0_to_v2_closes_connection:
            raise CloseConnection("a partition has no readable message")
    elif (is_unreadable and facts.unreadable_produce_closes_connection) or (
        formats != [2] and facts.wrong_batch_format_closes_connection
    ):
        raise CloseConnection("a partition has no readable batch, or more than one")


def last_readable(
    rows: Iterable[Row], version: int, facts: RecordFacts
) -> tuple[Row | None, RecordsRejected | None]:
    """Return a partition's last entry that can be appended, and the errors of the others."""
    readable = unreadable = None
    for row in rows:
        try:
            if row.content is not None and version >= FORMAT_2_SINCE:
                if row.batch is None:
                    row.batch = only_batch(row.content, facts)
                if row.batch.attributes:
                    check_compression(row.batch, version, facts)
            readable = row
        except RecordsRejected as refused:
            unreadable = refused
    return readable, unreadable


def null_records_error(
    produced: Iterable[tuple[TopicRows, str, ErrorCode]], context: RequestContext
) -> ErrorCode:
    """DEVIATION: return an error; with null records, a real broker stores nothing and never
    answers.
    """
    for topic, name, error in context.time_sliced(produced):
        if error or not topic.has_nulls:
            continue
        for index, rows in context.time_sliced(topic.partitions.items()):
            partition = context.cluster.topics.partition(name, index)
            given = context.time_sliced(rows)
            if partition is not None and any(row.content is None for row in given):
                given = context.time_sliced(rows)
                found_last, _ = last_readable(given, context.version, context.facts.records)
                if found_last is not None and found_last.content is None:
                    return ErrorCode.UNKNOWN_SERVER_ERROR
    return NO_ERROR


def check_rows(rows: Iterable[tuple[Row, Limits]], version: int) -> None:
    """Keep the outcome of the checks with each row, unless it has several batches."""
    for row, limits in rows:
        if row.content and (row.batch is not None or version < FORMAT_2_SINCE):
            row.checked = checked(row.content, row.batch, limits)
