"""`watch`: report denials as they are recorded, by the present ACLs or by other ones, each once."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.acls.acl_set import AclSet, read_distinct_acls_from_file
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.jobs.denials import denials
from kafka_shim.pipeline.jobs.what_breaks import DENIED, what_breaks
from kafka_shim.pipeline.options import (
    ACL_FORMATS,
    absolute_location,
    add_stream_options,
)
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.report.output import cell_text, rows_with_iso_times
from kafka_shim.pipeline.request_accesses import (
    accesses_of_requests,
    observed_settings,
)
from kafka_shim.policy.formats.trace_rule import readable_rule
from kafka_shim.text.data_text import json_text
from kafka_shim.text.message_text import escaped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kafka_shim.pipeline.trace_input import TraceInput

_KEYS = ("principal", "operation", "resource_type", "resource_name")
_REPORTED_MAX = 1_000_000


class NewDenialFinder:
    """Finds new denials in each micro-batch; keeps reported denials, and super users."""

    def __init__(
        self,
        acls: list[Acl] | None,
        release: str,
        super_users: list[str] | None,
        *,
        with_listed_accesses: bool,
    ) -> None:
        self._acls = acls
        self._release = release
        self._super_users = set(super_users or ())
        self._has_super_users_option = super_users is not None
        self._allow_everyone = False
        self._lists = with_listed_accesses
        self._reported: set[tuple[str, ...]] = set()

    def find_new_denials(self, observed_batch: "DataFrame") -> list[dict[str, Any]]:
        """Return the rows of `denials` or `what_breaks` that were not reported before."""
        engine = DuckDbEngine()
        accesses = engine.relation_from_arrow(observed_batch.toArrow())
        users, everyone = observed_settings(engine, accesses)
        self._super_users |= set() if self._has_super_users_option else set(users)
        self._allow_everyone |= everyone
        needed = accesses_of_requests(engine, accesses, with_listed_accesses=self._lists)
        rows = engine.rows(self._denials(engine, needed))
        new_rows = [row for row in rows if _denial_key(row) not in self._reported]
        if len(self._reported) > _REPORTED_MAX:
            self._reported.clear()
        self._reported.update(map(_denial_key, new_rows))
        return new_rows

    def _denials(self, engine: DuckDbEngine, accesses: str) -> str:
        if self._acls is None:
            return denials(engine, accesses)
        users = tuple(sorted(self._super_users))
        candidate = AclSet(tuple(self._acls), users, self._allow_everyone, self._release)
        changes = what_breaks(engine, accesses, candidate)
        return engine.sql(f"select * from {{c}} where change = '{DENIED}'", c=changes)


def report_new_denials(
    spark: "SparkSession",
    reader_options: dict[str, str],
    finder: NewDenialFinder,
    on_denials: Callable[[list[dict[str, Any]]], None],
    every: str | None,
    *,
    checkpoint: Path | None = None,
) -> None:
    """Report new denials in the traces of the option `paths`: until interrupted, or without
    `every` only in the present data.

    A checkpoint lets the next run continue, also after a kill, whose micro-batch is repeated.
    """
    from kafka_shim.pipeline.spark.data_source import FORMAT
    from kafka_shim.pipeline.spark.run_stream import run_stream

    reader = spark.readStream.format(FORMAT).option("table", "observed")
    counts = reader.options(**reader_options).load()

    def report_batch(batch: "DataFrame", _: int) -> None:
        rows = finder.find_new_denials(batch)
        if rows:
            on_denials(rows)

    run_stream(counts, report_batch, every=every, checkpoint=checkpoint)


def _denial_key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in _KEYS)


def denial_line(row: dict[str, Any], *, as_json: bool) -> str:
    """Return a finding as one line of text or JSON."""
    if as_json:
        return json_text(rows_with_iso_times([row])[0], indent=None)
    what = f"{row['principal']} {row['operation']} {row['resource_type']}:{row['resource_name']}"
    is_change = "change" in row
    why = row["would_be_rule"] if is_change else row["rule"]
    head = row["change"] if is_change else "denied"
    time, hosts = cell_text(row["first_seen"]), ", ".join(row["hosts"])
    return escaped(f"{time} {head}: {what} from {hosts} ({readable_rule(why)})")


def _add_watch_options(job: argparse.ArgumentParser) -> None:
    text = "Report what these ACLs would newly deny (default: report recorded denials)"
    job.add_argument("--acls", metavar="FILE", help=f"{text}; {ACL_FORMATS}")
    text = "Begin with existing entries (default: report only new ones)"
    job.add_argument("--from-start", action="store_true", help=text)
    job.add_argument("--once", action="store_true", help="Stop after the existing entries")
    job.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        type=absolute_location,
        help="Keep in this folder what was read, so that the next run continues there; after a"
        " kill, it may repeat the last denials",
    )
    job.add_argument("--json", action="store_true", help="Print one JSON object per line")
    add_stream_options(job, "2 seconds")


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:

    options = trace_input.options
    acls = None if args.acls is None else read_distinct_acls_from_file(args.acls)
    watcher = NewDenialFinder(
        acls, options["release"], args.super_user, with_listed_accesses=args.lists
    )
    reported = 0

    def on_denials(rows: list[dict[str, Any]]) -> None:
        nonlocal reported
        reported += len(rows)
        for row in rows:
            print(denial_line(row, as_json=args.json), flush=True)

    if not (args.from_start or args.once):
        options = options | {"startingOffsets": "latest"}
    report_new_denials(
        trace_input.spark,
        options | {"paths": json.dumps(args.trace)},
        watcher,
        on_denials,
        None if args.once else args.every,
        checkpoint=None if args.checkpoint is None else Path(args.checkpoint),
    )
    return Outcome("watch", [], [], [], {"reported": reported}, [], text="")


JOB = Job(
    "Report denials as they are recorded, or what other ACLs would deny",
    _add_watch_options,
    _run,
    is_stream=True,
)
