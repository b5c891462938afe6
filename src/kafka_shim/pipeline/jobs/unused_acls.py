"""`unused-acls`: ACLs that no request needs, with the commands that remove them."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.authorizer.acl_formats.kafka_commands import command
from kafka_shim.authorizer.acl_formats.trace_rule import acl_rule
from kafka_shim.authorizer.acl_releases import rules_of
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.lazy import f
from kafka_shim.pipeline.options import ACL_FORMATS
from kafka_shim.pipeline.report.charts import Chart, acls_by_principal, bars, totals
from kafka_shim.pipeline.report.outcome import Outcome, access_outcome, cached
from kafka_shim.pipeline.rows.access_roles import any_name_keys
from kafka_shim.pipeline.rows.access_row import DECISION_COLUMNS
from kafka_shim.protocol.enums import Operation, ResourceType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from kafka_shim.pipeline.acls.removable import Seen
    from kafka_shim.pipeline.trace_input import Observation, TraceInput

SCHEMA = (
    "acl string, state string, requests long, last_used timestamp, shadowed_by string,"
    " can_go boolean, remove string"
)


def unused_acls(accesses: "DataFrame", present: AclSet) -> "DataFrame":
    """Return one row per ACL of the set; `remove` is the line that removes it, if it can be
    removed.

    `accesses` is `accesses_of_requests(...)`. An ACL may be needed by requests that were not
    observed, so the observation must be long enough.
    """
    from kafka_shim.pipeline.acls.matches import SPOKEN_DDL, speaks
    from kafka_shim.pipeline.acls.removable import acl_uses

    signatures = accesses.mapInArrow(speaks(present), SPOKEN_DDL)
    keys = ("is_simple", "allows", "denies", "others")
    grouped = signatures.groupBy(*keys).agg(
        f.sum("requests").alias("requests"), f.max("last_seen").alias("last_seen")
    )
    signature_counts = [_signature_count(row) for row in grouped.collect()]
    for_authorizer = [
        row.asDict() for row in _accesses_for_authorizer(accesses, present.release).collect()
    ]
    rows = [
        (
            acl_rule(use.acl),
            use.state,
            use.requests,
            use.last_used,
            None if use.shadowed_by is None else acl_rule(use.shadowed_by),
            use.can_go,
            command("--remove --force", use.acl) if use.can_go else None,
        )
        for use in acl_uses(present, signature_counts, for_authorizer)
    ]
    return accesses.sparkSession.createDataFrame(rows, SCHEMA)


def _accesses_for_authorizer(accesses: "DataFrame", release: str) -> "DataFrame":
    """Return accesses that only the authorizer can decide.

    Their requirement can be met in another way, they are about any resource of a type, or the
    release overlooks ACLs.
    """
    questions = accesses.select(*DECISION_COLUMNS).distinct()
    if rules_of(release).search_stops_early:
        return questions
    about_any = f.lit(0).cast("boolean")
    for api_key, operation, resource_type in any_name_keys():
        about_any = about_any | (
            (f.col("api_key") == int(api_key))
            & (f.col("operation") == Operation(operation).name)
            & (f.col("resource_type") == ResourceType(resource_type).name)
            & (f.col("resource_name") == "*")
        )
    return questions.where((f.size("instead") > 0) | about_any)


def _signature_count(row: "Row") -> "Seen":
    from kafka_shim.pipeline.acls.matches import Signature

    signature = Signature(
        row["is_simple"], tuple(row["allows"]), tuple(row["denies"]), tuple(row["others"])
    )
    return signature, row["requests"], row["last_seen"]


_SHOWN = ("state", "can_go", "requests", "last_used", "acl", "shadowed_by")


def _add_options(job: argparse.ArgumentParser) -> None:
    text = f"the ACLs in force ({ACL_FORMATS})"
    job.add_argument("--acls", required=True, metavar="FILE", help=text)


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    observation = trace_input.observation(args)
    present = observation.read_acl_set(args.acls)
    with cached(unused_acls(observation.accesses, present)) as frame:
        outcome = access_outcome(args, observation, frame, _SHOWN)
        _note_removals(observation, present, frame, outcome)
    return outcome


def _note_removals(
    observation: "Observation", present: "AclSet", frame: "DataFrame", outcome: Outcome
) -> None:
    """Add the lines that remove ACLs, after a check that no decision changes without them."""
    from kafka_shim.pipeline.jobs.what_breaks import what_breaks

    rows = frame.where("can_go").select("acl", "remove").collect()
    removable = {row["acl"] for row in rows}
    remaining = [acl for acl in present.acls if acl_rule(acl) not in removable]
    changes = what_breaks(
        observation.accesses, observation.acl_set(remaining), baseline=present
    ).count()
    outcome.is_wrong = changes > 0
    outcome.notes.append(
        f"{len(removable)} of {len(present.acls)} ACLs can be removed together;"
        f" checked with what-breaks: {changes or 'no'} decisions change"
    )
    outcome.notes += [f"  {row['remove']}" for row in rows]
    outcome.head["changes"] = changes


def _charts(outcome: Outcome) -> list[Chart]:
    states = totals(outcome.rows, "state", value="")
    removable = [row for row in outcome.rows if row["can_go"]]
    charts = [bars("ACLs by state", "ACLs", states)]
    if removable:
        by_principal = acls_by_principal(removable)
        charts.append(bars("ACLs that can be removed, by principal", "ACLs", by_principal))
    return charts


JOB = Job(
    "list ACLs that the trace never needed, with the commands to remove them",
    _add_options,
    _run,
    _charts,
)
