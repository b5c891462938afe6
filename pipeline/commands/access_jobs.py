"""The jobs about accesses: what each is asked, and what is said besides its rows."""

import argparse
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark.sql import functions as f

from authorizer.acl_formats import write
from authorizer.acl_formats.kafka_commands import command
from authorizer.acl_formats.trace_rule import acl_rule
from authorizer.acl_names import AclTextError
from authorizer.model import Acl
from pipeline.acls.acl_set import AclSet, read_acls
from pipeline.commands.reading import Source
from pipeline.errors import PipelineError
from pipeline.intervals import interval_for
from pipeline.jobs.changed_requests import COLUMNS, with_requests
from pipeline.jobs.denials import denial_trend, denials
from pipeline.jobs.least_acls import collected as collected_acls, least_acls
from pipeline.jobs.unused_acls import unused_acls
from pipeline.jobs.what_breaks import ALLOWED, DENIED, changes, doubtful, what_breaks
from pipeline.report.outcome import (
    Outcome,
    collected,
    damage_head,
    damage_notes,
    seen_head,
    seen_note,
)
from pipeline.spark.observed import asked, setting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RESOURCE = ("principal", "operation", "resource_type", "resource_name")
_SHOWN = {
    "what-breaks": (
        *("change", *_RESOURCE, "requests", "requests_changed"),
        *("last_seen", "rule", "would_be_rule"),
    ),
    "unused-acls": ("state", "can_go", "requests", "last_used", "acl", "shadowed_by"),
    "least-acls": ("acl", "requests", "over_grants"),
    "denials": (*_RESOURCE, "requests", "first_seen", "last_seen", "remedy"),
}
PEOPLE_SAID = 10
"""More principals than these have their numbers in the JSON only."""
_TREND_SHOWN = ("time", *_RESOURCE, "requests")
_TREND_COLUMNS = ("time", "role", "allowed", *_RESOURCE)


class Context(msgspec.Struct):
    """What these jobs work on: all accesses once, of which those asked are judged."""

    source: Source
    accesses: "DataFrame"
    head: dict[str, Any]

    def acl_set(self, path: str) -> AclSet:
        return self.judged(read_acls(path))

    def judged(self, acls: list[Acl]) -> AclSet:
        head = self.head
        users, everyone = head["super_users"], head["allow_everyone_if_no_acl_found"]
        return AclSet(tuple(acls), tuple(users), everyone, head["release"])


def context_of(args: argparse.Namespace, source: Source, observed: "DataFrame") -> Context:
    """The context with what is known before any job: `observed` should be kept by Spark."""
    users, everyone = setting(observed)
    head = seen_head(observed) | damage_head(source)
    head["super_users"] = list(users if args.super_user is None else args.super_user)
    head["allow_everyone_if_no_acl_found"] = everyone
    head["release"] = source.options["release"]
    return Context(source, asked(observed, with_lists=args.lists), head)


def access_outcome(args: argparse.Namespace, context: Context) -> Outcome:
    """Run the job that the options name."""
    frame = _JOBS[args.job](args, context).persist()
    outcome = collected(args.job, frame, _shown(args), args.parquet)
    outcome.head = dict(context.head)
    outcome.notes = [seen_note(context.head), *damage_notes(context.head), *outcome.notes]
    _NOTES[args.job](args, context, frame, outcome)
    frame.unpersist()
    return outcome


def _shown(args: argparse.Namespace) -> tuple[str, ...]:
    return _TREND_SHOWN if getattr(args, "interval", None) else _SHOWN[args.job]


def _what_breaks(args: argparse.Namespace, context: Context) -> "DataFrame":
    """The changes; the requests behind them are looked for only if there are any."""
    baseline = context.acl_set(args.baseline) if args.baseline else None
    judged = doubtful(context.accesses, context.acl_set(args.acls), baseline).persist()
    rows = asked(context.source.table("accesses", *COLUMNS), with_lists=args.lists)
    if judged.where("allowed != would_be_allowed").isEmpty():
        rows = rows.limit(0)
    return with_requests(changes(judged), judged, rows, by_baseline=baseline is not None)


def _unused(args: argparse.Namespace, context: Context) -> "DataFrame":
    return unused_acls(context.accesses, context.acl_set(args.acls))


def _least(args: argparse.Namespace, context: Context) -> "DataFrame":
    return least_acls(context.accesses, args.over_grant).orderBy("acl")


def _denials(args: argparse.Namespace, context: Context) -> "DataFrame":
    return _trend(args, context, args.interval) if args.interval else denials(context.accesses)


def _trend(args: argparse.Namespace, context: Context, interval: str) -> "DataFrame":
    rows = context.source.table("accesses", *_TREND_COLUMNS)
    return denial_trend(asked(rows, with_lists=args.lists), interval)


