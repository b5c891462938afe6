"""Authorizers, principal builders and users that replace the Java classes of Kafka's tests."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Action, Actor, Decision, DecisionReason
from kafka_shim.protocol.enums import Operation, ResourceType

ALLOWED = Decision(allowed=True, reason=DecisionReason.SUPER_USER)
DENIED = Decision(allowed=False, reason=DecisionReason.DEFAULT_DENY)
UNAUTHORIZED = "User:Unauthorized"
_SERVERS = "RULE:^O=A server,CN=.*$/server/,RULE:^O=A .*,CN=super-user$/server/"

BY_JAVA_NAME = {
    "kafka.server.AlterCredentialsTest$TestStandardAuthorizer": f"{__name__}:AllButAlteringUsers",
    "kafka.api.SslAdminIntegrationTest$TestableStandardAuthorizer": "standard",
}
MAPPING_RULES = {
    "kafka.api.SslAdminIntegrationTest$TestPrincipalBuilder": (
        f"{_SERVERS},RULE:^O=A .*,CN=client$/client/,RULE:^.*$/ANONYMOUS/"
    ),
    "kafka.api.SslEndToEndAuthorizationTest$TestPrincipalBuilder": (
        f"{_SERVERS},RULE:^(O=A .*?,CN=.*)$/$1/,RULE:^.*$/ANONYMOUS/"
    ),
}
"""`ssl.principal.mapping.rules` that return the same principals as a principal builder."""
RENAMING = {
    "kafka.api.SaslPlainSslEndToEndAuthorizationTest$TestPrincipalBuilder": f"{__name__}:Shortened",
    "kafka.api.GroupEndToEndAuthorizationTest$GroupPrincipalBuilder": f"{__name__}:Grouped",
}
"""Authorizers that know users by the names that a principal builder returns."""
USERS_OF_HANDLERS = {
    "kafka.api.SaslPlainSslEndToEndAuthorizationTest$TestServerCallbackHandler": {
        "plain-user": "user1-password",
        "plain-user2": "plain-user2-secret",
        "plain-admin": "broker-password",
    }
}
"""Users with their passwords that a callback handler accepts."""


class AllButAlteringUsers(StandardAuthorizer):
    """Allows everything except that one principal may not alter SCRAM credentials."""

    def authorize(self, actor: Actor, action: Action) -> Decision:
        alters = (action.operation, action.resource_type) == (Operation.ALTER, ResourceType.CLUSTER)
        return DENIED if alters and actor.principal == UNAUTHORIZED else ALLOWED

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        return ALLOWED


class Shortened(StandardAuthorizer):
    """The standard authorizer, with other names for some principals."""

    names: ClassVar[Mapping[str, str]] = {
        "User:plain-admin": "User:admin",
        "User:plain-user": "User:user",
    }

    def authorize(self, actor: Actor, action: Action) -> Decision:
        return super().authorize(self._renamed(actor), action)

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        return super().authorize_by_resource_type(self._renamed(actor), operation, resource_type)

    def _renamed(self, actor: Actor) -> Actor:
        return msgspec.structs.replace(
            actor, principal=self.names.get(actor.principal, actor.principal)
        )


class Grouped(Shortened):
    names: ClassVar[Mapping[str, str]] = {
        "User:scram-admin": "Group:scram-admin",
        "User:scram-user": "Group:testGroup",
    }
