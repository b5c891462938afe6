"""`unused-acls`: ACLs that no request needs, and the lines to remove them."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.authorizer.acl_formats.trace_rule import acl_rule
from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import ACL_FORMATS
from kafka_shim.pipeline.report.charts import Chart, bars
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.report.totals import acls_by_principal, totals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_shim.pipeline.acls.acl_set import AclSet
    from kafka_shim.pipeline.commands.reading import Observation, Source

_SHOWN = ("state", "can_go", "requests", "last_used", "acl", "shadowed_by")


def _add_options(job: argparse.ArgumentParser) -> None:
    text = f"the ACLs in force ({ACL_FORMATS})"
    job.add_argument("--acls", required=True, metavar="FILE", help=text)


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.commands.outcomes import access_outcome, kept
    from kafka_shim.pipeline.jobs.unused_acls import unused_acls

    seen = source.observation(args)
    present = seen.read_acl_set(args.acls)
    with kept(unused_acls(seen.accesses, present)) as frame:
        outcome = access_outcome(args, seen, frame, _SHOWN)
        _note(seen, present, frame, outcome)
    return outcome


def _note(seen: "Observation", present: "AclSet", frame: "DataFrame", outcome: Outcome) -> None:
    """Add the lines that remove ACLs, after a check that no decision changes without them."""
    from kafka_shim.pipeline.jobs.what_breaks import what_breaks

    rows = frame.where("can_go").select("acl", "remove").collect()
    gone = {row["acl"] for row in rows}
    rest = [acl for acl in present.acls if acl_rule(acl) not in gone]
    changes = what_breaks(seen.accesses, seen.acl_set(rest), baseline=present).count()
    outcome.is_wrong = changes > 0
    outcome.notes.append(
        f"{len(gone)} of {len(present.acls)} ACLs can be removed together;"
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


COMMAND = Command(
    "list ACLs that the trace never needed, with the commands to remove them",
    _add_options,
    _run,
    _charts,
)
