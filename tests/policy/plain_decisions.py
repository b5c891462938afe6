"""Decide by reading all ACLs one after the other: the oracle for statements over all accesses.

It shares neither the index nor the division of names with the code that makes these statements.
"""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import ip_address, ip_network

import msgspec

from kafka_shim.authorizer.acl_rules import (
    AclRules,
    acl_rules_of_release,
    operations_whose_allow_includes,
)
from kafka_shim.authorizer.decide import PROBED_NAME
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, Actor
from kafka_shim.policy.checked_accesses import (
    checked_operations_by_resource_type,
    operations_checked_for_any_resource,
)
from kafka_shim.policy.relations import Relation
from kafka_shim.policy.witness import resource_can_exist
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType

_UNNAMED_PRINCIPAL = "User:everyone-else"


class PlainPolicy(msgspec.Struct, frozen=True):
    """A set of ACLs with everything else that its decisions depend on."""

    acls: tuple[Acl, ...]
    release: str
    super_users: frozenset[str] = frozenset()
    allow_everyone: bool = False

    @property
    def rules(self) -> AclRules:
        return acl_rules_of_release(self.release)

    def allows(self, actor: Actor, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Return whether the access is allowed."""
        if actor.principal in self.super_users:
            return True
        matching = [acl for acl in self.acls if _covers_name(acl, kind, name, self.rules)]
        if not matching:
            return self.allow_everyone
        mine = [acl for acl in matching if _is_for(acl, actor, self.rules)]
        if any(
            acl.permission is Permission.DENY and acl.operation in (operation, Operation.ALL)
            for acl in mine
        ):
            return False
        allowing = operations_whose_allow_includes(operation)
        return any(acl.permission is Permission.ALLOW and acl.operation in allowing for acl in mine)

    def allows_on_any_resource(
        self, actor: Actor, operation: Operation, kind: ResourceType
    ) -> bool:
        """Return whether the operation is allowed on at least one resource (KIP-679)."""
        mine = [
            acl
            for acl in self.acls
            if acl.resource_type is kind
            and acl.operation in (operation, Operation.ALL)
            and _is_for(acl, actor, self.rules)
        ]
        denies = [acl for acl in mine if acl.permission is Permission.DENY]
        is_all_denied = any(_is_wildcard(acl) for acl in denies)
        if actor.principal in self.super_users:
            return True
        if self.rules.allow_everyone_by_resource_type:
            if self.allow_everyone and not is_all_denied:
                return True
        elif self.allows(actor, operation, kind, PROBED_NAME):
            return True
        return not is_all_denied and any(
            not any(_dominates(deny, acl) for deny in denies)
            for acl in mine
            if acl.permission is Permission.ALLOW
        )

    def relevant_to(self, principal: str, kind: ResourceType) -> "PlainPolicy":
        """Return the policy with only the ACLs that decisions about a principal can need."""
        acls = tuple(
            acl
            for acl in self.acls
            if acl.resource_type is kind
            and (self.allow_everyone or acl.principal in (principal, ANY_USER))
        )
        return msgspec.structs.replace(self, acls=acls)


def boundary_samples(
    policies: Sequence[PlainPolicy], principal: str, kind: ResourceType
) -> Iterator[tuple[Actor, str]]:
    """Yield actors and names that stand for all, one of each group that ACLs can distinguish."""
    acls = [acl for policy in policies for acl in policy.acls]
    names = _boundary_names(acls, kind)
    for host in _boundary_addresses(acls):
        for name in names:
            yield Actor(principal, host), name


def _boundary_names(acls: Iterable[Acl], kind: ResourceType) -> list[str]:
    if kind is ResourceType.CLUSTER:
        return [CLUSTER_NAME]
    stems = {"", WILDCARD, *(acl.resource_name for acl in acls)}
    following: dict[str, set[str]] = {stem: set() for stem in stems}
    for stem in stems:
        for length in range(len(stem)):
            if stem[:length] in following:
                following[stem[:length]].add(stem[length])
    inside = [stem + _character_other_than(used) for stem, used in following.items()]
    return sorted({*stems, *inside} - {""})


def _character_other_than(used: set[str]) -> str:
    characters = (chr(code) for code in (*range(ord("a"), ord("z") + 1), *range(0x100, 0x10000)))
    return next(character for character in characters if character not in used)


def _boundary_addresses(acls: Iterable[Acl]) -> list[str]:
    """Return each host, the ends of each network, and the addresses just outside of it."""
    hosts = {"192.0.2.1", "2001:db8:0:0:0:0:0:1"}
    for text in {acl.host for acl in acls} - {WILDCARD}:
        try:
            network = ip_network(text, strict=False)
        except ValueError:
            continue  # no client has such a host
        for address in (network[0], network[-1]):
            for step in (-1, 0, 1):
                number = int(address) + step
                if 0 < number < 1 << network.max_prefixlen:
                    hosts.add(_java_text(type(address)(number)))
    return sorted(hosts)


def _java_text(address: object) -> str:
    parts = getattr(address, "exploded", str(address))
    if ":" not in parts:
        return str(parts)
    return ":".join(f"{int(part, 16):x}" for part in parts.split(":"))


def _covers_name(acl: Acl, kind: ResourceType, name: str, rules: AclRules) -> bool:
    if acl.resource_type is not kind:
        return False
    if acl.pattern_type is PatternType.PREFIXED:
        return name.startswith(acl.resource_name)
    is_overlooked = name.startswith(WILDCARD) and not rules.wildcard_covers_starred_names
    return acl.resource_name == name or (_is_wildcard(acl) and not is_overlooked)


def _is_wildcard(acl: Acl) -> bool:
    return acl.resource_name == WILDCARD and acl.pattern_type is PatternType.LITERAL


def _is_for(acl: Acl, actor: Actor, rules: AclRules) -> bool:
    if acl.principal not in (actor.principal, ANY_USER):
        return False
    if acl.host in (WILDCARD, actor.host):
        return True
    if "/" not in acl.host or not rules.host_networks:
        return False
    return ip_address(actor.host) in ip_network(acl.host, strict=False)


def _dominates(deny: Acl, allow: Acl) -> bool:
    if _is_wildcard(allow):
        return False
    if deny.pattern_type is PatternType.PREFIXED:
        return allow.resource_name.startswith(deny.resource_name)
    return allow.pattern_type is PatternType.LITERAL and allow.resource_name == deny.resource_name


def contradictions(relation: Relation, sides: Sequence[PlainPolicy]) -> tuple[list[str], int]:
    """Return what contradicts a relation, and how many accesses were decided."""
    found, decided = list[str](), 0
    for kind in _resource_types_checked_by_any_side(sides):
        for principal in _named_principals_and_one_unnamed(sides):
            if relation is not Relation.DISJOINT and _have_equal_decision_inputs(
                sides, principal, kind
            ):
                continue
            for problem, count in _contradictions_or_empty_with_decision_counts(
                relation, sides, principal, kind
            ):
                decided += count
                found += [problem] if problem else []
    return found, decided


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
    for actor, name in boundary_samples(relevant, principal, kind):
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
