"""Where the decisions of two authorizers can differ: what their ACLs and settings do not share."""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.operations import operation_bit_field
from kafka_shim.policy.checked_accesses import (
    checked_operations_by_resource_type,
    operations_checked_for_any_resource,
)
from kafka_shim.policy.decision_function import (
    CombinedDecisions,
    DecisionFunction,
    merged_rules_with_finest_boundaries,
)
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
        self.finest_rules = merged_rules_with_finest_boundaries(old.rules, new.rules)
        self.super_users_of_both_sides = old.super_users & new.super_users
        self.super_users_of_one_side = (old.super_users ^ new.super_users).union(
            *(
                side.super_users_of_one_side
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

    def resource_types_with_possible_changes(self) -> Sequence[ResourceType]:
        if self.settings_differ or self.super_users_of_one_side:
            return sorted(
                {
                    kind
                    for release in self._releases
                    for kind in checked_operations_by_resource_type(release)
                }
            )
        return sorted(self._changed_or_all_acls_by_type)

    def changed_or_all_acls_of_type(self, resource_type: ResourceType) -> list[Acl]:
        return self._changed_or_all_acls_by_type.get(resource_type, [])

    def principals_in_acls_of_type(self, resource_type: ResourceType) -> set[str]:
        return {
            subject.principal
            for side in (self.old, self.new)
            for pattern in side.store.patterns_of_type(resource_type)
            for subject, _ in pattern.subject_grants()
        }

    @cached_property
    def _changed_or_all_acls_by_type(self) -> dict[ResourceType, list[Acl]]:
        old, new = self.old.store, self.new.store
        removed_or_all_old = old if self.settings_differ else old.acls_missing_in(new)
        acls_by_type: dict[ResourceType, list[Acl]] = {}
        for acl in chain(removed_or_all_old, new.acls_missing_in(old)):
            acls_by_type.setdefault(acl.resource_type, []).append(acl)
        return acls_by_type
