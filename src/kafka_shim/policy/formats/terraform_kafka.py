"""The format `terraform`: `kafka_acl` resources of the provider Mongey/kafka."""

from collections.abc import Iterable

from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.policy.formats.hcl import format_acl_resources, parse_acl_resources
from kafka_shim.protocol.enums import PatternType, ResourceType

_KIND = "kafka_acl"
_TYPES = {
    ResourceType.TOPIC: "Topic",
    ResourceType.GROUP: "Group",
    ResourceType.CLUSTER: "Cluster",
    ResourceType.TRANSACTIONAL_ID: "TransactionalID",
    ResourceType.DELEGATION_TOKEN: "DelegationToken",
}

_PATTERN = "resource_pattern_type_filter"
_KEYS = (
    "acl_principal",
    "acl_host",
    "resource_type",
    "resource_name",
    _PATTERN,
    "acl_operation",
    "acl_permission_type",
)


def parse_acls(text: str) -> list[AclWithLine]:
    return parse_acl_resources(
        text, _KIND, _KEYS, _attributes_of_acl, defaults={_PATTERN: "Literal"}
    )


def format_acls(acls: Iterable[Acl]) -> str:
    return format_acl_resources(acls, _KIND, _attributes_of_acl)


def _attributes_of_acl(acl: Acl) -> dict[str, str]:
    if acl.resource_type not in _TYPES:
        raise AclTextError(f"kafka_acl has no resource type {camel_case(acl.resource_type)}")
    return {
        "resource_name": acl.resource_name,
        "resource_type": _TYPES[acl.resource_type],
        _PATTERN: "Prefixed" if acl.pattern_type is PatternType.PREFIXED else "Literal",
        "acl_principal": acl.principal,
        "acl_host": acl.host,
        "acl_operation": camel_case(acl.operation),
        "acl_permission_type": camel_case(acl.permission),
    }
