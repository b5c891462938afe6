"""Decide accesses with ACL sets, on the workers."""

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as f
from pyspark.sql.pandas.functions import arrow_udf

from kafka_shim.pipeline.acls.acl_set import AclSet, pack_acl_set
from kafka_shim.pipeline.acls.verdict import allowed_and_rule_of_accesses
from kafka_shim.pipeline.rows.access_row import DECISION_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def with_decisions(
    accesses: "DataFrame", candidate: AclSet, baseline: AclSet | None = None
) -> "DataFrame":
    """Add `would_be_allowed` and `would_be_rule`, the candidate's decisions, to accesses.

    With a baseline, `allowed` and `rule` are its decisions in place of the recorded ones. Only
    columns that decisions depend on are sent to the workers' Python.
    """
    rows = accesses.withColumn("would_be", _decision_column(candidate))
    if baseline is not None:
        rows = rows.withColumn("was", _decision_column(baseline)).withColumns(
            {"allowed": f.col("was.allowed"), "rule": f.col("was.rule")}
        )
    would_be = {f"would_be_{name}": f.col(f"would_be.{name}") for name in ("allowed", "rule")}
    return rows.withColumns(would_be).drop("would_be", "was")


def _decision_column(acl_set: AclSet) -> "Column":
    """Return the decision on each row: a struct of `allowed` and `rule`."""
    present = pack_acl_set(acl_set)

    def verdict(*questions: pa.Array) -> pa.Array:
        return allowed_and_rule_of_accesses(present.cached_authorizer(), questions)

    judge = arrow_udf(verdict, "allowed boolean, rule string")  # type: ignore[call-overload]  # its stub wants an argument that it warns of
    # otherwise the optimiser computes it twice: for a filter on it, and for its value
    column: Column = judge.asNondeterministic()(*DECISION_COLUMNS)
    return column
