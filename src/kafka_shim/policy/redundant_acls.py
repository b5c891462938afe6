"""Find ACLs that could be removed without a change of any decision.

`AclRemovalEffects` compares all decisions; `find_superseding_acl` names one broader ACL.
"""

from collections.abc import Iterator
from functools import cache, cached_property

from kafka_shim.authorizer.acl_rules import (
    acl_rules_of_release,
    operation_bit_field,
    operations_whose_allow_includes,
    operations_whose_deny_includes,
)
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.decide import operations_allowed_by_grant
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, Action, Actor, Decision
from kafka_shim.authorizer.networks import covers_host
from kafka_shim.authorizer.patterns import DENY_SHIFT
from kafka_shim.authorizer.store import AclStore, acl_of_grant_bit, grant_bit_of_acl
from kafka_shim.policy.checked_accesses import (
    checked_operations_by_resource_type,
    operations_checked_for_any_resource,
    require_full_prefix_search,
    sample_host,
    sample_principal,
)
from kafka_shim.policy.decision_boundaries import DecisionBoundaries
from kafka_shim.policy.name_sets import divide_into_regions, names_covered_by_acl
from kafka_shim.protocol.enums import (
    CLUSTER_NAME,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)


class AclRemovalEffects:
    """Compares all decisions with and without an ACL.

    The set may only be changed with `remove_permanently`.

    Raise InexactReleaseError for a release whose decisions cannot be computed for all names.
    """

    def __init__(self, authorizer: StandardAuthorizer, release: str) -> None:
        require_full_prefix_search(authorizer)
        self._with = authorizer
        self._distinct = DecisionBoundaries(authorizer)
        self._operations = checked_operations_by_resource_type(release)
        self._checked_bits = {
            kind: operation_bit_field(operations) for kind, operations in self._operations.items()
        }
        self._by_type = operations_checked_for_any_resource(release)

    def unchanged_decisions(self, acl: Acl) -> list[Decision] | None:
        """Return the decisions without the ACL; None if any of them differs from that with it."""
        if self._is_needed_for_own_name(acl):
            return None
        self._trial_authorizer.store.remove(acl)
        try:
            return self._compare_decisions(acl)
        finally:
            self._trial_authorizer.store.add(acl)

    def remove_permanently(self, acl: Acl) -> None:
        """Remove an ACL from both sides, for the comparisons that follow."""
        without = self._trial_authorizer
        self._with.store.remove(acl)
        without.store.remove(acl)

    @cached_property
    def _trial_authorizer(self) -> StandardAuthorizer:
        """The same authorizer, from which one ACL at a time is removed; made when it is needed."""
        return StandardAuthorizer(
            super_users=self._with.super_users,
            allow_everyone=self._with.allow_everyone,
            rules=self._with.rules,
            store=AclStore(self._with.store),
        )

    def _is_needed_for_own_name(self, acl: Acl) -> bool:
        """Return whether a decision about the name in the ACL itself changes without the ACL.

        This needs no search, and is so for most ACLs.
        """
        name, rules = acl.resource_name, self._with.rules
        if (
            name.startswith(WILDCARD)
            or (acl.resource_type is ResourceType.CLUSTER and name != CLUSTER_NAME)
            or "/" in acl.host
            or acl.principal in self._with.super_users
            or self._with.allow_everyone
        ):
            return False
        actor = Actor(sample_principal(acl.principal), sample_host(acl.host))
        store, others = self._with.store, 0
        own_bit, own_pattern = grant_bit_of_acl(acl), (name, acl.pattern_type)
        for pattern in store.patterns_used_for_decision(
            acl.resource_type, name, rules.wildcard_covers_starred_names
        ):
            is_own_pattern = (pattern.resource_name, pattern.pattern_type) == own_pattern
            for subject in store.subjects_including(actor):
                grant = pattern.grant_bits_of(subject)
                if is_own_pattern and (subject.principal, subject.host) == (
                    acl.principal,
                    acl.host,
                ):
                    grant &= ~own_bit
                others |= grant
        allowed_with = operations_allowed_by_grant(others | own_bit)
        changed = allowed_with ^ operations_allowed_by_grant(others)
        return bool(changed & self._checked_bits.get(acl.resource_type, 0))

    def _compare_decisions(self, acl: Acl) -> list[Decision] | None:
        decisions: dict[Decision, None] = {}
        for actor, action in self._iter_sample_accesses(acl):
            decision = self._trial_authorizer.decide_uncached(actor, action)
            if decision.allowed is not self._with.decide_uncached(actor, action).allowed:
                return None
            decisions[decision] = None
        for actor, operation in self._iter_affected_type_accesses(acl):
            access = actor, operation, acl.resource_type
            was = self._with.authorize_by_resource_type(*access).allowed
            if self._trial_authorizer.authorize_by_resource_type(*access).allowed is not was:
                return None
        return list(decisions)

    def _iter_sample_accesses(self, acl: Acl) -> Iterator[tuple[Actor, Action]]:
        """Yield one access of every kind that the ACL may decide."""
        kind, rules = acl.resource_type, self._with.rules
        operations = self._operations_affected_by(acl)
        for principal in self._principals_to_compare(acl):
            hosts = self._hosts_affected_by(acl, principal)
            distinct_names = self._distinct.distinct_names_within(
                kind, principal, names_covered_by_acl(acl)
            )
            for region in divide_into_regions(
                kind, distinct_names, rules, names_covered_by_acl(acl)
            ):
                for host in hosts:
                    actor = Actor(sample_principal(principal), sample_host(host))
                    for operation in operations:
                        yield actor, Action(operation, kind, region.sample_name)

    def _iter_affected_type_accesses(self, acl: Acl) -> Iterator[tuple[Actor, Operation]]:
        for operation, kind in self._by_type:
            if kind is acl.resource_type:
                for principal in self._principals_to_compare(acl):
                    for host in self._hosts_affected_by(acl, principal):
                        yield (
                            Actor(sample_principal(principal), sample_host(host)),
                            operation,
                        )

    def _operations_affected_by(self, acl: Acl) -> list[Operation]:
        checked = self._operations.get(acl.resource_type, ())
        if self._with.allow_everyone:  # without its last ACL, a resource is open for all operations
            return list(checked)
        deciding = (
            operations_whose_allow_includes
            if acl.permission is Permission.ALLOW
            else operations_whose_deny_includes
        )
        return [operation for operation in checked if acl.operation in deciding(operation)]

    def _principals_to_compare(self, acl: Acl) -> Iterator[str]:
        yield acl.principal
        if acl.principal == ANY_USER:
            principals = self._distinct.principals_with_acls_on(
                acl.resource_type, names_covered_by_acl(acl)
            )
            yield from sorted(principals - {ANY_USER})
        elif self._with.allow_everyone:
            yield ANY_USER

    def _hosts_affected_by(self, acl: Acl, principal: str) -> list[str]:
        """Return the ACL's hosts; all hosts if resources without ACLs are open to everyone."""
        hosts = self._distinct.distinct_hosts(acl.resource_type, principal)
        if self._with.allow_everyone:
            return hosts
        networks = self._with.rules.host_networks
        return [host for host in hosts if covers_host(acl.host, host, host_networks=networks)]


