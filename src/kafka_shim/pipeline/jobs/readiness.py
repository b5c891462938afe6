"""`readiness`: find clients that an upgrade would break.

Findings are request versions that the target drops, and permissions that it adds. Possible
problems are only counted. Unknown: dropped versions that are the latest of the present
release, since the client may support later ones. Permissions without a known decision count as
unknown, too.
"""

import argparse
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.authorizer.acl_rules import operations_whose_allow_includes
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.input_verdict import (
    NOTHING_JUDGED,
    add_accept_incomplete_option,
    incomplete_input_notes,
    input_problems,
)
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.lazy import pa
from kafka_shim.pipeline.options import (
    add_fail_option,
    add_present_acl_options,
    check_no_bootstrap_server,
)
from kafka_shim.pipeline.report.charts import Chart, largest_bars_chart, sum_by_columns
from kafka_shim.pipeline.report.outcome import Outcome, table_outcome
from kafka_shim.protocol.api_versions import served_versions
from kafka_shim.protocol.enums import ApiKey, Operation
from kafka_shim.trace_format.entries import UNKNOWN_PRINCIPAL

if TYPE_CHECKING:
    from kafka_shim.pipeline.trace_input import TraceInput

DROPPED = "version dropped"
DENIED = "newly denied"
_ACCESS = ("principal", "host", "operation", "resource_type", "resource_name")
_KEYS = (
    *("finding", "api", "api_version", "principal", "software_name", "software_version"),
    *("client_id", "detail"),
)
_COUNTED = ("host", "requests", "first_seen", "last_seen")
_SUMS = (
    "cast(sum(requests) as bigint) as requests, min(first_seen) as first_seen,"
    " max(last_seen) as last_seen"
)


def readiness(
    engine: DuckDbEngine,
    clients: str,
    decided_needs: str | None,
    present_release: str,
    target_release: str,
) -> str:
    """Return findings by client: first dropped versions, then denied permissions.

    `clients` is the table of that name; `decided_needs` come from
    `decide_added_needs`.
    """
    dropped = rows_with_dropped_versions(
        engine, clients, present_release, target_release, version_is_latest_of_present=False
    )
    columns, keys = ", ".join((*_KEYS[1:-1], *_COUNTED)), ", ".join(_KEYS)
    relations = {"dropped": dropped}
    rows = f"select '{DROPPED}' as finding, detail, {columns} from {{dropped}}"
    if decided_needs is not None:
        relations["needs"] = decided_needs
        asks = f"requirement, '({target_release}): asks', operation, resource_type, resource_name"
        rows += (
            f" union all select '{DENIED}' as finding, concat_ws(' ', {asks}) as detail, {columns}"
            " from {needs} where not allowed"
        )
    return engine.sql(
        f"""
        select {keys}, array_sort(array_distinct(array_agg(host))) as hosts, {_SUMS}
        from ({rows}) found group by {keys}
        order by case when finding = '{DROPPED}' then 0 else 1 end, requests desc,
            {", ".join(_KEYS[1:])}
        """,
        **relations,
    )


def decide_added_needs(
    engine: DuckDbEngine, needs: str, observed_accesses: str, acl_set: AclSet | None
) -> str:
    """Return `added_needs` with `allowed`: decided by the ACLs, or as observed, else null."""
    from kafka_shim.pipeline.acl_decisions import AclDecider

    names = [name for name in engine.columns(needs) if name not in _COUNTED[1:]]
    counted = engine.materialize(  # a trace has a row for each request
        engine.sql(
            f"select {', '.join(names)}, {_SUMS} from {{needs}} group by {', '.join(names)}",
            needs=needs,
        )
    )
    if acl_set is not None:
        columns = ", ".join(engine.columns(counted))
        return engine.sql(
            f"select {columns}, case when principal != '{UNKNOWN_PRINCIPAL}' then allowed end"
            " as allowed from {decided}",
            decided=AclDecider(engine, acl_set).with_decisions(counted, ""),
        )
    return _decide_needs_by_observation(engine, counted, observed_accesses)


def _decide_needs_by_observation(engine: DuckDbEngine, needs: str, observed_accesses: str) -> str:
    """Add the last decision of each access; a denial counts even if another operation, which is
    allowed, would include this one.
    """
    keys = ", ".join(_ACCESS)
    seen = engine.sql(
        f"select {keys}, max_by(allowed, last_seen) as allowed from {{accesses}} group by {keys}",
        accesses=observed_accesses,
    )
    allowed = engine.sql(
        "select distinct principal, host, i.included as operation, resource_type, resource_name"
        " from {seen} s join {included} i on s.operation = i.operation where allowed",
        seen=seen,
        included=engine.relation_from_arrow(_included_operations()),
    )
    met, denied = (
        " and ".join(f"n.{name} = {side}.{name}" for name in _ACCESS) for side in ("a", "d")
    )
    return engine.sql(
        f"""
        select n.*, case when d.principal is not null then false
            when a.principal is not null then true end as allowed
        from {{needs}} n left join {{allowed}} a on {met}
            left join (select * from {{seen}} where not allowed) d on {denied}
        """,
        needs=needs,
        allowed=allowed,
        seen=seen,
    )


