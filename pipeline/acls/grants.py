"""What ACLs are granted for: the operations they allow, and the requests that need them."""

from typing import Any

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.rows.roles import access_parts
from kafka_shim.protocol.enums import Operation, ResourceType

What = tuple[Operation, ResourceType, str]
"""An operation on a named resource."""


class Grant(msgspec.Struct, frozen=True):
    """An ACL, the requests it is for, and the known names that it allows beyond those."""

    acl: Acl
    requests: int
    over_grants: tuple[str, ...] = ()


def what_of(row: dict[str, Any]) -> What:
    """What a row of `observed` was about."""
    return Operation[row["operation"]], ResourceType[row["resource_type"]], row["resource_name"]


def parse_what(text: str) -> What:
    """What a text of the column `instead` is about."""
    operation, kind, name = access_parts(text)
    return Operation[operation], ResourceType[kind], name
