"""`readiness`: find clients that an upgrade would break."""

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

FROM_HELP = "Kafka release that the cluster has now, such as 3.9"
TO_HELP = "Kafka release to upgrade to, such as 4.4"


def _add_options(job: argparse.ArgumentParser) -> None:
    job.add_argument("--from", dest="present", required=True, metavar="RELEASE", help=FROM_HELP)
    job.add_argument("--to", dest="target", required=True, metavar="RELEASE", help=TO_HELP)
    add_present_acls(job, "to use instead of the observed decisions")
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
        text = f"are the latest that {args.present} serves, so the clients may support later ones"
        outcome.notes.append(f"unknown: {versions} uses of dropped versions {text}")
    if judged is None:
        outcome.notes.append(
            "unknown: which permissions become necessary, since a lake does not keep requests"
        )
    elif unknown := judged.where("allowed is null").count():
        text = f"the decisions of {unknown} checks that are new in {args.target}; add --acls FILE"
        outcome.notes.append(f"unknown: {text}")
    return outcome


def _judged(args: argparse.Namespace, source: "Source") -> "DataFrame | None":
    """Return the target's additional permission checks with their decisions; None for a lake."""
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
    "find clients that an upgrade would break: dropped API versions, missing new permissions",
    _add_options,
    _run,
    _charts,
    check_present_acls,
)
