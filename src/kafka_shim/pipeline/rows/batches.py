"""Read segments into Arrow batches, without Spark.

`plan` divides a trace into splits; `batches` reads a split as one of the tables.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from glob import glob, has_magic
from pathlib import Path

import msgspec
import pyarrow as pa

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.rows.access_counts import (
    BATCH_ROWS,
    DistinctAccesses,
    DistinctRequests,
)
from kafka_shim.pipeline.rows.access_rows import (
    add_access_rows,
    add_topic_id_rows,
    flush_requests_without_response,
)
from kafka_shim.pipeline.rows.added_needs import add_added_need_rows
from kafka_shim.pipeline.rows.columns import (
    AccessCounter,
    ColumnBuilder,
    SplitState,
)
from kafka_shim.pipeline.rows.complete_blocks import damage_at_block_start
from kafka_shim.pipeline.rows.entity_rows import add_entity_rows
from kafka_shim.pipeline.rows.frame_rows import add_request_rows, add_response_rows
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.pipeline.tables import (
    ADDED_NEEDS,
    CLIENTS,
    SIGHTINGS,
    TABLES,
    select_columns,
)
from kafka_shim.trace_format.blocks import BlockHeader
from kafka_shim.trace_format.entries import BlockBody
from kafka_shim.trace_format.segments import Block, Damage, read_segment, segment_paths

SPLIT_BYTES = 64 * 1024 * 1024
OPENING_BYTES = 256 * 1024
"""What it costs to open a file, as if it were so much larger."""
DISTINCT_ROWS = 500_000
"""Distinct rows that are kept before they are handed on; more are counted again by Spark. A row
has some 600 bytes.
"""

_ROWS: dict[str, Callable[[ColumnBuilder, Block, Selection, SplitState], None]] = {
    "requests": add_request_rows,
    "clients": add_request_rows,
    "responses": add_response_rows,
    "accesses": add_access_rows,
    "observed": add_access_rows,
    "request_accesses": add_access_rows,
    "topic_ids": add_topic_id_rows,
    "sightings": add_entity_rows,
    "added_needs": add_added_need_rows,
}
_GROUPED = {
    "clients": CLIENTS,
    "added_needs": ADDED_NEEDS,
    "sightings": SIGHTINGS,
}
_COUNTERS: dict[str, Callable[[], AccessCounter]] = {
    "observed": DistinctAccesses,
    "request_accesses": DistinctRequests,
}
COUNTING_TABLES = frozenset({*_GROUPED, *_COUNTERS})
"""Tables whose rows count what is equal in a task."""


class Split(msgspec.Struct, frozen=True):
    """The blocks of a segment that begin in [start, end).

    `at_block`: a block should begin at `start`; otherwise the first one after it is searched.
    """

    path: str
    start: int
    end: int
    at_block: bool = False


def plan_splits(paths: list[str], split_bytes: int = SPLIT_BYTES) -> list[Split]:
    """Return the splits of traces, each a folder or one segment.

    A segment of the usual size is one split. A last piece of less than half a split is added to the
    one before. A segment that several paths name is read once. Raise PipelineError if a trace is
    missing.
    """
    found: list[Split] = []
    seen: set[tuple[int, int]] = set()
    for name in _expand_wildcards(paths):
        path = Path(name)
        if not path.exists():
            raise PipelineError(f"the trace `{name}` does not exist")
        for segment in segment_paths(path):
            status = segment.stat()
            if (file := (status.st_dev, status.st_ino)) in seen:
                continue
            seen.add(file)
            size = status.st_size
            pieces = max(1, round(size / split_bytes))
            edges = [size * n // pieces for n in range(pieces + 1)]
            found += [
                Split(str(segment), start, end)
                for start, end in itertools.pairwise(edges)
                if end > start
            ]
    return found


def _expand_wildcards(paths: list[str]) -> Iterator[str]:
    """Yield paths; for one with wildcards, those that match. Raise PipelineError if none does."""
    for path in paths:
        if not has_magic(path) or Path(path).exists():
            yield path
            continue
        matches = sorted(glob(path))  # noqa: PTH207 - an absolute pattern
        if not matches:
            raise PipelineError(f"no trace matches `{path}`")
        yield from matches


def group_splits_into_tasks(
    splits: Iterable[Split], task_bytes: int = SPLIT_BYTES
) -> list[tuple[Split, ...]]:
    """Group splits into tasks: many small ones together, large ones alone."""
    found: list[list[Split]] = []
    taken = task_bytes
    for split in splits:
        cost = split.end - split.start + OPENING_BYTES
        if taken + cost > task_bytes:
            found.append([])
            taken = 0
        found[-1].append(split)
        taken += cost
    return [tuple(part) for part in found]


def table_batches(
    table: str, split: Split, selection: Selection, columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield a split as batches of a table; `columns` in the wanted order, None for all."""
    return task_batches(table, (split,), selection, columns)


