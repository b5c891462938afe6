"""Decisions of the authorizer itself about rows of `observed`, which joins cannot decide."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

import msgspec
import pyarrow as pa

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, Acl, Action, Actor, Decision, DecisionReason
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.acl_tables import DEFAULT_ALLOW, DEFAULT_DENY, SUPER_USER
from kafka_shim.pipeline.engines.engine import BatchFunction
from kafka_shim.pipeline.rows.access_roles import accesses_to_any_resource, split_alternative
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


ACTORS_KEPT = 4096

_actor = lru_cache(ACTORS_KEPT)(Actor)


class _AccessType(msgspec.Struct, frozen=True):
    """An access without its name; whether `*` may mean any resource of the type."""

    operation: Operation
    resource_type: ResourceType
    star_means_any_resource: bool


@cache
def _access_type(api_key: int, operation: str, resource_type: str) -> _AccessType:
    key = (api_key, Operation[operation], ResourceType[resource_type])
    return _AccessType(key[1], key[2], key in accesses_to_any_resource())


def decide_access(authorizer: StandardAuthorizer, row: dict[str, Any]) -> Decision:
    """Decide whether the requirement of an observed access is met, by the access or an alternative.

    `row` has the columns of `DECISION_COLUMNS`.
    """
    actor = _actor(row["principal"], row["host"])
    what = _access_type(row["api_key"], row["operation"], row["resource_type"])
    own = _decide_uncached(authorizer, actor, what, row["resource_name"])
    if own.allowed or not row["instead"]:
        return own
    return _alternatives_decision(authorizer, actor, row["api_key"], row["instead"]) or own


def _decide_uncached(
    authorizer: StandardAuthorizer, actor: Actor, access_type: _AccessType, name: str
) -> Decision:
    if access_type.star_means_any_resource and name == WILDCARD:
        return authorizer.authorize_by_resource_type(
            actor, access_type.operation, access_type.resource_type
        )
    return authorizer.decide_uncached(
        actor, Action(access_type.operation, access_type.resource_type, name)
    )


def _alternatives_decision(
    authorizer: StandardAuthorizer, actor: Actor, api_key: int, alternatives: list[str]
) -> Decision | None:
    """Return the decision about the first alternative if all are allowed, else None."""
    found = [
        _decide_uncached(authorizer, actor, _access_type(api_key, operation, resource_type), name)
        for operation, resource_type, name in map(split_alternative, alternatives)
    ]
    return found[0] if all(decision.allowed for decision in found) else None
