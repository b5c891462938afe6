"""Kafka's authorizer written plainly, each rule as a method that a wrong authorizer replaces."""

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from kafka_shim.authorizer.authorizer import AclCreateResult, AclDeleteResult, StandardAuthorizer
from kafka_shim.authorizer.model import Acl, AclFilter, Action, Actor, Decision, DecisionReason
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

DESCRIBED_BY = (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)


class PlainAuthorizer:
    """Decides as StandardAuthorizer of 4.4 does, by asking each ACL; only the store is Kafka's."""

    mistake: ClassVar[str] = ""

    def __init__(self) -> None:
        self.stored = StandardAuthorizer()
        self.super_users: tuple[str, ...] = ()

    def configure(self, config: Mapping[str, str]) -> None:
        self.super_users = tuple(config.get("super.users", "").split(";"))

    def authorize(self, actor: Actor, action: Action) -> Decision:
        return Decision(self.allows(actor, action), DecisionReason.DEFAULT_DENY)

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        allowed = self.is_super_user(actor.principal) or self.allows_any(
            [
                acl
                for acl in self.entries(actor)
                if acl.resource_type is resource_type and self.counts_for_any(acl, operation)
            ]
        )
        return Decision(allowed, DecisionReason.DEFAULT_DENY)

    def create_acls(self, actor: Actor, acls: Sequence[Acl]) -> list[AclCreateResult]:
        return self.stored.create_acls(actor, acls)

    def delete_acls(self, actor: Actor, filters: Sequence[AclFilter]) -> list[AclDeleteResult]:
        return self.stored.delete_acls(actor, filters)

    def acls(self, acl_filter: AclFilter) -> Iterable[Acl]:
        return self.stored.acls(acl_filter)

    # --- the rules

    def allows(self, actor: Actor, action: Action) -> bool:
        """Decide about one resource."""
        if self.is_super_user(actor.principal):
            return True
        matching = [acl for acl in self.entries(actor) if self.is_about(acl, action)]
        allowing = [acl for acl in matching if self.allow_covers(acl, action.operation)]
        denying = [acl for acl in matching if self.deny_covers(acl, action.operation)]
        return self.decide(allowing, denying)

    def decide(self, allowing: Sequence[Acl], denying: Sequence[Acl]) -> bool:
        return bool(allowing) and not denying

    def is_super_user(self, principal: str) -> bool:
        return principal in self.super_users

    def entries(self, actor: Actor) -> list[Acl]:
        """Return the ACLs of an actor, on all resources."""
        return [
            acl
            for acl in self.stored.acls(AclFilter())
            if self.has_principal(acl, actor.principal) and self.has_host(acl, actor.host)
        ]

    def has_principal(self, acl: Acl, principal: str) -> bool:
        return acl.principal in (principal, "User:*")

    def has_host(self, acl: Acl, host: str) -> bool:
        return acl.host in ("*", host) or ("/" in acl.host and self.is_in_network(acl.host, host))

    def is_in_network(self, network: str, host: str) -> bool:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)

    def is_about(self, acl: Acl, action: Action) -> bool:
        return self.has_type(acl, action.resource_type) and self.has_name(acl, action.resource_name)

    def has_type(self, acl: Acl, resource_type: ResourceType) -> bool:
        return acl.resource_type is resource_type

    def has_name(self, acl: Acl, name: str) -> bool:
        if acl.pattern_type is PatternType.PREFIXED:
            return self.has_prefix(acl.resource_name, name)
        return self.has_literal(acl.resource_name, name)

    def has_prefix(self, prefix: str, name: str) -> bool:
        return name.startswith(prefix)

    def has_literal(self, literal: str, name: str) -> bool:
        return literal == name or (literal == "*" and not name.startswith("*"))

    def allow_covers(self, acl: Acl, operation: Operation) -> bool:
        return acl.permission is Permission.ALLOW and (
            acl.operation in (operation, Operation.ALL)
            or operation in self.implied_by(acl.operation)
        )

    def implied_by(self, operation: Operation) -> Sequence[Operation]:
        if operation in DESCRIBED_BY:
            return (Operation.DESCRIBE,)
        return (Operation.DESCRIBE_CONFIGS,) if operation is Operation.ALTER_CONFIGS else ()

    def deny_covers(self, acl: Acl, operation: Operation) -> bool:
        return acl.permission is Permission.DENY and acl.operation in (operation, Operation.ALL)

    # --- any resource of a type

    def counts_for_any(self, acl: Acl, operation: Operation) -> bool:
        return acl.operation in (operation, Operation.ALL)

    def allows_any(self, entries: Sequence[Acl]) -> bool:
        """Return whether one ALLOW is not covered by a DENY."""
        allowing = [acl for acl in entries if acl.permission is Permission.ALLOW]
        denying = [acl for acl in entries if acl.permission is Permission.DENY]
        return any(not any(self.denies_all_of(deny, acl) for deny in denying) for acl in allowing)

    def denies_all_of(self, deny: Acl, allow: Acl) -> bool:
        is_wildcard = deny.pattern_type is PatternType.LITERAL and deny.resource_name == "*"
        if is_wildcard or allow.resource_name == "*":
            return is_wildcard
        if deny.pattern_type is PatternType.PREFIXED:
            return allow.resource_name.startswith(deny.resource_name)
        return deny.resource_name == allow.resource_name and self.is_literal(allow)

    def is_literal(self, acl: Acl) -> bool:
        return acl.pattern_type is PatternType.LITERAL
