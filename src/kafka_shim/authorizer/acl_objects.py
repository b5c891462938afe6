"""ACLs as objects of plain values, as JSON output has them."""

from collections.abc import Iterable

from kafka_shim.authorizer.model import Acl


def acls_to_objects(acls: Iterable[Acl]) -> list[dict[str, str]]:
    """Return ACLs as objects with text values; enums are written as `TRANSACTIONAL_ID`."""
    return list(map(acl_to_object, acls))


def acl_to_object(acl: Acl) -> dict[str, str]:
    """Return an ACL as an object with text values."""
    return {
        "principal": acl.principal,
        "host": acl.host,
        "resource_type": acl.resource_type.name,
        "resource_name": acl.resource_name,
        "resource_pattern_type": acl.pattern_type.name,
        "operation": acl.operation.name,
        "permission": acl.permission.name,
    }
