"""The format `yaml`: rules that stand for several ACLs, as in the state file.

acls:
- {principal: User:alice, allow: [Read, Describe], topic: orders}
- {principal: User:bob, deny: All, group: team-, pattern: prefixed, host: 10.0.0.1}
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from kafka_shim.authorizer.acl_names import (
    AclTextError,
    parse_operation,
    parse_pattern_type,
)
from kafka_shim.authorizer.model import WILDCARD, Acl, with_user_type
from kafka_shim.policy.formats.documents import (
    check_keys_are_known,
    empty_key_message,
    load_document,
)
from kafka_shim.policy.formats.fields import AclWithLine, ErrorCollector, add_line_to_errors
from kafka_shim.policy.formats.json_objects import is_output_of_rpk, matches_of_rpk, parse_object
from kafka_shim.policy.formats.other_files import (
    describe_other_document,
    describe_pathless_node,
)
from kafka_shim.policy.formats.plain_rules import parse_plain_rules
from kafka_shim.policy.formats.rule_lines import acls_to_rules, looks_like_prefix_glob
from kafka_shim.policy.formats.values_with_lines import (
    ListWithLines,
    line_of_key,
    line_of_mapping,
    lines_of_items,
)
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from kafka_shim.text.json_text import json_text

_RESOURCE_KEYS = {
    member.name.lower().replace("_", "-"): member
    for member in ResourceType
    if member > ResourceType.ANY
}
_PERMISSION_KEYS = {"allow": Permission.ALLOW, "deny": Permission.DENY}
_KEYS = sorted({"principal", "host", "pattern", *_PERMISSION_KEYS, *_RESOURCE_KEYS})


_NO_KEY = "the key `acls` is missing; expected a list of ACLs, or a mapping with that key"


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


def format_acls(acls: Iterable[Acl]) -> str:
    lines = [json_text(rule, indent=None) for rule in acls_to_rules(acls)]
    return "acls:\n" + "".join(f"  - {line}\n" for line in lines) if lines else "acls: []\n"


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
