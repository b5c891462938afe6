"""What accesses that are derived need to know, and answers anywhere in a trace tell."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from kafka_shim.pipeline.rows.batches import Split, batches
from kafka_shim.pipeline.rows.columns import Selection
from kafka_shim.pipeline.rows.lives import Lives, Seen, merged, seen_in
from kafka_shim.protocol.trace.blocks import HEADER_BYTES, BlockError, read_body, read_header
from kafka_shim.protocol.trace.entries import DERIVED

NAMED_TABLES = frozenset({"accesses", "observed", "added_needs"})
"""Tables whose rows depend on it."""


def is_derived(path: str) -> bool:
    """Return whether a segment's accesses are derived; its first block shows it for all."""
    with Path(path).open("rb") as file:
        try:
            header = read_header(file.read(HEADER_BYTES))
            if header.is_index:
                return False
            body = read_body(header, file.read(header.block_bytes - HEADER_BYTES))
        except BlockError:
            return True  # it may be
    return any(connection.accesses == DERIVED for connection in body.connections)


class FirstPass(msgspec.Struct, frozen=True):
    """Names by topic id, and what existed when."""

    names: dict[bytes, str] = {}
    seen: list[Seen] = []

    def told(self, selection: Selection) -> Selection:
        """The selection for those who read the accesses."""
        return msgspec.structs.replace(selection, names=self.names, lives=Lives(self.seen))

    def and_of(self, splits: Iterable[Split]) -> "FirstPass":
        """This, and what further pieces tell."""
        more = first_pass(splits)
        return FirstPass(self.names | more.names, merged([*self.seen, *more.seen]))


def first_pass(splits: Iterable[Split]) -> FirstPass:
    """What the answers in these pieces tell, read in this process."""
    names: dict[bytes, str] = {}
    seen: list[Seen] = []
    for split in splits:
        if is_derived(split.path):
            for batch in batches("topic_ids", split, Selection(), ["topic_id", "name"]):
                ids, called = (column.to_pylist() for column in batch.columns)
                names.update(zip(map(bytes.fromhex, ids), called, strict=True))
            for batch in batches("sightings", split, Selection()):
                seen += seen_in(batch.to_pylist())
    return FirstPass(names, merged(seen))
