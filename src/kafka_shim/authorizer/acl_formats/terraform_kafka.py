"""The format `terraform`: `kafka_acl` resources of the provider Mongey/kafka."""

from collections.abc import Iterable
from typing import cast

from kafka_shim.authorizer.acl_formats.fields import Mistakes, Parts, PlacedAcl, acl_of
from kafka_shim.authorizer.acl_formats.hcl import attribute, name_of, resource, resources_of
from kafka_shim.authorizer.acl_formats.lines import line_under
from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.enums import Operation, PatternType, ResourceType

_KIND = "kafka_acl"
_TYPES = {
    ResourceType.TOPIC: "Topic",
    ResourceType.GROUP: "Group",
    ResourceType.CLUSTER: "Cluster",
    ResourceType.TRANSACTIONAL_ID: "TransactionalID",
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


def read(text: str) -> list[PlacedAcl]:
    acls: list[PlacedAcl] = []
    mistakes = Mistakes()
    for name, found, line in resources_of(text, _KIND, _KEYS, mistakes):
        with mistakes.at(line):
            lines = [line_under(found, key) for key in _KEYS]
            parts = (
                "Literal" if key == _PATTERN not in found else attribute(found, key, name)
                for key in _KEYS
            )
            acls.append((acl_of(cast("Parts", tuple(parts)), f"resource {name}", lines), line))
    mistakes.check()
    return acls


def write(acls: Iterable[Acl]) -> str:
    return "\n".join(_resource(name_of(acl), acl) for acl in acls)


def _resource(name: str, acl: Acl) -> str:
    if acl.resource_type not in _TYPES:
        raise AclTextError(f"kafka_acl has no resource type {camel_case(acl.resource_type)}")
    if acl.operation > Operation.IDEMPOTENT_WRITE:
        raise AclTextError(f"kafka_acl has no operation {camel_case(acl.operation)}")
    attributes = {
        "resource_name": acl.resource_name,
        "resource_type": _TYPES[acl.resource_type],
        _PATTERN: "Prefixed" if acl.pattern_type is PatternType.PREFIXED else "Literal",
        "acl_principal": acl.principal,
        "acl_host": acl.host,
        "acl_operation": camel_case(acl.operation),
        "acl_permission_type": camel_case(acl.permission),
    }
    return resource(_KIND, name, attributes)
