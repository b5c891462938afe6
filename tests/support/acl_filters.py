"""ACL filters in wire form that match everything except for the given fields."""

from typing import Any

from kafka_shim.protocol.enums import PatternType, ResourceType
from kafka_shim.protocol.messages.delete_acls import DeleteAclsFilter
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest

ANY = 1
"""The code of ANY, for operations and permissions too."""


def described_acls(
    resource_type: ResourceType = ResourceType.ANY,
    name: str | None = None,
    pattern_type: PatternType = PatternType.ANY,
) -> DescribeAclsRequest:
    """Return a DescribeAcls request that matches all ACLs, except for the given fields."""
    return DescribeAclsRequest(**_fields(resource_type, name, pattern_type))


def deleted_acls(
    resource_type: ResourceType = ResourceType.ANY,
    name: str | None = None,
    pattern_type: PatternType = PatternType.ANY,
) -> DeleteAclsFilter:
    """Return the same as a filter of DeleteAcls."""
    return DeleteAclsFilter(**_fields(resource_type, name, pattern_type))


def _fields(
    resource_type: ResourceType, name: str | None, pattern_type: PatternType
) -> dict[str, Any]:
    """Return the fields of the filter, which are the same in both messages."""
    return {
        "resource_type_filter": resource_type,
        "resource_name_filter": name,
        "pattern_type_filter": pattern_type,
        "principal_filter": None,
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
    }


ANY_ACL = described_acls()
"""A request that matches all ACLs; shared by tests, so do not change it."""
