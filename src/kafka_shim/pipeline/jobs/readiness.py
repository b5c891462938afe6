"""`readiness`: find clients that an upgrade would break.

Findings are request versions that the target drops, and permissions that it adds. Possible
problems are only counted. Unknown: dropped versions that are the latest of the present
release, since the client may support later ones. Permissions without a known decision count as
unknown, too.
"""

import argparse
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.authorizer.operations import operations_whose_allow_includes
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.lazy import f
from kafka_shim.pipeline.options import (
    add_fail_option,
    add_present_acl_options,
    check_no_bootstrap_server,
)
from kafka_shim.pipeline.report.charts import Chart, largest_bars_chart, sum_by_columns
from kafka_shim.pipeline.report.outcome import Outcome, table_outcome_with_fail_option
from kafka_shim.protocol.api_versions import served_versions
from kafka_shim.protocol.enums import ApiKey, Operation
from kafka_shim.trace_format.entries import UNKNOWN_PRINCIPAL

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kafka_shim.pipeline.trace_input import TraceInput

DROPPED = "version dropped"
DENIED = "newly denied"
_SCHEMA = "api_key short, api_version short, detail string"
_ACCESS = ("principal", "host", "operation", "resource_type", "resource_name")
_KEYS = (
    *("finding", "api", "api_version", "principal", "software_name", "software_version"),
    *("client_id", "detail"),
)


def readiness(
    clients: "DataFrame",
    decided_needs: "DataFrame | None",
    present_release: str,
    target_release: str,
) -> "DataFrame":
    """Return findings by client: first dropped versions, then denied permissions.

    `clients` is the table of that name; `decided_needs` come from
    `decide_added_needs`.
    """
    dropped = rows_with_dropped_versions(
        clients, present_release, target_release, version_is_latest_of_present=False
    )
    rows = dropped.withColumn("finding", f.lit(DROPPED))
    if decided_needs is not None:
        denied = decided_needs.where("not allowed").withColumns(
            {"finding": f.lit(DENIED), "detail": _need_text(target_release)}
        )
        rows = rows.unionByName(denied.select(*rows.columns))
    grouped = rows.groupBy(*_KEYS).agg(
        f.sort_array(f.collect_set("host")).alias("hosts"),
        f.sum("requests").alias("requests"),
        f.min("first_seen").alias("first_seen"),
        f.max("last_seen").alias("last_seen"),
    )
    order = f.when(f.col("finding") == DROPPED, 0).otherwise(1)
    return grouped.orderBy(order, f.desc("requests"), *_KEYS[1:])


def decide_added_needs(
    needs: "DataFrame", observed_accesses: "DataFrame", acl_set: AclSet | None
) -> "DataFrame":
    """Return `added_needs` with `allowed`: decided by the ACLs, or as observed, else null."""
    from kafka_shim.pipeline.acl_decisions import AclDecider
    from kafka_shim.pipeline.engines.spark_engine import SparkEngine

    if acl_set is not None:
        decider = AclDecider(SparkEngine(needs.sparkSession), acl_set)
        decided: DataFrame = decider.with_decisions(needs, "")
        is_known = f.col("principal") != UNKNOWN_PRINCIPAL
        return decided.withColumn("allowed", f.when(is_known, f.col("allowed")))
    seen = observed_accesses.groupBy(*_ACCESS).agg(
        f.max_by("allowed", "last_seen").alias("allowed")
    )
    pairs = [(by.name, of.name) for of in Operation for by in operations_whose_allow_includes(of)]
    included = needs.sparkSession.createDataFrame(pairs, "operation string, included string")
    allowed = seen.where("allowed").join(f.broadcast(included), "operation")
    allowed = allowed.drop("operation").withColumnRenamed("included", "operation").distinct()
    denied = seen.where("not allowed").select(
        *_ACCESS, f.col("host").isNotNull().alias("was_denied")
    )
    known = needs.join(allowed, list(_ACCESS), "left").join(denied, list(_ACCESS), "left")
    # a denial is known even if another operation would include this one
    verdict = f.when(f.col("was_denied"), f.lit(0).cast("boolean")).otherwise(f.col("allowed"))
    return known.withColumn("allowed", verdict).drop("was_denied")


