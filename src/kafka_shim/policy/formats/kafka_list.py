"""The format `list`: the output of `kafka-acls --list`, a heading per pattern with entries below.

The tool has printed it in three ways:

    Current ACLs for resource `Topic:orders`:                              (0.11 to 1.1)
    Current ACLs for resource `Topic:LITERAL:orders`:                      (2.0)
        User:alice has Allow permission for operations: Read from hosts: *
    Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=orders, ...)`:
        (principal=User:alice, host=*, operation=READ, permissionType=ALLOW)
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby

from kafka_shim.authorizer.acl_names import (
    AclTextError,
    camel_case,
    parse_operation,
    parse_pattern_type,
    parse_permission,
    parse_resource_type,
)
from kafka_shim.authorizer.acl_tool_releases import NEWEST_TOOL, AclToolOutput, ResourceHeadingForm
from kafka_shim.authorizer.model import Acl, AclFilter
from kafka_shim.policy.formats.fields import AclWithLine, ErrorCollector
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

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
_NEW_HEADING = "Current ACLs for resource `ResourcePattern(resourceType="
_RESOURCE_TYPES = frozenset(kind.name for kind in ResourceType)
_PATTERN_TYPES = frozenset(pattern.name for pattern in PatternType)
_SHOWN_MAX = 500
"""Characters of a line in an error."""
_PatternTexts = tuple[str, str, str]
"""Resource type, name and pattern type."""
_HEADER_LINE = re.compile(r"^[ \t]*ACLs for principal `(.*)`[ \t\r]*$", re.MULTILINE)


def parse_acls(text: str) -> list[AclWithLine]:
    """Return the ACLs in the output of `kafka-acls --list` or `--add`, of any release.

    Raise AclTextError, with the line, for a line that is neither heading nor entry. Kafka does not
    escape anything, so a name with a line break cannot be read.
    """
    acls: list[AclWithLine] = []
    mistakes = ErrorCollector()
    pattern: _PatternTexts | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.strip(" \t\r")
        try:
            if bare.startswith("("):  # an entry; every second line or more
                acls.append((_parse_entry_line(bare, pattern), number))
            elif (heading := _parse_heading(bare)) is not None:
                pattern = heading
            elif bare and not _HEADER_LINE.fullmatch(bare):
                acls.append((_parse_entry_line(bare, pattern), number))
        except AclTextError as error:
            mistakes.add_error(error, number)
    mistakes.raise_collected_errors()
    return acls


def ends_with_heading(text: str) -> bool:
    """Return whether the last line is a heading, so that its entries may be cut off."""
    return _parse_heading(text.rstrip().rpartition("\n")[2].strip()) is not None


def describe_partial_list(text: str) -> str | None:
    """Return what a list lacks if it was printed for some principals, with `--principal`."""
    headings = dict.fromkeys(match[1] for match in _HEADER_LINE.finditer(text))
    return (
        f"the list was printed for {', '.join(headings)} alone, and lacks ACLs of other principals"
        if headings
        else None
    )


def _parse_entry_line(line: str, pattern: _PatternTexts | None) -> Acl:
    texts = _split_entry(line)
    if texts is None or pattern is None:
        shown = line if len(line) <= _SHOWN_MAX else f"{line[:_SHOWN_MAX]}..."
        raise AclTextError(f"not a line that kafka-acls --list prints: `{shown}`")
    principal, host, operation_text, permission_text = texts
    type_text, name, pattern_text = pattern
    resource_type, pattern_type, operation, permission = _parse_enums(
        type_text, pattern_text, operation_text, permission_text
    )
    return Acl(resource_type, name, pattern_type, principal, host, operation, permission)


@lru_cache(maxsize=1 << 12)
def _parse_enums(
    resource_type: str, pattern_type: str, operation: str, permission: str
) -> tuple[ResourceType, PatternType, Operation, Permission]:
    return (
        parse_resource_type(resource_type),
        parse_pattern_type(pattern_type),
        parse_operation(operation),
        parse_permission(permission),
    )


@lru_cache(maxsize=1 << 14)  # most principals have the same access to many resources
def _split_entry(line: str) -> tuple[str, str, str, str] | None:
    """Return principal, host, operation and permission; None if the line is not an entry."""
    entry = _ENTRY.fullmatch(line) or _OLD_ENTRY.fullmatch(line)
    if entry is None:
        return None
    return entry["principal"], entry["host"], entry["operation"], entry["permission"]


def format_acls(acls: Iterable[Acl]) -> str:
    """Return the ACLs as listed by the tool of the newest release."""
    return format_listing(acls, NEWEST_TOOL)


def format_listing(
    acls: Iterable[Acl],
    tool: AclToolOutput,
    resources_listed_even_if_empty: Iterable[AclFilter] = (),
) -> str:
    """Return the ACLs as listed by the tool of a release for these named resources, or for all.

    Raise AclTextError for a prefixed pattern before 2.0.
    """
    groups = groupby(
        sorted(acls, key=_listing_sort_key), key=lambda acl: _listing_sort_key(acl)[:3]
    )
    blocks = {format_pattern((entries := list(group))[0], tool): entries for _, group in groups}
    if tool.lists_named_resources_without_acls:
        blocks = {
            format_pattern(pattern, tool): [] for pattern in resources_listed_even_if_empty
        } | blocks
    return "".join(
        f"Current ACLs for resource `{pattern}`:{tool.padding}\n"
        f"{tool.padding}{format_entries(entries, as_objects=tool.lists_entries_as_objects)}"
        f"{tool.padding}\n\n"
        for pattern, entries in blocks.items()
    )


def format_pattern(acl_or_filter: Acl | AclFilter, tool: AclToolOutput = NEWEST_TOOL) -> str:
    """Return `ResourcePattern(resourceType=TOPIC, name=x,
    patternType=LITERAL)` or an older form.
    """
    if tool.heading is ResourceHeadingForm.RESOURCE_PATTERN:
        return (
            f"ResourcePattern(resourceType={acl_or_filter.resource_type.name}, "
            f"name={acl_or_filter.resource_name}, patternType={acl_or_filter.pattern_type.name})"
        )
    kind = camel_case(acl_or_filter.resource_type)
    if tool.heading is ResourceHeadingForm.TYPE_AND_PATTERN:
        return f"{kind}:{acl_or_filter.pattern_type.name}:{acl_or_filter.resource_name}"
    if acl_or_filter.pattern_type is PatternType.PREFIXED:
        raise AclTextError("kafka-acls of releases before 2.0 does not know prefixed patterns")
    return f"{kind}:{acl_or_filter.resource_name}"


def format_entries(acls: Iterable[Acl], *, as_objects: bool = True) -> str:
    """Return entries one per line, indented as by the tool."""
    return "\n".join(f"\t{format_entry(acl, as_object=as_objects)}" for acl in acls)


def format_entry(acl: Acl, *, as_object: bool = True) -> str:
    """Return `(principal=User:a, host=*, operation=READ, permissionType=ALLOW)` or a sentence."""
    if as_object:
        return (
            f"(principal={acl.principal}, host={acl.host}, operation={acl.operation.name},"
            f" permissionType={acl.permission.name})"
        )
    return (
        f"{acl.principal} has {camel_case(acl.permission)} permission for operations:"
        f" {camel_case(acl.operation)} from hosts: {acl.host}"
    )


def _parse_heading(line: str) -> _PatternTexts | None:
    """Return what the heading names; None if the line is not a heading."""
    if line.startswith(_NEW_HEADING) and line.endswith(")`:"):  # much faster than the expression
        words, _, pattern = line[len(_NEW_HEADING) : -3].rpartition(", patternType=")
        kind, equals, name = words.partition(", name=")
        if equals and kind in _RESOURCE_TYPES and pattern in _PATTERN_TYPES:
            return kind, name, pattern
    heading = _HEADING.fullmatch(line)
    if heading is None:
        return None
    if heading["type"] is not None:
        return heading["type"], heading["name"], heading["pattern"]
    return heading["old_type"], heading["old_name"], heading["old_pattern"] or "LITERAL"


def _listing_sort_key(acl: Acl) -> tuple[ResourceType | str | PatternType | int, ...]:
    pattern = (acl.resource_type, acl.resource_name, acl.pattern_type)
    return (*pattern, acl.principal, acl.host, acl.operation, acl.permission)
