"""The fewest entries for what was allowed and denied on one resource to one principal.

The search is exact for observations with hosts and denials.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Set

import msgspec

from kafka_shim.authorizer.acl_rules import operations_whose_allow_includes
from kafka_shim.authorizer.model import WILDCARD
from kafka_shim.protocol.enums import Operation, Permission

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


def fewest_entries(
    allowed: Mapping[OperationFromHost, int], denied: Mapping[OperationFromHost, int]
) -> list[CountedEntry]:
    """Return entries for what was allowed and denied, with the number of requests of each.

    Of several smallest sets, return the one with the fewest DENY entries, then with the most
    entries for all hosts.
    """
    operations = sorted({operation for operation, _ in allowed})
    if not denied:
        return _count_requests(
            _necessary_allows(allowed, frozenset(operations)), (), allowed, denied
        )
    return min(
        (
            _entries_for_all_hosts(
                allowed, denied, frozenset(itertools.compress(operations, is_everywhere))
            )
            for is_everywhere in itertools.product((True, False), repeat=len(operations))
        ),
        key=_entries_sort_key,
    )


def _entries_sort_key(entries: list[CountedEntry]) -> tuple[int, int, int]:
    denying = sum(entry.permission is Permission.DENY for entry in entries)
    return len(entries), denying, sum(entry.host != WILDCARD for entry in entries)


def _entries_for_all_hosts(
    allowed: Mapping[OperationFromHost, int],
    denied: Mapping[OperationFromHost, int],
    operations_to_allow_from_all_hosts: Set[Operation],
) -> list[CountedEntry]:
    granted = _necessary_allows(allowed, operations_to_allow_from_all_hosts)
    excess = {cell for cell in denied if _find_allowing_entry(granted, cell)}
    return _count_requests(granted, _fewest_denies(excess, allowed), allowed, denied)


def _necessary_allows(
    allowed: Mapping[OperationFromHost, int], operations_to_allow_from_all_hosts: Set[Operation]
) -> dict[OperationFromHost, None]:
    """Return the necessary ALLOW entries, those of the given operations for all hosts."""
    granted: dict[OperationFromHost, None] = {}
    for cell in sorted(allowed, key=lambda cell: (cell[0] in _INCLUDED, cell)):
        if not _find_allowing_entry(granted, cell):
            operation, host = cell
            granted[
                operation, WILDCARD if operation in operations_to_allow_from_all_hosts else host
            ] = None
    return granted


def _find_allowing_entry(
    granted: Mapping[OperationFromHost, None], cell: OperationFromHost
) -> OperationFromHost | None:
    """Return the first entry that allows the cell, preferably with the same operation."""
    operation, host = cell
    for other in (operation, *sorted(operations_whose_allow_includes(operation) - {operation})):
        for entry_host in (WILDCARD, host):
            if (other, entry_host) in granted:
                return other, entry_host
    return None


def _fewest_denies(
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


def _count_requests(
    granted: Mapping[OperationFromHost, None],
    denying: Iterable[OperationFromHost],
    allowed: Mapping[OperationFromHost, int],
    denied: Mapping[OperationFromHost, int],
) -> list[CountedEntry]:
    """Return the entries with numbers of requests; each request counts for one entry."""
    counts = dict.fromkeys(granted, 0)
    for cell, requests in allowed.items():
        counts[_find_allowing_entry(granted, cell) or cell] += requests
    entries = [CountedEntry(*cell, Permission.ALLOW, requests) for cell, requests in counts.items()]
    for operation, host in denying:
        requests = sum(_iter_denied_counts(denied, operation, host))
        entries.append(CountedEntry(operation, host, Permission.DENY, requests))
    return entries


def _iter_denied_counts(
    denied: Mapping[OperationFromHost, int], operation: Operation, host: str
) -> Iterator[int]:
    for (denied_operation, denied_host), requests in denied.items():
        if operation in (denied_operation, Operation.ALL) and host in (denied_host, WILDCARD):
            yield requests
