"""Compares what clients read: records, committed offsets, and where logs begin and end."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.traces.replay.compare import MISSING, Difference
from kafka_shim.traces.replay.offset_mapping import (
    PartitionOffsets,
    TopicPartition,
)
from kafka_shim.traces.replay.partition_reading import PartitionReading, count_records
from kafka_shim.traces.replay.recorded_to_target_mapping import RecordedToTargetMapping
from kafka_shim.traces.replay.request_parts import request_partitions

READ_APIS = frozenset(
    {ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FETCH, ApiKey.DELETE_RECORDS}
)
"""Responses whose records and offsets are compared."""

RECORDS = "responses[].partitions[].records"
LOG_START = "responses[].partitions[].log_start_offset"
HIGH_WATERMARK = "responses[].partitions[].high_watermark"
_LATEST, _EARLIEST = -1, -2
_BEFORE_TRACE = "fetched records had been written before the trace"
KEPT_BYTES_MAX = 16 << 20
_UNKNOWN_KEPT_MAX = 10_000


class LogEnds:
    """The highest watermarks that both brokers returned for a partition."""

    def __init__(self) -> None:
        self.recorded = self.actual = -1

    def note(self, recorded: int, actual: int) -> None:
        self.recorded, self.actual = max(self.recorded, recorded), max(self.actual, actual)


class FetchReading:
    """The comparison of one recorded Fetch response with what the target returns."""

    def __init__(self) -> None:
        self.readings: dict[TopicPartition, PartitionReading] = {}

    def add_target(self, mapping: RecordedToTargetMapping, recorded: Any, actual: Any) -> None:
        """Add a response of the target; what it rejects is not compared."""
        ids = mapping.ids.corresponding_ids
        for topic_partition, _, row in mapping.offsets.pairs(recorded, actual, ids):
            if row is None or topic_partition not in self.readings:
                continue
            if row.error_code:
                del self.readings[topic_partition]
            else:
                aborted = getattr(row, "aborted_transactions", None)
                self.readings[topic_partition].add_target(row.records, aborted)

    def missing_offsets(self) -> dict[TopicPartition, int]:
        """Return the first offset of the target that is missing, by partition."""
        found = ((key, reading.missing_target_offset()) for key, reading in self.readings.items())
        return {key: offset for key, offset in found if offset is not None}

    def has_passed(self, topic_partition: TopicPartition, offset: int) -> bool:
        """Return whether the target returned a record behind this offset."""
        return self.readings[topic_partition].has_passed(offset)


class ReadComparison:
    """Compares what the responses to `READ_APIS` contain, and counts what it cannot compare."""

    def __init__(self, mapping: RecordedToTargetMapping) -> None:
        self._offsets = mapping.offsets
        self._ids = mapping.ids
        self.compared_records = 0
        self.uncompared: Counter[str] = Counter()
        """Numbers by what was not compared, in words."""
        self._unknown: dict[TopicPartition, dict[int, str]] = {}
        self._ends: dict[TopicPartition, LogEnds] = {}
        self._kept: list[tuple[TopicPartition, PartitionReading]] = []
        self._kept_bytes = 0  # of records that were read before their writing was confirmed
        self._repeated_partitions: set[TopicPartition] = set()

    def fetch_reading(self, recorded: Any) -> FetchReading:
        """Return the comparison of a recorded Fetch response, without the target's records."""
        reading = FetchReading()
        for topic_partition, row, _ in self._pairs(recorded, recorded):
            if not row.error_code:
                offsets = self._offsets.of(topic_partition)
                aborted = getattr(row, "aborted_transactions", None)
                reading.readings[topic_partition] = PartitionReading(offsets, row.records, aborted)
        return reading

    def fetch_differences(
        self, reading: FetchReading, recorded: Any, actual: Any
    ) -> Iterator[Difference]:
        """Yield the differences of records and of the logs' beginnings."""
        for topic_partition, partition in reading.readings.items():
            yield from self._record_differences(topic_partition, partition, is_late=False)
            if partition.uncompared and self._kept_bytes < KEPT_BYTES_MAX:
                self._kept_bytes += partition.drop_compared()
                self._kept.append((topic_partition, partition))
            else:
                self.count_uncompared(_BEFORE_TRACE, partition.uncompared)
            self._keep_unexpected_records(topic_partition, partition.unknown_offsets)
        for topic_partition, old, new in self._pairs(recorded, actual):
            if new is None or old.error_code or new.error_code:
                continue
            self._note_ends(topic_partition, old.high_watermark, new.high_watermark)
            start = getattr(old, "log_start_offset", -1), getattr(new, "log_start_offset", -1)
            yield from self._start_difference(topic_partition, LOG_START, *start)

    def share_differences(self, reading: FetchReading) -> Iterator[Difference]:
        """Yield the differences of records that both brokers gave to a member of a share group."""
        for topic_partition, partition in reading.readings.items():
            yield from self._record_differences(topic_partition, partition, is_late=True)
            self.count_uncompared(
                "records were given to another member of a share group, or later",
                partition.uncompared,
            )

    def _record_differences(
        self, topic_partition: TopicPartition, partition: PartitionReading, *, is_late: bool
    ) -> Iterator[Difference]:
        topic, number = topic_partition
        for each in partition.differences(is_late=is_late):
            place = f"{_topic_text(topic)}-{number} offset {each.offset}: "
            yield Difference(
                RECORDS,
                place + each.recorded if each.recorded else MISSING,
                place + each.actual if each.actual else MISSING,
            )
            if not each.recorded:
                self._repeated_partitions.add(topic_partition)
        self.compared_records += partition.compared

    def offset_differences(
        self, api_key: int, request: Any, recorded: Any, actual: Any
    ) -> Iterator[Difference]:
        """Yield the differences of offsets in a response to another of `READ_APIS`."""
        if api_key == ApiKey.LIST_OFFSETS:
            yield from self._list_differences(request, recorded, actual)
        elif api_key == ApiKey.OFFSET_FETCH:
            yield from self._commit_differences(request, recorded, actual)
        else:
            for topic_partition, old, new in self._pairs(recorded, actual):
                if new is not None and not old.error_code and not new.error_code:
                    path = "topics[].partitions[].low_watermark"
                    marks = old.low_watermark, new.low_watermark
                    yield from self._start_difference(topic_partition, path, *marks)

    def final_differences(self) -> Iterator[Difference]:
        """Yield differences that are known once all that the recording wrote is known."""
        for topic_partition, partition in self._kept:
            yield from self._record_differences(topic_partition, partition, is_late=True)
            self.count_uncompared(_BEFORE_TRACE, partition.uncompared)
        for topic_partition, offsets in self._offsets.partitions.items():
            if not offsets.written:
                continue
            place = f"{_topic_text(topic_partition[0])}-{topic_partition[1]}"
            extra = {
                offset: text
                for offset, text in self._unknown.get(topic_partition, {}).items()
                if offset > offsets.first_target and not offsets.contains_target(offset)
            }
            if offsets.has_unconfirmed:
                self.count_uncompared(
                    "records may have been written without a response", len(extra)
                )
                self.count_uncompared("ends of logs with writes without a response", 1)
                continue
            for offset, text in extra.items():
                yield Difference(RECORDS, MISSING, f"{place} target's offset {offset}: {text}")
            if not extra and topic_partition not in self._repeated_partitions:
                yield from self._end_differences(topic_partition, offsets, place)

    def _end_differences(
        self, topic_partition: TopicPartition, offsets: PartitionOffsets, place: str
    ) -> Iterator[Difference]:
        """Yield how much longer the target's log is than the recording explains."""
        ends = self._ends.get(topic_partition, LogEnds())
        if offsets.is_transactional:  # the markers' offsets depend on the run
            self.count_uncompared("ends of logs with transactions", int(ends.recorded >= 0))
            return
        if surplus := offsets.surplus_offset_count:
            yield Difference(
                HIGH_WATERMARK, f"{place}: no other records", f"{surplus} other records"
            )
            return
        end = max(ends.recorded, offsets.written[-1].end)
        expected = offsets.target_position(end)
        if ends.actual > expected and offsets.is_position_known(end):
            yield Difference(HIGH_WATERMARK, f"{place}: up to {expected}", f"up to {ends.actual}")

    def _list_differences(self, request: Any, recorded: Any, actual: Any) -> Iterator[Difference]:
        timestamps = {
            (self._offsets.topic_name(topic), number): row.timestamp
            for topic, number, row in request_partitions(ApiKey.LIST_OFFSETS, request)
        }
        for topic_partition, old, new in self._pairs(recorded, actual):
            if new is None or old.error_code or new.error_code:
                continue
            kind = timestamps.get(topic_partition)
            path = "topics[].partitions[].offset"
            if kind == _EARLIEST:
                yield from self._start_difference(topic_partition, path, old.offset, new.offset)
            elif kind == _LATEST:
                self._note_ends(topic_partition, old.offset, new.offset)
                yield from self._end_difference(topic_partition, path, old.offset, new.offset)
            else:
                yield from self._time_difference(topic_partition, old, new)

    def _commit_differences(self, request: Any, recorded: Any, actual: Any) -> Iterator[Difference]:
        ids = self._ids.corresponding_ids
        pairs = self._offsets.commit_pairs(request, recorded, actual, ids)
        for group, topic_partition, old, new in pairs:
            if new is not None and not old.error_code and not new.error_code:
                yield from self._commit_difference(group, topic_partition, old, new)

    def _commit_difference(
        self, group: str, topic_partition: TopicPartition, old: Any, new: Any
    ) -> Iterator[Difference]:
        expected = self._offsets.commits.get((group, *topic_partition), {}).get(
            old.committed_offset
        )
        if expected is None and old.committed_offset >= 0:
            self.count_uncompared("committed offsets had been committed before the trace", 1)
            return
        wanted = old.committed_offset if expected is None else expected
        if new.committed_offset != wanted:
            topic, number = topic_partition
            yield Difference(
                "committed_offset",
                f"{group} {_topic_text(topic)}-{number}: {old.committed_offset}, so {wanted} here",
                new.committed_offset,
            )

    def _start_difference(
        self, topic_partition: TopicPartition, path: str, recorded: int, actual: int
    ) -> Iterator[Difference]:
        """Yield whether the target's log begins elsewhere, relative to what was written."""
        offsets = self._offsets.partitions.get(topic_partition)
        if min(recorded, actual) < 0 or offsets is None or not offsets.written:
            return
        if recorded < offsets.written[0].first or not offsets.is_position_known(recorded):
            self.count_uncompared("beginnings of logs that had been written before the trace", 1)
            return
        expected = offsets.target_position(recorded)
        has_older_records = recorded == offsets.written[0].first and actual < expected
        if actual != expected and not has_older_records:
            yield _position_difference(path, topic_partition, recorded, expected, actual)

    def _end_difference(
        self, topic_partition: TopicPartition, path: str, recorded: int, actual: int
    ) -> Iterator[Difference]:
        """Yield whether the target's log ends earlier; a longer one may get records in advance."""
        offsets = self._offsets.partitions.get(topic_partition)
        if recorded <= 0 or offsets is None or not offsets.written:
            return
        if not offsets.is_position_known(recorded):
            self.count_uncompared("ends of logs that others had written", 1)
        elif actual < (expected := offsets.target_position(recorded)):
            yield _position_difference(path, topic_partition, recorded, expected, actual)

    def _time_difference(
        self, topic_partition: TopicPartition, old: Any, new: Any
    ) -> Iterator[Difference]:
        """Yield whether another record is the first of a time, if the recording wrote it."""
        offsets = self._offsets.partitions.get(topic_partition)
        wanted = None if offsets is None else offsets.target_of_written(old.offset)
        if (old.offset < 0 and new.offset < 0) or (wanted is not None and new.offset == wanted):
            return
        if wanted is None or old.timestamp != new.timestamp:
            self.count_uncompared("offsets by time", 1)
            return
        path = "topics[].partitions[].offset"
        yield _position_difference(path, topic_partition, old.offset, wanted, new.offset)

    def _note_ends(self, topic_partition: TopicPartition, recorded: int, actual: int) -> None:
        self._ends.setdefault(topic_partition, LogEnds()).note(recorded, actual)

    def _keep_unexpected_records(
        self, topic_partition: TopicPartition, unknown: dict[int, str]
    ) -> None:
        if not unknown:
            return
        kept = self._unknown.setdefault(topic_partition, {})
        kept |= unknown
        if len(kept) > _UNKNOWN_KEPT_MAX:
            contains = self._offsets.of(topic_partition).contains_target
            self._unknown[topic_partition] = {
                offset: text for offset, text in kept.items() if not contains(offset)
            }

    def _pairs(self, recorded: Any, actual: Any) -> Iterator[tuple[TopicPartition, Any, Any]]:
        return self._offsets.pairs(recorded, actual, self._ids.corresponding_ids)

    def count_uncompared(self, what: str, number: int) -> None:
        """Count what is not compared, in words."""
        if number:
            self.uncompared[what] += number


def count_share_records(response: Any) -> int:
    """Return the number of records in a ShareFetch response, which are not compared."""
    return sum(
        count_records(row.records) for topic in response.responses for row in topic.partitions
    )


def _position_difference(
    path: str, topic_partition: TopicPartition, recorded: int, expected: int, actual: int
) -> Difference:
    topic, number = topic_partition
    return Difference(
        path, f"{_topic_text(topic)}-{number}: {recorded}, so {expected} here", actual
    )


def _topic_text(topic: str | bytes) -> str:
    return topic if isinstance(topic, str) else topic.hex()
