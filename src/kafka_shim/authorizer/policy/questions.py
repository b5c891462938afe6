"""The accesses that brokers check: principals, hosts and operations."""

from collections.abc import Iterable
from functools import cache

from kafka_shim.authorizer.acl_releases import rules_of
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.implied import resource_types, supported_operations
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, AclFilter
from kafka_shim.authorizer.requirements import in_force
from kafka_shim.authorizer.rules import AclRules
from kafka_shim.protocol.enums import Operation, ResourceType

NOBODY = "User:\0nobody in particular"
"""A principal that no ACL names; stands for `User:*`."""

NOWHERE = "\0nowhere in particular"
"""A host that no ACL names; stands for `*`."""


class OverlookingError(ValueError):
    """The release overlooks some ACLs depending on other names, so no statement about all names
    holds.
    """


def check_exact(authorizer: StandardAuthorizer) -> None:
    """Raise OverlookingError for the first release of StandardAuthorizer (see `early_search`)."""
    if authorizer.rules.search_stops_early:
        raise OverlookingError(
            "this release overlooks prefixed ACLs when other names lie in between, so nothing"
            " can be said about all names; choose another --kafka-version"
        )


@cache
def asked_operations(release: str) -> dict[ResourceType, tuple[Operation, ...]]:
    """Return the operations that brokers of a release check, by resource type."""
    rules = rules_of(release)
    found = {kind: set(supported_operations(kind, rules)) for kind in resource_types(rules)}
    for bound in in_force(release):
        for need in bound.needs:
            found.setdefault(need.resource_type, set()).add(need.operation)
    return {kind: tuple(sorted(found[kind])) for kind in sorted(found)}


@cache
def asked_by_type(release: str) -> tuple[tuple[Operation, ResourceType], ...]:
    """Return the operations that brokers check for any resource of a type (KIP-679)."""
    found = {
        (need.operation, need.resource_type)
        for bound in in_force(release)
        for need in bound.needs
        if need.any_name
    }
    return tuple(sorted(found))


def acls_about(
    authorizer: StandardAuthorizer, resource_type: ResourceType, principal: str
) -> list[Acl]:
    """Return the ACLs that apply to the principal; `User:*` stands for any other."""
    store = authorizer.store
    if authorizer.allow_everyone:
        return list(store.matching(AclFilter(resource_type)))
    named = dict.fromkeys((principal, ANY_USER))
    return [acl for who in named for acl in store.matching(AclFilter(resource_type, principal=who))]


def hosts_of(acls: Iterable[Acl], principal: str, rules: AclRules) -> list[str]:
    """Return the hosts in these ACLs of the principal; `*` stands for all others."""
    named = {acl.host for acl in acls if acl.principal in (principal, ANY_USER)}
    if not rules.host_networks:  # no client has such a host in that case
        named = {host for host in named if "/" not in host}
    return [WILDCARD, *sorted(named - {WILDCARD})]


def asker(principal: str) -> str:
    return NOBODY if principal == ANY_USER else principal


def place(host: str) -> str:
    return NOWHERE if host == WILDCARD else host
