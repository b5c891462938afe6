"""List and produce records, for the control API."""

import codecs
from collections.abc import Iterator, Mapping
from typing import Any

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.batches import (
    Batch,
    BatchOptions,
    Record,
    encode_batch,
    iterate_batches,
    marker_commits_transaction,
    only_batch_or_none,
)
from kafka_shim.protocol.records.compression import Compression, MissingPackageError
from kafka_shim.shim.control.control_error import ControlError, query_number
from kafka_shim.shim.control.state_bodies import NewRecord
from kafka_shim.shim.handlers.producing.appending import append_idempotently
from kafka_shim.shim.handlers.producing.record_checks import (
    RecordLimits,
    RecordsRejected,
    check_batch,
)
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.logs.offset_lookup import find_offset_by_timestamp
from kafka_shim.shim.state.topics import Partition

ROWS_MAX = 1000
_ROWS = 100
_NUMBER_MAX = 2**31 - 1
_SEARCHED_MAX = 10_000
"""How many records one call searches for a text; the next page continues."""


class TopicRecordControl:
    """The records of a cluster, partition by partition."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def list_records(self, topic: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Return records from an offset or a time on, oldest first; without these, the newest.

        With a text to search for, they are the first ones that contain it.
        """
        partition = self._partition_or_404(topic, query_number(query, "partition", 0))
        limit = min(query_number(query, "limit", _ROWS), ROWS_MAX)
        log = partition.log
        searched_text = query.get("contains", "").encode()
        value_bytes_max = query_number(query, "value_bytes_max", _NUMBER_MAX)
        rows: list[dict[str, Any]] = []
        next_offset = log.end_offset
        try:
            records = _records_since(partition, self._first_offset(log, query, limit))
            for count, (batch, record) in enumerate(records):
                if len(rows) == limit or (searched_text and count == _SEARCHED_MAX):
                    next_offset = record.offset
                    break
                if not searched_text or _record_contains(record, searched_text):
                    rows.append(_record_row(partition.index, batch, record, value_bytes_max))
        except (DecodeError, MissingPackageError) as error:
            text = f"records of topic `{topic}` cannot be read: {error}"
            raise ControlError(409, text) from error
        return {
            "start_offset": log.start_offset,
            "end_offset": log.end_offset,
            "next_offset": next_offset,
            "records": rows,
        }

    def _first_offset(self, log: PartitionLog, query: Mapping[str, str], limit: int) -> int:
        if "from" in query:
            return max(log.start_offset, query_number(query, "from", 0))
        if "from_ms" in query:
            time_ms = query_number(query, "from_ms", 0)
            by_time = find_offset_by_timestamp(log, time_ms, None, self._cluster.facts.records)
            return log.end_offset if by_time.offset < 0 else by_time.offset
        if query.get("contains"):
            return log.start_offset
        return max(log.start_offset, log.end_offset - limit)

    def produce_record(self, topic: str, new: NewRecord) -> dict[str, Any]:
        """Append a record, by the rules that the topic has for producers."""
        key = _parse_bytes("key", new.key, new.key_hex)
        index = self._partition_of_key(topic, key) if new.partition is None else new.partition
        partition = self._partition_or_404(topic, index)
        now_ms = self._cluster.clock.now_ms()
        record = Record(
            0,
            now_ms,
            key,
            _parse_bytes("value", new.value, new.value_hex),
            tuple((key, value.encode()) for key, value in new.headers.items()),
        )
        batch = only_batch_or_none(encode_batch([record], BatchOptions()))
        assert batch is not None
        limits = RecordLimits(partition.log.settings, self._cluster.facts.records, now_ms)
        try:
            stored = append_idempotently(partition, batch, limits, check_batch(batch, limits))
        except RecordsRejected as error:
            text = f": {error.message}" if error.message else ""
            raise ControlError(
                400, f"topic `{topic}` refuses the record: {error.error.name}{text}"
            ) from error
        return {"partition": index, "offset": stored.base_offset}

    def _partition_of_key(self, topic: str, key: bytes | None) -> int:
        """Return the partition of a key. Raise ControlError without a key or topic."""
        known = self._cluster.topics.get(topic)
        if known is None:
            raise ControlError(404, f"unknown topic `{topic}`")
        if key is None:
            raise ControlError(400, "a record without a key needs a partition")
        return partition_of_key(key, len(known.partitions))

    def _partition_or_404(self, topic: str, index: int) -> Partition:
        if topic not in self._cluster.topics:
            raise ControlError(404, f"unknown topic `{topic}`")
        partition = self._cluster.topics.led_partition(topic, index)
        if partition is None:
            raise ControlError(404, f"topic `{topic}` has no partition {index}")
        return partition


