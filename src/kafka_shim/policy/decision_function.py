"""What can be compared: decisions over all accesses."""

from typing import Protocol

from kafka_shim.authorizer.acl_rules import AclRules
from kafka_shim.authorizer.model import Action, Actor, Decision
from kafka_shim.authorizer.store import AclStore
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
