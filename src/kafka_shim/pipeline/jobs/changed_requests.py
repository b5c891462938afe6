"""Requests that would fail or succeed with another ACL set, and the accesses that cause it."""

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kafka_shim.pipeline.acls.verdict import QUESTION
from kafka_shim.pipeline.jobs.what_breaks import ALLOWED, DENIED, in_order
from kafka_shim.protocol.trace.entries import AUDIT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = ("writer", "connection", "sequence", "time", "source", "role", *QUESTION, "allowed")
"""Those of the table `accesses` that are needed."""
BROADCAST_ROWS = 500_000
"""Number of verdicts that are sent to every worker (about 100 MB) to avoid sorting accesses."""
_RESOURCE = ("operation", "resource_type", "resource_name")
_KEYS = ("change", "principal", *_RESOURCE)


def with_requests(
    changes: "DataFrame", doubtful: "DataFrame", rows: "DataFrame", *, by_baseline: bool
) -> "DataFrame":
    """Return the rows of `what_breaks` with numbers of requests.

    `requests_changed` counts the requests that would newly fail or succeed, with this access among
    the causes; `requests_changed_of_principal` counts those of the principal with any cause.
    `doubtful` are the accesses in which changes were found; `rows` are single accesses from
    `observed.needed`.
    """
    requests = _changed(doubtful, rows, by_baseline=by_baseline)
    of_cause = requests.select("*", f.explode("causes").alias("cause")).select(
        "change", "principal", "cause.*"
    )
    counted = of_cause.groupBy(*_KEYS).agg(f.count("*").alias("requests_changed"))
    people = requests.groupBy("change", "principal").agg(
        f.count("*").alias("requests_changed_of_principal")
    )
    joined = changes.join(counted, [*_KEYS], "left").join(people, ["change", "principal"], "left")
    return in_order(joined.fillna(0, ["requests_changed", "requests_changed_of_principal"]))


def by_principal(rows: "DataFrame") -> "DataFrame":
    """Sum accesses and requests by change and principal, most requests first."""
    people = rows.groupBy("change", "principal").agg(
        f.count("*").alias("accesses"), f.max("requests_changed_of_principal").alias("requests")
    )
    return people.orderBy(f.desc("requests"), "principal")


def _changed(doubtful: "DataFrame", rows: "DataFrame", *, by_baseline: bool) -> "DataFrame":
    """Return one row per request whose result changes, with the accesses that change.

    A request fails when a required access is denied and its alternatives are not allowed either.
    A broker stops at the first denial, so further accesses of that request are unknown.
    """
    before = f.col("was_allowed") if by_baseline else f.col("allowed")
    after = f.col("would_be_allowed")
    was = [f.col("allowed").alias("was_allowed")] if by_baseline else []
    verdicts = doubtful.select(*QUESTION, *was, after).distinct()
    if doubtful.count() <= BROADCAST_ROWS:
        verdicts = f.broadcast(verdicts)
    is_logged = f.col("source") == AUDIT  # one line per access; time and API identify the request
    request = (
        "writer",
        "connection",
        f.when(~is_logged, f.col("sequence")),
        f.when(is_logged, f.col("time")),
        "api_key",
        "principal",
    )
    judged = rows.where(f.col("allowed").isNotNull()).join(verdicts, [*QUESTION])
    cause = f.when(before != after, f.struct(*_RESOURCE))
    found = judged.groupBy(*request).agg(
        f.bool_or(~before).alias("failed"),
        f.bool_or(~after).alias("would_fail"),
        f.collect_set(cause).alias("causes"),
    )
    change = f.when(f.col("would_fail"), DENIED).otherwise(ALLOWED).alias("change")
    return found.where("failed != would_fail").select("*", change)