def _included_operations() -> "pa.Table":
    """Return which operations an allowed one includes."""
    pairs = [
        {"operation": by.name, "included": of.name}
        for of in Operation
        for by in operations_whose_allow_includes(of)
    ]
    texts = [("operation", pa.string()), ("included", pa.string())]
    return pa.Table.from_pylist(pairs, pa.schema(texts))


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
    engine: DuckDbEngine,
    clients: str,
    present_release: str,
    target_release: str,
    *,
    version_is_latest_of_present: bool,
) -> str:
    """Return the clients that send versions that the target does not have, with the `detail`.

    A client that sends the latest version of the present release may support later ones, so the
    result has either only such versions, or only earlier ones.
    """
    latest = {int(key): span[1] for key, span in served_versions(present_release).items()}
    used = engine.sql("select distinct api_key, api_version from {clients}", clients=clients)
    found = [
        row | {"detail": reason}
        for row in engine.rows(used)
        if (reason := dropped_version_reason(row["api_key"], row["api_version"], target_release))
        is not None
        and (latest.get(row["api_key"]) == row["api_version"]) is version_is_latest_of_present
    ]
    schema = [("api_key", pa.int16()), ("api_version", pa.int16()), ("detail", pa.string())]
    return engine.sql(
        "select c.*, d.detail from {clients} c join {dropped} d"
        " on c.api_key = d.api_key and c.api_version = d.api_version",
        clients=clients,
        dropped=engine.relation_from_arrow(pa.Table.from_pylist(found, pa.schema(schema))),
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
    add_accept_incomplete_option(job)


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    engine = trace_input.engine
    clients = trace_input.to_deciding_engine(trace_input.table("clients"))
    is_lake = trace_input.lake_folder() is not None
    decided_needs = None if is_lake else _added_needs_with_decisions(args, trace_input)
    found = readiness(engine, clients, decided_needs, args.present, args.target)
    outcome = table_outcome(args, trace_input, found, _SHOWN)
    problems = [] if args.accept_incomplete else _input_problems(args, trace_input, clients)
    outcome.totals["incomplete_input"] = problems
    outcome.notes += incomplete_input_notes(problems, "what is not listed may break, too")
    outcome.has_failing_findings |= bool(args.fail_on and problems)
    if not outcome.rows and not args.parquet and not problems:
        checks = "" if decided_needs is None else ", and no new permission check would be denied"
        outcome.notes.append(
            f"ready for {args.target}: no client sends a version that it lacks{checks}, as far as"
            " the notes below say"
        )
    versions = engine.count_rows(
        rows_with_dropped_versions(
            engine, clients, args.present, args.target, version_is_latest_of_present=True
        )
    )
    if versions:
        text = f"are the latest that {args.present} serves, so the clients may support later ones"
        outcome.notes.append(f"unknown: {versions} uses of dropped versions {text}")
    if decided_needs is None:
        outcome.notes.append(
            "unknown: which permissions become necessary, since a lake does not keep requests"
        )
    elif unknown := _count_undecided_requests(engine, decided_needs):
        text = f"the decisions of {unknown} checks that are new in {args.target}; add --acls FILE"
        outcome.notes.append(f"unknown: {text}")
    return outcome


def _input_problems(args: argparse.Namespace, trace_input: "TraceInput", clients: str) -> list[str]:
    """Return what the input lacks: requests that may be missing, or all of them."""
    totals = trace_input.cached_observation(args).totals_and_settings
    problems = [each for each in input_problems(totals) if each != NOTHING_JUDGED]
    if not trace_input.engine.count_rows(clients):
        problems.append("no client was observed")
    return problems


def _count_undecided_requests(engine: DuckDbEngine, decided_needs: str) -> int:
    query = "select sum(requests) as number from {needs} where allowed is null"
    (row,) = engine.rows(engine.sql(query, needs=decided_needs))
    return int(row["number"] or 0)


def _added_needs_with_decisions(args: argparse.Namespace, trace_input: "TraceInput") -> str:
    """Return the target's additional permission checks with their decisions."""
    observation = trace_input.cached_observation(args)
    needs = trace_input.added_needs_of_trace(args.present, args.target)
    acls = observation.read_acl_set_with_observed_settings(args.acls) if args.acls else None
    if acls is not None:
        acls = msgspec.structs.replace(acls, release=args.target)
    return decide_added_needs(
        observation.engine, trace_input.to_deciding_engine(needs), observation.all_accesses, acls
    )


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
