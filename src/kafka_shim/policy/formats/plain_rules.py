"""Read rules in the plain subset of YAML, one per line, ten times faster than a YAML parser.

A text is plain if each line is a rule such as `- {principal: User:alice, allow: Read, topic: t}`
with values that YAML takes as text. Anything else, also an error, is left to the YAML parser, so
the result and the messages never differ.
"""

import re
from functools import lru_cache

from kafka_shim.authorizer.acl_names import AclTextError, parse_operation, parse_pattern_type
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

_TYPED_WORDS = "true|false|yes|no|on|off|null"
"""Words, in any case, that YAML does not take as text."""
_VALUE = (
    rf"(?:(?!(?i:{_TYPED_WORDS})[,\]}}])[A-Za-z][A-Za-z0-9_.:=@/+*-]*(?<!:)"
    r"|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+"
    r"|'[ -&(-~]*'"
    r'|"[ !#-\[\]-~]*")'
)
_LIST = rf"\[{_VALUE}(?:, *{_VALUE})*\]"
_PAIR = re.compile(rf"([a-z-]+): +(?:({_VALUE})|({_LIST}))(?:, *(?=[a-z])|(?=\}}))")
_LINE = re.compile(r"( *)- \{(.*)\} *")
_ITEM = re.compile(_VALUE)
_PERMISSIONS = {"allow": Permission.ALLOW, "deny": Permission.DENY}
_RESOURCES = {
    member.name.lower().replace("_", "-"): member
    for member in ResourceType
    if member > ResourceType.ANY
}
_OTHERS = frozenset(("principal", "host", "pattern"))


def parse_plain_rules(text: str) -> list[AclWithLine] | None:
    """Return the ACLs with their lines; None if the text is not plain, or has an error."""
    acls: list[AclWithLine] = []
    indent: str | None = None
    has_heading = False
    for number, line in enumerate(text.split("\n"), start=1):
        if not line or line.startswith("#"):
            continue
        if line == "acls:" and indent is None and not has_heading:
            has_heading = True
            continue
        match = _LINE.fullmatch(line)
        if match is None or match[1] != (match[1] if indent is None else indent):
            return None
        indent = match[1]
        rule = _parse_plain_rule(line, match.start(2), match.end(2))
        if rule is None:
            return None
        acls += [(acl, number) for acl in rule]
    return acls or None


def _parse_plain_rule(line: str, start: int, end: int) -> list[Acl] | None:
    """Return the ACLs of the pairs in braces; None for what the YAML parser has to judge."""
    fields: dict[str, list[str]] = {}
    while start < end:
        match = _PAIR.match(line, start)
        if match is None or match[1] in fields:
            return None
        value = match[2]
        fields[match[1]] = (
            [_unquote(value)] if value is not None else list(map(_unquote, _ITEM.findall(match[3])))
        )
        start = match.end()
    resources = [key for key in fields if key in _RESOURCES]
    permissions = [key for key in _PERMISSIONS if key in fields]
    is_known = len(fields) == len(resources) + len(permissions) + len(_OTHERS & fields.keys())
    if len(resources) != 1 or not permissions or "principal" not in fields or not is_known:
        return None
    names = fields[resources[0]]
    pattern = _plain_pattern_type(fields.get("pattern"), names)
    if pattern is None:
        return None
    operations = [
        (_PERMISSIONS[key], _parse_operation_or_none(text))
        for key in permissions
        for text in fields[key]
    ]
    kind = _RESOURCES[resources[0]]
    return (
        None
        if None in (operation for _, operation in operations)
        else [
            Acl(kind, name, pattern, principal, host, operation, permission)
            for principal in fields["principal"]
            for name in names
            for host in fields.get("host", (WILDCARD,))
            for permission, operation in operations
            if operation is not None
        ]
    )


def _plain_pattern_type(values: list[str] | None, names: list[str]) -> PatternType | None:
    if values is None:
        globs = any(name.endswith(WILDCARD) and name != WILDCARD for name in names)
        return None if globs else PatternType.LITERAL
    if len(values) != 1:
        return None
    try:
        return parse_pattern_type(values[0])
    except AclTextError:
        return None


def _unquote(value: str) -> str:
    return value[1:-1] if value[0] in "'\"" else value


@lru_cache(256)
def _parse_operation_or_none(text: str) -> Operation | None:
    try:
        return parse_operation(text)
    except AclTextError:
        return None
