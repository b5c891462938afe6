"""The smallest change that allows a denied access: an ACL to add, or a DENY to remove."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.authorizer.model import Because, narrowest_allow
from kafka_shim.shim.request.access import AccessRecord


def would_allow(record: AccessRecord, principal: str) -> dict[str, Any] | None:
    """Return `{add: rule}` or `{remove: rule}` in the state file's
    format; None if it was allowed.
    """
    if record.decision.allowed:
        return None
    from kafka_shim.authorizer.acl_formats.rules import to_rules  # noqa: PLC0415 - the start is shorter by it

    acl = record.decision.acl
    if record.decision.because is Because.ACL and acl is not None:
        return {"remove": to_rules([acl])[0]}
    return {"add": to_rules([narrowest_allow(record.action, principal)])[0]}


def rule_text(rule: Mapping[str, Any]) -> str:
    """Return `{principal: User:alice, allow: Write, topic: orders}`, as in a state file."""
    return f"{{{', '.join(f'{key}: {_value(value)}' for key, value in rule.items())}}}"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return value[0] if len(value) == 1 else f"[{', '.join(value)}]"
    return str(value)
