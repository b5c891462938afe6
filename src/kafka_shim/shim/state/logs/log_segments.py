"""Segments of a real broker's log, which retention deletes as a whole, the oldest first."""

import msgspec

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.logs.log_settings import LogSettings

TIMELESS = 1 << 62
"""The first time of a segment whose first batch has none: it is rolled by its size alone."""


class LogSegment(msgspec.Struct, gc=False):
    """A row of batches: its first offset, its bytes, the greatest time (ms) of its first batch and
    of all; `appended_ms` counts where no batch has a time.
    """

    base_offset: int
    first_batch_ms: int
    size_bytes: int = 0
    max_timestamp_ms: int = -1
    appended_ms: int = -1

    @property
    def newest_timestamp_ms(self) -> int:
        return self.max_timestamp_ms if self.max_timestamp_ms >= 0 else self.appended_ms


class LogSegments(msgspec.Struct, gc=False):
    """The segments of a log, oldest first; the last one is active."""

    rows: tuple[LogSegment, ...] = ()

    @property
    def total_size_bytes(self) -> int:
        """Size of all segments, including records before the log start."""
        return sum(segment.size_bytes for segment in self.rows)

    def oldest_segment_offset(self, end_offset: int) -> int:
        """Return the first offset of the oldest segment, or the log end if there is none."""
        return self.rows[0].base_offset if self.rows else end_offset

    def add_batch_to_segment(
        self, base_offset: int, size: int, timestamp: int, settings: LogSettings, clock: Clock
    ) -> None:
        """Add a batch to the active segment, or to a new one if that is full or too old."""
        last = self.rows[-1] if self.rows else None
        if (
            last is None
            or last.size_bytes + size > settings.segment_bytes
            or timestamp - last.first_batch_ms > settings.segment_ms
        ):
            last = LogSegment(base_offset, timestamp if timestamp >= 0 else TIMELESS)
            self.rows = (*self.rows, last)
        last.size_bytes += size
        if timestamp > last.max_timestamp_ms:
            last.max_timestamp_ms = timestamp
        elif timestamp < 0:
            last.appended_ms = clock.now_ms()

    def drop_expired_segments(
        self, start_offset: int, end_offset: int, settings: LogSettings, now_ms: int
    ) -> int:
        """Drop segments beyond retention.ms, retention.bytes or the log start; return the new log
        start.
        """
        rows, gone = self.rows, 0
        if settings.deletes and settings.retention_ms >= 0:
            oldest_ms = now_ms - settings.retention_ms
            while gone < len(rows) and rows[gone].newest_timestamp_ms < oldest_ms:
                gone += 1
        if settings.deletes and settings.retention_bytes >= 0:
            excess = sum(segment.size_bytes for segment in rows[gone:]) - settings.retention_bytes
            while gone < len(rows) and excess >= rows[gone].size_bytes:
                excess -= rows[gone].size_bytes
                gone += 1
        while gone + 1 < len(rows) and rows[gone + 1].base_offset <= start_offset:
            gone += 1
        if gone:
            self.rows = rows[gone:]
        return max(start_offset, self.oldest_segment_offset(end_offset))
