"""The format `terraform-confluent`: `confluent_kafka_acl` of the provider confluentinc/confluent.

Cluster and credentials belong into the provider's block.
"""

from collections.abc import Iterable

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.policy.formats.hcl import format_acl_resources, parse_acl_resources
from kafka_shim.protocol.enums import ResourceType

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


def parse_acls(text: str) -> list[AclWithLine]:
    return parse_acl_resources(text, _KIND, _KEYS, _attributes_of_acl, _CLUSTER_KEYS)


def format_acls(acls: Iterable[Acl]) -> str:
    return format_acl_resources(acls, _KIND, _attributes_of_acl)


def _attributes_of_acl(acl: Acl) -> dict[str, str]:
    if acl.resource_type is ResourceType.USER:
        raise AclTextError("confluent_kafka_acl has no resource type User")
    return {
        "resource_type": acl.resource_type.name,
        "resource_name": acl.resource_name,
        "pattern_type": acl.pattern_type.name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation.name,
        "permission": acl.permission.name,
    }
