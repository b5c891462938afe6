"""Rates, errors and latencies over time, by principal, client and API."""

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUANTILES = (0.5, 0.99)
_KEYS = ("principal", "client_id", "api")


_REQUEST = ("writer", "connection", "sequence")
_ANSWERED = ("time", *_KEYS, "error_codes", "latency_us", "bytes")
REQUEST_COLUMNS = (*_REQUEST, "time", *_KEYS)
RESPONSE_COLUMNS = (*_REQUEST, *_ANSWERED)


def exchanges(requests: "DataFrame", responses: "DataFrame") -> "DataFrame":
    """Add the requests without a response (acks=0, or in flight at the end) to the responses.

    Both are tables of that name; a request without a response counts at its own time.
    """
    unanswered = requests.join(responses.select(*_REQUEST), [*_REQUEST], "left_anti")
    return responses.select(*_ANSWERED).unionByName(
        unanswered.select("time", *_KEYS), allowMissingColumns=True
    )


def timeline(responses: "DataFrame", interval: str = "1 minute") -> "DataFrame":
    """Return one row per interval, principal, client id and API, in order of time.

    `answers` is the table `responses`, or the result of `exchanges`. Latencies are microseconds
    between request and response as the recorder saw them. Latency and client id are null if
    the request was in another piece of the trace. `errors` counts responses that contain an error.
    """
    keys = (f.window("time", interval).start.alias("time"), *_KEYS)
    rows = responses.groupBy(*keys).agg(
        f.count("*").alias("requests"),
        f.count_if(f.size("error_codes") > 0).alias("errors"),
        f.percentile_approx("latency_us", QUANTILES[0]).alias("latency_us_median"),
        f.percentile_approx("latency_us", QUANTILES[1]).alias("latency_us_99"),
        f.max("latency_us").alias("latency_us_max"),
        f.sum("bytes").alias("response_bytes"),
    )
    return rows.orderBy("time", *_KEYS)
