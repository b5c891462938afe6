"""Write the entries of a trace that is converted from a log or another trace, block by block."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from kafka_shim.trace_format.entries import BlockBody, Connection, Entry
from kafka_shim.trace_format.segments import SegmentWriter, TraceStorage

BLOCK_ENTRIES = 10_000


class TraceWriter:
    """Writes a trace in blocks; `close` writes the remaining entries."""

    def __init__(
        self,
        folder: Path,
        writer: str,
        *,
        storage: TraceStorage | None = None,
        masks: Sequence[str] = (),
    ) -> None:
        """`masks` are those that the records in the entries have."""
        storage = storage or TraceStorage()
        self._segments = SegmentWriter(
            folder, writer, segment_bytes=storage.segment_bytes, compression=storage.compression
        )
        self._masks = list(masks)
        self._numbers: dict[object, int] = {}
        self._sequences: dict[int, int] = {}
        self._in_block: dict[Connection, int] = {}
        self._entries: list[Entry] = []

    def connection_number_for_key(self, key: object) -> int:
        """Return a connection's number among all."""
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def next_sequence(self, connection: int) -> int:
        """Return the sequence number of the next request on a connection."""
        self._sequences[connection] = self._sequences.get(connection, -1) + 1
        return self._sequences[connection]

    def connection_index_in_block(self, connection: Connection) -> int:
        """Return the number of a connection with this description in this block."""
        return self._in_block.setdefault(connection, len(self._in_block))

    def add(self, *entries: Entry) -> None:
        """Add entries; a full block is written."""
        self._entries += entries
        if len(self._entries) >= BLOCK_ENTRIES:
            self.flush()

    def flush(self) -> None:
        """Write the added entries as a block."""
        if self._entries:
            connections = [msgspec.structs.replace(c, number=n) for c, n in self._in_block.items()]
            self._segments.write_block(BlockBody(connections, self._entries, self._masks))
        self._in_block, self._entries = {}, []

    def close(self) -> None:
        """Write the remaining entries and the segment's index."""
        self.flush()
        self._segments.close()
