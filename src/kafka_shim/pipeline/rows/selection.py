"""The selection of a trace's entries. Apart from the columns, so that options need no Arrow."""

from typing import TYPE_CHECKING

import msgspec

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.trace_format.blocks import BlockHeader

if TYPE_CHECKING:
    from kafka_shim.pipeline.rows.existence import ExistenceIndex


class Selection(msgspec.Struct, frozen=True):
    """The wanted entries: times in microseconds, [since, until); no APIs or principals means all.

    `release` determines which accesses were alternatives for the same requirement. For derived
    accesses, `topic_names_by_id` are given, and `existence` says what existed (None: unknown).
    `present_release` is the release that `added_needs` compares with.
    """

    since_us: int | None = None
    until_us: int | None = None
    apis: frozenset[int] = frozenset()
    release: str = RELEASES[-1]
    topic_names_by_id: dict[bytes, str] = {}
    present_release: str = RELEASES[-1]
    existence: "ExistenceIndex | None" = None
    principals: frozenset[str] = frozenset()

    @property
    def has_time_limit(self) -> bool:
        """Return whether the times are limited."""
        return self.since_us is not None or self.until_us is not None

    @property
    def selects_every_entry(self) -> bool:
        """Return whether every entry is wanted."""
        return not (self.has_time_limit or self.apis)

    def overlaps_block_times(self, header: BlockHeader) -> bool:
        return (self.since_us is None or header.last_us >= self.since_us) and (
            self.until_us is None or header.first_us < self.until_us
        )

    def selects_entry(self, time_us: int, api_key: int) -> bool:
        return (
            (not self.apis or api_key in self.apis)
            and (self.since_us is None or time_us >= self.since_us)
            and (self.until_us is None or time_us < self.until_us)
        )
