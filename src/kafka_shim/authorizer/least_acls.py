"""The fewest ACLs for what was allowed, of one resource and principal, or of a whole program.

`smallest_entries` is exact for observations with hosts and denials. `least_acls` uses it for the
checks of a program that was allowed everything; the pipeline does for observed accesses.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

import msgspec

from kafka_shim.authorizer.model import WILDCARD, Acl, Action
from kafka_shim.authorizer.operations import operations_whose_allow_includes
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

OperationFromHost = tuple[Operation, str]
"""An operation from a host; in an entry the host may be `*`."""

_INCLUDED = (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS)
"""Operations that others include; they are looked at last."""


class CountedEntry(msgspec.Struct, frozen=True, order=True):
    """An ACL without its resource and principal, with the number of requests that need it."""

    operation: Operation
    host: str
    permission: Permission
    request_count: int = 0


class CheckedNeed(msgspec.Struct, frozen=True):
    """A requirement that was checked for a name; any of `alternatives` meets it.

    `last_is_any_name`: the last alternative is met on any resource of its type. `is_optional`: a
    denial is not visible as an error, so whether the program needs it is unknown.
    """

    principal: str
    requirement_id: str
    alternatives: tuple[Action, ...]
    last_is_any_name: bool
    is_optional: bool


_PrincipalAndPattern = tuple[str, ResourceType, str, PatternType]
"""A principal, and a resource pattern for it."""


def least_acls(
    needs: Iterable[CheckedNeed], prefixes: Sequence[str] = (), *, include_optional: bool = False
) -> list[Acl]:
    """Return the fewest and narrowest ACLs that meet the needs, the optional ones only on demand.

    Names that begin with one of `prefixes` are granted by that prefix. Of alternatives, the last
    one that names a resource is granted, unless an ACL for another need meets one of them.
    """
    granted: dict[_PrincipalAndPattern, dict[OperationFromHost, int]] = defaultdict(dict)
    required = [need for need in needs if include_optional or not need.is_optional]
    for need in sorted(required, key=lambda need: (need.last_is_any_name, len(need.alternatives))):
        if not _is_met_by_granted(need, granted):
            action = _last_named_alternative_or_last(need)
            granted[_pattern_covering_action(need.principal, action, prefixes)][
                action.operation, WILDCARD
            ] = 1
    return [
        Acl(kind, name, pattern, principal, entry.host, entry.operation, entry.permission)
        for principal, kind, name, pattern in sorted(granted)
        for entry in sorted(fewest_entries(granted[principal, kind, name, pattern], {}))
    ]


def _last_named_alternative_or_last(need: CheckedNeed) -> Action:
    """Return the narrowest alternative; any resource of a type only if there is no other."""
    if need.last_is_any_name and len(need.alternatives) > 1:
        return need.alternatives[-2]
    return need.alternatives[-1]


def _pattern_covering_action(
    principal: str, action: Action, prefixes: Sequence[str]
) -> _PrincipalAndPattern:
    name = action.resource_name
    matches = [prefix for prefix in prefixes if name.startswith(prefix)]
    if matches and action.resource_type is not ResourceType.CLUSTER:
        return principal, action.resource_type, max(matches, key=len), PatternType.PREFIXED
    return principal, action.resource_type, name, PatternType.LITERAL


def _is_met_by_granted(
    need: CheckedNeed, granted: Mapping[_PrincipalAndPattern, Mapping[OperationFromHost, int]]
) -> bool:
    for action in need.alternatives:
        is_any = need.last_is_any_name and action == need.alternatives[-1]
        # KIP-679: implied operations do not count for a whole type
        operations = (
            {action.operation} if is_any else operations_whose_allow_includes(action.operation)
        )
        if any(
            principal == need.principal
            and kind is action.resource_type
            and (is_any or _pattern_covers_name(name, pattern, action.resource_name))
            and any(operation in operations for operation, _ in cells)
            for (principal, kind, name, pattern), cells in granted.items()
        ):
            return True
    return False


def _pattern_covers_name(pattern_name: str, pattern_type: PatternType, resource_name: str) -> bool:
    if pattern_type is PatternType.PREFIXED:
        return resource_name.startswith(pattern_name)
    return resource_name == pattern_name


def fewest_entries(
    allowed: Mapping[OperationFromHost, int], denied: Mapping[OperationFromHost, int]
) -> list[CountedEntry]:
    """Return entries for what was allowed and denied, with the number of requests of each.

    Of several smallest sets, return the one with the fewest DENY entries, then with the most
    entries for all hosts.
    """
    operations = sorted({operation for operation, _ in allowed})
    if not denied:
        return _entries_with_request_counts(
            _necessary_allows(allowed, frozenset(operations)), (), allowed, denied
        )
    return min(
        (
            _entries_allowing_operations_from_all_hosts(
                allowed, denied, frozenset(itertools.compress(operations, is_everywhere))
            )
            for is_everywhere in itertools.product((True, False), repeat=len(operations))
        ),
        key=_entries_sort_key,
    )


def _entries_sort_key(entries: list[CountedEntry]) -> tuple[int, int, int]:
    denying = sum(entry.permission is Permission.DENY for entry in entries)
    return len(entries), denying, sum(entry.host != WILDCARD for entry in entries)


def _entries_allowing_operations_from_all_hosts(
    allowed: Mapping[OperationFromHost, int],
    denied: Mapping[OperationFromHost, int],
    operations_to_allow_from_all_hosts: Set[Operation],
) -> list[CountedEntry]:
    granted = _necessary_allows(allowed, operations_to_allow_from_all_hosts)
    excess = {cell for cell in denied if _granted_entry_allowing(granted, cell)}
    return _entries_with_request_counts(
        granted, _fewest_denies_for_excess(excess, allowed), allowed, denied
    )


def _necessary_allows(
    allowed: Mapping[OperationFromHost, int], operations_to_allow_from_all_hosts: Set[Operation]
) -> dict[OperationFromHost, None]:
    """Return the necessary ALLOW entries, for all hosts if the operation is in `everywhere`."""
    granted: dict[OperationFromHost, None] = {}
    for cell in sorted(allowed, key=lambda cell: (cell[0] in _INCLUDED, cell)):
        if not _granted_entry_allowing(granted, cell):
            operation, host = cell
            granted[
                operation, WILDCARD if operation in operations_to_allow_from_all_hosts else host
            ] = None
    return granted


def _granted_entry_allowing(
    granted: Mapping[OperationFromHost, None], cell: OperationFromHost
) -> OperationFromHost | None:
    """Return the first entry that allows the cell, preferably with the same operation."""
    operation, host = cell
    for other in (operation, *sorted(operations_whose_allow_includes(operation) - {operation})):
        for entry_host in (WILDCARD, host):
            if (other, entry_host) in granted:
                return other, entry_host
    return None


def _fewest_denies_for_excess(
    excess: Set[OperationFromHost], allowed: Iterable[OperationFromHost]
) -> tuple[OperationFromHost, ...]:
    """Return the fewest DENY entries for `excess`: by operation, by host, or by both."""
    allowed_operations = {operation for operation, _ in allowed}
    allowed_hosts = {host for _, host in allowed}
    never_allowed = sorted({operation for operation, _ in excess} - allowed_operations)
    choices = (
        _denies_for_excess(excess, allowed_hosts, everywhere)
        for count in range(len(never_allowed) + 1)
        for everywhere in itertools.combinations(never_allowed, count)
    )
    return min(choices, key=lambda denials: (len(denials), denials))


def _denies_for_excess(
    excess: Set[OperationFromHost],
    allowed_hosts: Set[str],
    operations_to_deny_from_all_hosts: tuple[Operation, ...],
) -> tuple[OperationFromHost, ...]:
    """Return DENY entries, those for these operations with all hosts."""
    rest = sorted(cell for cell in excess if cell[0] not in operations_to_deny_from_all_hosts)
    by_host = {host: [cell for cell in rest if cell[1] == host] for _, host in rest}
    denials = [(operation, WILDCARD) for operation in operations_to_deny_from_all_hosts]
    for host, cells in by_host.items():
        is_all = len(cells) > 1 and host not in allowed_hosts
        denials += [(Operation.ALL, host)] if is_all else cells
    return tuple(denials)


def _entries_with_request_counts(
    granted: Mapping[OperationFromHost, None],
    denying: Iterable[OperationFromHost],
    allowed: Mapping[OperationFromHost, int],
    denied: Mapping[OperationFromHost, int],
) -> list[CountedEntry]:
    """Return the entries with numbers of requests; each request counts for one entry."""
    counts = dict.fromkeys(granted, 0)
    for cell, requests in allowed.items():
        counts[_granted_entry_allowing(granted, cell) or cell] += requests
    entries = [CountedEntry(*cell, Permission.ALLOW, requests) for cell, requests in counts.items()]
    for operation, host in denying:
        requests = sum(_request_counts_denied_by(denied, operation, host))
        entries.append(CountedEntry(operation, host, Permission.DENY, requests))
    return entries


def _request_counts_denied_by(
    denied: Mapping[OperationFromHost, int], operation: Operation, host: str
) -> Iterator[int]:
    for (denied_operation, denied_host), requests in denied.items():
        if operation in (denied_operation, Operation.ALL) and host in (denied_host, WILDCARD):
            yield requests
