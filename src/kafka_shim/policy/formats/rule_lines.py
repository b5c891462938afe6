"""ACLs as rules of a state file, and one of them as a line: the notation that all outputs share."""

import json
import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from kafka_shim.text.message_text import escaped

_PLAIN: Final = re.compile(
    r"(?!(?:true|false|yes|no|on|off|null)$)[A-Za-z][\w./-]*(?::[\w./-]+)*"
    r"|\d+\.\d+\.\d+\.\d+(?:/\d+)?",
    re.IGNORECASE | re.ASCII,
)
"""Values that YAML reads as the text that they are, also within braces."""


def acl_line(acl: Acl) -> str:
    """Return `{principal: User:alice, allow: Read, topic: orders}`."""
    return rule_line(acls_to_rules([acl])[0])


def rule_line(rule: Mapping[str, Any]) -> str:
    """Return a rule as a line, which can be read as YAML."""
    return f"{{{', '.join(f'{key}: {_value_text(value)}' for key, value in rule.items())}}}"


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return value[0] if len(value) == 1 else f"[{', '.join(value)}]"
    text = str(value)
    # YAML folds U+0085 and U+2028 into a space, which JSON does not escape
    return text if _PLAIN.fullmatch(text) else escaped(json.dumps(text, ensure_ascii=False))


def acls_to_rules(acls: Iterable[Acl]) -> list[dict[str, object]]:
    """Return ACLs as rules; operations of the same rule are combined."""
    rules: list[dict[str, object]] = []
    for _, entries in groupby(
        sorted(acls, key=_rule_sort_key), key=lambda acl: _rule_sort_key(acl)[:-1]
    ):
        group = list(entries)
        acl = group[0]
        rule: dict[str, object] = {"principal": acl.principal}
        rule["allow" if acl.permission is Permission.ALLOW else "deny"] = [
            camel_case(entry.operation) for entry in group
        ]
        rule[acl.resource_type.name.lower().replace("_", "-")] = acl.resource_name
        if acl.pattern_type is PatternType.PREFIXED:
            rule["pattern"] = "prefixed"
        elif looks_like_prefix_glob(acl.resource_name):
            rule["pattern"] = "literal"
        if acl.host != WILDCARD:
            rule["host"] = acl.host
        rules.append(rule)
    return rules


def looks_like_prefix_glob(name: str) -> bool:
    """Return whether a name ends with an asterisk, as people write prefixes."""
    return name.endswith("*") and name != WILDCARD


def _rule_sort_key(
    acl: Acl,
) -> tuple[str, str, ResourceType, str, PatternType, Permission, Operation]:
    return (
        acl.principal,
        acl.host,
        acl.resource_type,
        acl.resource_name,
        acl.pattern_type,
        acl.permission,
        acl.operation,
    )
