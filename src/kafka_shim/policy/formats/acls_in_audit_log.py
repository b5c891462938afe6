"""The format `audit-log`: ACLs named in Kafka's authorizer log.

Only releases with the StandardAuthorizer (3.0 and later) log the ACL that decided.
"""

import re
from collections.abc import Iterable

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.fields import AclWithLine, add_line_to_errors
from kafka_shim.policy.formats.standard_acl import (
    parse_standard_acl_in_line,
    standard_acl_to_string,
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
