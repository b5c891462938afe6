"""The first pass for derived accesses: facts in responses anywhere in the trace."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from kafka_shim.pipeline.rows.batches import Split, table_batches
from kafka_shim.pipeline.rows.existence import (
    ExistenceIndex,
    ExistenceRecord,
    existence_records_from_rows,
    merge_records_of_same_entity,
)
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.trace_format.blocks import (
    HEADER_BYTES,
    BlockError,
    decode_entry_block_body,
    read_block_header,
)
from kafka_shim.trace_format.entries import DERIVED

TABLES_FROM_TRACE_FACTS = frozenset({"accesses", "observed", "request_accesses", "added_needs"})
"""Tables whose rows depend on it."""


def may_have_derived_accesses(path: str) -> bool:
    """Return whether a segment's accesses are derived; its first block shows it."""
    with Path(path).open("rb") as file:
        try:
            header = read_block_header(file.read(HEADER_BYTES))
            if header.is_index:
                return False
            body = decode_entry_block_body(header, file.read(header.block_bytes - HEADER_BYTES))
        except BlockError:
            return True  # unknown
    return any(connection.access_source == DERIVED for connection in body.connections)


class TraceFacts(msgspec.Struct, frozen=True):
    """Names by topic id, and what existed when."""

    topic_names_by_id: dict[bytes, str] = {}
    existence: list[ExistenceRecord] = []

    def add_to_selection(self, selection: Selection) -> Selection:
        """Return the selection with these facts."""
        return msgspec.structs.replace(
            selection,
            topic_names_by_id=self.topic_names_by_id,
            existence=ExistenceIndex(self.existence),
        )

    def with_facts_of_splits(self, splits: Iterable[Split]) -> "TraceFacts":
        """Return these facts with those of further splits."""
        more = read_trace_facts(splits)
        return TraceFacts(
            self.topic_names_by_id | more.topic_names_by_id,
            merge_records_of_same_entity([*self.existence, *more.existence]),
        )


def read_trace_facts(splits: Iterable[Split]) -> TraceFacts:
    """Read the facts in the responses of these splits."""
    names: dict[bytes, str] = {}
    seen: list[ExistenceRecord] = []
    for split in splits:
        if may_have_derived_accesses(split.path):
            for batch in table_batches("topic_ids", split, Selection(), ["topic_id", "name"]):
                ids, called = (column.to_pylist() for column in batch.columns)
                names.update(zip(map(bytes.fromhex, ids), called, strict=True))
            for batch in table_batches("sightings", split, Selection()):
                seen += existence_records_from_rows(batch.to_pylist())
    return TraceFacts(names, merge_records_of_same_entity(seen))