def dropped_version_reason(api_key: int, version: int, target_release: str) -> str | None:
    """Return why requests of this version fail with the target; None if they are supported.

    Every broker answers any version of ApiVersions with its supported versions.
    """
    if api_key == ApiKey.API_VERSIONS:
        return None
    span = {int(key): span for key, span in served_versions(target_release).items()}.get(api_key)
    if span is None:
        return f"{target_release} does not have this API"
    if span[0] <= version <= span[1]:
        return None
    return f"{target_release} has versions {span[0]} to {span[1]}"


def rows_with_dropped_versions(
    clients: "DataFrame",
    present_release: str,
    target_release: str,
    *,
    version_is_latest_of_present: bool,
) -> "DataFrame":
    """Return the clients that send versions that the target does not have, with the `detail`.

    A client that sends the latest version of the present release may support later ones, so the
    result has either only such versions, or only earlier ones.
    """
    latest = {int(key): span[1] for key, span in served_versions(present_release).items()}
    used = clients.select("api_key", "api_version").distinct().collect()
    found = [
        (row["api_key"], row["api_version"], reason)
        for row in used
        if (reason := dropped_version_reason(row["api_key"], row["api_version"], target_release))
        is not None
        and (latest.get(row["api_key"]) == row["api_version"]) is version_is_latest_of_present
    ]
    known = clients.sparkSession.createDataFrame(found, _SCHEMA)
    return clients.join(f.broadcast(known), ["api_key", "api_version"])


def _need_text(target: str) -> "Column":
    return f.concat_ws(
        " ",
        f.col("requirement"),
        f.lit(f"({target}): asks"),
        *("operation", "resource_type", "resource_name"),
    )


_SHOWN = (
    *("finding", "api", "api_version", "principal"),
    *("software_name", "software_version", "client_id", "requests", "detail"),
)

FROM_HELP = "Kafka release that the cluster has now, such as 3.9"
TO_HELP = "Kafka release to upgrade to, such as 4.4"


def _add_options(job: argparse.ArgumentParser) -> None:
    job.add_argument(
        "--from-release", dest="present", required=True, metavar="RELEASE", help=FROM_HELP
    )
    job.add_argument("--to-release", dest="target", required=True, metavar="RELEASE", help=TO_HELP)
    add_present_acl_options(job, "to use instead of the observed decisions")
    add_fail_option(job)


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    clients = trace_input.table("clients")
    is_lake = trace_input.lake_folder() is not None
    decided_needs = None if is_lake else _added_needs_with_decisions(args, trace_input)
    found = readiness(clients, decided_needs, args.present, args.target)
    outcome = table_outcome_with_fail_option(args, trace_input, found, _SHOWN)
    if not outcome.rows and not args.parquet:
        checks = "" if decided_needs is None else ", and no new permission check would be denied"
        outcome.notes.append(
            f"ready for {args.target}: no client sends a version that it lacks{checks}, as far as"
            " the notes below say"
        )
    versions = rows_with_dropped_versions(
        clients, args.present, args.target, version_is_latest_of_present=True
    ).count()
    if versions:
        text = f"are the latest that {args.present} serves, so the clients may support later ones"
        outcome.notes.append(f"unknown: {versions} uses of dropped versions {text}")
    if decided_needs is None:
        outcome.notes.append(
            "unknown: which permissions become necessary, since a lake does not keep requests"
        )
    elif unknown := decided_needs.where("allowed is null").count():
        text = f"the decisions of {unknown} checks that are new in {args.target}; add --acls FILE"
        outcome.notes.append(f"unknown: {text}")
    return outcome


def _added_needs_with_decisions(args: argparse.Namespace, trace_input: "TraceInput") -> "DataFrame":
    """Return the target's additional permission checks with their decisions."""
    observation = trace_input.cached_observation(args)
    needs = trace_input.added_needs_of_trace(args.present, args.target)
    acls = observation.read_acl_set_with_observed_settings(args.acls) if args.acls else None
    if acls is not None:
        acls = msgspec.structs.replace(acls, release=args.target)
    return decide_added_needs(needs, observation.all_accesses, acls)


def _readiness_charts(outcome: Outcome) -> list[Chart]:
    apis = sum_by_columns(outcome.rows, "finding", "api", "api_version")
    return [
        largest_bars_chart("Requests concerned, by API and version", "requests", apis),
        largest_bars_chart(
            "Requests concerned, by principal",
            "requests",
            sum_by_columns(outcome.rows, "principal"),
        ),
    ]


JOB = Job(
    "Find clients that an upgrade would break: dropped API versions, missing new permissions",
    _add_options,
    _run,
    _readiness_charts,
    check_no_bootstrap_server,
)
