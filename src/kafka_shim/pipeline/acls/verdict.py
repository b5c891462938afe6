"""Decisions of the authorizer about rows of `observed`."""

from functools import cache, lru_cache
from typing import Any

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, Action, Actor, Decision
from kafka_shim.pipeline.rows.access_roles import accesses_to_any_resource, split_alternative
from kafka_shim.protocol.enums import Operation, ResourceType

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
