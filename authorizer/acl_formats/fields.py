"""An ACL from the seven texts that every form has in one way or another."""

from collections.abc import Iterator
from contextlib import contextmanager

from kafka_shim.authorizer.acl_names import (
    AclTextError,
    parse_operation,
    parse_pattern_type,
    parse_permission,
    parse_resource_type,
)
from kafka_shim.authorizer.model import Acl

Parts = tuple[str, str, str, str, str, str, str]
"""Principal, host, resource type, resource name, pattern type, operation, permission."""

PlacedAcl = tuple[Acl, int]
"""An ACL and the line of its text that says it; 0 if that is unknown."""


def acl_of(parts: Parts, where: str = "") -> Acl:
    """The ACL; AclTextError, beginning with `where`, says which text is no part of one."""
    principal, host, resource_type, resource_name, pattern_type, operation, permission = parts
    try:
        return Acl(
            parse_resource_type(resource_type),
            resource_name,
            parse_pattern_type(pattern_type),
            principal,
            host,
            parse_operation(operation),
            parse_permission(permission),
        )
    except AclTextError as error:
        raise AclTextError(f"{where}: {error}" if where else str(error)) from error


@contextmanager
def at_line(line: int) -> Iterator[None]:
    """Give the line to an AclTextError that does not know any."""
    try:
        yield
    except AclTextError as error:
        if error.line:
            raise
        raise AclTextError(error.said, line) from error
