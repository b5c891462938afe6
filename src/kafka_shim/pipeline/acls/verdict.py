"""Decisions of an ACL set about observed accesses: columns in, columns out."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kafka_shim.authorizer.acl_formats.trace_rule import format_decision_rule
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, Action, Actor, Decision
from kafka_shim.pipeline.acls.grants import OperationOnResource, operation_on_resource
from kafka_shim.pipeline.rows.access_roles import any_resource_access_keys, split_access_text
from kafka_shim.protocol.enums import Operation, ResourceType

VERDICT = pa.struct([("allowed", pa.bool_()), ("rule", pa.string())])
ACTORS_KEPT = 4096

_actor = lru_cache(ACTORS_KEPT)(Actor)


class _NamelessAccess(msgspec.Struct, frozen=True):
    """An access without its name; whether `*` may mean any resource of the type."""

    operation: Operation
    resource_type: ResourceType
    may_be_any: bool


@cache
def _nameless_access(api_key: int, operation: str, resource_type: str) -> _NamelessAccess:
    key = (api_key, Operation[operation], ResourceType[resource_type])
    return _NamelessAccess(key[1], key[2], key in any_resource_access_keys())


def decide_observed_accesses(
    authorizer: StandardAuthorizer, questions: Sequence[pa.Array]
) -> pa.StructArray:
    """Return for each access whether its requirement is met, and by which rule: `VERDICT`.

    `questions` are the columns of `DECISION_COLUMNS`, in that order.
    """
    *columns, instead = questions
    principals, hosts, api_keys, operations, types, names = (
        column.to_pylist() for column in columns
    )
    actors = map(_actor, principals, hosts)
    asked = map(_nameless_access, api_keys, operations, types)
    found = [
        _decide_access(authorizer, actor, what, name)
        for actor, what, name in zip(actors, asked, names, strict=True)
    ]
    for at, texts in _nonempty_lists(instead):
        if not found[at].allowed:
            actor = _actor(principals[at], hosts[at])
            found[at] = _decide_alternatives(authorizer, actor, api_keys[at], texts) or found[at]
    allowed = pa.array([decision.allowed for decision in found], pa.bool_())
    rules = pa.array([format_decision_rule(decision) for decision in found], pa.string())
    return pa.StructArray.from_arrays([allowed, rules], fields=list(VERDICT))


def decide_observed_access(authorizer: StandardAuthorizer, row: dict[str, Any]) -> Decision:
    """Decide whether the requirement of an observed access is met, by the access or an alternative.

    `row` has the columns of `DECISION_COLUMNS`.
    """
    actor = _actor(row["principal"], row["host"])
    what = _nameless_access(row["api_key"], row["operation"], row["resource_type"])
    own = _decide_access(authorizer, actor, what, row["resource_name"])
    if own.allowed or not row["instead"]:
        return own
    return _decide_alternatives(authorizer, actor, row["api_key"], row["instead"]) or own


def _nonempty_lists(lists: pa.Array) -> Iterator[tuple[int, list[str]]]:
    """Yield the lists that are not empty, with their positions; most are empty."""
    places = pc.indices_nonzero(pc.list_value_length(lists))
    return zip(places.to_pylist(), lists.take(places).to_pylist(), strict=True)


def _decide_access(
    authorizer: StandardAuthorizer, actor: Actor, what: _NamelessAccess, name: str
) -> Decision:
    if what.may_be_any and name == WILDCARD:
        return authorizer.authorize_by_resource_type(actor, what.operation, what.resource_type)
    return authorizer.decide_uncached(actor, Action(what.operation, what.resource_type, name))


def _decide_alternatives(
    authorizer: StandardAuthorizer, actor: Actor, api_key: int, texts: list[str]
) -> Decision | None:
    """Return the decision about the first alternative if all are allowed, else None."""
    found = [
        _decide_access(authorizer, actor, _nameless_access(api_key, operation, resource_type), name)
        for operation, resource_type, name in map(split_access_text, texts)
    ]
    return found[0] if all(decision.allowed for decision in found) else None


def may_mean_any_resource(api_key: int, what: OperationOnResource) -> bool:
    """Return whether an access of a request is to any resource of a type (KIP-679)."""
    operation, kind, name = what
    return name == WILDCARD and (api_key, operation, kind) in any_resource_access_keys()


def row_is_about_any_resource(row: Mapping[str, Any]) -> bool:
    """Return whether an observed row is an access to any resource of a type."""
    return may_mean_any_resource(row["api_key"], operation_on_resource(row))
