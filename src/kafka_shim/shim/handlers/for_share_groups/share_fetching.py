"""Reads for ShareFetch: the records of a session's partitions, and whether to wait."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.share_fetch import (
    AcquiredRecords,
    PartitionData,
    ShareFetchRequest,
)
from kafka_shim.protocol.records.batches import Batch, iterate_batches
from kafka_shim.shim.handlers.common.fetching import response_bytes_limit
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.share_partitions.in_flight import wrap_delivery_count_to_int16
from kafka_shim.shim.state.share_partitions.share_acquisition import (
    AcquiredRange,
    AcquireRequest,
    OffsetRange,
    acquire_records,
)
from kafka_shim.shim.state.share_partitions.share_partition import SharePartition
from kafka_shim.shim.state.share_partitions.share_sessions import (
    SessionPartition,
    rotate_partitions,
)
from kafka_shim.shim.state.topics import Partition
from kafka_shim.shim.wait import WaitResources

STRICT = 1
"""As an acquire mode: not one record more than wanted (KIP-1206)."""

Rows = list[tuple[SessionPartition, PartitionData]]
StopWaiting = Callable[[], None]


class ReadableSharePartition(msgspec.Struct, frozen=True):
    """A permitted partition of the session, with its log and its state in the group."""

    session_partition: SessionPartition
    partition: Partition
    share_partition: SharePartition


class _AcquiredRow(NamedTuple):
    """A partition's row, and what was acquired and read for it."""

    data: PartitionData
    record_count: int
    read_bytes: int


