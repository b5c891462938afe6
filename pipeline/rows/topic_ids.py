"""Names of topic ids, for accesses that are derived: answers anywhere in a trace have them."""

from collections.abc import Iterable
from pathlib import Path

from kafka_shim.pipeline.rows.batches import Split, batches
from kafka_shim.pipeline.rows.columns import Selection
from kafka_shim.protocol.trace.blocks import HEADER_BYTES, BlockError, read_body, read_header
from kafka_shim.protocol.trace.entries import DERIVED

NAMED_TABLES = frozenset({"accesses", "observed", "added_needs"})
"""Tables whose rows depend on the names."""


def is_derived(path: str) -> bool:
    """Whether a segment's accesses are derived; its first block tells: a writer is of one kind."""
    with Path(path).open("rb") as file:
        try:
            header = read_header(file.read(HEADER_BYTES))
            if header.is_index:
                return False
            body = read_body(header, file.read(header.block_bytes - HEADER_BYTES))
        except BlockError:
            return True  # it may be
    return any(connection.accesses == DERIVED for connection in body.connections)


def names_in(splits: Iterable[Split]) -> dict[bytes, str]:
    """The names that answers in these pieces give to topic ids, read in this process."""
    found: dict[bytes, str] = {}
    for split in splits:
        if is_derived(split.path):
            for batch in batches("topic_ids", split, Selection(), ["topic_id", "name"]):
                ids, names = (column.to_pylist() for column in batch.columns)
                found.update(zip(map(bytes.fromhex, ids), names, strict=True))
    return found
