"""What can be compared: the decisions of an authorizer, or of two that are combined."""

from collections.abc import Callable, Iterable
from typing import Protocol

from kafka_shim.authorizer.acl_rules import AclRules
from kafka_shim.authorizer.model import Action, Actor, Decision, DecisionReason
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.name_sets import merge_rules
from kafka_shim.protocol.enums import Operation, ResourceType


class DecisionFunction(Protocol):
    """What can be compared: decisions, and everything that they depend on.

    `store` has all ACLs at whose names, principals and hosts decisions may change.
    """

    store: AclStore

    @property
    def super_users(self) -> frozenset[str]: ...
    @property
    def allow_everyone(self) -> bool: ...
    @property
    def rules(self) -> AclRules: ...
    def decide_uncached(self, actor: Actor, action: Action) -> Decision: ...
    def allowed_operation_bits(
        self, actor: Actor, resource_type: ResourceType, name: str
    ) -> int: ...
    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision: ...


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
