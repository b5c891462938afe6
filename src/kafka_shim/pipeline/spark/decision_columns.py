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


def with_would_be_decisions(accesses: "DataFrame", acl_set: AclSet) -> "DataFrame":
    """Add `would_be_allowed` and `would_be_rule`, the decisions of the ACL set, to accesses."""
    return _with_decisions(accesses, acl_set, "would_be_")


def replace_recorded_decisions(accesses: "DataFrame", acl_set: AclSet) -> "DataFrame":
    """Replace `allowed` and `rule` of accesses by the decisions of the ACL set."""
    return _with_decisions(accesses, acl_set, "")


def _with_decisions(accesses: "DataFrame", acl_set: AclSet, name_prefix: str) -> "DataFrame":
    rows = accesses.withColumn("decision", _decision_column(acl_set))
    decided = {f"{name_prefix}{name}": f.col(f"decision.{name}") for name in ("allowed", "rule")}
    return rows.withColumns(decided).drop("decision")


def _decision_column(acl_set: AclSet) -> "Column":
    """Return the decision on each row: a struct of `allowed` and `rule`.

    Only the columns that it depends on are sent to the workers' Python.
    """
    present = pack_acl_set(acl_set)

    def verdict(*questions: pa.Array) -> pa.Array:
        return allowed_and_rule_of_accesses(present.cached_authorizer(), questions)

    judge = arrow_udf(verdict, "allowed boolean, rule string")  # type: ignore[call-overload]  # its stub wants an argument that it warns of
    # otherwise the optimiser computes it twice: for a filter on it, and for its value
    column: Column = judge.asNondeterministic()(*DECISION_COLUMNS)
    return column