def find_superseding_acl(acl: Acl, store: AclStore, release: str) -> Acl | None:
    """Return another ACL of the store that covers this one, or overrides it completely.

    Return None in a release that may overlook the other one.
    """
    rules = acl_rules_of_release(release)
    if rules.prefix_search_stops_early:
        return None
    starred = rules.wildcard_covers_starred_names
    covering_bits = _superseding_grant_bits(acl.permission, acl.operation)
    own_pattern, own_bit = (acl.resource_name, acl.pattern_type), grant_bit_of_acl(acl)
    for pattern in store.patterns_matching_name(acl.resource_type, acl.resource_name):
        kind = (pattern.resource_name, pattern.pattern_type)
        if not _pattern_contains(kind, own_pattern, wildcard_covers_starred_names=starred):
            continue
        for subject in store.subjects_covering(acl.principal, acl.host):
            grant = pattern.grant_bits_of(subject)
            if (subject.principal, subject.host, kind) == (acl.principal, acl.host, own_pattern):
                grant &= ~own_bit
            for bit in covering_bits if grant else ():
                if grant >> bit & 1:
                    return acl_of_grant_bit(pattern, subject, bit)
    return None


def _pattern_contains(
    outer: tuple[str, PatternType],
    inner: tuple[str, PatternType],
    *,
    wildcard_covers_starred_names: bool,
) -> bool:
    name, kind = outer
    if kind is PatternType.PREFIXED:
        return inner[0].startswith(name) and (
            inner[0] != WILDCARD or inner[1] != PatternType.LITERAL
        )
    if name == WILDCARD:
        return (
            inner[0] == WILDCARD
            or wildcard_covers_starred_names
            or not inner[0].startswith(WILDCARD)
        )
    return outer == inner


@cache
def _superseding_grant_bits(permission: Permission, operation: Operation) -> tuple[int, ...]:
    """Return the grant bits that make an ACL redundant in a broader ACL, those of DENYs last."""
    if permission is Permission.DENY:
        return tuple(DENY_SHIFT + op for op in dict.fromkeys((operation, Operation.ALL)))
    operations = [operation, *sorted(_operations_whose_allow_covers_allow_of(operation))]
    return (*dict.fromkeys(map(int, operations)), DENY_SHIFT + Operation.ALL)


def _operations_whose_allow_covers_allow_of(operation: Operation) -> frozenset[Operation]:
    """Return the operations whose ALLOW includes the ALLOW of this one."""
    return (
        operations_whose_allow_includes(operation)
        if operation is not Operation.ALL
        else frozenset({operation})
    )
