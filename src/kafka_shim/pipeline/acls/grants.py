"""ACLs with the operations that they allow and the requests that need them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.rows.access_roles import split_alternative
from kafka_shim.protocol.enums import Operation, ResourceType

OperationOnResource = tuple[Operation, ResourceType, str]
"""An operation on a named resource."""


class Grant(msgspec.Struct, frozen=True):
    """An ACL with the number of requests that need it, and further known names that it allows."""

    acl: Acl
    requests: int
    over_granted_names: tuple[str, ...] = ()


def operation_on_resource(row: Mapping[str, Any]) -> OperationOnResource:
    """Return the operation and resource of a row of `observed`."""
    return Operation[row["operation"]], ResourceType[row["resource_type"]], row["resource_name"]


def parse_alternative(text: str) -> OperationOnResource:
    """Parse an entry of the column `instead`."""
    operation, kind, name = split_alternative(text)
    return Operation[operation], ResourceType[kind], name