def _breaks_notes(
    args: argparse.Namespace, _: Context, frame: "DataFrame", outcome: Outcome
) -> None:
    people = frame.groupBy("change", "principal").agg(
        f.count("*").alias("accesses"), f.max("requests_changed_of_principal").alias("requests")
    )
    found = [row.asDict() for row in people.orderBy(f.desc("requests"), "principal").collect()]
    denied, allowed = (
        [row for row in found if row["change"] == change] for change in (DENIED, ALLOWED)
    )
    outcome.head |= {
        "newly_denied": sum(row["accesses"] for row in denied),
        "newly_allowed": sum(row["accesses"] for row in allowed),
        "requests_newly_failing": sum(row["requests"] for row in denied),
        "requests_newly_succeeding": sum(row["requests"] for row in allowed),
        "principals": found,
    }
    head = outcome.head
    failing, succeeding = head["requests_newly_failing"], head["requests_newly_succeeding"]
    outcome.notes += [
        f"{head['newly_denied']} newly denied, {head['newly_allowed']} newly allowed",
        f"{failing} requests would newly fail, {succeeding} newly succeed",
    ]
    for verb, rows in (("fail", denied), ("succeed", allowed)):
        concerned = [row for row in rows if row["requests"]]
        said = [f"  {row['requests']} of {row['principal']} {verb}" for row in concerned]
        outcome.notes += said[:PEOPLE_SAID]
        if len(said) > PEOPLE_SAID:
            outcome.notes.append(f"  and of {len(said) - PEOPLE_SAID} more; --json has all")
    outcome.has_broken = bool(args.fail and denied)


def _unused_notes(
    args: argparse.Namespace, context: Context, frame: "DataFrame", outcome: Outcome
) -> None:
    """The lines to remove what can go, after a check that nothing changes without it."""
    present = context.acl_set(args.acls)
    rows = frame.where("can_go").select("acl", "remove").collect()
    gone = {row["acl"] for row in rows}
    rest = [acl for acl in present.acls if acl_rule(acl) not in gone]
    changes = what_breaks(context.accesses, context.judged(rest), baseline=present).count()
    outcome.is_wrong = changes > 0
    outcome.notes.append(
        f"{len(gone)} of {len(present.acls)} ACLs can go together;"
        f" checked with what-breaks: {changes or 'no'} decisions change"
    )
    outcome.notes += [f"  {row['remove']}" for row in rows]
    outcome.head["changes"] = changes


def _least_notes(
    args: argparse.Namespace, context: Context, frame: "DataFrame", outcome: Outcome
) -> None:
    """Check the result against what was observed, and describe it in the form asked for."""
    acls = collected_acls(frame)
    users = tuple(context.head["super_users"])
    release = context.head["release"]
    wrong = what_breaks(context.accesses, AclSet(tuple(acls), users, release=release)).collect()
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
    if args.to:
        outcome.text = _written(acls, args.to)


def _written(acls: list[Acl], form: str) -> str:
    try:
        return write(acls, form)
    except AclTextError as error:
        raise PipelineError(f"--to {form}: {error}") from error


def _difference(present: list[Acl], wanted: list[Acl]) -> list[str]:
    removed = [acl for acl in present if acl not in set(wanted)]
    added = [acl for acl in wanted if acl not in set(present)]
    return [
        f"{len(added)} to add and {len(removed)} to remove",
        *("  " + command("--add", acl) for acl in added),
        *("  " + command("--remove --force", acl) for acl in removed),
    ]


def _denials_notes(
    args: argparse.Namespace, context: Context, frame: "DataFrame", outcome: Outcome
) -> None:
    """The number, and the trend that a page plots."""
    outcome.notes.append(f"{frame.count()} findings")
    if not args.html:
        return
    outcome.interval = args.interval or span_interval(context.head)
    trend = frame if args.interval else _trend(args, context, outcome.interval)
    outcome.trend = [row.asDict() for row in trend.collect()]


def span_interval(head: dict[str, Any]) -> str:
    """An interval that suits the time that was observed."""
    if not head["accesses"]:
        return interval_for(timedelta())
    first, last = (datetime.fromisoformat(head[name]) for name in ("first_seen", "last_seen"))
    return interval_for(last - first)


_JOBS: dict[str, Callable[[argparse.Namespace, Context], "DataFrame"]] = {
    "what-breaks": _what_breaks,
    "unused-acls": _unused,
    "least-acls": _least,
    "denials": _denials,
}
_NOTES = {
    "what-breaks": _breaks_notes,
    "unused-acls": _unused_notes,
    "least-acls": _least_notes,
    "denials": _denials_notes,
}