class ShareFetchReader:
    """One request: partitions are checked immediately, read when there is enough or time is up."""

    def __init__(
        self, request: ShareFetchRequest, context: RequestContext, denials: Mapping[str, ErrorCode]
    ) -> None:
        self._request = request
        self._context = context
        self._denials = denials
        self._bytes_max = response_bytes_limit(request.max_bytes, context)
        self._reads_committed = context.cluster.groups.settings.share_reads_committed(
            request.group_id or ""
        )
        self._sources: list[ReadableSharePartition] = []
        self._slices: list[list[ReadableSharePartition]] = []
        self._failures: Rows = []
        self._unloaded_rows: Rows = []
        self._early_unloaded_count = 0
        self._replaced_rows: Rows = []
        self._deleted_rows: Rows = []
        self._wait_resources = WaitResources()

    def acquire(
        self, wanted: Sequence[SessionPartition], on_rows_or_failure: Callable[[Rows | None], None]
    ) -> StopWaiting:
        """Acquire records, immediately or when there are enough, and pass their rows on.

        `on_rows_or_failure` gets None if the whole request fails. Return how to stop waiting.
        """
        for session_partition in rotate_partitions(wanted, self._request.share_session_epoch):
            self._load_partition(session_partition)
        if self._prepare_ready_reads() or self._request.max_wait_ms <= 0:
            on_rows_or_failure(self._acquire_rows(self._immediate_error_rows()))
            return lambda: None

        def finish() -> None:
            self._wait_resources.release()
            on_rows_or_failure(self._acquire_rows(self._unloaded_rows))

        def try_finish() -> None:
            if self._prepare_ready_reads():
                finish()

        for source in self._sources:
            self._wait_resources.watch_changes(source.partition.log, try_finish)
            self._wait_resources.watch_changes(source.share_partition, try_finish)
        clock = self._context.cluster.clock
        self._wait_resources.add_timer(
            clock.call_after_wait(self._request.max_wait_ms, finish).cancel
        )
        return self._wait_resources.release

    def _load_partition(self, session_partition: SessionPartition) -> None:
        error = self._topic_error(session_partition)
        partition = None
        if (
            error is NO_ERROR
            and self._context.cluster.topics.by_id(session_partition.topic_id) is None
        ):
            self._fail_deleted_topic(session_partition)
            return
        if error is NO_ERROR:
            partition = self._context.cluster.topics.led_partition(
                session_partition.topic or "", session_partition.partition_index
            )
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if partition is None else error
        if partition is not None and self._requests_records:
            if partition.leader_id != self._context.node_id:
                error = ErrorCode.NOT_LEADER_OR_FOLLOWER
            else:
                key = (
                    self._request.group_id or "",
                    session_partition.topic_id,
                    session_partition.partition_index,
                )
                share_partitions = self._context.cluster.share_partitions
                was_loaded = share_partitions.find_loaded(key) is not None
                load_error, share_partition = share_partitions.load(key, partition)
                if share_partition is None:
                    index = session_partition.partition_index
                    failed = failed_partition_data(index, load_error)
                    self._unloaded_rows.append((session_partition, failed))
                else:
                    if not self._sources and not was_loaded:
                        self._early_unloaded_count = len(self._unloaded_rows)
                    self._sources.append(
                        ReadableSharePartition(session_partition, partition, share_partition)
                    )
        if error is not NO_ERROR:
            self._failures.append(
                (session_partition, failed_partition_data(session_partition.partition_index, error))
            )

    def _topic_error(self, session_partition: SessionPartition) -> ErrorCode:
        if session_partition.topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        return self._denials[session_partition.topic]

    def _fail_deleted_topic(self, session_partition: SessionPartition) -> None:
        """Fail a partition of a deleted topic, now or, if another topic has its name, when read."""
        if (
            self._context.cluster.topics.led_partition(
                session_partition.topic or "", session_partition.partition_index
            )
            is None
        ):
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            self._deleted_rows.append(
                (session_partition, failed_partition_data(session_partition.partition_index, error))
            )
        else:
            error = ErrorCode.UNKNOWN_SERVER_ERROR
            self._replaced_rows.append(
                (session_partition, failed_partition_data(session_partition.partition_index, error))
            )

    @property
    def _requests_records(self) -> bool:
        return self._request.max_records != 0 and self._request.max_bytes != 0

    def _acquirable_partitions(self) -> list[ReadableSharePartition]:
        return [
            source
            for source in self._sources
            if not source.share_partition.is_fenced and not source.partition.log.is_closed
            if source.share_partition.has_fetchable_records
        ]

    def _readable_end_offset(self, partition: Partition) -> int:
        log = partition.log
        return log.last_stable_offset if self._reads_committed else log.high_watermark

    def _prepare_ready_reads(self) -> bool:
        """Return whether to respond now; also decide the order of reads.

        Partitions that were never read are read in advance, and so come last (observed on 4.3.1).
        """
        if not self._sources:
            return not self._replaced_rows
        sources = self._acquirable_partitions()
        fresh = [
            source
            for source in sources
            if source.share_partition.last_read_offset != source.share_partition.next_fetch_offset
        ]
        known = [
            source
            for source in sources
            if source.share_partition.last_read_offset == source.share_partition.next_fetch_offset
        ]
        for source in fresh:
            source.share_partition.last_read_offset = source.share_partition.next_fetch_offset
        is_enough = self._has_enough_bytes(sources)
        self._slices = [known, fresh] if is_enough else []
        return is_enough

    def _has_enough_bytes(self, sources: Sequence[ReadableSharePartition]) -> bool:
        request = self._request
        ready = 0
        for source in sources:
            offset, end = (
                source.share_partition.next_fetch_offset,
                self._readable_end_offset(source.partition),
            )
            if not source.partition.log.start_offset <= offset <= end:
                return True
            limit = max(0, self._bytes_max) // len(sources)
            ready += min(limit, source.partition.log.bytes_between(offset, end))
        return bool(sources) and ready >= min(request.min_bytes, self._bytes_max)

    def _immediate_error_rows(self) -> Rows:
        """Return the partitions without state that are in a response without a wait.

        A real broker reads states one after the other, later than the request. Its response does
        not wait for those that it does not need (seen on 4.2.2, 4.3.1 and 4.4.0).
        """
        if self._request.max_wait_ms <= 0:
            return []
        return self._unloaded_rows[: self._early_unloaded_count if self._sources else None]

    def _acquire_rows(self, unloaded: Rows) -> Rows | None:
        """Return records of partitions up to the limits; None if the whole request fails.

        Records are acquired even then. Topics that were replaced are read only when time is up.
        `unloaded` are the rows of partitions without state.
        """
        deleted = self._deleted_rows if self._slices else self._deleted_rows + self._replaced_rows
        rows: Rows = []
        slices = self._slices or [self._acquirable_partitions()]
        limit = max(0, self._bytes_max) // max(1, sum(map(len, slices)))
        records_left = self._request.max_records
        for sources in slices:
            bytes_left, whole_first = self._bytes_max, True
            for source in sources:
                at_most = min(bytes_left, limit)
                data, taken, size = self._acquire_records(
                    source, records_left, at_most, whole_first=whole_first
                )
                records_left -= taken
                bytes_left = max(0, bytes_left - size)
                whole_first = whole_first and not size
                rows.append((source.session_partition, data))
        if deleted and not self._context.facts.groups.share_fetch_deleted_topic_fails_alone:
            return None
        return rows + deleted + self._failures + unloaded

    def _acquire_records(
        self, source: ReadableSharePartition, records_max: int, bytes_max: int, *, whole_first: bool
    ) -> _AcquiredRow:
        """Acquire records of a partition; skip to the log's start if they were deleted.

        A real broker fails to read a negative number of bytes.
        """
        if self._bytes_max < 0:
            index = source.session_partition.partition_index
            failed = failed_partition_data(index, ErrorCode.UNKNOWN_SERVER_ERROR)
            return _AcquiredRow(failed, 0, 0)
        log, share_partition = source.partition.log, source.share_partition
        data = PartitionData(partition_index=source.session_partition.partition_index, records=b"")
        offset, end = share_partition.next_fetch_offset, self._readable_end_offset(source.partition)
        if not log.start_offset <= offset <= log.end_offset:
            share_partition.advance_to_log_start(log.start_offset)
            data.error_message = "NONE"
            return _AcquiredRow(data, 0, 0)
        payloads = log.read_batches(offset, end, bytes_max, whole_first=whole_first)
        read_batches = [batch for payload in payloads for batch in iterate_batches(payload)]
        taking = AcquireRequest(
            member_id=self._request.member_id or "",
            records_max=records_max,
            records_per_batch=self._request.batch_size,
            records_max_is_strict=self._request.share_acquire_mode == STRICT,
            throttles_often_delivered=self._context.facts.groups.share_limits_redelivered_records,
        )
        aborted = (
            self._aborted_offset_ranges(source.partition, offset, read_batches)
            if read_batches
            else []
        )
        acquired = acquire_records(share_partition, taking, offset, read_batches, aborted)
        if acquired:
            data.records = _trim_to_acquired(payloads, read_batches, acquired)
            data.acquired_records = [
                AcquiredRecords(
                    records.first_offset,
                    records.last_offset,
                    wrap_delivery_count_to_int16(records.delivery_count),
                )
                for records in acquired
            ]
        record_count = sum(records.record_count for records in acquired)
        return _AcquiredRow(data, record_count, sum(map(len, payloads)))

    def _aborted_offset_ranges(
        self, partition: Partition, offset: int, batches: Sequence[Batch]
    ) -> list[OffsetRange]:
        """Return the batches of aborted transactions, for readers of committed records."""
        if not self._reads_committed:
            return []
        after = batches[-1].last_offset + 1
        ended = partition.log.producers.aborted_between(offset, after)
        return [
            (batch.base_offset, batch.last_offset)
            for batch in batches
            if batch.is_transactional and not batch.is_control
            if any(
                transaction.producer_id == batch.producer_id
                and transaction.first_offset <= batch.last_offset <= transaction.last_offset
                for transaction in ended
            )
        ]


def failed_partition_data(index: int, error: ErrorCode) -> PartitionData:
    """Return the row of a partition that cannot be read."""
    return PartitionData(partition_index=index, error_code=error, records=b"")


def _trim_to_acquired(
    payloads: Iterable[bytes], batches: Sequence[Batch], acquired: Sequence[AcquiredRange]
) -> bytes:
    """Return the batches from the first to the last acquired record."""
    first, last = acquired[0].first_offset, acquired[-1].last_offset
    rows = zip(payloads, batches, strict=True)
    overlapping = [
        payload
        for payload, batch in rows
        if batch.last_offset >= first and batch.base_offset <= last
    ]
    return b"".join(overlapping)
