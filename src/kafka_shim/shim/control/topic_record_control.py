"""List and produce records, for the control API."""

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
from kafka_shim.shim.control.control_error import ControlError, query_number_or_400
from kafka_shim.shim.control.state_bodies import NewRecord
from kafka_shim.shim.handlers.producing.appending import append_unless_duplicate
from kafka_shim.shim.handlers.producing.record_checks import (
    RecordLimits,
    RecordsRejected,
    max_timestamp_of_checked_batch,
)
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.topics import Partition

ROWS_MAX = 1000
_ROWS = 100


class TopicRecordControl:
    """The records of a cluster, partition by partition."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def list_records(self, topic: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Return records from an offset on, oldest first; without an offset, the newest."""
        partition = self._partition_or_404(topic, query_number_or_400(query, "partition", 0))
        limit = min(query_number_or_400(query, "limit", _ROWS), ROWS_MAX)
        log = partition.log
        first_offset = max(log.start_offset, log.end_offset - limit)
        if "from" in query:
            first_offset = max(log.start_offset, query_number_or_400(query, "from", 0))
        rows: list[dict[str, Any]] = []
        next_offset = log.end_offset
        try:
            for row in _record_rows_since(partition, first_offset):
                if len(rows) == limit:
                    next_offset = row["offset"]
                    break
                rows.append(row)
        except (DecodeError, MissingPackageError) as error:
            text = f"records of topic `{topic}` cannot be read: {error}"
            raise ControlError(409, text) from error
        return {
            "start_offset": log.start_offset,
            "end_offset": log.end_offset,
            "next_offset": next_offset,
            "records": rows,
        }

    def produce_record(self, topic: str, new: NewRecord) -> dict[str, Any]:
        """Append a record, by the rules that the topic has for producers."""
        partition = self._partition_or_404(topic, new.partition)
        now_ms = self._cluster.clock.now_ms()
        record = Record(
            0,
            now_ms,
            None if new.key is None else new.key.encode(),
            None if new.value is None else new.value.encode(),
            tuple((key, value.encode()) for key, value in new.headers.items()),
        )
        batch = only_batch_or_none(encode_batch([record], BatchOptions()))
        assert batch is not None
        limits = RecordLimits(partition.log.settings, self._cluster.facts.records, now_ms)
        try:
            stored = append_unless_duplicate(
                partition, batch, limits, max_timestamp_of_checked_batch(batch, limits)
            )
        except RecordsRejected as error:
            text = f": {error.message}" if error.message else ""
            raise ControlError(
                400, f"topic `{topic}` refuses the record: {error.error.name}{text}"
            ) from error
        return {"partition": new.partition, "offset": stored.base_offset}

    def _partition_or_404(self, topic: str, index: int) -> Partition:
        if topic not in self._cluster.topics:
            raise ControlError(404, f"unknown topic `{topic}`")
        partition = self._cluster.topics.partition_once_led(topic, index)
        if partition is None:
            raise ControlError(404, f"topic `{topic}` has no partition {index}")
        return partition


def _record_rows_since(partition: Partition, first_offset: int) -> Iterator[dict[str, Any]]:
    for stored in partition.log.batches:
        if stored.last_offset < first_offset:
            continue
        for batch in iterate_batches(stored.payload):
            for record in batch.iterate_records():
                if record.offset >= first_offset:
                    yield _record_row(batch, record)


def _record_row(batch: Batch, record: Record) -> dict[str, Any]:
    control = None
    if batch.is_control:
        control = "commit" if marker_commits_transaction(record) else "abort"
    return {
        "offset": record.offset,
        "timestamp_ms": record.timestamp,
        "key": _utf8_text_or_none(record.key),
        "key_hex": _hex_or_none(record.key),
        "value": _utf8_text_or_none(record.value),
        "value_hex": _hex_or_none(record.value),
        "headers": [
            {"key": key, "value": _utf8_text_or_none(value), "value_hex": _hex_or_none(value)}
            for key, value in record.headers
        ],
        "compression": Compression(batch.compression_code).name.lower(),
        "producer_id": batch.producer_id,
        "is_transactional": batch.is_transactional,
        "control": control,
    }


def _utf8_text_or_none(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError:
        return None


def _hex_or_none(content: bytes | None) -> str | None:
    return None if content is None else content.hex()
