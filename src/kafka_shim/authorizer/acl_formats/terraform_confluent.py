"""The format `terraform-confluent`: `confluent_kafka_acl` of the provider confluentinc/confluent.

Cluster and credentials belong into the provider's block.
"""

from collections.abc import Iterable
from typing import cast

from kafka_shim.authorizer.acl_formats.fields import Mistakes, Parts, PlacedAcl, acl_of
from kafka_shim.authorizer.acl_formats.hcl import attribute, name_of, resource, resources_of
from kafka_shim.authorizer.acl_formats.lines import line_under
from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.enums import Operation, ResourceType

_KIND = "confluent_kafka_acl"
_KEYS = (
    "principal",
    "host",
    "resource_type",
    "resource_name",
    "pattern_type",
    "operation",
    "permission",
)

_CLUSTER_KEYS = ("kafka_cluster", "rest_endpoint", "http_endpoint", "credentials")


def read(text: str) -> list[PlacedAcl]:
    acls: list[PlacedAcl] = []
    mistakes = Mistakes()
    for name, found, line in resources_of(text, _KIND, (*_KEYS, *_CLUSTER_KEYS), mistakes):
        with mistakes.at(line):
            parts = cast("Parts", tuple(attribute(found, key, name) for key in _KEYS))
            lines = [line_under(found, key) for key in _KEYS]
            acls.append((acl_of(parts, f"resource {name}", lines), line))
    mistakes.check()
    return acls


def write(acls: Iterable[Acl]) -> str:
    return "\n".join(_resource(name_of(acl), acl) for acl in acls)


def _resource(name: str, acl: Acl) -> str:
    if acl.resource_type is ResourceType.USER:
        raise AclTextError("confluent_kafka_acl has no resource type User")
    if acl.operation > Operation.IDEMPOTENT_WRITE:
        raise AclTextError(f"confluent_kafka_acl has no operation {camel_case(acl.operation)}")
    attributes = {
        "resource_type": acl.resource_type.name,
        "resource_name": acl.resource_name,
        "pattern_type": acl.pattern_type.name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation.name,
        "permission": acl.permission.name,
    }
    return resource(_KIND, name, attributes)
