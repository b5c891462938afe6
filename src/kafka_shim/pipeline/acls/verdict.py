"""Decisions of an ACL set about observed accesses: columns in, columns out."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kafka_shim.authorizer.acl_formats.trace_rule import format_decision_rule
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, Action, Actor, Decision
from kafka_shim.pipeline.rows.access_roles import accesses_to_any_resource, split_alternative
from kafka_shim.protocol.enums import Operation, ResourceType

VERDICT = pa.struct([("allowed", pa.bool_()), ("rule", pa.string())])
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


def allowed_and_rule_of_accesses(
    authorizer: StandardAuthorizer, question_columns: Sequence[pa.Array]
) -> pa.StructArray:
    """Return for each access whether its requirement is met, and by which rule: `VERDICT`.

    `question_columns` are the columns of `DECISION_COLUMNS`, in that order.
    """
    *columns, instead = question_columns
    principals, hosts, api_keys, operations, types, names = (
        column.to_pylist() for column in columns
    )
    actors = map(_actor, principals, hosts)
    asked = map(_access_type, api_keys, operations, types)
    found = [
        _decide_named_or_any_uncached(authorizer, actor, what, name)
        for actor, what, name in zip(actors, asked, names, strict=True)
    ]
    for at, texts in _nonempty_lists_with_positions(instead):
        if not found[at].allowed:
            actor = _actor(principals[at], hosts[at])
            found[at] = (
                _first_decision_if_all_allowed(authorizer, actor, api_keys[at], texts) or found[at]
            )
    allowed = pa.array([decision.allowed for decision in found], pa.bool_())
    rules = pa.array([format_decision_rule(decision) for decision in found], pa.string())
    return pa.StructArray.from_arrays([allowed, rules], fields=list(VERDICT))


def decide_access_or_alternatives(authorizer: StandardAuthorizer, row: dict[str, Any]) -> Decision:
    """Decide whether the requirement of an observed access is met, by the access or an alternative.

    `row` has the columns of `DECISION_COLUMNS`.
    """
    actor = _actor(row["principal"], row["host"])
    what = _access_type(row["api_key"], row["operation"], row["resource_type"])
    own = _decide_named_or_any_uncached(authorizer, actor, what, row["resource_name"])
    if own.allowed or not row["instead"]:
        return own
    return _first_decision_if_all_allowed(authorizer, actor, row["api_key"], row["instead"]) or own


def _nonempty_lists_with_positions(lists: pa.Array) -> Iterator[tuple[int, list[str]]]:
    """Yield the lists that are not empty, with their positions; most are empty."""
    places = pc.indices_nonzero(pc.list_value_length(lists))
    return zip(places.to_pylist(), lists.take(places).to_pylist(), strict=True)


def _decide_named_or_any_uncached(
    authorizer: StandardAuthorizer, actor: Actor, access_type: _AccessType, name: str
) -> Decision:
    if access_type.star_means_any_resource and name == WILDCARD:
        return authorizer.authorize_by_resource_type(
            actor, access_type.operation, access_type.resource_type
        )
    return authorizer.decide_uncached(
        actor, Action(access_type.operation, access_type.resource_type, name)
    )


def _first_decision_if_all_allowed(
    authorizer: StandardAuthorizer, actor: Actor, api_key: int, alternatives: list[str]
) -> Decision | None:
    """Return the decision about the first alternative if all are allowed, else None."""
    found = [
        _decide_named_or_any_uncached(
            authorizer, actor, _access_type(api_key, operation, resource_type), name
        )
        for operation, resource_type, name in map(split_alternative, alternatives)
    ]
    return found[0] if all(decision.allowed for decision in found) else None
