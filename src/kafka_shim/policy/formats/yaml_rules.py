"""The format `yaml`: rules that stand for several ACLs, as in the state file and in all outputs.

acls:
- {principal: User:alice, allow: [Read, Describe], topic: orders}
- {principal: User:bob, deny: All, group: team-, pattern: prefixed, host: 10.0.0.1}

A text is plain if each line is a rule such as these, with values that YAML takes as text. It is
read ten times faster than by a YAML parser. Anything else, also an error, is left to the YAML
parser, so the result and the messages never differ.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, cast

import msgspec

from kafka_shim.authorizer.acl_names import (
    AclTextError,
    camel_case,
    parse_operation,
    parse_pattern_type,
)
from kafka_shim.authorizer.model import WILDCARD, Acl, with_user_type
from kafka_shim.policy.formats.documents import (
    ListWithLines,
    check_keys_are_known,
    empty_key_message,
    line_of_key,
    line_of_mapping,
    lines_of_items,
    load_document,
)
from kafka_shim.policy.formats.fields import AclWithLine, ErrorCollector, add_line_to_errors
from kafka_shim.policy.formats.json_objects import is_output_of_rpk, matches_of_rpk, parse_object
from kafka_shim.policy.formats.other_files import (
    describe_other_document,
    describe_pathless_node,
)
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from kafka_shim.text.data_text import json_text
from kafka_shim.text.message_text import escaped

_RESOURCE_KEYS = {
    member.name.lower().replace("_", "-"): member
    for member in ResourceType
    if member > ResourceType.ANY
}
_PERMISSION_KEYS = {"allow": Permission.ALLOW, "deny": Permission.DENY}
_KEYS = sorted({"principal", "host", "pattern", *_PERMISSION_KEYS, *_RESOURCE_KEYS})
_NO_KEY = "the key `acls` is missing; expected a list of ACLs, or a mapping with that key"
_TYPED_WORDS = "true|false|yes|no|on|off|null"
"""Words, in any case, that YAML does not take as text."""
_PLAIN_TEXT: Final = re.compile(
    rf"(?!(?:{_TYPED_WORDS})$)[A-Za-z][\w./-]*(?::[\w./-]+)*"
    r"|\d+\.\d+\.\d+\.\d+(?:/\d+)?",
    re.IGNORECASE | re.ASCII,
)
"""Values that YAML reads as the text that they are, also within braces."""
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
_OTHERS = frozenset(("principal", "host", "pattern"))


def parse_acls(text: str) -> list[AclWithLine]:
    plain = parse_plain_rules(text)
    if plain is not None:
        return plain
    return parse_located_acls(load_document(_join_printed_rules(text), with_lines=True))


def _join_printed_rules(text: str) -> str:
    """Return lines such as `{principal: User:a, allow: Read, topic: t}`, as they are printed, as a
    list; other texts as they are.
    """
    if not text.lstrip().startswith("{principal:"):
        return text
    return re.sub(r"^(?=\{principal:)", "- ", text, flags=re.MULTILINE)


def parse_acl_content(content: Any) -> list[Acl]:
    """Read a list of rules or objects (as in `json`), or a mapping
    with such a list under `acls`.
    """
    return [acl for acl, _ in parse_located_acls(content)]


def add_user_type(acl: Acl) -> Acl:
    """Return an ACL of a broker for tests, with the type of its principal."""
    return msgspec.structs.replace(acl, principal=with_user_type(acl.principal))


def parse_acls_of_test_broker(content: Any) -> list[Acl]:
    """Return the ACLs of rules, with types of principals. Raise AclTextError if one is invalid."""
    return [add_user_type(acl) for acl in parse_acl_content(content)]


def parse_located_acls(content: Any) -> list[AclWithLine]:
    content, line = _find_rule_list(content)
    if content is None:
        return []
    if isinstance(content, str):
        raise AclTextError("not YAML: the text is not a list of ACLs", line)
    if not isinstance(content, list):
        raise AclTextError(
            "`acls` must be a list, such as `- {principal: User:x, allow: Read, topic: orders}`",
            line,
        )
    acls: list[AclWithLine] = []
    mistakes = ErrorCollector()
    lines = content.lines if isinstance(content, ListWithLines) else [0] * len(content)
    for number, (rule, line_of_item) in enumerate(zip(content, lines, strict=True), start=1):
        where, line = f"acl {number}", line_of_mapping(rule) or line_of_item
        with mistakes.collect_errors(line):
            if isinstance(rule, Mapping) and "resource_type" in rule:
                acls.append((parse_object(rule, where), line))
            else:
                acls += _parse_rule_with_lines(rule, where)
    mistakes.raise_collected_errors()
    return acls


def _find_rule_list(content: Any) -> tuple[Any, int]:
    """Return the value that should be a list of ACLs, and its line.

    Raise AclTextError for a document that is something else, which the error names.
    """
    other = describe_other_document(content)
    if other is not None:
        raise AclTextError(other, line_of_mapping(content) or 1)
    if not isinstance(content, Mapping):
        return content, 1
    if is_output_of_rpk(content):
        return matches_of_rpk(content), 1
    if "acls" not in content:
        raise AclTextError(_NO_KEY, line_of_mapping(content))
    line = line_of_key(content, "acls")
    node = describe_pathless_node(content)
    if node is not None:
        raise AclTextError(node, line_of_mapping(content))
    if content["acls"] is None:
        raise AclTextError(empty_key_message("acls"), line)
    return content["acls"], line


def parse_rule(rule: object, where: str = "acl") -> list[Acl]:
    """Return the ACLs of a rule.

    Principals, operations, names and hosts may be lists; the rule stands for all combinations. It
    needs exactly one of `topic`, `group`, `cluster`, `transactional-id`, `delegation-token` and
    `user`, and at least one of `allow` and `deny`. `cluster` needs no value. AclTextError begins
    with `where`.
    """
    return [acl for acl, _ in _parse_rule_with_lines(rule, where)]


def _parse_rule_with_lines(rule: object, where: str) -> list[AclWithLine]:
    """Return the ACLs of a rule, each with the line of its operation."""
    if not isinstance(rule, Mapping):
        raise AclTextError(f"{where}: `{rule}` is not a mapping with principal, allow, topic ...")
    fields = {str(key).replace("_", "-"): value for key, value in rule.items()}
    check_keys_are_known(fields, _KEYS, where)
    resources = [key for key in fields if key in _RESOURCE_KEYS]
    if len(resources) != 1:
        names = ", ".join(sorted(_RESOURCE_KEYS))
        raise AclTextError(f"{where}: expected exactly one resource, with one of the keys {names}")
    if "principal" not in fields or not (fields.keys() & _PERMISSION_KEYS):
        raise AclTextError(f"{where}: a rule needs `principal`, and `allow` or `deny`")
    try:
        return _combine_fields(fields, resources[0], rule)
    except AclTextError as error:
        raise AclTextError(f"{where}: {error.message}", error.line, error.further_errors) from error


def _combine_fields(
    fields: Mapping[str, object], resource: str, rule: Mapping[Any, Any]
) -> list[AclWithLine]:
    resource_type = _RESOURCE_KEYS[resource]
    names = _parse_strings(
        fields[resource], resource, CLUSTER_NAME if resource == "cluster" else None
    )
    pattern = fields.get("pattern")
    globs = [name for name in names if looks_like_prefix_glob(name)]
    if pattern is None and globs:
        raise AclTextError(
            f"`{globs[0]}` is not a pattern: for a prefix, leave out the `*` and add"
            " `pattern: prefixed`; if the asterisk is part of the name, add `pattern: literal`"
        )
    pattern_type = PatternType.LITERAL if pattern is None else parse_pattern_type(str(pattern))
    operations = [
        (permission, operation, line)
        for key, permission in _PERMISSION_KEYS.items()
        if key in fields
        for operation, line in _parse_operations_with_lines(fields[key], key, rule)
    ]
    return [
        (Acl(resource_type, name, pattern_type, principal, host, operation, permission), line)
        for principal in _parse_strings(fields["principal"], "principal")
        for name in names
        for host in _parse_strings(fields.get("host", WILDCARD), "host")
        for permission, operation, line in operations
    ]


def _parse_operations_with_lines(
    value: object, key: str, rule: Mapping[Any, Any]
) -> Iterator[tuple[Operation, int]]:
    """Return the operations under a key with their lines."""
    texts = _parse_strings(value, key)
    for text, line in zip(texts, lines_of_items(rule, key, len(texts)), strict=True):
        with add_line_to_errors(line):
            yield parse_operation(text), line


def _parse_strings(value: object, key: str, default: str | None = None) -> list[str]:
    if value is None and default is not None:
        return [default]
    texts = value if isinstance(value, list | tuple) else [value]
    if not texts or not all(isinstance(item, str) for item in texts):
        raise AclTextError(f"`{key}` must be a string or a list of strings, not `{value}`")
    return cast("list[str]", list(texts))


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
    resources = [key for key in fields if key in _RESOURCE_KEYS]
    permissions = [key for key in _PERMISSION_KEYS if key in fields]
    is_known = len(fields) == len(resources) + len(permissions) + len(_OTHERS & fields.keys())
    if len(resources) != 1 or not permissions or "principal" not in fields or not is_known:
        return None
    names = fields[resources[0]]
    pattern = _plain_pattern_type(fields.get("pattern"), names)
    if pattern is None:
        return None
    operations = [
        (_PERMISSION_KEYS[key], _parse_operation_or_none(text))
        for key in permissions
        for text in fields[key]
    ]
    kind = _RESOURCE_KEYS[resources[0]]
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


def format_acls(acls: Iterable[Acl]) -> str:
    lines = [json_text(rule, indent=None) for rule in acls_to_rules(acls)]
    return "acls:\n" + "".join(f"  - {line}\n" for line in lines) if lines else "acls: []\n"


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
    return text if _PLAIN_TEXT.fullmatch(text) else escaped(json.dumps(text, ensure_ascii=False))


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
