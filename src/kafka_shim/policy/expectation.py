"""Expectations about a set of ACLs, as written in YAML or TOML."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError, parse_operation
from kafka_shim.authorizer.acl_rules import supported_operations
from kafka_shim.authorizer.model import WILDCARD, is_principal
from kafka_shim.authorizer.networks import is_valid_acl_host, java_address
from kafka_shim.authorizer.requirement import NeedAlternative
from kafka_shim.policy.checked_accesses import checked_operations_by_resource_type
from kafka_shim.policy.formats.documents import (
    MappingWithLines,
    check_keys_are_known,
    line_of_key,
    line_of_mapping,
    unknown_word_message,
)
from kafka_shim.policy.name_sets import ALL_NAMES, NameSet
from kafka_shim.policy.profiles import (
    PROFILES,
    NeedsOnNames,
    clauses_of_profile,
    name_keys_of_profile,
)
from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, Permission, ResourceType

RESOURCES = {
    kind.name.lower().replace("_", "-"): kind for kind in ResourceType if kind > ResourceType.ANY
}
_PROFILE_KEYS = ("application-id", "input", "output")
_SUBJECT_KEYS = ("principal", "nobody-but", "only")
_VERB_KEYS = ("may", "may-not", "can", "cannot")
KEYS = (
    *_SUBJECT_KEYS,
    *_VERB_KEYS,
    "no-acl",
    *RESOURCES,
    *_PROFILE_KEYS,
    "host",
    "release",
    "name",
)
_NO_ACL_KEYS = ("principal", "but", "allow", "deny", "host", *RESOURCES)


class ExpectationKind(Enum):
    """The kinds of expectations; ONLY is MAY and NOBODY_BUT together."""

    MAY = "may"
    MAY_NOT = "may not"
    NOBODY_BUT = "nobody but"
    ONLY = "only"
    NO_ACL = "no acl"


class ForbiddenAcls(msgspec.Struct, frozen=True):
    """ACLs that must not exist; None selects all. An ACL for ALL counts for every operation.

    ACLs of `except_principals` may exist.
    """

    principals: tuple[str, ...]
    permission: Permission | None
    operations: tuple[Operation, ...]
    resource_type: ResourceType | None
    names: tuple[NameSet, ...]
    hosts: tuple[str, ...]
    except_principals: tuple[str, ...] = ()


class Expectation(msgspec.Struct, frozen=True):
    """An entry of a file; without `hosts`, it is about every host.

    `is_one_request`: the clauses are one request, which fails if one of them is denied.
    """

    kind: ExpectationKind
    description: str
    release: str
    principals: tuple[str, ...] = ()
    clauses: tuple[NeedsOnNames, ...] = ()
    hosts: tuple[str, ...] = ()
    is_one_request: bool = False
    forbidden_acls: ForbiddenAcls | None = None


def parse_expectation(entry: object, where: str, release: str) -> Expectation:
    """Parse an entry. Raise AclTextError, which begins with `where` and says what was expected, if
    that fails.
    """
    try:
        if not isinstance(entry, Mapping):
            raise AclTextError(f"expected keys such as principal, may and topic, not `{entry}`")
        fields = _with_dashed_keys(entry)
        check_keys_are_known(fields, KEYS)
        if "release" in fields:
            release = parse_minor_release(str(fields["release"]))
        if "no-acl" in fields:
            return _parse_forbidden_acls_expectation(fields, release)
        return _parse_access_expectation(fields, release)
    except ValueError as error:
        text_error = error if isinstance(error, AclTextError) else AclTextError(str(error))
        others = [
            AclTextError(f"{where}: {each.message}", each.line)
            for each in text_error.further_errors
        ]
        raise AclTextError(f"{where}: {text_error.message}", text_error.line, others) from error


def _with_dashed_keys(entry: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Return the entry with normalized keys and their lines."""
    if isinstance(entry, MappingWithLines) and all(
        isinstance(key, str) and "_" not in key for key in entry
    ):
        return entry
    normalized = MappingWithLines(
        {str(key).replace("_", "-"): value for key, value in entry.items()}
    )
    normalized.line = line_of_mapping(entry)
    normalized.lines = {str(key).replace("_", "-"): line_of_key(entry, key) for key in entry}
    return normalized


