"""Expectations about a set of ACLs, as written in YAML or TOML."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_formats.documents import known_keys, unknown
from kafka_shim.authorizer.acl_formats.lines import Lined, line_of, line_under
from kafka_shim.authorizer.acl_names import AclTextError, parse_operation
from kafka_shim.authorizer.implied import supported_operations
from kafka_shim.authorizer.model import WILDCARD, is_principal
from kafka_shim.authorizer.networks import is_host
from kafka_shim.authorizer.policy.names import ALL_NAMES, Names
from kafka_shim.authorizer.policy.profiles import PROFILES, Clause, clauses_of, slots
from kafka_shim.authorizer.policy.questions import asked_operations
from kafka_shim.authorizer.requirement import Need
from kafka_shim.protocol.api_versions import parse_release
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, Permission, ResourceType

RESOURCES = {
    kind.name.lower().replace("_", "-"): kind for kind in ResourceType if kind > ResourceType.ANY
}
_SLOTS = ("application-id", "input", "output")
_WHO = ("principal", "nobody-but", "only")
_WHAT = ("may", "may-not", "can", "cannot")
KEYS = (*_WHO, *_WHAT, "no-acl", *RESOURCES, *_SLOTS, "host", "release", "name")
_NO_ACL_KEYS = ("principal", "allow", "deny", "host", *RESOURCES)


class Kind(Enum):
    """The kinds of expectations; ONLY is MAY and NOBODY_BUT together."""

    MAY = "may"
    MAY_NOT = "may not"
    NOBODY_BUT = "nobody but"
    ONLY = "only"
    NO_ACL = "no acl"


class Unwanted(msgspec.Struct, frozen=True):
    """ACLs that must not exist; None selects all. An ACL for ALL counts for every operation."""

    principals: tuple[str, ...]
    permission: Permission | None
    operations: tuple[Operation, ...]
    resource_type: ResourceType | None
    names: tuple[Names, ...]
    hosts: tuple[str, ...]


class Expectation(msgspec.Struct, frozen=True):
    """An entry of a file; without `hosts`, it is about every host.

    `is_whole`: the clauses are one request, which fails if one of them is denied.
    """

    kind: Kind
    text: str
    release: str
    principals: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()
    hosts: tuple[str, ...] = ()
    is_whole: bool = False
    unwanted: Unwanted | None = None


def parse_expectation(entry: object, where: str, release: str) -> Expectation:
    """Parse an entry; AclTextError begins with `where` and says what was expected."""
    try:
        if not isinstance(entry, Mapping):
            raise AclTextError(f"expected keys such as principal, may and topic, not `{entry}`")
        fields = _fields(entry)
        known_keys(fields, KEYS)
        if "release" in fields:
            release = parse_release(str(fields["release"]))
        if "no-acl" in fields:
            return _no_acl(fields, release)
        return _access(fields, release)
    except ValueError as error:
        found = error if isinstance(error, AclTextError) else AclTextError(str(error))
        others = [AclTextError(f"{where}: {each.said}", each.line) for each in found.others]
        raise AclTextError(f"{where}: {found.said}", found.line, others) from error


def _fields(entry: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Return the entry with normalised keys and their lines."""
    found = Lined({str(key).replace("_", "-"): value for key, value in entry.items()})
    found.line = line_of(entry)
    found.lines = {str(key).replace("_", "-"): line_under(entry, key) for key in entry}
    return found


def _access(fields: Mapping[str, Any], release: str) -> Expectation:
    who = [key for key in _WHO if key in fields]
    what = [key for key in _WHAT if key in fields]
    if len(who) != 1 or len(what) != 1:
        raise AclTextError(
            f"expected one of {', '.join(_WHO)} and one of {', '.join(_WHAT)}, or no-acl"
        )
    if who[0] != "principal" and what[0] in ("may-not", "cannot"):
        raise AclTextError(
            f"`{who[0]}` requires may or can, and cannot be combined with `{what[0]}`"
        )
    is_no = what[0] in ("may-not", "cannot")
    kinds = {"nobody-but": Kind.NOBODY_BUT, "only": Kind.ONLY}
    kind = kinds.get(who[0], Kind.MAY_NOT if is_no else Kind.MAY)
    is_whole = what[0] in ("can", "cannot")
    words = texts(fields[what[0]], what[0])
    clauses = (_of_profiles if is_whole else _of_operations)(words, fields, release)
    principals = texts(fields[who[0]], who[0], may_be_empty=who[0] == "nobody-but")
    for principal in principals:
        if not is_principal(principal):
            raise AclTextError(f"`{principal}`: expected Type:name, as in User:alice")
    hosts = _hosts(fields)
    return Expectation(
        kind,
        str(fields.get("name") or _sentence(who[0], what[0], fields)),
        release,
        tuple(principals),
        clauses,
        () if hosts == [WILDCARD] else tuple(hosts),
        is_whole,
    )


def _of_operations(
    words: Sequence[str], fields: Mapping[str, Any], release: str
) -> tuple[Clause, ...]:
    given = [key for key in RESOURCES if key in fields]
    strange = [key for key in _SLOTS if key in fields]
    if len(given) != 1 or strange:
        raise AclTextError(f"expected one resource, by one of {', '.join(RESOURCES)}")
    kind = RESOURCES[given[0]]
    found = []
    for word in words:
        operation = parse_operation(word)
        known = asked_operations(release).get(kind, ())
        wanted = supported_operations(kind) if operation is Operation.ALL else (operation,)
        if operation is not Operation.ALL and operation not in known:
            names = ", ".join(member.name for member in known) or "none in this release"
            raise AclTextError(f"{given[0]} has no operation {operation.name}; it has {names}")
        found += [
            Clause((Need(each, kind),), None if kind is ResourceType.CLUSTER else name)
            for each in wanted
            for name in names_in(fields[given[0]], given[0])
        ]
    return tuple(found)


