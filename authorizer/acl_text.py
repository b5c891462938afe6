"""ACLs as text: what kafka-acls lists, JSON objects, and the short form of the state file."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import cast

from authorizer.acl_names import (
    AclTextError,
    camel_case,
    parse_operation,
    parse_pattern_type,
    parse_permission,
    parse_resource_type,
)
from authorizer.model import WILDCARD, Acl
from protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType

_HEADING = re.compile(
    r"(?:Current|Adding) ACLs for resource `(?:"
    r"ResourcePattern\(resourceType=(?P<type>\w+), name=(?P<name>.*),"
    r" patternType=(?P<pattern>\w+)\)"
    r"|(?P<old_type>\w+):(?:(?P<old_pattern>LITERAL|PREFIXED):)?(?P<old_name>.*))`:"
)
_ENTRY = re.compile(
    r"\(principal=(?P<principal>.*), host=(?P<host>.*), operation=(?P<operation>\w+),"
    r" permissionType=(?P<permission>\w+)\)"
)
_OLD_ENTRY = re.compile(
    r"(?P<principal>.*) has (?P<permission>\w+) permission for operations: (?P<operation>\w+)"
    r" from hosts: (?P<host>.*)"
)
_HEADER_LINE = re.compile(r"ACLs for principal `.*`")

_RESOURCE_KEYS = {
    member.name.lower().replace("_", "-"): member
    for member in ResourceType
    if member > ResourceType.ANY
}
_PERMISSION_KEYS = {"allow": Permission.ALLOW, "deny": Permission.DENY}
_SHORT_KEYS = {"principal", "host", "pattern", *_PERMISSION_KEYS, *_RESOURCE_KEYS}

_OBJECT_KEYS = (
    "principal",
    "host",
    "resource_type",
    "resource_name",
    "resource_pattern_type",
    "operation",
    "permission",
)
_OBJECT_DEFAULTS = {"host": WILDCARD, "resource_pattern_type": "LITERAL", "permission": "ALLOW"}


def format_list(acls: Iterable[Acl]) -> str:
    """Print ACLs as `kafka-acls --list` does: a heading for each pattern, its entries below."""
    blocks = []
    for pattern, entries in groupby(sorted(acls, key=_by_pattern), key=_pattern):
        resource_type, name, pattern_type = pattern
        heading = f"{resource_type.name}, name={name}, patternType={pattern_type.name}"
        lines = [f"Current ACLs for resource `ResourcePattern(resourceType={heading})`:"]
        lines += [
            f"\t(principal={acl.principal}, host={acl.host}, operation={acl.operation.name},"
            f" permissionType={acl.permission.name})"
            for acl in entries
        ]
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


def parse_list(text: str) -> list[Acl]:
    """Read the output of `kafka-acls --list` or `--add`, of any release.

    AclTextError, with the line number, for a line that is neither heading nor entry. Kafka escapes
    nothing, so a name with a line break in it cannot be read back.
    """
    acls: list[Acl] = []
    pattern: tuple[ResourceType, str, PatternType] | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.strip(" \t\r")
        heading = _HEADING.fullmatch(bare)
        if heading is not None:
            pattern = _read_heading(heading)
            continue
        if not bare or _HEADER_LINE.fullmatch(bare):
            continue
        entry = _ENTRY.fullmatch(bare) or _OLD_ENTRY.fullmatch(bare)
        if entry is None or pattern is None:
            raise AclTextError(f"line {number} is not from a list of kafka-acls: `{bare}`")
        acls.append(
            Acl(
                *pattern,
                entry["principal"],
                entry["host"],
                parse_operation(entry["operation"]),
                parse_permission(entry["permission"]),
            )
        )
    return acls


def to_objects(acls: Iterable[Acl]) -> list[dict[str, str]]:
    """Give ACLs as objects for JSON: texts only, enums as `TRANSACTIONAL_ID`."""
    return [
        dict(
            zip(
                _OBJECT_KEYS,
                (
                    acl.principal,
                    acl.host,
                    acl.resource_type.name,
                    acl.resource_name,
                    acl.pattern_type.name,
                    acl.operation.name,
                    acl.permission.name,
                ),
                strict=True,
            )
        )
        for acl in acls
    ]


def parse_objects(objects: object) -> list[Acl]:
    """Read what `to_objects` gives; host, pattern type and permission may be left out.

    AclTextError, with the position in the list, for anything else.
    """
    if not isinstance(objects, Sequence) or isinstance(objects, str):
        raise AclTextError("acls must be a list of objects")
    return [_parse_object(entry, f"acl {n}") for n, entry in enumerate(objects, start=1)]


def to_short(acls: Iterable[Acl]) -> list[dict[str, object]]:
    """Give ACLs in the short form of the state file, the operations of one rule together."""
    rules: list[dict[str, object]] = []
    for _, entries in groupby(sorted(acls, key=_by_rule), key=lambda acl: _by_rule(acl)[:-1]):
        group = list(entries)
        acl = group[0]
        rule: dict[str, object] = {"principal": acl.principal}
        rule["allow" if acl.permission is Permission.ALLOW else "deny"] = [
            camel_case(entry.operation) for entry in group
        ]
        rule[acl.resource_type.name.lower().replace("_", "-")] = acl.resource_name
        if acl.pattern_type is PatternType.PREFIXED:
            rule["pattern"] = "prefixed"
        elif _looks_like_glob(acl.resource_name):
            rule["pattern"] = "literal"
        if acl.host != WILDCARD:
            rule["host"] = acl.host
        rules.append(rule)
    return rules


def parse_short(rule: object, where: str = "acl") -> list[Acl]:
    """Read one rule of the short form; it stands for one ACL or several.

        {principal: User:alice, allow: [Read, Describe], topic: orders}
        {principal: User:bob, deny: All, group: team-, pattern: prefixed, host: 10.0.0.1}

    Principals, operations, names and hosts may be lists; all combinations are meant. Exactly one
    of `topic`, `group`, `cluster`, `transactional-id`, `delegation-token`, `user` is there, and at
    least one of `allow` and `deny`. `cluster` needs no value. AclTextError says what is wrong,
    beginning with `where`.
    """
    if not isinstance(rule, Mapping):
        raise AclTextError(f"{where}: `{rule}` is not a mapping with principal, allow, topic ...")
    fields = {str(key).replace("_", "-"): value for key, value in rule.items()}
    unknown = sorted(set(fields) - _SHORT_KEYS)
    if unknown:
        raise AclTextError(f"{where}: unknown key `{unknown[0]}`; known are {_listed(_SHORT_KEYS)}")
    resources = [key for key in fields if key in _RESOURCE_KEYS]
    if len(resources) != 1:
        raise AclTextError(f"{where}: name one resource, by one of {_listed(_RESOURCE_KEYS)}")
    if "principal" not in fields or not (fields.keys() & _PERMISSION_KEYS):
        raise AclTextError(f"{where}: a rule needs `principal`, and `allow` or `deny`")
    try:
        return _combine(fields, resources[0])
    except AclTextError as error:
        raise AclTextError(f"{where}: {error}") from error


def _combine(fields: Mapping[str, object], resource: str) -> list[Acl]:
    resource_type = _RESOURCE_KEYS[resource]
    names = _texts(fields[resource], resource, CLUSTER_NAME if resource == "cluster" else None)
    pattern = fields.get("pattern")
    globs = [name for name in names if _looks_like_glob(name)]
    if pattern is None and globs:
        raise AclTextError(
            f"`{globs[0]}` is no pattern: for all names that begin so, leave out the `*` and add"
            " `pattern: prefixed`; if the asterisk is part of the name, add `pattern: literal`"
        )
    pattern_type = PatternType.LITERAL if pattern is None else parse_pattern_type(str(pattern))
    return [
        Acl(resource_type, name, pattern_type, principal, host, parse_operation(text), permission)
        for principal in _texts(fields["principal"], "principal")
        for name in names
        for host in _texts(fields.get("host", WILDCARD), "host")
        for key, permission in _PERMISSION_KEYS.items()
        if key in fields
        for text in _texts(fields[key], key)
    ]


def _texts(value: object, what: str, default: str | None = None) -> list[str]:
    if value is None and default is not None:
        return [default]
    found = value if isinstance(value, list | tuple) else [value]
    if not found or not all(isinstance(item, str) for item in found):
        raise AclTextError(f"`{what}` must be a text or a list of texts, not `{value}`")
    return cast("list[str]", list(found))


def _parse_object(entry: object, where: str) -> Acl:
    if not isinstance(entry, Mapping):
        raise AclTextError(f"{where}: `{entry}` is not an object")
    fields = {**_OBJECT_DEFAULTS, **entry}
    for key in _OBJECT_KEYS:
        if not isinstance(fields.get(key), str):
            raise AclTextError(f"{where}: `{key}` is missing, or is not a text")
    unknown = sorted(set(fields) - set(_OBJECT_KEYS))
    if unknown:
        raise AclTextError(
            f"{where}: unknown key `{unknown[0]}`; known are {_listed(_OBJECT_KEYS)}"
        )
    try:
        return Acl(
            parse_resource_type(fields["resource_type"]),
            fields["resource_name"],
            parse_pattern_type(fields["resource_pattern_type"]),
            fields["principal"],
            fields["host"],
            parse_operation(fields["operation"]),
            parse_permission(fields["permission"]),
        )
    except AclTextError as error:
        raise AclTextError(f"{where}: {error}") from error


def _read_heading(heading: re.Match[str]) -> tuple[ResourceType, str, PatternType]:
    if heading["type"] is not None:
        pattern = parse_pattern_type(heading["pattern"])
        return parse_resource_type(heading["type"]), heading["name"], pattern
    pattern = parse_pattern_type(heading["old_pattern"] or "LITERAL")
    return parse_resource_type(heading["old_type"]), heading["old_name"], pattern


def _looks_like_glob(name: str) -> bool:
    return name.endswith("*") and name != WILDCARD


def _pattern(acl: Acl) -> tuple[ResourceType, str, PatternType]:
    return acl.resource_type, acl.resource_name, acl.pattern_type


def _by_pattern(acl: Acl) -> tuple[object, ...]:
    return (*_pattern(acl), acl.principal, acl.host, acl.operation, acl.permission)


def _by_rule(acl: Acl) -> tuple[str, str, ResourceType, str, PatternType, Permission, Operation]:
    return acl.principal, acl.host, *_pattern(acl), acl.permission, acl.operation


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
