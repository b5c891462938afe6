"""What a Produce request has for each partition, which may be in it more than once."""

from collections.abc import Iterable
from itertools import islice

import msgspec

from protocol.error_codes import NO_ERROR, ErrorCode
from protocol.errors import DecodeError
from protocol.messages.produce_request import ProduceRequest, TopicProduceData
from protocol.records import Batch, batches, entry_sizes, lone_batch
from shim.context import RequestContext
from shim.errors import CloseConnection
from shim.handling.record_checks import (
    FORMAT_2_SINCE,
    RefusedRecords,
    check_compression,
    only_batch,
)


class Row(msgspec.Struct, gc=False):
    """What a request has for a partition, once.

    `batch` is what `content` consists of, if that is one batch of format 2, as nearly always.
    """

    index: int
    content: bytes | None
    batch: Batch | None


class TopicRows(msgspec.Struct, gc=False):
    """A topic, and all that a request has for each of its partitions."""

    topic: TopicProduceData
    partitions: dict[int, list[Row]]
    has_nulls: bool = False
    """Whether there is a partition without records, which no client sends."""


class Records(msgspec.Struct, gc=False):
    """What a request has for a partition, and the one batch of it from version 3 on."""

    content: bytes | None
    batch: Batch | None


def rows_of(
    request: ProduceRequest, context: RequestContext
) -> tuple[list[Batch], list[TopicRows]]:
    """The first batches of format 2 in a request, in its order, and all of it: each topic once.

    CloseConnection where a release cannot parse it.
    """
    first_batches: list[Batch] = []
    topics: dict[tuple[str, bytes], TopicRows] = {}
    for topic in request.topic_data:
        key = (topic.name, topic.topic_id)
        found = topics.get(key)
        if found is None:
            found = topics[key] = TopicRows(topic, {})
        for data in topic.partition_data:
            content = data.records or b""
            batch = lone_batch(content)
            if batch is not None:
                first_batches.append(batch)
            else:
                first_batches += _first_batch(content, context)
                found.has_nulls = found.has_nulls or data.records is None
            row = Row(data.index, data.records, batch)
            found.partitions.setdefault(data.index, []).append(row)
    return first_batches, list(topics.values())


def _first_batch(records: bytes, context: RequestContext) -> list[Batch]:
    """The first batch of a partition, if it is one of format 2."""
    found: list[Batch] = []
    try:
        sizes = list(islice(entry_sizes(records, partial=True), 2))
        if sizes and sizes[0][2] == 2:
            found = list(batches(records[: sizes[0][1]]))
    except DecodeError:
        sizes = []
    _check_form([magic for *_, magic in sizes], context)
    return found


def _check_form(formats: list[int], context: RequestContext) -> None:
    """Close the connection where a release could not parse the records of a partition."""
    behaviour = context.record_behaviour
    is_unreadable = not formats or formats[0] > 2
    if context.version < FORMAT_2_SINCE:
        if is_unreadable and behaviour.unreadable_old_closes:
            raise CloseConnection("a partition has no readable message")
    elif (is_unreadable and behaviour.unreadable_closes) or (
        formats != [2] and behaviour.wrong_format_closes
    ):
        raise CloseConnection("a partition has no readable batch, or more than one")


def read(rows: list[Row], context: RequestContext) -> tuple[list[Records], RefusedRecords | None]:
    """What there is for a partition in a form that can be appended, and why some is not."""
    readable: list[Records] = []
    unreadable = None
    for row in rows:
        batch = None
        try:
            if row.content is not None and context.version >= FORMAT_2_SINCE:
                behaviour = context.record_behaviour
                batch = row.batch or only_batch(row.content, behaviour)
                check_compression(batch, context.version, behaviour)
        except RefusedRecords as refused:
            unreadable = refused
        else:
            readable.append(Records(row.content, batch))
    return readable, unreadable


def fault_of_nulls(
    found: Iterable[tuple[TopicRows, str, ErrorCode]], context: RequestContext
) -> ErrorCode:
    """DEVIATION: null records keep a real broker from storing anything, and from answering."""
    for topic, name, error in found:
        if error or not topic.has_nulls:
            continue
        for index, rows in topic.partitions.items():
            partition = context.cluster.topics.partition(name, index)
            if partition is not None and any(row.content is None for row in rows):
                readable, _ = read(rows, context)
                if readable and readable[-1].content is None:
                    return ErrorCode.UNKNOWN_SERVER_ERROR
    return NO_ERROR
