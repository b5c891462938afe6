"""`clients`: client software, and the versions of each API that it sends."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.engines.engine import Relation, SqlEngine
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.options import add_no_options
from kafka_shim.pipeline.report.charts import Chart, largest_bars_chart, sum_by_columns
from kafka_shim.pipeline.report.login_requests import separate_login_requests
from kafka_shim.pipeline.report.outcome import Outcome, table_outcome

if TYPE_CHECKING:
    from kafka_shim.pipeline.trace_input import TraceInput

_KEYS = "principal, software_name, software_version, client_id, api"


def versions_by_client(engine: SqlEngine, client_counts: Relation) -> Relation:
    """Return one row per client and API; `client_counts` is the table `clients`."""
    return engine.sql(
        f"""
        select {_KEYS}, array_sort(array_distinct(array_agg(api_version))) as versions,
            array_sort(array_distinct(array_agg(host))) as hosts,
            cast(sum(requests) as bigint) as requests, min(first_seen) as first_seen,
            max(last_seen) as last_seen
        from {{counts}} group by {_KEYS} order by {_KEYS}
        """,
        counts=client_counts,
    )


_SHOWN = (
    *("principal", "software_name", "software_version", "client_id"),
    *("api", "versions", "requests", "first_seen", "last_seen"),
)


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    versions = versions_by_client(trace_input.reader, trace_input.table("clients"))
    return table_outcome(args, trace_input, trace_input.to_deciding_engine(versions), _SHOWN)


def _client_charts(outcome: Outcome) -> list[Chart]:
    rows = separate_login_requests(outcome.rows)
    software = sum_by_columns(rows, "software_name", "software_version")
    principals = sum_by_columns(rows, "principal")
    return [
        largest_bars_chart("Requests by client software", "requests", software),
        largest_bars_chart("Requests by principal", "requests", principals),
    ]


JOB = Job(
    "List client software and the versions of each API that it uses",
    add_no_options,
    _run,
    _client_charts,
)
