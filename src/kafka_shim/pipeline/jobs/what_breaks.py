"""`what-breaks`: which accesses and requests a new ACL set would newly deny or allow."""

import argparse
from typing import TYPE_CHECKING, Any

from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.lazy import f
from kafka_shim.pipeline.options import ACL_FORMATS
from kafka_shim.pipeline.report.charts import (
    RESOURCE,
    Chart,
    largest_bars_chart,
    sum_or_count_by_columns,
)
from kafka_shim.pipeline.report.outcome import (
    Outcome,
    access_outcome_with_observation_notes,
    cached_in_spark,
)
from kafka_shim.pipeline.rows.access_roles import LISTED
from kafka_shim.pipeline.rows.access_row import DECISION_COLUMNS
from kafka_shim.protocol.trace.entries import AUDIT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_shim.pipeline.trace_input import Observation, TraceOrLake

DENIED = "newly denied"
ALLOWED = "newly allowed"
_KEYS = ("change", "principal", *RESOURCE)
COLUMNS = (
    "writer",
    "connection",
    "sequence",
    "time",
    "source",
    "role",
    *DECISION_COLUMNS,
    "allowed",
)
"""Those of the table `accesses` that are needed."""
BROADCAST_ROWS = 500_000
"""Number of verdicts that are sent to every worker (about 100 MB) to avoid sorting accesses."""


def what_breaks(
    accesses: "DataFrame", candidate: AclSet, baseline: AclSet | None = None
) -> "DataFrame":
    """Return the changes by principal, operation and resource; empty without changes.

    `accesses` is `accesses_of_requests(...)`. The candidate is compared with the recorded
    decisions, or with those of `baseline` if it is given.
    """
    return sum_changed_decisions(
        decided_accesses_except_still_allowed(accesses, candidate, baseline)
    )


def decided_accesses_except_still_allowed(
    accesses: "DataFrame", candidate: AclSet, baseline: AclSet | None = None
) -> "DataFrame":
    """Return the decided accesses except those, usually most, that were and stay allowed."""
    from kafka_shim.pipeline.spark.decision_columns import (
        replace_recorded_decisions,
        with_would_be_decisions,
    )

    if baseline is not None:
        accesses = replace_recorded_decisions(accesses, baseline)
    decided = with_would_be_decisions(accesses, candidate)
    return decided.where("not (allowed and would_be_allowed)")


def sum_changed_decisions(decided_accesses: "DataFrame") -> "DataFrame":
    """Return the differences in decided accesses, by principal, operation and resource."""
    change = f.when(f.col("allowed"), DENIED).otherwise(ALLOWED).alias("change")
    rows = decided_accesses.where("allowed != would_be_allowed").groupBy(change, *_KEYS[1:])
    found = rows.agg(
        f.sort_array(f.collect_set("host")).alias("hosts"),
        f.sort_array(f.collect_set("api")).alias("apis"),
        f.sum("requests").alias("requests"),
        f.min("first_seen").alias("first_seen"),
        f.max("last_seen").alias("last_seen"),
        f.min_by("rule", "first_seen").alias("rule"),
        f.min_by("would_be_rule", "first_seen").alias("would_be_rule"),
        f.min_by("example", "first_seen").alias("example"),
    )
    return sort_changes(found)


def sort_changes(changes: "DataFrame") -> "DataFrame":
    """Sort changes: newly denied accesses first, then by number."""
    order = f.when(f.col("change") == DENIED, 0).otherwise(1)
    return changes.orderBy(order, f.desc("requests"), *_KEYS[1:])