def _records_since(partition: Partition, first_offset: int) -> Iterator[tuple[Batch, Record]]:
    for stored in partition.log.batches:
        if stored.last_offset < first_offset:
            continue
        for batch in iterate_batches(stored.payload):
            for record in batch.iterate_records():
                if record.offset >= first_offset:
                    yield batch, record


def _record_contains(record: Record, text: bytes) -> bool:
    """Return whether the key, the value or a header contains these bytes."""
    parts = [record.key, record.value]
    parts += [part for key, value in record.headers for part in (key.encode(), value)]
    return any(part is not None and text in part for part in parts)


def _record_row(
    partition: int, batch: Batch, record: Record, value_bytes_max: int
) -> dict[str, Any]:
    value = None if record.value is None else record.value[:value_bytes_max]
    control = None
    if batch.is_control:
        control = "commit" if marker_commits_transaction(record) else "abort"
    return {
        "partition": partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp,
        "key": _utf8_text_or_none(record.key),
        "key_hex": _hex_or_none(record.key),
        "value": _utf8_text_or_none(value, may_be_cut=True),
        "value_hex": _hex_or_none(value),
        "value_bytes": None if record.value is None else len(record.value),
        "headers": [
            {"key": key, "value": _utf8_text_or_none(value), "value_hex": _hex_or_none(value)}
            for key, value in record.headers
        ],
        "compression": Compression(batch.compression_code).name.lower(),
        "producer_id": batch.producer_id,
        "is_transactional": batch.is_transactional,
        "control": control,
    }


def _parse_bytes(name: str, text: str | None, hex_text: str | None) -> bytes | None:
    """Return the bytes of a text or of hexadecimal digits. Raise ControlError if they are none, or
    if both are given.
    """
    if text is not None and hex_text is not None:
        raise ControlError(400, f"{name} and {name}_hex exclude each other; send one of them")
    try:
        if hex_text is not None:
            return bytes.fromhex(hex_text)
        return None if text is None else text.encode()
    except ValueError as error:
        raise ControlError(400, f"invalid {name}_hex `{hex_text}`: {error}") from error


def _utf8_text_or_none(content: bytes | None, *, may_be_cut: bool = False) -> str | None:
    """Return the text of these bytes; if they may be cut, without half a character at the end."""
    if content is None:
        return None
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(content, final=not may_be_cut)
    except UnicodeDecodeError:
        return None


def _hex_or_none(content: bytes | None) -> str | None:
    return None if content is None else content.hex()


_MASK = 0xFFFFFFFF
_MULTIPLIER = 0x5BD1E995


def partition_of_key(key: bytes, partition_count: int) -> int:
    """Return the partition that Java's default partitioner chooses for a key."""
    return (_murmur2(key) & 0x7FFFFFFF) % partition_count


def _murmur2(content: bytes) -> int:
    """Return the hash of `org.apache.kafka.common.utils.Utils.murmur2`, as an unsigned number."""
    value = 0x9747B28C ^ len(content)
    whole = len(content) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(content[at : at + 4], "little") * _MULTIPLIER & _MASK
        word = (word ^ word >> 24) * _MULTIPLIER & _MASK
        value = value * _MULTIPLIER & _MASK ^ word
    if whole < len(content):
        value = (value ^ int.from_bytes(content[whole:], "little")) * _MULTIPLIER & _MASK
    value = (value ^ value >> 13) * _MULTIPLIER & _MASK
    return value ^ value >> 15
