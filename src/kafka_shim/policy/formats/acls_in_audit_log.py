"""The format `audit-log`: ACLs named in Kafka's authorizer log, as `StandardAcl(...)` (KIP-801).

Only releases with the StandardAuthorizer (3.0 and later) log the ACL that decided. Since 4.2 it is
written with square brackets.
"""

import re
from collections.abc import Iterable

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.fields import AclWithLine, add_line_to_errors, parse_acl_texts

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


_DECISION = re.compile(r"\bPrincipal = .+? is (?:Allowed|Denied) [Oo]peration = ")
_RULE = " based on rule "


def parse_acls(text: str) -> list[AclWithLine]:
    """Return the ACLs in the lines; lines of other loggers are ignored."""
    acls: list[AclWithLine] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if _DECISION.search(line) and _RULE not in line:
            raise AclTextError(
                "this release's log does not name the rules; import it as a trace"
                " (`kafka-shim trace import`) and ask for the least ACLs",
                number,
            )
        with add_line_to_errors(number):
            acl = parse_standard_acl_in_line(line)
        if acl is not None:
            acls.append((acl, number))
    return acls


def format_acls(acls: Iterable[Acl]) -> str:
    """Return only the rules, since ACLs do not contain who requested what."""
    return "".join(f"MatchingAcl(acl={standard_acl_to_string(acl)})\n" for acl in acls)