def _parse_access_expectation(fields: Mapping[str, Any], release: str) -> Expectation:
    subject_keys = [key for key in _SUBJECT_KEYS if key in fields]
    verb_keys = [key for key in _VERB_KEYS if key in fields]
    if len(subject_keys) != 1 or len(verb_keys) != 1:
        raise AclTextError(
            f"expected one of {', '.join(_SUBJECT_KEYS)} and one of {', '.join(_VERB_KEYS)},"
            " or no-acl"
        )
    if subject_keys[0] != "principal" and verb_keys[0] in ("may-not", "cannot"):
        raise AclTextError(
            f"`{subject_keys[0]}` requires may or can, and cannot be combined with `{verb_keys[0]}`"
        )
    is_no = verb_keys[0] in ("may-not", "cannot")
    kinds = {"nobody-but": ExpectationKind.NOBODY_BUT, "only": ExpectationKind.ONLY}
    kind = kinds.get(subject_keys[0], ExpectationKind.MAY_NOT if is_no else ExpectationKind.MAY)
    is_one_request = verb_keys[0] in ("can", "cannot")
    words = parse_strings(fields[verb_keys[0]], verb_keys[0])
    clauses = (_parse_profile_clauses if is_one_request else _parse_operation_clauses)(
        words, fields, release
    )
    principals = parse_strings(
        fields[subject_keys[0]], subject_keys[0], may_be_empty=subject_keys[0] == "nobody-but"
    )
    for principal in principals:
        if not is_principal(principal):
            raise AclTextError(f"`{principal}`: expected Type:name, as in User:alice")
    hosts = [java_address(host) or host for host in _parse_hosts(fields)]
    return Expectation(
        kind,
        str(fields.get("name") or _default_description(subject_keys[0], verb_keys[0], fields)),
        release,
        tuple(principals),
        clauses,
        () if hosts == [WILDCARD] else tuple(hosts),
        is_one_request,
    )


def _parse_operation_clauses(
    words: Sequence[str], fields: Mapping[str, Any], release: str
) -> tuple[NeedsOnNames, ...]:
    resource_keys = [key for key in RESOURCES if key in fields]
    profile_keys = [key for key in _PROFILE_KEYS if key in fields]
    if len(resource_keys) != 1 or profile_keys:
        raise AclTextError(f"expected one resource, by one of {', '.join(RESOURCES)}")
    resource_type = RESOURCES[resource_keys[0]]
    clauses = []
    for word in words:
        operation = parse_operation(word)
        known = checked_operations_by_resource_type(release).get(resource_type, ())
        operations = (
            supported_operations(resource_type) if operation is Operation.ALL else (operation,)
        )
        if operation is not Operation.ALL and operation not in known:
            names = ", ".join(member.name for member in known) or "none in this release"
            raise AclTextError(
                f"{resource_keys[0]} has no operation {operation.name}; it has {names}"
            )
        clauses += [
            NeedsOnNames(
                (NeedAlternative(each, resource_type),),
                None if resource_type is ResourceType.CLUSTER else name,
            )
            for each in operations
            for name in parse_names(fields[resource_keys[0]], resource_keys[0])
        ]
    return tuple(clauses)


def _parse_profile_clauses(
    words: Sequence[str], fields: Mapping[str, Any], release: str
) -> tuple[NeedsOnNames, ...]:
    clauses: dict[NeedsOnNames, None] = {}
    used_keys: set[str] = set()
    for word in words:
        if word not in PROFILES:
            raise AclTextError(unknown_word_message("profile", word, tuple(PROFILES)))
        missing = [slot for slot in name_keys_of_profile(word) if slot not in fields]
        if missing:
            raise AclTextError(f"the profile `{word}` requires `{missing[0]}`")
        used_keys |= set(name_keys_of_profile(word))
        names_by_key = {
            slot: parse_names(fields[slot], slot) for slot in name_keys_of_profile(word)
        }
        if any(names.is_prefix for names in names_by_key.get("application-id", ())):
            raise AclTextError("`application-id` must be one name, without `*`")
        clauses |= dict.fromkeys(clauses_of_profile(word, names_by_key, release))
    if not clauses:
        raise AclTextError(f"brokers of Kafka {release} do not serve {', '.join(words)}")
    unused = [key for key in (*RESOURCES, *_PROFILE_KEYS) if key in fields and key not in used_keys]
    if unused:
        raise AclTextError(f"`{unused[0]}` has no effect on {', '.join(words)}")
    return tuple(clauses)


