"""Decisions of the authorizer itself, for accesses that joins cannot decide."""

from collections.abc import Iterator, Sequence
from functools import cache

import pyarrow as pa

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor, Decision, DecisionReason
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.acl_tables import DEFAULT_ALLOW, DEFAULT_DENY, SUPER_USER
from kafka_shim.pipeline.engines.engine import BatchFunction
from kafka_shim.protocol.enums import Operation, ResourceType

DECIDED = pa.schema(
    [
        ("principal", pa.string()),
        ("host", pa.string()),
        ("operation", pa.string()),
        ("resource_type", pa.string()),
        ("resource_name", pa.string()),
        ("is_any_resource", pa.bool_()),
        ("is_allowed", pa.bool_()),
        ("rule_number", pa.int32()),
    ]
)
"""A question and its decision; `rule_number` is an ACL's rank, or the number of another rule."""
_RULE_NUMBERS = {
    DecisionReason.SUPER_USER: SUPER_USER,
    DecisionReason.DEFAULT_ALLOW: DEFAULT_ALLOW,
    DecisionReason.DEFAULT_DENY: DEFAULT_DENY,
}


def decision_mapper(acl_set: AclSet, ranked_acls: Sequence[Acl]) -> BatchFunction:
    """Return a function that adds the decisions to batches of questions."""
    authorizer = cache(acl_set.build_authorizer)  # takes time, and often there are no questions
    ranks = cache(lambda: {acl: rank for rank, acl in enumerate(ranked_acls)})

    def with_decisions(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = batch.to_pylist()
            decisions = [_decide_question(authorizer(), row) for row in rows]
            for row, decision in zip(rows, decisions, strict=True):
                row["is_allowed"] = decision.allowed
                row["rule_number"] = (
                    _RULE_NUMBERS[decision.reason]
                    if decision.acl is None
                    else ranks()[decision.acl]
                )
            yield pa.RecordBatch.from_pylist(rows, DECIDED)

    return with_decisions


def _decide_question(authorizer: StandardAuthorizer, row: dict[str, object]) -> Decision:
    actor = Actor(str(row["principal"]), str(row["host"]))
    operation = Operation[str(row["operation"])]
    resource_type = ResourceType[str(row["resource_type"])]
    if row["is_any_resource"]:
        return authorizer.authorize_by_resource_type(actor, operation, resource_type)
    return authorizer.decide_uncached(
        actor, Action(operation, resource_type, str(row["resource_name"]))
    )
