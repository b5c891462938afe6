"""The summary of a trace: counts by kind and over time."""

import collections
from collections.abc import Iterable
from typing import Any

import msgspec

SLOTS_MAX = 20
_GRAIN_US = 100_000
_SLOTS_US = tuple(
    unit * count
    for unit, counts in (
        (_GRAIN_US, (1, 2, 5)),
        (1_000_000, (1, 2, 5, 10, 30)),
        (60_000_000, (1, 2, 5, 10, 30)),
        (3_600_000_000, (1, 2, 6, 12)),
        (86_400_000_000, (1, 7, 30, 365)),
    )
    for count in counts
)


class TimeSlot(msgspec.Struct):
    """An interval of the time line that begins `start_us` microseconds after the first entry."""

    start_us: int
    requests: int = 0
    denials: int = 0


class Summary:
    """`counts` are by kind (entries, apis, principals, clients, denials), then by name."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.counts: dict[str, collections.Counter[str]] = collections.defaultdict(
            collections.Counter
        )
        self.first_us: int | None = None
        self.last_us = 0
        self._grains: dict[int, TimeSlot] = {}
        for row in rows:
            self._count_row(row)

    @property
    def seconds(self) -> float:
        """Return the seconds from the first entry to the last."""
        return self._span_us / 1_000_000

    @property
    def _span_us(self) -> int:
        return 0 if self.first_us is None else self.last_us - self.first_us

    def time_slots(self) -> tuple[int, list[TimeSlot]]:
        """Return the length of the intervals in microseconds, and at most SLOTS_MAX of them."""
        span, first_us = self._span_us, self.first_us or 0
        length = next(
            (slot_us for slot_us in _SLOTS_US if span < slot_us * SLOTS_MAX), _SLOTS_US[-1]
        )
        slots = [TimeSlot(start) for start in range(0, span + 1, length)]
        for grain in self._grains.values():
            slot = slots[(grain.start_us - first_us) // length]
            slot.requests += grain.requests
            slot.denials += grain.denials
        return length, slots

    def _count_row(self, row: dict[str, Any]) -> None:
        counts = self.counts
        time_us = row["time_us"]
        self.first_us = time_us if self.first_us is None else min(self.first_us, time_us)
        self.last_us = max(self.last_us, time_us)
        grain = self._grains.setdefault(time_us // _GRAIN_US, TimeSlot(time_us))
        grain.start_us = min(grain.start_us, time_us)
        counts["entries"][row["entry"]] += 1
        if row["entry"] == "request":
            grain.requests += 1
            counts["apis"][f"{row['api']} v{row['version']}"] += 1
            counts["principals"][row["principal"]] += 1
            software = " ".join((row["software_name"], row["software_version"])).strip()
            counts["clients"][software or row["client_id"] or "unknown"] += 1
        elif row["entry"] == "access" and not row["allowed"]:
            grain.denials += 1
            resource = f"{row['resource_type']}:{row['resource_name']}"
            counts["denials"][f"{row['principal']} {row['operation']} {resource}"] += 1
