"""`readiness`: clients that an upgrade would break."""

import argparse
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import (
    add_fail,
    add_present_acls,
    check_present_acls,
)
from kafka_shim.pipeline.report.charts import Chart, bars
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.report.totals import totals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_shim.pipeline.commands.reading import Source

_SHOWN = (
    *("finding", "api", "api_version", "principal"),
    *("software_name", "software_version", "client_id", "requests", "detail"),
)


def _add_options(job: argparse.ArgumentParser) -> None:
    job.add_argument("--from", dest="present", required=True, metavar="RELEASE")
    job.add_argument("--to", dest="target", required=True, metavar="RELEASE")
    add_present_acls(job)
    add_fail(job)


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.commands.outcomes import table_outcome
    from kafka_shim.pipeline.jobs.readiness import readiness, unknown_versions

    clients = source.table("clients")
    judged = _judged(args, source)
    found = readiness(clients, judged, args.present, args.target)
    outcome = table_outcome(args, source, found, _SHOWN)
    versions = unknown_versions(clients, args.present, args.target).count()
    if versions:
        text = "that are the latest of the present release: whether the clients know later ones"
        outcome.notes.append(f"not known: {versions} uses of dropped versions {text}")
    if judged is None:
        outcome.notes.append("not known: which needs are added; a lake does not keep requests")
    elif unknown := judged.where("allowed is null").count():
        text = f"needs that {args.target} adds are met; give the ACLs by --acls"
        outcome.notes.append(f"not known: whether {unknown} {text}")
    return outcome


def _judged(args: argparse.Namespace, source: "Source") -> "DataFrame | None":
    """What the target asks besides, and whether it is allowed; None of a lake."""
    from kafka_shim.pipeline.jobs.readiness import judged_needs

    seen = source.observation(args)
    needs = source.added_needs(args.present, args.target)
    if needs is None:
        return None
    acls = seen.read_acl_set(args.acls) if args.acls else None
    if acls is not None:
        acls = msgspec.structs.replace(acls, release=args.target)
    return judged_needs(needs, seen.whole, acls)


def _charts(outcome: Outcome) -> list[Chart]:
    apis = totals(outcome.rows, "finding", "api", "api_version")
    return [
        bars("Requests concerned, by API and version", "requests", apis),
        bars("Requests concerned, by principal", "requests", totals(outcome.rows, "principal")),
    ]


COMMAND = Command(
    "clients that an upgrade would break: versions it dropped, needs it adds that are not met",
    _add_options,
    _run,
    _charts,
    check_present_acls,
)
