"""The format `terraform`: `kafka_acl` resources of the provider Mongey/kafka."""

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


def parse_acls(text: str) -> list[AclWithLine]:
    acls: list[AclWithLine] = []
    mistakes = ErrorCollector()
    for name, attributes, line in parse_resources_collecting_errors(text, _KIND, _KEYS, mistakes):
        with mistakes.collect_errors(line):
            lines = [line_of_key(attributes, key) for key in _KEYS]
            parts = (
                "Literal"
                if key == _PATTERN not in attributes
                else require_text_attribute(attributes, key, name)
                for key in _KEYS
            )
            acls.append(
                (parse_acl_texts(cast("AclTexts", tuple(parts)), f"resource {name}", lines), line)
            )
    mistakes.raise_collected_errors()
    return acls


def format_acls(acls: Iterable[Acl]) -> str:
    return "\n".join(
        _format_acl_resource(terraform_resource_name_for_acl(acl), acl) for acl in acls
    )


def _format_acl_resource(name: str, acl: Acl) -> str:
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
    return format_resource_block(_KIND, name, attributes)
