"""Authorizers that Kafka's tests bring along as Java classes, written again for the shim."""

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Action, Actor, Because, Decision
from kafka_shim.protocol.enums import Operation, ResourceType

ALLOWED = Decision(allowed=True, because=Because.SUPER_USER)
DENIED = Decision(allowed=False, because=Because.DEFAULT_DENY)
UNAUTHORIZED = "User:Unauthorized"

BY_JAVA_NAME = {
    "kafka.server.AlterCredentialsTest$TestStandardAuthorizer": f"{__name__}:AllButAlteringUsers"
}


class AllButAlteringUsers(StandardAuthorizer):
    """Allow everything, but one principal may not alter SCRAM credentials."""

    def authorize(self, actor: Actor, action: Action) -> Decision:
        alters = (action.operation, action.resource_type) == (Operation.ALTER, ResourceType.CLUSTER)
        return DENIED if alters and actor.principal == UNAUTHORIZED else ALLOWED

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        return ALLOWED