def _of_profiles(
    words: Sequence[str], fields: Mapping[str, Any], release: str
) -> tuple[Clause, ...]:
    found: dict[Clause, None] = {}
    wanted: set[str] = set()
    for word in words:
        if word not in PROFILES:
            raise AclTextError(unknown("profile", word, tuple(PROFILES)))
        missing = [slot for slot in slots(word) if slot not in fields]
        if missing:
            raise AclTextError(f"the profile `{word}` requires `{missing[0]}`")
        wanted |= set(slots(word))
        given = {slot: names_in(fields[slot], slot) for slot in slots(word)}
        if any(names.is_prefix for names in given.get("application-id", ())):
            raise AclTextError("`application-id` must be one name, without `*`")
        found |= dict.fromkeys(clauses_of(word, given, release))
    if not found:
        raise AclTextError(f"brokers of Kafka {release} do not serve {', '.join(words)}")
    unused = [key for key in (*RESOURCES, *_SLOTS) if key in fields and key not in wanted]
    if unused:
        raise AclTextError(f"`{unused[0]}` has no effect on {', '.join(words)}")
    return tuple(found)


def _no_acl(fields: Mapping[str, Any], release: str) -> Expectation:
    unknown = sorted(set(fields) - {"no-acl", "name", "release"})
    if unknown:
        raise AclTextError(f"`{unknown[0]}` belongs below `no-acl`")
    inner = fields["no-acl"]
    if not isinstance(inner, Mapping) or not inner:
        raise AclTextError(f"`no-acl` requires one or more of {', '.join(_NO_ACL_KEYS)}")
    given = _fields(inner)
    known_keys(given, _NO_ACL_KEYS, "no-acl")
    kinds = [key for key in RESOURCES if key in given]
    sides = [key for key in ("allow", "deny") if key in given]
    if len(kinds) > 1 or len(sides) > 1:
        raise AclTextError("`no-acl` accepts one resource, and one of allow and deny")
    words = texts(given[sides[0]], sides[0]) if sides and given[sides[0]] is not None else []
    has_names = bool(kinds) and given[kinds[0]] is not None
    names = names_in(given[kinds[0]], kinds[0]) if has_names else ()
    unwanted = Unwanted(
        tuple(texts(given["principal"], "principal") if "principal" in given else ()),
        {"allow": Permission.ALLOW, "deny": Permission.DENY}[sides[0]] if sides else None,
        tuple(map(parse_operation, words)),
        RESOURCES[kinds[0]] if kinds else None,
        tuple(names),
        tuple(_hosts(given)),
    )
    if any(name.like for name in names):
        raise AclTextError("`like` requires may or can; an ACL has a name or a prefix")
    said = ", ".join(f"{key}: {_said(value)}" for key, value in given.items())
    return Expectation(
        Kind.NO_ACL, str(fields.get("name") or f"no ACL with {said}"), release, unwanted=unwanted
    )


def _hosts(fields: Mapping[str, Any]) -> list[str]:
    hosts = texts(fields["host"], "host") if "host" in fields else []
    for host in hosts:
        if not is_host(host):
            raise AclTextError(f"host: invalid `{host}`; expected an address, a network or `*`")
    return hosts


def names_in(value: object, key: str) -> list[Names]:
    """Parse names: `orders` is that name, `orders-*` a prefix, `*` all names, `{literal: x*}`
    exactly that name, and `{like: a-*-b}` has asterisks anywhere.
    """
    if key == "cluster":
        if value not in (None, True, "", CLUSTER_NAME, WILDCARD):
            raise AclTextError(f"`cluster` has no names; leave out `{value}`")
        return [Names(CLUSTER_NAME)]
    if isinstance(value, Mapping):
        known_keys(value, ("literal", "like"), f"`{key}`")
        if "like" in value:
            return [like(text, key) for text in texts(value["like"], f"{key}: like")]
        return [Names(name) for name in texts(value.get("literal"), f"{key}: literal")]
    found = []
    for text in texts(value, key):
        if text == WILDCARD:
            found.append(ALL_NAMES)
        elif text.endswith(WILDCARD):
            found.append(Names(text[:-1], is_prefix=True))
        else:
            found.append(Names(text))
    return found


def like(text: str, key: str) -> Names:
    """Return all names of this form, which has an asterisk."""
    stem, asterisk, _ = text.partition(WILDCARD)
    if not asterisk:
        raise AclTextError(f"{key}: like: `{text}` has no asterisk; write `{key}: {text}`")
    return Names(stem, is_prefix=True, like=text)


def texts(value: object, key: str, *, may_be_empty: bool = False) -> list[str]:
    found = value if isinstance(value, list | tuple) else [value]
    if (not found and not may_be_empty) or not all(isinstance(t, str) and t for t in found):
        raise AclTextError(f"`{key}` must be a string or a list of strings, not `{value}`")
    return list(found)


def _sentence(who: str, what: str, fields: Mapping[str, Any]) -> str:
    subject = _said(fields[who])
    if who != "principal":
        subject = f"{who.replace('-', ' ')} {subject or 'super users'}"
    about = [key for key in (*RESOURCES, *_SLOTS, "host") if key in fields]
    on = ", ".join(key if key == "cluster" else f"{key} {_said(fields[key])}" for key in about)
    return f"{subject} {what.replace('-', ' ')} {_said(fields[what])} on {on}"


def _said(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(_said(inner) for inner in value.values())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "any")
