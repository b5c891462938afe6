"""Cache, collect and describe the rows of any job."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafka_shim.pipeline.commands.reading import Observation, Source
from kafka_shim.pipeline.report.outcome import Outcome, damage_notes, seen_note
from kafka_shim.pipeline.report.output import write_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextmanager
def kept(frame: "DataFrame") -> "Iterator[DataFrame]":
    """Cache the DataFrame inside the `with` block."""
    frame.persist()
    try:
        yield frame
    finally:
        frame.unpersist()


def access_outcome(
    args: argparse.Namespace, seen: Observation, frame: "DataFrame", shown: tuple[str, ...]
) -> Outcome:
    """Return the outcome of a job about accesses: its rows, and the
    observed accesses and period.
    """
    outcome = _collected(args, frame, shown)
    outcome.head = dict(seen.head)
    outcome.notes = [seen_note(seen.head), *damage_notes(seen.head), *outcome.notes]
    return outcome


def table_outcome(
    args: argparse.Namespace, source: Source, frame: "DataFrame", shown: tuple[str, ...]
) -> Outcome:
    """Return the outcome of a job about clients, times or damage: its rows and their number."""
    with kept(frame):
        outcome = _collected(args, frame, shown)
        found = frame.count()
    outcome.head = source.damage_head()
    outcome.notes = [f"{found} rows", *damage_notes(outcome.head), *outcome.notes]
    outcome.has_broken = bool(getattr(args, "fail", False) and found)
    return outcome


def _collected(args: argparse.Namespace, frame: "DataFrame", shown: tuple[str, ...]) -> Outcome:
    """Collect the rows; with an output folder, write them there and return only their number."""
    outcome = Outcome(args.job, frame.columns, list(shown), [], {}, [])
    if args.parquet:
        write_table(frame, args.parquet, args.table_format)
        outcome.notes.append(f"{frame.count()} rows written to {args.parquet}")
    else:
        outcome.rows = [row.asDict() for row in frame.collect()]
    return outcome
