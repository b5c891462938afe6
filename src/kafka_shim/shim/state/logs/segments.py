"""Segments of a real broker's log, which retention deletes as a whole, the oldest first."""

import msgspec

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.logs.log_settings import LogSettings

TIMELESS = 1 << 62
"""The first time of a segment whose first batch has none: it is rolled by its size alone."""


class Segment(msgspec.Struct, gc=False):
    """A row of batches: its first offset, its bytes, the greatest time (ms) of its first batch and
    of all; `written_ms` counts where no batch has a time.
    """

    base_offset: int
    first_ms: int
    size: int = 0
    newest_ms: int = -1
    written_ms: int = -1

    @property
    def time_ms(self) -> int:
        return self.newest_ms if self.newest_ms >= 0 else self.written_ms


class Segments(msgspec.Struct, gc=False):
    """The segments of a log, oldest first; the last one is active."""

    rows: tuple[Segment, ...] = ()

    @property
    def size(self) -> int:
        """Size of all segments, including records before the log start."""
        return sum(segment.size for segment in self.rows)

    def first_offset(self, end_offset: int) -> int:
        """Return the first offset of the oldest segment, or the log end if there is none."""
        return self.rows[0].base_offset if self.rows else end_offset

    def add(
        self, base_offset: int, size: int, timestamp: int, settings: LogSettings, clock: Clock
    ) -> None:
        """Add a batch to the active segment, or to a new one if that is full or too old."""
        last = self.rows[-1] if self.rows else None
        if (
            last is None
            or last.size + size > settings.segment_bytes
            or timestamp - last.first_ms > settings.segment_ms
        ):
            last = Segment(base_offset, timestamp if timestamp >= 0 else TIMELESS)
            self.rows = (*self.rows, last)
        last.size += size
        if timestamp > last.newest_ms:
            last.newest_ms = timestamp
        elif timestamp < 0:
            last.written_ms = clock.now_ms()

    def expire(self, start_offset: int, end_offset: int, settings: LogSettings, now_ms: int) -> int:
        """Drop segments beyond retention.ms, retention.bytes or the log start; return the new log
        start.
        """
        rows, gone = self.rows, 0
        if settings.deletes and settings.retention_ms >= 0:
            oldest_ms = now_ms - settings.retention_ms
            while gone < len(rows) and rows[gone].time_ms < oldest_ms:
                gone += 1
        if settings.deletes and settings.retention_bytes >= 0:
            excess = sum(segment.size for segment in rows[gone:]) - settings.retention_bytes
            while gone < len(rows) and excess >= rows[gone].size:
                excess -= rows[gone].size
                gone += 1
        while gone + 1 < len(rows) and rows[gone + 1].base_offset <= start_offset:
            gone += 1
        if gone:
            self.rows = rows[gone:]
        return max(start_offset, self.first_offset(end_offset))
