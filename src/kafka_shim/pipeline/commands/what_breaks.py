"""`what-breaks`: which accesses a new ACL set would newly deny or allow."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import ACL_FORMATS
from kafka_shim.pipeline.report.charts import Chart, bars
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.report.totals import RESOURCE, totals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_shim.pipeline.commands.reading import Observation, Source

_SHOWN = (
    *("change", "principal", *RESOURCE, "requests", "requests_changed"),
    *("last_seen", "rule", "would_be_rule"),
)
PRINCIPALS_NOTED = 10
"""How many principals the text output lists; the JSON has all."""


def _add_options(job: argparse.ArgumentParser) -> None:
    text = f"the new ACLs ({ACL_FORMATS})"
    job.add_argument("--acls", required=True, metavar="FILE", help=text)
    job.add_argument(
        "--baseline",
        metavar="FILE",
        help="compare with these ACLs instead of with the recorded decisions",
    )
    job.add_argument(
        "--fail", action="store_true", help="exit with code 3 if anything would be newly denied"
    )


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.commands.outcomes import access_outcome, kept

    seen = source.observation(args)
    with kept(_changes(args, source, seen)) as frame:
        outcome = access_outcome(args, seen, frame, _SHOWN)
        _note(args, frame, outcome)
    return outcome


def _changes(args: argparse.Namespace, source: "Source", seen: "Observation") -> "DataFrame":
    """Return the changes; the affected requests are searched only if there are changes."""
    from kafka_shim.pipeline.jobs.changed_requests import COLUMNS, with_requests
    from kafka_shim.pipeline.jobs.what_breaks import changes, doubtful
    from kafka_shim.pipeline.spark.observed import needed

    baseline = seen.read_acl_set(args.baseline) if args.baseline else None
    judged = doubtful(seen.accesses, seen.read_acl_set(args.acls), baseline).persist()
    rows = needed(source.table("accesses", *COLUMNS), with_lists=args.lists)
    if judged.where("allowed != would_be_allowed").isEmpty():
        rows = rows.limit(0)
    return with_requests(changes(judged), judged, rows, by_baseline=baseline is not None)


def _note(args: argparse.Namespace, frame: "DataFrame", outcome: Outcome) -> None:
    """Add a note: how many accesses and requests change, and of which principals."""
    from kafka_shim.pipeline.jobs.changed_requests import by_principal
    from kafka_shim.pipeline.jobs.what_breaks import ALLOWED, DENIED

    found = [row.asDict() for row in by_principal(frame).collect()]
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
        outcome.notes += said[:PRINCIPALS_NOTED]
        if len(said) > PRINCIPALS_NOTED:
            outcome.notes.append(f"  and of {len(said) - PRINCIPALS_NOTED} more; --json has all")
    outcome.has_broken = bool(args.fail and denied)


def _charts(outcome: Outcome) -> list[Chart]:
    charts = []
    for change in dict.fromkeys(row["change"] for row in outcome.rows):
        rows = [row for row in outcome.rows if row["change"] == change]
        head = f"Accesses {change}"
        charts.append(bars(f"{head}, by principal", "accesses", totals(rows, "principal")))
        charts.append(bars(f"{head}, by resource", "accesses", totals(rows, *RESOURCE)))
        # a request may have several causes, so a principal's total is not the sum of its rows
        people = {row["principal"]: row["requests_changed_of_principal"] for row in rows}
        verb = {"newly denied": "fail", "newly allowed": "succeed"}[change]
        title = f"Requests that would newly {verb}, by principal"
        charts.append(bars(title, "requests", [*people.items()]))
    return charts


COMMAND = Command(
    "show what a new ACL set would newly deny and newly allow",
    _add_options,
    _run,
    _charts,
)