def add_changed_request_counts(
    changes: "DataFrame", possibly_changed: "DataFrame", accesses: "DataFrame", *, by_baseline: bool
) -> "DataFrame":
    """Return the rows of `what_breaks` with numbers of requests.

    `requests_changed` counts the requests that would newly fail or succeed, with this access among
    the causes; `requests_changed_of_principal` counts those of the principal with any cause.
    `possibly_changed` are the accesses with possible changes; `accesses` are single ones, from
    `accesses_of_requests`.
    """
    requests = _requests_with_changed_result(possibly_changed, accesses, by_baseline=by_baseline)
    of_cause = requests.select("*", f.explode("causes").alias("cause")).select(
        "change", "principal", "cause.*"
    )
    counted = of_cause.groupBy(*_KEYS).agg(f.count("*").alias("requests_changed"))
    principals = requests.groupBy("change", "principal").agg(
        f.count("*").alias("requests_changed_of_principal")
    )
    joined = changes.join(counted, [*_KEYS], "left").join(
        principals, ["change", "principal"], "left"
    )
    return sort_changes(joined.fillna(0, ["requests_changed", "requests_changed_of_principal"]))


def sum_changes_by_principal(changes: "DataFrame") -> "DataFrame":
    """Sum accesses and requests by change and principal, most requests first."""
    principals = changes.groupBy("change", "principal").agg(
        f.count("*").alias("accesses"), f.max("requests_changed_of_principal").alias("requests")
    )
    return principals.orderBy(f.desc("requests"), "principal")


def _requests_with_changed_result(
    possibly_changed: "DataFrame", accesses: "DataFrame", *, by_baseline: bool
) -> "DataFrame":
    """Return one row per request whose result changes, with the accesses that change.

    A request fails when a required access is denied and its alternatives are not allowed either.
    A broker stops at the first denial, so further accesses of that request are unknown.
    """
    before = f.col("was_allowed") if by_baseline else f.col("allowed")
    after = f.col("would_be_allowed")
    was = [f.col("allowed").alias("was_allowed")] if by_baseline else []
    verdicts = possibly_changed.select(*DECISION_COLUMNS, *was, after).distinct()
    if possibly_changed.count() <= BROADCAST_ROWS:
        verdicts = f.broadcast(verdicts)
    is_logged = f.col("source") == AUDIT  # one line per access; time and API identify the request
    request = (
        "writer",
        "connection",
        f.when(~is_logged, f.col("sequence")),
        f.when(is_logged, f.col("time")),
        "api_key",
        "principal",
    )
    decided = accesses.where(f.col("allowed").isNotNull()).join(verdicts, [*DECISION_COLUMNS])
    cause = f.when(before != after, f.struct(*RESOURCE))
    found = decided.groupBy(*request).agg(
        f.bool_or(~before).alias("failed"),
        f.bool_or(~after).alias("would_fail"),
        f.collect_set(cause).alias("causes"),
    )
    change = f.when(f.col("would_fail"), DENIED).otherwise(ALLOWED).alias("change")
    return found.where("failed != would_fail").select("*", change)


_SHOWN = (
    *("change", "principal", *RESOURCE, "requests", "requests_changed"),
    *("last_seen", "rule", "would_be_rule"),
)
PRINCIPALS_NOTED = 10
"""How many principals the text output lists; the JSON has all."""


def _add_acls_baseline_and_fail_options(job: argparse.ArgumentParser) -> None:
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


def _run(args: argparse.Namespace, trace_input: "TraceOrLake") -> Outcome:
    observation = trace_input.cached_observation(args)
    lists = [] if args.lists else _count_changed_listed_names_by_principal(args, observation)
    with cached_in_spark(_changes_with_request_counts(args, trace_input, observation)) as frame:
        outcome = access_outcome_with_observation_notes(args, observation, frame, _SHOWN)
        _note_totals_and_set_failing(args, frame, outcome)
    outcome.totals["lists"] = lists
    outcome.notes += [_listed_names_note(change) for change in lists]
    return outcome


def _changes_with_request_counts(
    args: argparse.Namespace, trace_input: "TraceOrLake", observation: "Observation"
) -> "DataFrame":
    """Return the changes; the affected requests are searched only if there are changes."""
    from kafka_shim.pipeline.spark.observed_accesses import accesses_of_requests

    baseline = (
        observation.read_acl_set_with_observed_settings(args.baseline) if args.baseline else None
    )
    decided = decided_accesses_except_still_allowed(
        observation.request_accesses,
        observation.read_acl_set_with_observed_settings(args.acls),
        baseline,
    ).persist()
    rows = accesses_of_requests(
        trace_input.table("accesses", *COLUMNS), with_listed_accesses=args.lists
    )
    if decided.where("allowed != would_be_allowed").isEmpty():
        rows = rows.limit(0)
    return add_changed_request_counts(
        sum_changed_decisions(decided), decided, rows, by_baseline=baseline is not None
    )