def task_batches(
    table: str, splits: Iterable[Split], selection: Selection, columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield splits as batches of a table, in which what is equal in them is counted together."""
    schema = TABLES[table]
    wanted = schema if columns is None else select_columns(schema, columns)
    if table in ("damage", "pieces"):
        for split in splits:
            rows = [msgspec.structs.asdict(split)] if table == "pieces" else _damage_rows(split)
            if rows:
                yield pa.RecordBatch.from_pylist(rows, schema).select(wanted.names)
        return
    source = _unsummed_table_batches(table, splits, selection, wanted.names)
    if table in _GROUPED:
        source = _sum_equal_rows_of_batches(source)
    for batch in source:
        yield batch.select(wanted.names)


def _damage_rows(split: Split) -> list[dict[str, object]]:
    return [
        {"at": block.position, **msgspec.structs.asdict(block)}
        for block in _blocks_of_split(split)
        if isinstance(block, Damage)
    ]


def _blocks_of_split(
    split: Split, selects_block: Callable[[BlockHeader], bool] | None = None
) -> Iterator[Block | Damage]:
    path = Path(split.path)
    if split.at_block and split.start:
        damage = damage_at_block_start(path, split.start)
        if damage is not None:
            yield damage
    yield from read_segment(path, split.start, split.end, selects_block)


def _unsummed_table_batches(
    table: str, splits: Iterable[Split], selection: Selection, names: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield batches of rows; damaged parts are only in the table `damage`."""
    grouped = _GROUPED.get(table)
    columns = ColumnBuilder(grouped or select_columns(TABLES[table], names))
    counter = _COUNTERS[table]() if table in _COUNTERS else None
    for split in splits:
        pending = SplitState(counter)
        for block in _blocks_of_split(
            split, selection.overlaps_block_times if selection.has_time_limit else None
        ):
            if isinstance(block, Damage):
                continue
            if selection.principals:
                block = _entries_of_principals(block, selection.principals)  # noqa: PLW2901
            _ROWS[table](columns, block, selection, pending)
            if counter is not None and len(counter) >= DISTINCT_ROWS:
                yield from counter.take_batches()
            if len(columns) >= BATCH_ROWS:
                yield columns.take_batch()
        flush_requests_without_response(columns, selection, pending)
    if counter is not None:
        yield from counter.take_batches()
    if len(columns):
        yield columns.take_batch()


def _entries_of_principals(block: Block, principals: frozenset[str]) -> Block:
    """Return a block with the entries of these principals only."""
    connections = [each for each in block.body.connections if each.principal in principals]
    numbers = {each.number for each in connections}
    entries = [entry for entry in block.body.entries if entry.connection in numbers]
    return msgspec.structs.replace(block, body=BlockBody(connections, entries))


def _sum_equal_rows_of_batches(source: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Sum equal rows; yield them when there are too many distinct ones to keep."""
    kept: pa.Table | None = None
    for batch in source:
        part = sum_equal_rows(pa.Table.from_batches([batch]))
        kept = part if kept is None else sum_equal_rows(pa.concat_tables([kept, part]))
        if kept.num_rows >= DISTINCT_ROWS:
            yield from kept.combine_chunks().to_batches()
            kept = None
    if kept is not None:
        yield from kept.combine_chunks().to_batches()


def sum_equal_rows(counts: pa.Table) -> pa.Table:
    """Sum rows with equal keys; keep the first example. `instead` may be a list."""
    schema = counts.schema
    measures = {"requests", "first_seen", "last_seen", "example"}
    keys = [name for name in schema.names if name not in measures]
    plain = counts
    if "instead" in keys:  # Arrow cannot group by lists
        import pyarrow.compute as pc  # noqa: PLC0415 - takes 30 ms, and small traces need it not

        joined = pc.binary_join(counts["instead"], "\n")
        plain = counts.set_column(schema.get_field_index("instead"), "instead", joined)
    wanted = [("requests", "sum"), ("first_seen", "min"), ("last_seen", "max")]
    if "example" in schema.names:
        wanted.append(("example", "first"))
    summed = plain.group_by(keys, use_threads=False).aggregate(wanted)
    summed = summed.rename_columns({f"{name}_{how}": name for name, how in wanted})
    if "instead" in keys:
        split = [text.split("\n") if text else [] for text in summed["instead"].to_pylist()]
        at = summed.schema.get_field_index("instead")
        summed = summed.set_column(at, "instead", pa.array(split, schema.field("instead").type))
    return summed.select(schema.names).cast(schema)
