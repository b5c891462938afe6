"""ACLs of tests: an operation on a name, and what differs from an ALLOW for alice on a topic."""

from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType


def make_acl(
    operation: Operation,
    name: str,
    *,
    principal: str = "User:alice",
    host: str = "*",
    resource_type: ResourceType = ResourceType.TOPIC,
    pattern_type: PatternType = PatternType.LITERAL,
    permission: Permission = Permission.ALLOW,
) -> Acl:
    return Acl(resource_type, name, pattern_type, principal, host, operation, permission)
