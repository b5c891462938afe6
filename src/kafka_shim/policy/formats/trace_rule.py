"""The rule of a decision as written in traces: `TOPIC|orders|LITERAL|User:a|*|READ|ALLOW`.

Each `|` of a principal has a backslash before it, so that the last `|LITERAL|` ends the name.
"""

import re

from kafka_shim.authorizer.model import Acl, Decision, DecisionReason
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

_ACL = re.compile(
    r"(\w+)\|(.*)\|(LITERAL|PREFIXED)\|((?:[^|]|\\\|)+:.*)\|([^|]+)\|(\w+)\|(ALLOW|DENY)", re.DOTALL
)
_WITHOUT_ACL = {
    DecisionReason.SUPER_USER: "SuperUser",
    DecisionReason.DEFAULT_ALLOW: "DefaultAllow",
    DecisionReason.NO_AUTHORIZER: "NoAuthorizer",
    DecisionReason.DEFAULT_DENY: "DefaultDeny",
}


_REASONS = {text: reason for reason, text in _WITHOUT_ACL.items()}


def format_decision_rule(decision: Decision) -> str:
    """Return the rule or reason of a decision as text."""
    return _WITHOUT_ACL[decision.reason] if decision.acl is None else format_acl_rule(decision.acl)


def format_acl_rule(acl: Acl) -> str:
    principal = acl.principal.replace("|", "\\|")
    return (
        f"{acl.resource_type.name}|{acl.resource_name}|{acl.pattern_type.name}"
        f"|{principal}|{acl.host}|{acl.operation.name}|{acl.permission.name}"
    )


def readable_rule(text: str) -> str:
    """Return the rule of a trace as people read it: an ACL as a line, other texts as they are."""
    acl = parse_acl_rule(text)
    return text if acl is None else acl_line(acl)


def parse_acl_rule(text: str) -> Acl | None:
    """Return the ACL of a rule in a trace; None for `DefaultDeny` and the like."""
    match = _ACL.fullmatch(text)
    if match is None:
        return None
    kind, name, pattern, principal, host, operation, permission = match.groups()
    return Acl(
        ResourceType[kind],
        name,
        PatternType[pattern],
        principal.replace("\\|", "|"),
        host,
        Operation[operation],
        Permission[permission],
    )


def parse_reason_rule(text: str) -> DecisionReason | None:
    """Return the reason of a rule such as `DefaultDeny`; None for an ACL and for other texts."""
    return _REASONS.get(text)
