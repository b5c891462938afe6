"""The format `terraform-confluent`: `confluent_kafka_acl` of the provider confluentinc/confluent.

Cluster and credentials belong into the provider's block.
"""

from collections.abc import Iterable
from typing import cast

from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.fields import (
    AclTexts,
    AclWithLine,
    ErrorCollector,
    parse_acl_texts,
)
from kafka_shim.policy.formats.hcl import (
    format_resource_block,
    parse_resources_collecting_errors,
    require_text_attribute,
    terraform_resource_name_for_acl,
)
from kafka_shim.policy.formats.values_with_lines import line_of_key
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


def parse_acls(text: str) -> list[AclWithLine]:
    acls: list[AclWithLine] = []
    mistakes = ErrorCollector()
    for name, attributes, line in parse_resources_collecting_errors(
        text, _KIND, (*_KEYS, *_CLUSTER_KEYS), mistakes
    ):
        with mistakes.collect_errors(line):
            parts = cast(
                "AclTexts", tuple(require_text_attribute(attributes, key, name) for key in _KEYS)
            )
            lines = [line_of_key(attributes, key) for key in _KEYS]
            acls.append((parse_acl_texts(parts, f"resource {name}", lines), line))
    mistakes.raise_collected_errors()
    return acls


def format_acls(acls: Iterable[Acl]) -> str:
    return "\n".join(
        _format_acl_resource(terraform_resource_name_for_acl(acl), acl) for acl in acls
    )


def _format_acl_resource(name: str, acl: Acl) -> str:
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
    return format_resource_block(_KIND, name, attributes)