def _count_changed_listed_names_by_principal(
    args: argparse.Namespace, observation: "Observation"
) -> list[dict[str, Any]]:
    """Return how many names the new ACLs would remove from or add to lists, by principal."""
    lists = observation.all_accesses.where(f.col("role") == LISTED)
    baseline = (
        observation.read_acl_set_with_observed_settings(args.baseline) if args.baseline else None
    )
    changed = what_breaks(
        lists, observation.read_acl_set_with_observed_settings(args.acls), baseline
    )
    keys = ("change", "principal", "resource_type")
    rows = changed.groupBy(*keys).agg(f.count_distinct("resource_name").alias("names"))
    return [row.asDict() for row in rows.orderBy(*keys).collect()]


def _listed_names_note(change: dict[str, Any]) -> str:
    effect = "no longer show" if change["change"] == DENIED else "newly show"
    kind = f"{change['names']} names of type {change['resource_type']}"
    return f"lists would {effect} {kind} to {change['principal']}; --lists has the names"


def _note_totals_and_set_failing(
    args: argparse.Namespace, frame: "DataFrame", outcome: Outcome
) -> None:
    """Add a note: how many accesses and requests change, and of which principals."""
    found = [row.asDict() for row in sum_changes_by_principal(frame).collect()]
    denied, allowed = (
        [row for row in found if row["change"] == change] for change in (DENIED, ALLOWED)
    )
    outcome.totals |= {
        "newly_denied": sum(row["accesses"] for row in denied),
        "newly_allowed": sum(row["accesses"] for row in allowed),
        "requests_newly_failing": sum(row["requests"] for row in denied),
        "requests_newly_succeeding": sum(row["requests"] for row in allowed),
        "principals": found,
    }
    head = outcome.totals
    failing, succeeding = head["requests_newly_failing"], head["requests_newly_succeeding"]
    outcome.notes += [
        f"{head['newly_denied']} newly denied, {head['newly_allowed']} newly allowed",
        f"{failing} requests would newly fail, {succeeding} newly succeed",
    ]
    for verb, rows in (("fail", denied), ("succeed", allowed)):
        concerned = [row for row in rows if row["requests"]]
        lines = [f"  {row['requests']} of {row['principal']} {verb}" for row in concerned]
        outcome.notes += lines[:PRINCIPALS_NOTED]
        if len(lines) > PRINCIPALS_NOTED:
            outcome.notes.append(f"  and of {len(lines) - PRINCIPALS_NOTED} more; --json has all")
    outcome.has_failing_findings = bool(args.fail and denied)


def _accesses_and_requests_by_change_charts(outcome: Outcome) -> list[Chart]:
    charts = []
    for change in dict.fromkeys(row["change"] for row in outcome.rows):
        rows = [row for row in outcome.rows if row["change"] == change]
        head = f"Accesses {change}"
        charts.append(
            largest_bars_chart(
                f"{head}, by principal", "accesses", sum_or_count_by_columns(rows, "principal")
            )
        )
        charts.append(
            largest_bars_chart(
                f"{head}, by resource", "accesses", sum_or_count_by_columns(rows, *RESOURCE)
            )
        )
        # a request may have several causes, so a principal's total is not the sum of its rows
        principals = {row["principal"]: row["requests_changed_of_principal"] for row in rows}
        verb = {"newly denied": "fail", "newly allowed": "succeed"}[change]
        title = f"Requests that would newly {verb}, by principal"
        charts.append(largest_bars_chart(title, "requests", [*principals.items()]))
    return charts


JOB = Job(
    "show what a new ACL set would newly deny and newly allow",
    _add_acls_baseline_and_fail_options,
    _run,
    _accesses_and_requests_by_change_charts,
)
