"""One job from its options to its outcome: read, judge, describe."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pipeline.acl_lines import as_format, kafka_acls_words
from pipeline.acl_set import AclSet, read_acls
from pipeline.batches import plan
from pipeline.errors import PipelineError
from pipeline.jobs.denials import denials
from pipeline.jobs.ingest import ingest, lake_observed, lake_table
from pipeline.jobs.least_acls import collected, least_acls
from pipeline.jobs.unused_acls import unused_acls
from pipeline.jobs.what_breaks import ALLOWED, DENIED, what_breaks
from pipeline.observed import asked, observed, setting
from pipeline.output import plain, write_parquet
from pipeline.progress import Progress
from pipeline.reports import REPORTS, SHOWN, Source, lake_of
from pipeline.session import spark_session
from pipeline.source import selection_of, trace_table
from protocol.api_versions import RELEASES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RESOURCE = ("principal", "operation", "resource_type", "resource_name")
_SHOWN = {
    "what-breaks": ("change", *_RESOURCE, "requests", "last_seen", "rule", "would_be_rule"),
    "unused-acls": ("state", "can_go", "requests", "last_used", "acl", "shadowed_by"),
    "least-acls": ("acl", "requests", "over_grants"),
    "denials": (*_RESOURCE, "requests", "first_seen", "last_seen", "remedy"),
}


class Outcome(msgspec.Struct):
    """What a job found. `shown` are the columns of the table; `text`, if any, is all to print.

    `has_broken`: `--fail` was given and something is newly denied. `is_wrong`: a result did not
    stand its own check.
    """

    columns: list[str]
    shown: list[str]
    rows: list[dict[str, Any]]
    head: dict[str, Any]
    notes: list[str]
    text: str | None = None
    has_broken: bool = False
    is_wrong: bool = False


class Context(msgspec.Struct):
    """What all jobs work on."""

    accesses: "DataFrame"
    super_users: tuple[str, ...]
    allow_everyone: bool
    release: str

    def acl_set(self, path: str) -> AclSet:
        return self.judged(read_acls(path))

    def judged(self, acls: list[Any]) -> AclSet:
        return AclSet(tuple(acls), self.super_users, self.allow_everyone, self.release)


def run_job(args: argparse.Namespace) -> Outcome:
    """Run the job that the options name; PipelineError for options that cannot be followed."""
    options = _options(args)
    selection_of(options)  # what is wrong with them is said before Spark is started
    lake = lake_of(args.trace)
    if lake is None and not plan(args.trace):
        raise PipelineError(f"there are no segments in {', '.join(args.trace)}")
    for path in (getattr(args, name, None) for name in ("acls", "baseline", "against")):
        if path is not None:
            read_acls(path)
    with Progress("starting Spark"):
        spark = spark_session(args.master)
    with Progress(args.job, spark):
        if args.job == "ingest":
            return _ingest(args, spark, options["release"])
        if args.job in REPORTS:
            return _report(args, Source(spark, args.trace, options))
        found = lake_observed(spark, lake) if lake else observed(spark, args.trace, options)
        accesses = found.persist()
        try:
            return _run(args, spark, accesses, options)
        finally:
            accesses.unpersist()


def _ingest(args: argparse.Namespace, spark: "SparkSession", release: str) -> Outcome:
    done = ingest(spark, args.trace, Path(args.output), release)
    head = msgspec.structs.asdict(done)
    note = f"{done.segments} segments had something new: {done.read_bytes} bytes read,"
    notes = [f"{note} {done.files} files written to {args.output}"]
    if done.recovered:
        notes.insert(0, "a run that was interrupted has been finished first")
    return Outcome([], [], [], head, notes)


def _report(args: argparse.Namespace, source: Source) -> Outcome:
    frame = REPORTS[args.job](args, source)
    outcome = Outcome(frame.columns, list(SHOWN[args.job]), [], {}, [])
    if args.parquet:
        write_parquet(frame, args.parquet)
        outcome.notes.append(f"rows written to {args.parquet}")
        return outcome
    outcome.rows = [row.asDict() for row in frame.collect()]
    outcome.notes.append(f"{len(outcome.rows)} findings")
    outcome.has_broken = bool(getattr(args, "fail", False) and outcome.rows)
    return outcome


def _run(
    args: argparse.Namespace,
    spark: "SparkSession",
    accesses: "DataFrame",
    options: dict[str, str],
) -> Outcome:
    users, everyone = setting(accesses)
    if args.super_user is not None:
        users = tuple(args.super_user)
    context = Context(asked(accesses, with_lists=args.lists), users, everyone, options["release"])
    head = _head(spark, args.trace, accesses, options, context)
    frame = _JOBS[args.job](args, context).persist()
    rows = [row.asDict() for row in frame.collect()] if not args.parquet else []
    outcome = Outcome(frame.columns, list(_SHOWN[args.job]), rows, head, [_about(head)])
    if args.parquet:
        write_parquet(frame, args.parquet)
        outcome.notes.append(f"{frame.count()} rows written to {args.parquet}")
    _NOTES.get(args.job, _no_notes)(args, context, frame, outcome)
    frame.unpersist()
    return outcome


def _options(args: argparse.Namespace) -> dict[str, str]:
    release = args.kafka_version or RELEASES[-1]
    if release not in RELEASES:
        raise PipelineError(f"`{release}` is no release known here; they are {', '.join(RELEASES)}")
    found = {"since": args.since, "until": args.until, "apis": args.apis, "release": release}
    return {name: value for name, value in found.items() if value}


def _head(
    spark: "SparkSession",
    paths: list[str],
    accesses: "DataFrame",
    options: dict[str, str],
    context: Context,
) -> dict[str, Any]:
    """What was looked at: so much, from when to when, and what could not be read."""
    (total,) = accesses.selectExpr(
        "sum(requests) accesses",
        "count(*) distinct",
        "min(first_seen) first",
        "max(last_seen) last",
    ).collect()
    lake = lake_of(paths)
    damaged = (
        lake_table(spark, "damage", lake) if lake else trace_table(spark, "damage", paths, options)
    )
    damage = damaged.where("not is_tail").collect()
    return {
        "accesses": total["accesses"] or 0,
        "distinct": total["distinct"],
        "first_seen": total["first"] and plain(total["first"]),
        "last_seen": total["last"] and plain(total["last"]),
        "damaged_blocks": len(damage),
        "damaged_bytes": sum(row["length"] for row in damage),
        "super_users": list(context.super_users),
        "allow_everyone_if_no_acl_found": context.allow_everyone,
        "release": context.release,
    }


def _about(head: dict[str, Any]) -> str:
    text = f"{head['accesses']} accesses, {head['distinct']} different"
    if head["accesses"]:
        text += f", {head['first_seen']} to {head['last_seen']}"
    if head["super_users"]:
        text += f"; super users: {', '.join(head['super_users'])}"
    if head["damaged_blocks"]:
        text += (
            f"; {head['damaged_blocks']} damaged places ({head['damaged_bytes']} bytes) left out"
        )
    return text


def _what_breaks(args: argparse.Namespace, context: Context) -> "DataFrame":
    baseline = context.acl_set(args.baseline) if args.baseline else None
    return what_breaks(context.accesses, context.acl_set(args.acls), baseline)


def _unused(args: argparse.Namespace, context: Context) -> "DataFrame":
    return unused_acls(context.accesses, context.acl_set(args.acls))


def _least(args: argparse.Namespace, context: Context) -> "DataFrame":
    return least_acls(context.accesses, args.over_grant).orderBy("acl")


def _denials(_: argparse.Namespace, context: Context) -> "DataFrame":
    return denials(context.accesses)


def _breaks_notes(
    args: argparse.Namespace, _: Context, frame: "DataFrame", outcome: Outcome
) -> None:
    counts = {row["change"]: row["count"] for row in frame.groupBy("change").count().collect()}
    denied, allowed = counts.get(DENIED, 0), counts.get(ALLOWED, 0)
    outcome.head |= {"newly_denied": denied, "newly_allowed": allowed}
    outcome.notes.append(f"{denied} newly denied, {allowed} newly allowed")
    outcome.has_broken = bool(args.fail and denied)


def _unused_notes(_: argparse.Namespace, __: Context, ___: "DataFrame", outcome: Outcome) -> None:
    gone = [row["remove"] for row in outcome.rows if row["can_go"]]
    outcome.notes.append(
        f"{len(gone)} of {len(outcome.rows)} ACLs can go together without a changed decision"
    )
    outcome.notes += [f"  {line}" for line in gone]


def _least_notes(
    args: argparse.Namespace, context: Context, frame: "DataFrame", outcome: Outcome
) -> None:
    """Check the result against what was observed, and describe it in the form asked for."""
    acls = collected(frame)
    wrong = what_breaks(context.accesses, AclSet(tuple(acls), context.super_users)).collect()
    for row in wrong:
        what = (
            f"{row['principal']} {row['operation']} {row['resource_type']}:{row['resource_name']}"
        )
        outcome.notes.append(f"check: {row['change']}: {what}")
    outcome.is_wrong = any(row["change"] == DENIED for row in wrong)
    verdict = "all observed decisions are the same" if not wrong else "see the lines above"
    outcome.notes.append(f"{len(acls)} ACLs; checked with what-breaks: {verdict}")
    outcome.head["changes"] = len(wrong)
    if args.against:
        outcome.notes += _difference(read_acls(args.against), acls)
    if args.format:
        outcome.text = as_format(acls, args.format)


def _difference(present: list[Any], wanted: list[Any]) -> list[str]:
    removed = [acl for acl in present if acl not in set(wanted)]
    added = [acl for acl in wanted if acl not in set(present)]
    return [
        f"{len(added)} to add and {len(removed)} to remove",
        *(f"  kafka-acls --add {kafka_acls_words(acl)}" for acl in added),
        *(f"  kafka-acls --remove --force {kafka_acls_words(acl)}" for acl in removed),
    ]


def _no_notes(_: argparse.Namespace, __: Context, frame: "DataFrame", outcome: Outcome) -> None:
    outcome.notes.append(f"{frame.count()} findings")


_JOBS = {
    "what-breaks": _what_breaks,
    "unused-acls": _unused,
    "least-acls": _least,
    "denials": _denials,
}
_NOTES = {
    "what-breaks": _breaks_notes,
    "unused-acls": _unused_notes,
    "least-acls": _least_notes,
}
