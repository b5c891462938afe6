"""Segments of a real broker's log, which retention deletes as a whole, the oldest first."""

from collections import deque

import msgspec

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.log_settings import LogSettings

TIMELESS = 1 << 62
"""The first time of a segment whose first batch has none: it is rolled by its size alone."""


class Segment(msgspec.Struct):
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


class Segments:
    """The segments of a log, oldest first; the last one is active."""

    __slots__ = ("_clock", "_segments")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._segments = deque[Segment]()

    @property
    def size(self) -> int:
        """Size of all segments, including records before the log start."""
        return sum(segment.size for segment in self._segments)

    def first_offset(self, end_offset: int) -> int:
        """Return the first offset of the oldest segment, or the log end if there is none."""
        return self._segments[0].base_offset if self._segments else end_offset

    def add(self, base_offset: int, size: int, timestamp: int, settings: LogSettings) -> None:
        """Add a batch to the active segment, or to a new one if that is full or too old."""
        segments = self._segments
        last = segments[-1] if segments else None
        if (
            last is None
            or last.size + size > settings.segment_bytes
            or timestamp - last.first_ms > settings.segment_ms
        ):
            last = Segment(base_offset, timestamp if timestamp >= 0 else TIMELESS)
            segments.append(last)
        last.size += size
        if timestamp > last.newest_ms:
            last.newest_ms = timestamp
        elif timestamp < 0:
            last.written_ms = self._clock.now_ms()

    def expire(self, start_offset: int, end_offset: int, settings: LogSettings) -> int:
        """Drop segments beyond retention.ms, retention.bytes or the log start; return the new log
        start.
        """
        segments = self._segments
        if settings.deletes and settings.retention_ms >= 0:
            oldest_ms = self._clock.now_ms() - settings.retention_ms
            while segments and segments[0].time_ms < oldest_ms:
                segments.popleft()
        if settings.deletes and settings.retention_bytes >= 0:
            excess = self.size - settings.retention_bytes
            while segments and excess >= segments[0].size:
                excess -= segments.popleft().size
        while len(segments) > 1 and segments[1].base_offset <= start_offset:
            segments.popleft()
        return max(start_offset, self.first_offset(end_offset))
