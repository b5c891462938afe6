"""Join literal ACLs into prefixed ones, within a budget of further known names that they allow."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from kafka_shim.authorizer.acl_rules import operations_whose_allow_includes
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.protocol.enums import Operation, PatternType, ResourceType

PREFIX_CHARACTERS_MIN = 3
NamesByResourceType = Mapping[ResourceType, frozenset[str]]
"""All names that anybody was seen to use."""

OperationOnResource = tuple[Operation, ResourceType, str]
"""An operation on a named resource."""


class Grant(msgspec.Struct, frozen=True):
    """An ACL with the number of requests that need it, and further known names that it allows."""

    acl: Acl
    requests: int
    over_granted_names: tuple[str, ...] = ()


_BOUNDARY = re.compile(r"[.\-_]")
_GENERATED = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}.*"
    r"|(?<![0-9a-z])(?=[a-f]*\d)[0-9a-f]{6,}.*|\d{2,}.*",
    re.IGNORECASE,
)
_TypeHostOperation = tuple[ResourceType, str, Operation]
"""What stays the same when names are joined: the type, the host and the operation."""


def join_names_into_prefixes(
    grants: list[Grant],
    used_names: NamesByResourceType,
    over_grants_max: int,
    denied_accesses: Iterable[OperationOnResource],
) -> list[Grant]:
    """Return the grants with as many literal names as possible joined into prefixes.

    A prefix ends at `.`, `-` or `_`, or before a part that looks generated, and has at least three
    characters. It is used if all prefixes together allow at most `over_grants_max` further used
    names, and if it allows nothing that was denied.
    """
    by_key: dict[_TypeHostOperation, list[Grant]] = defaultdict(list)
    for grant in grants:
        acl = grant.acl
        by_key[acl.resource_type, acl.host, acl.operation].append(grant)
    refused = list(denied_accesses)
    found: list[Grant] = []
    for key, group in by_key.items():
        joined = _join_within_budget(key, group, used_names, over_grants_max, refused)
        over_grants_max -= sum(len(grant.over_granted_names) for grant in joined)
        found += joined
    return found


def count_generated_names(
    acls: Iterable[Acl],
) -> dict[tuple[ResourceType, str], int]:
    """Return prefixes of literal names that look generated for one run, with their numbers of
    names.
    """
    found: dict[tuple[ResourceType, str], set[str]] = defaultdict(set)
    for acl in acls:
        prefix = _prefix_before_generated_part(acl.resource_name)
        if prefix and acl.pattern_type is PatternType.LITERAL:
            found[acl.resource_type, prefix].add(acl.resource_name)
    return {key: len(names) for key, names in sorted(found.items())}


def _prefix_before_generated_part(name: str) -> str | None:
    generated = _GENERATED.search(name)
    if generated is None or generated.start() < PREFIX_CHARACTERS_MIN:
        return None
    return name[: generated.start()]


def _join_within_budget(
    key: _TypeHostOperation,
    literal_grants: list[Grant],
    used_names: NamesByResourceType,
    budget: int,
    denied_accesses: list[OperationOnResource],
) -> list[Grant]:
    kind, _, operation = key
    rest = {grant.acl.resource_name: grant for grant in literal_grants}
    names = used_names.get(kind, frozenset())
    taken: list[Grant] = []
    for prefix in sorted(_candidate_prefixes(rest), key=lambda prefix: (len(prefix), prefix)):
        covered = [name for name in rest if name.startswith(prefix)]
        if len(covered) < 2 and not any(_has_generated_suffix(name, prefix) for name in covered):
            continue
        over = sorted(name for name in names if name.startswith(prefix) and name not in rest)
        if (
            not covered
            or len(over) > budget
            or _would_allow_denied_access(kind, operation, prefix, denied_accesses)
        ):
            continue
        budget -= len(over)
        taken.append(_merge_grants([rest.pop(name) for name in covered], prefix, tuple(over)))
    return [*taken, *rest.values()]


def _candidate_prefixes(names: Iterable[str]) -> set[str]:
    found = set()
    for name in names:
        ends = [match.end() for match in _BOUNDARY.finditer(name)]
        found |= {name[:end] for end in ends if PREFIX_CHARACTERS_MIN <= end < len(name)}
        generated = _prefix_before_generated_part(name)
        if generated:
            found.add(generated)
    return {prefix for prefix in found if not prefix.startswith(WILDCARD)}


def _has_generated_suffix(name: str, prefix: str) -> bool:
    return _GENERATED.fullmatch(name, len(prefix)) is not None


def _would_allow_denied_access(
    resource_type: ResourceType,
    operation: Operation,
    prefix: str,
    denied_accesses: list[OperationOnResource],
) -> bool:
    return any(
        of is resource_type
        and name.startswith(prefix)
        and operation in operations_whose_allow_includes(refused)
        for refused, of, name in denied_accesses
    )


def _merge_grants(
    literal_grants: list[Grant], prefix: str, over_granted_names: tuple[str, ...]
) -> Grant:
    first = literal_grants[0]
    acl: Acl = msgspec.structs.replace(
        first.acl, resource_name=prefix, pattern_type=PatternType.PREFIXED
    )
    requests = sum(grant.requests for grant in literal_grants)
    return msgspec.structs.replace(
        first, acl=acl, requests=requests, over_granted_names=over_granted_names
    )