def _parse_forbidden_acls_expectation(fields: Mapping[str, Any], release: str) -> Expectation:
    unknown = sorted(set(fields) - {"no-acl", "name", "release"})
    if unknown:
        raise AclTextError(f"`{unknown[0]}` belongs below `no-acl`")
    entry = fields["no-acl"]
    if not isinstance(entry, Mapping) or not entry:
        raise AclTextError(f"`no-acl` requires one or more of {', '.join(_NO_ACL_KEYS)}")
    filters = _with_dashed_keys(entry)
    check_keys_are_known(filters, _NO_ACL_KEYS, "no-acl")
    resource_keys = [key for key in RESOURCES if key in filters]
    permission_keys = [key for key in ("allow", "deny") if key in filters]
    if len(resource_keys) > 1 or len(permission_keys) > 1:
        raise AclTextError("`no-acl` accepts one resource, and one of allow and deny")
    words = (
        parse_strings(filters[permission_keys[0]], permission_keys[0])
        if permission_keys and filters[permission_keys[0]] is not None
        else []
    )
    has_names = bool(resource_keys) and filters[resource_keys[0]] is not None
    names = parse_names(filters[resource_keys[0]], resource_keys[0]) if has_names else ()
    forbidden_acls = ForbiddenAcls(
        tuple(parse_strings(filters["principal"], "principal") if "principal" in filters else ()),
        {"allow": Permission.ALLOW, "deny": Permission.DENY}[permission_keys[0]]
        if permission_keys
        else None,
        tuple(map(parse_operation, words)),
        RESOURCES[resource_keys[0]] if resource_keys else None,
        tuple(names),
        tuple(_parse_hosts(filters)),
        tuple(parse_strings(filters["but"], "but") if "but" in filters else ()),
    )
    if any(name.glob for name in names):
        raise AclTextError("`like` requires may or can; an ACL has a name or a prefix")
    description = ", ".join(f"{key}: {_describe_value(value)}" for key, value in filters.items())
    return Expectation(
        ExpectationKind.NO_ACL,
        str(fields.get("name") or f"no ACL with {description}"),
        release,
        forbidden_acls=forbidden_acls,
    )


def _parse_hosts(fields: Mapping[str, Any]) -> list[str]:
    hosts = parse_strings(fields["host"], "host") if "host" in fields else []
    for host in hosts:
        if not is_valid_acl_host(host):
            raise AclTextError(f"host: invalid `{host}`; expected an address, a network or `*`")
    return hosts


def parse_names(value: object, resource_key: str) -> list[NameSet]:
    """Parse names: `orders` is that name, `orders-*` a prefix, `*` all names, `{literal: x*}`
    exactly that name, and `{like: a-*-b}` has asterisks anywhere.
    """
    if resource_key == "cluster":
        if value not in (None, True, "", CLUSTER_NAME, WILDCARD):
            raise AclTextError(f"`cluster` has no names; leave out `{value}`")
        return [NameSet(CLUSTER_NAME)]
    if isinstance(value, Mapping):
        check_keys_are_known(value, ("literal", "like"), f"`{resource_key}`")
        if "like" in value:
            return [
                parse_glob(text, resource_key)
                for text in parse_strings(value["like"], f"{resource_key}: like")
            ]
        return [
            NameSet(name)
            for name in parse_strings(value.get("literal"), f"{resource_key}: literal")
        ]
    name_sets = []
    for text in parse_strings(value, resource_key):
        if text == WILDCARD:
            name_sets.append(ALL_NAMES)
        elif text.endswith(WILDCARD):
            name_sets.append(NameSet(text[:-1], is_prefix=True))
        else:
            name_sets.append(NameSet(text))
    return name_sets


def parse_glob(text: str, key: str) -> NameSet:
    """Return all names of this form, which has an asterisk."""
    stem, asterisk, _ = text.partition(WILDCARD)
    if not asterisk:
        raise AclTextError(f"{key}: like: `{text}` has no asterisk; write `{key}: {text}`")
    return NameSet(stem, is_prefix=True, glob=text)


def parse_strings(value: object, key: str, *, may_be_empty: bool = False) -> list[str]:
    if isinstance(value, str) and value:
        return [value]
    values = value if isinstance(value, list | tuple) else [value]
    if (not values and not may_be_empty) or not all(isinstance(t, str) and t for t in values):
        raise AclTextError(f"`{key}` must be a string or a list of strings, not `{value}`")
    return list(values)


def _default_description(subject_key: str, verb_key: str, fields: Mapping[str, Any]) -> str:
    subject = _describe_value(fields[subject_key])
    if subject_key != "principal":
        subject = f"{subject_key.replace('-', ' ')} {subject or 'super users'}"
    about = [key for key in (*RESOURCES, *_PROFILE_KEYS, "host") if key in fields]
    on = ", ".join(
        key if key == "cluster" else f"{key} {_describe_value(fields[key])}" for key in about
    )
    return f"{subject} {verb_key.replace('-', ' ')} {_describe_value(fields[verb_key])} on {on}"


def _describe_value(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(_describe_value(inner) for inner in value.values())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "any")
