"""The form `audit-log`: the ACLs that decided, from lines of Kafka's authorizer log.

Only releases with the StandardAuthorizer (3.0 and later) name the rule in their lines.
"""

import re
from collections.abc import Iterable

from kafka_shim.authorizer.acl_formats.fields import PlacedAcl, at_line
from kafka_shim.authorizer.acl_formats.standard_acl import find_standard_acl, standard_acl
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl

_DECISION = re.compile(r"\bPrincipal = .+? is (?:Allowed|Denied) [Oo]peration = ")
_RULE = " based on rule "


def read(text: str) -> list[PlacedAcl]:
    """The ACLs that the lines name; lines of other loggers are passed over."""
    found: list[PlacedAcl] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if _DECISION.search(line) and _RULE not in line:
            raise AclTextError(
                "this release's log does not name the rules; import it as a trace"
                " (`kafka-shim trace import`) and ask for the least ACLs",
                number,
            )
        with at_line(number):
            acl = find_standard_acl(line)
        if acl is not None:
            found.append((acl, number))
    return found


def write(acls: Iterable[Acl]) -> str:
    """The rules alone: who asked for what is not in an ACL."""
    return "".join(f"MatchingAcl(acl={standard_acl(acl)})\n" for acl in acls)
