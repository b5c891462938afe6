"""`clients`: client software, and the versions of each API that it sends."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.lazy import f
from kafka_shim.pipeline.options import add_no_options
from kafka_shim.pipeline.report.charts import Chart, largest_bars_chart, sum_or_count_by_columns
from kafka_shim.pipeline.report.login_requests import rows_with_login_requests_as_own_principal
from kafka_shim.pipeline.report.outcome import Outcome, table_outcome_with_fail_option

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_shim.pipeline.trace_input import TraceInput

_KEYS = ("principal", "software_name", "software_version", "client_id", "api")


def versions_and_requests_by_client_and_api(client_counts: "DataFrame") -> "DataFrame":
    """Return one row per client and API; the counts are those of the table `clients`."""
    rows = client_counts.groupBy(*_KEYS).agg(
        f.sort_array(f.collect_set("api_version")).alias("versions"),
        f.sort_array(f.collect_set("host")).alias("hosts"),
        f.sum("requests").alias("requests"),
        f.min("first_seen").alias("first_seen"),
        f.max("last_seen").alias("last_seen"),
    )
    return rows.orderBy(*_KEYS)


_SHOWN = (
    *("principal", "software_name", "software_version", "client_id"),
    *("api", "versions", "requests", "first_seen", "last_seen"),
)


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    return table_outcome_with_fail_option(
        args,
        trace_input,
        versions_and_requests_by_client_and_api(trace_input.table("clients")),
        _SHOWN,
    )


def _charts_by_software_and_principal(outcome: Outcome) -> list[Chart]:
    rows = rows_with_login_requests_as_own_principal(outcome.rows)
    software = sum_or_count_by_columns(rows, "software_name", "software_version")
    principals = sum_or_count_by_columns(rows, "principal")
    return [
        largest_bars_chart("Requests by client software", "requests", software),
        largest_bars_chart("Requests by principal", "requests", principals),
    ]


JOB = Job(
    "List client software and the versions of each API that it uses",
    add_no_options,
    _run,
    _charts_by_software_and_principal,
)
