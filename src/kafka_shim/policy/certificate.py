"""Certificates: a statement about two sets of ACLs, with all that is needed to check it again.

The check decides with `plain_decisions`, which shares neither the index nor the division of names
with the command that made the certificate.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.acl_objects import acls_to_objects
from kafka_shim.authorizer.model import ANY_USER, Acl, Actor
from kafka_shim.policy.checked_accesses import (
    checked_operations_by_resource_type,
    operations_checked_for_any_resource,
)
from kafka_shim.policy.formats.json_objects import parse_objects
from kafka_shim.policy.plain_decisions import PlainPolicy, boundary_actors_and_names
from kafka_shim.policy.relations import Relation, RelationResult
from kafka_shim.policy.witness import Witness, resource_can_exist
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import Operation, ResourceType

FORMAT = "kafka-shim policy certificate"
VERSION = 1
_SIDES = ("a", "b")
_UNNAMED_PRINCIPAL = "User:certificate-of-everyone-else"


class PolicyCertificateError(ValueError):
    """The text is not a certificate of this version."""


class PolicyCertificateCheck(msgspec.Struct, frozen=True):
    """The result of a check: what contradicts the certificate, and how much was decided again."""

    problems: tuple[str, ...]
    decided_accesses: int
    principals: int


def certificate_object(
    result: RelationResult, sides: Sequence[PlainPolicy], sources: Sequence[str]
) -> dict[str, Any]:
    """Return the certificate of a result as JSON values. ACLs of both sides are written once."""
    first, second = (set(side.acls) for side in sides)
    return {
        "format": FORMAT,
        "version": VERSION,
        "relation": result.relation.value,
        "holds": result.holds,
        "counterexample": result.counterexample and witness_object(result.counterexample),
        **{
            name: {
                "source": source,
                "release": side.release,
                "super_users": sorted(side.super_users),
                "allow_everyone_if_no_acl_found": side.allow_everyone,
                "acl_count": len(set(side.acls)),
                "acls_sha256": acls_sha256(side.acls),
            }
            for name, side, source in zip(_SIDES, sides, sources, strict=True)
        },
        "acls_of_both": _sorted_objects(first & second),
        "acls_of_a": _sorted_objects(first - second),
        "acls_of_b": _sorted_objects(second - first),
    }


def witness_object(witness: Witness) -> dict[str, Any]:
    return {
        "principal": witness.actor.principal,
        "host": witness.actor.host,
        "operation": witness.operation.name,
        "resource_type": witness.resource_type.name,
        "resource_name": witness.resource_name,
        "before": witness.before.allowed,
        "after": witness.after.allowed,
    }


def acls_sha256(acls: Iterable[Acl]) -> str:
    """Return a checksum of a set of ACLs, which does not depend on order and repetitions."""
    text = json.dumps(_sorted_objects(set(acls)), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def policies_of_certificate(certificate: Mapping[str, Any]) -> tuple[PlainPolicy, PlainPolicy]:
    """Return both sides of a certificate.

    Raise PolicyCertificateError if it is none, or was changed.
    """
    if certificate.get("format") != FORMAT or certificate.get("version") != VERSION:
        raise PolicyCertificateError(f"expected a {FORMAT} of version {VERSION}")
    try:
        both = parse_objects(certificate["acls_of_both"])
        first, second = (
            _policy_of_side(
                certificate[name], [*both, *parse_objects(certificate[f"acls_of_{name}"])]
            )
            for name in _SIDES
        )
    except (KeyError, TypeError, AclTextError) as error:
        raise PolicyCertificateError(
            f"the certificate is incomplete or invalid: {error}"
        ) from error
    return first, second


def check_certificate(certificate: Mapping[str, Any]) -> PolicyCertificateCheck:
    """Decide again what a certificate states. Raise PolicyCertificateError if it cannot be read."""
    sides = policies_of_certificate(certificate)
    problems = [
        f"the ACLs of {name} do not have the checksum {certificate[name]['acls_sha256']}"
        for name, side in zip(_SIDES, sides, strict=True)
        if acls_sha256(side.acls) != certificate[name]["acls_sha256"]
    ]
    try:
        relation = Relation(certificate["relation"])
    except ValueError as error:
        raise PolicyCertificateError(str(error)) from error
    if not certificate["holds"]:
        return _check_counterexample(certificate["counterexample"], relation, sides, problems)
    decided = 0
    principals = _named_principals_and_one_unnamed(sides)
    for kind in _resource_types_checked_by_any_side(sides):
        for principal in principals:
            if relation is not Relation.DISJOINT and _have_equal_decision_inputs(
                sides, principal, kind
            ):
                continue
            for problem, count in _contradictions_or_empty_with_decision_counts(
                relation, sides, principal, kind
            ):
                decided += count
                problems += [problem] if problem else []
    return PolicyCertificateCheck(tuple(problems), decided, len(principals))


def _policy_of_side(side: Mapping[str, Any], acls: Sequence[Acl]) -> PlainPolicy:
    if side["release"] not in RELEASES:
        raise PolicyCertificateError(f"unknown release `{side['release']}`")
    return PlainPolicy(
        tuple(acls),
        side["release"],
        frozenset(side["super_users"]),
        bool(side["allow_everyone_if_no_acl_found"]),
    )


def _check_counterexample(
    access: Mapping[str, Any] | None,
    relation: Relation,
    sides: Sequence[PlainPolicy],
    problems: list[str],
) -> PolicyCertificateCheck:
    if access is None:
        raise PolicyCertificateError("a relation that does not hold needs a counterexample")
    try:
        actor = Actor(access["principal"], access["host"])
        operation = Operation[access["operation"]]
        kind, name = ResourceType[access["resource_type"]], access["resource_name"]
        first, second = (
            side.allows_on_any_resource(actor, operation, kind)
            if name is None
            else side.allows(actor, operation, kind, name)
            for side in sides
        )
    except (KeyError, ValueError) as error:
        raise PolicyCertificateError(f"invalid counterexample: {error}") from error
    if not contradicts(relation, first, second):
        problems.append("the counterexample does not contradict the relation")
    return PolicyCertificateCheck(tuple(problems), 2, 1)


def contradicts(relation: Relation, first: bool, second: bool) -> bool:
    """Return whether decisions of A and B about one access contradict the relation."""
    match relation:
        case Relation.EQUIVALENT:
            return first is not second
        case Relation.IMPLIES:
            return first and not second
        case Relation.DISJOINT:
            return first and second


def _named_principals_and_one_unnamed(sides: Sequence[PlainPolicy]) -> list[str]:
    """Return the principals that are named anywhere, and one that is not."""
    named = {acl.principal for side in sides for acl in side.acls}
    supers = {principal for side in sides for principal in side.super_users}
    return sorted((named | supers | {_UNNAMED_PRINCIPAL}) - {ANY_USER})


def _resource_types_checked_by_any_side(sides: Sequence[PlainPolicy]) -> list[ResourceType]:
    return sorted(
        {kind for side in sides for kind in checked_operations_by_resource_type(side.release)}
    )


def _have_equal_decision_inputs(
    sides: Sequence[PlainPolicy], principal: str, kind: ResourceType
) -> bool:
    """Return whether everything that decisions about a principal depend on is equal."""
    first, second = (
        (
            side.rules,
            side.allow_everyone,
            principal in side.super_users,
            frozenset(side.relevant_to(principal, kind).acls),
        )
        for side in sides
    )
    return first == second


def _contradictions_or_empty_with_decision_counts(
    relation: Relation, sides: Sequence[PlainPolicy], principal: str, kind: ResourceType
) -> Iterable[tuple[str, int]]:
    """Yield what contradicts the relation, or an empty text, with the number of decisions."""
    if relation is Relation.DISJOINT and all(principal in side.super_users for side in sides):
        return
    relevant = [side.relevant_to(principal, kind) for side in sides]
    operations = {
        operation
        for side in sides
        for operation in checked_operations_by_resource_type(side.release).get(kind, ())
    }
    by_type = {
        operation
        for side in sides
        for operation, checked_kind in operations_checked_for_any_resource(side.release)
        if checked_kind is kind
    }
    hosts = dict[str, None]()
    for actor, name in boundary_actors_and_names(relevant, principal, kind):
        hosts[actor.host] = None
        if not resource_can_exist(kind, name):
            continue
        for operation in operations:
            first, second = (side.allows(actor, operation, kind, name) for side in relevant)
            text = f"{principal} from {actor.host}: {operation.name} on {kind.name} `{name}`"
            yield (text if contradicts(relation, first, second) else ""), 2
    for host in hosts:
        for operation in by_type:
            first, second = (
                side.allows_on_any_resource(Actor(principal, host), operation, kind)
                for side in relevant
            )
            text = f"{principal} from {host}: {operation.name} on any {kind.name}"
            yield (text if contradicts(relation, first, second) else ""), 2


def _sorted_objects(acls: Iterable[Acl]) -> list[dict[str, str]]:
    return sorted(acls_to_objects(acls), key=lambda each: tuple(each.values()))
