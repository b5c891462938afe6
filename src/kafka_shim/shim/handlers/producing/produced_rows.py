"""The entries of a Produce request by partition, which the request may have more than once."""

from collections.abc import Iterable
from itertools import islice

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.messages.produce import ProduceRequest, TopicProduceData
from kafka_shim.protocol.records.batches import (
    Batch,
    batch_bounds,
    iterate_batches,
    only_batch_or_none,
)
from kafka_shim.protocol.releases.records import RecordFacts
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers.producing.record_checks import (
    FORMAT_2_SINCE,
    RecordsRejected,
    check_compression_of_version,
    require_single_batch,
)
from kafka_shim.shim.request.context import RequestContext


class ProducedRow(msgspec.Struct, gc=False):
    """An entry of a request for a partition.

    `batch` is the batch that `content` consists of from version 3; None until it is searched, if
    there is more than one.
    """

    index: int
    content: bytes | None
    batch: Batch | None


class ProducedTopic(msgspec.Struct, gc=False):
    """A topic, and all that a request has for each of its partitions."""

    topic: TopicProduceData
    partitions: dict[int, list[ProducedRow]]
    has_nulls: bool = False
    """Whether a partition has null records, which no client sends."""


def group_produced_entries(
    request: ProduceRequest, context: RequestContext
) -> tuple[list[Batch], list[ProducedTopic]]:
    """Return the first batches of format 2 in a request, and all entries by topic.

    Raise CloseConnection if the release cannot parse it.
    """
    has_batches = context.version >= FORMAT_2_SINCE
    first_batches: list[Batch] = []
    topics: dict[tuple[str, bytes], ProducedTopic] = {}
    for topic in request.topic_data:
        key = (topic.name, topic.topic_id)
        found = topics.get(key)
        if found is None:
            found = topics[key] = ProducedTopic(topic, {})
        partitions = found.partitions
        for data in topic.partition_data:
            content = data.records or b""
            batch = only_batch_or_none(content)
            if batch is not None:
                first_batches.append(batch)
            else:
                first_batches += _first_batch(content, context)
                found.has_nulls = found.has_nulls or data.records is None
            index = data.index
            row = ProducedRow(index, data.records, batch if has_batches else None)
            if index in partitions:
                partitions[index].append(row)
            else:
                partitions[index] = [row]
    return first_batches, list(topics.values())


def _first_batch(records: bytes, context: RequestContext) -> list[Batch]:
    """Return the first batch of a partition if it has format 2, in a list.

    Raise CloseConnection if the release cannot parse the records.
    """
    first: list[Batch] = []
    try:
        sizes = list(islice(batch_bounds(records, allows_truncated_end=True), 2))
        if sizes and sizes[0][2] == 2:
            first = list(iterate_batches(records[: sizes[0][1]]))
    except DecodeError:
        sizes = []
    _check_parsable([magic for *_, magic in sizes], context)
    return first


def _check_parsable(formats: list[int], context: RequestContext) -> None:
    """Raise CloseConnection where a release could not parse the records of a partition."""
    facts = context.facts.records
    is_unreadable = not formats or formats[0] > 2
    if context.version < FORMAT_2_SINCE:
        if is_unreadable and facts.empty_produce_v0_to_v2_closes_connection:
            raise CloseConnection("a partition has no readable message")
    elif (is_unreadable and facts.unreadable_produce_closes_connection) or (
        formats != [2] and facts.wrong_batch_format_closes_connection
    ):
        raise CloseConnection("a partition has no readable batch, or more than one")


def resolve_duplicate_rows(
    rows: Iterable[ProducedRow], version: int, facts: RecordFacts
) -> tuple[ProducedRow | None, RecordsRejected | None]:
    """Return a partition's last row that can be appended, and the error of the last that cannot."""
    appendable = unreadable = None
    for row in rows:
        try:
            if row.content is not None and version >= FORMAT_2_SINCE:
                if row.batch is None:
                    row.batch = require_single_batch(row.content, facts)
                if row.batch.attributes:
                    check_compression_of_version(row.batch, version, facts)
            appendable = row
        except RecordsRejected as refused:
            unreadable = refused
    return appendable, unreadable


def null_records_error(
    produced: Iterable[tuple[ProducedTopic, str, ErrorCode]], context: RequestContext
) -> ErrorCode:
    """DEVIATION: return an error; with null records, a real broker stores nothing and never
    answers.
    """
    for topic, name, error in produced:
        if error or not topic.has_nulls:
            continue
        for index, rows in topic.partitions.items():
            partition = context.cluster.topics.led_partition(name, index)
            if partition is not None and any(row.content is None for row in rows):
                found_last, _ = resolve_duplicate_rows(rows, context.version, context.facts.records)
                if found_last is not None and found_last.content is None:
                    return ErrorCode.UNKNOWN_SERVER_ERROR
    return NO_ERROR
