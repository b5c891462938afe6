"""Two authorizers side by side: where their decisions can differ, and their decisions combined."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain

import msgspec

from kafka_shim.authorizer.acl_rules import AclRules, operation_bit_field
from kafka_shim.authorizer.model import Acl, Action, Actor, Decision, DecisionReason
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.checked_accesses import (
    checked_operations_by_resource_type,
    operations_checked_for_any_resource,
)
from kafka_shim.policy.decision_function import DecisionFunction
from kafka_shim.protocol.enums import Operation, ResourceType


class ComparedDecisions:
    """Two decision functions with their releases, and what differs between them.

    If their settings differ, every decision can differ, so all ACLs count as changed.
    """

    def __init__(
        self, old: DecisionFunction, new: DecisionFunction, release: str, new_release: str
    ) -> None:
        self.old, self.new = old, new
        self._releases = (release, new_release)
        self.finest_rules = merge_rules(old.rules, new.rules)
        self.super_users_of_both_sides = old.super_users & new.super_users
        self.differing_super_users = (old.super_users ^ new.super_users).union(
            *(
                side.differing_super_users
                for side in (old, new)
                if isinstance(side, CombinedDecisions)
            )
        )

    @cached_property
    def settings_differ(self) -> bool:
        """Return whether something besides ACLs and super users differs that decisions need."""
        first, second = (
            (
                side.allow_everyone,
                side.rules.host_networks,
                side.rules.wildcard_covers_starred_names,
                side.rules.allow_everyone_by_resource_type,
            )
            for side in (self.old, self.new)
        )
        return first != second or type(self.old) is not type(self.new)

    @property
    def any_acl_may_affect_everyone(self) -> bool:
        """Return whether ACLs of one principal can open or close a resource for all others."""
        return self.old.allow_everyone or self.new.allow_everyone or self.settings_differ

    @property
    def operations_on_any_resource(self) -> Sequence[tuple[Operation, ResourceType]]:
        """Return the operations that brokers of either release check by resource type."""
        return sorted(
            {
                pair
                for release in self._releases
                for pair in operations_checked_for_any_resource(release)
            }
        )

    def checked_operation_bits(self, resource_type: ResourceType) -> int:
        """Return the bit field of operations that brokers of either release check on a type."""
        return operation_bit_field(
            {
                operation
                for release in self._releases
                for operation in checked_operations_by_resource_type(release).get(resource_type, ())
            }
        )

    def changed_resource_types(self) -> Sequence[ResourceType]:
        if self.settings_differ or self.differing_super_users:
            return sorted(
                {
                    kind
                    for release in self._releases
                    for kind in checked_operations_by_resource_type(release)
                }
            )
        return sorted(self._relevant_acls_by_type)

    def relevant_acls(self, resource_type: ResourceType) -> list[Acl]:
        return self._relevant_acls_by_type.get(resource_type, [])

    def principals_in_acls_of_type(self, resource_type: ResourceType) -> set[str]:
        return {
            subject.principal
            for side in (self.old, self.new)
            for pattern in side.store.patterns_of_type(resource_type)
            for subject, _ in pattern.subject_grants()
        }

    @cached_property
    def _relevant_acls_by_type(self) -> dict[ResourceType, list[Acl]]:
        old, new = self.old.store, self.new.store
        removed_or_all_old = old if self.settings_differ else old.acls_missing_in(new)
        acls_by_type: dict[ResourceType, list[Acl]] = {}
        for acl in chain(removed_or_all_old, new.acls_missing_in(old)):
            acls_by_type.setdefault(acl.resource_type, []).append(acl)
        return acls_by_type


class CombinedDecisions:
    """Allows what both of two authorizers allow, or what at least one of them allows."""

    def __init__(
        self,
        first: DecisionFunction,
        second: DecisionFunction,
        combine: Callable[[Iterable[bool]], bool],
    ) -> None:
        """`combine` is `all` or `any`."""
        self._sides = (first, second)
        self._combine = combine
        self.store = AclStore((*first.store, *second.store))
        self.store.set_network_hosts(self.rules.host_networks)

    @property
    def super_users(self) -> frozenset[str]:
        first, second = (side.super_users for side in self._sides)
        return first & second if self._combine is all else first | second

    @property
    def allow_everyone(self) -> bool:
        return any(side.allow_everyone for side in self._sides)

    @property
    def rules(self) -> AclRules:
        return merge_rules(*(side.rules for side in self._sides))

    @property
    def differing_super_users(self) -> frozenset[str]:
        """Return the principals that only one of the two sides has as super users."""
        first, second = (side.super_users for side in self._sides)
        return first ^ second

    def allowed_operation_bits(self, actor: Actor, resource_type: ResourceType, name: str) -> int:
        first, second = (
            side.allowed_operation_bits(actor, resource_type, name) for side in self._sides
        )
        return first & second if self._combine is all else first | second

    def decide_uncached(self, actor: Actor, action: Action) -> Decision:
        return self._combine_decisions(side.decide_uncached(actor, action) for side in self._sides)

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        return self._combine_decisions(
            side.authorize_by_resource_type(actor, operation, resource_type) for side in self._sides
        )

    def _combine_decisions(self, decisions: Iterable[Decision]) -> Decision:
        """Return the first decision with the combined result."""
        known = list(decisions)
        allowed = self._combine(decision.allowed for decision in known)
        return next(
            (decision for decision in known if decision.allowed is allowed),
            Decision(allowed, DecisionReason.DEFAULT_DENY),
        )


def merge_rules(first: AclRules, second: AclRules) -> AclRules:
    """Return rules that divide names and hosts at least as finely as both."""
    return msgspec.structs.replace(
        first,
        host_networks=first.host_networks or second.host_networks,
        wildcard_covers_starred_names=(
            first.wildcard_covers_starred_names and second.wildcard_covers_starred_names
        ),
        prefix_search_stops_early=(
            first.prefix_search_stops_early or second.prefix_search_stops_early
        ),
    )
