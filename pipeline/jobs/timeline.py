"""Rates, errors and latencies over time, by principal, client and API."""

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUANTILES = (0.5, 0.99)
_KEYS = ("principal", "client_id", "api")


def timeline(responses: "DataFrame", interval: str = "1 minute") -> "DataFrame":
    """One row an interval, principal, client id and API, in order of time.

    `responses` is the table of that name. Latencies are microseconds between request and answer as
    the recorder saw them; they and the client id are null where the request was in another piece of
    the trace. `errors` counts answers with an error anywhere.
    """
    keys = (f.window("time", interval).start.alias("time"), *_KEYS)
    rows = responses.groupBy(*keys).agg(
        f.count("*").alias("requests"),
        f.sum((f.size("error_codes") > 0).cast("long")).alias("errors"),
        f.percentile_approx("latency_us", QUANTILES[0]).alias("latency_us_median"),
        f.percentile_approx("latency_us", QUANTILES[1]).alias("latency_us_99"),
        f.max("latency_us").alias("latency_us_max"),
        f.sum("bytes").alias("response_bytes"),
    )
    return rows.orderBy("time", *_KEYS)
