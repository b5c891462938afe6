"""Parse `StandardAcl(...)`, an ACL in the log of Kafka's authorizer (KIP-801).

Since 4.2 it is written with square brackets.
"""

import re

from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.fields import parse_acl_texts

_ACL = re.compile(
    r"StandardAcl[(\[]resourceType=(?P<type>\w+), resourceName=(?P<name>.*),"
    r" patternType=(?P<pattern>\w+), principal=(?P<principal>.*), host=(?P<host>.*?),"
    r" operation=(?P<operation>\w+), permissionType=(?P<permission>\w+)[)\]]"
)


def standard_acl_to_string(acl: Acl, brackets: str = "()") -> str:
    fields = (
        f"resourceType={acl.resource_type.name}, resourceName={acl.resource_name}, "
        f"patternType={acl.pattern_type.name}, principal={acl.principal}, host={acl.host}, "
        f"operation={acl.operation.name}, permissionType={acl.permission.name}"
    )
    return f"StandardAcl{brackets[0]}{fields}{brackets[1]}"


def parse_standard_acl_in_line(line: str) -> Acl | None:
    """Return the ACL in a line, or None. Raise AclTextError if it cannot be parsed."""
    match = _ACL.search(line)
    if match is None:
        return None
    return parse_acl_texts(
        (
            match["principal"],
            match["host"],
            match["type"],
            match["name"],
            match["pattern"],
            match["operation"],
            match["permission"],
        )
    )
