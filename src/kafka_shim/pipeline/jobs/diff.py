"""`diff`: compare the permissions and responses in two traces of the same workload."""

import argparse
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.options import add_fail_option
from kafka_shim.pipeline.report.charts import Chart, largest_bars_chart, sum_by_columns
from kafka_shim.pipeline.report.outcome import (
    Outcome,
    left_out_notes,
    table_outcome,
)

if TYPE_CHECKING:
    from kafka_shim.pipeline.trace_input import TraceInput

_COLUMNS = ("difference", "principal", "what", "before", "after")


class ComparedTrace(msgspec.Struct, frozen=True):
    """A side of the comparison: the accesses that its requests needed, and its responses."""

    accesses: str
    responses: str


def diff(engine: DuckDbEngine, before: ComparedTrace, after: ComparedTrace) -> str:
    """Return one row per difference.

    `access` is `allowed`, `denied`, `both`, or null if the access did not occur. `responses` has
    the distinct error codes in the responses of an API. Hosts, times and counts are not compared.
    """
    sides = (before, after)
    decisions = (_outcomes_by_access(engine, side.accesses) for side in sides)
    codes = (_error_outcomes(engine, side.responses) for side in sides)
    return engine.sql(
        "select * from {accesses} union all select * from {responses}"
        " order by difference, principal, what",
        accesses=_differing_outcomes(engine, "access", *decisions),
        responses=_differing_outcomes(engine, "responses", *codes),
    )


def _outcomes_by_access(engine: DuckDbEngine, accesses: str) -> str:
    return engine.sql(
        """
        select principal,
            concat_ws(' ', operation, concat_ws(':', resource_type, resource_name)) as what,
            case when bool_and(allowed) then 'allowed' when bool_or(allowed) then 'both'
                else 'denied' end as outcome
        from {accesses} group by principal, operation, resource_type, resource_name
        """,
        accesses=accesses,
    )


def _error_outcomes(engine: DuckDbEngine, responses: str) -> str:
    """Return the codes as text; a response without an error has code 0."""
    codes = "array_sort(array_distinct(flatten(array_agg(codes))))"
    return engine.sql(
        f"""
        select principal, api as what, array_join({codes}, ',') as outcome
        from (select distinct principal, api, case when size(error_codes) > 0 then error_codes
            else array_repeat(cast(0 as smallint), 1) end as codes from {{responses}}) r
        group by principal, api
        """,
        responses=responses,
    )


def _differing_outcomes(engine: DuckDbEngine, kind: str, before: str, after: str) -> str:
    return engine.sql(
        f"""
        select '{kind}' as difference, principal, what, b.outcome as before, a.outcome as after
        from {{before_outcomes}} b full join {{after_outcomes}} a using (principal, what)
        where b.outcome is distinct from a.outcome
        """,
        before_outcomes=before,
        after_outcomes=after,
    )


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    def side(trace: "TraceInput") -> ComparedTrace:
        columns = ("principal", "api", "error_codes")
        accesses = trace.cached_observation(args).request_accesses
        responses = trace.to_deciding_engine(trace.table("responses", *columns))
        return ComparedTrace(accesses, responses)

    after = trace_input.of_paths([args.compared])
    found = diff(trace_input.engine, side(trace_input), side(after))
    outcome = table_outcome(args, trace_input, found, _COLUMNS, after)
    for trace in (trace_input, after):
        head = trace.cached_observation(args).totals_and_settings
        outcome.notes += [f"{trace.paths[0]}: {note}" for note in left_out_notes(head)]
    after.release_observation()
    return outcome


def _differences_chart(outcome: Outcome) -> list[Chart]:
    kinds = sum_by_columns(outcome.rows, "difference", "principal", value_column="")
    return [largest_bars_chart("Differences by kind and principal", "differences", kinds)]


JOB = Job(
    "Compare two traces of the same workload: permissions and responses (ACLs: `policy diff`)",
    add_fail_option,
    _run,
    _differences_chart,
    compares_two_traces=True,
)
