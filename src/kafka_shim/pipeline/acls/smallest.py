"""The smallest number of ACL entries on a resource, for a principal, with the observed decisions.

Entries have the observed operations, or ALL to deny, and one host or all hosts.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Set

import msgspec

from kafka_shim.authorizer.implied import allowing
from kafka_shim.authorizer.model import WILDCARD
from kafka_shim.protocol.enums import Operation, Permission

Cell = tuple[Operation, str]
"""An operation from a host; in an entry the host may be `*`."""

_INCLUDED = (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS)
"""Operations that others include; they are looked at last."""


class Entry(msgspec.Struct, frozen=True, order=True):
    """An ACL without its resource and principal, with the number of requests that need it."""

    operation: Operation
    host: str
    permission: Permission
    requests: int = 0


def smallest(allowed: Mapping[Cell, int], denied: Mapping[Cell, int]) -> list[Entry]:
    """Return entries for what was allowed and denied, with the number of requests of each.

    Of several smallest sets, return the one with the fewest DENY entries, then with the most
    entries for all hosts.
    """
    operations = sorted({operation for operation, _ in allowed})
    if not denied:
        return _entries(_granted(allowed, frozenset(operations)), (), allowed, denied)
    return min(
        (
            _candidate(allowed, denied, frozenset(itertools.compress(operations, is_everywhere)))
            for is_everywhere in itertools.product((True, False), repeat=len(operations))
        ),
        key=_cost,
    )


def _cost(entries: list[Entry]) -> tuple[int, int, int]:
    denying = sum(entry.permission is Permission.DENY for entry in entries)
    return len(entries), denying, sum(entry.host != WILDCARD for entry in entries)


def _candidate(
    allowed: Mapping[Cell, int], denied: Mapping[Cell, int], everywhere: Set[Operation]
) -> list[Entry]:
    granted = _granted(allowed, everywhere)
    excess = {cell for cell in denied if _granting(granted, cell)}
    return _entries(granted, _denying(excess, allowed), allowed, denied)


def _granted(allowed: Mapping[Cell, int], everywhere: Set[Operation]) -> dict[Cell, None]:
    """Return the necessary ALLOW entries, for all hosts if the operation is in `everywhere`."""
    granted: dict[Cell, None] = {}
    for cell in sorted(allowed, key=lambda cell: (cell[0] in _INCLUDED, cell)):
        if not _granting(granted, cell):
            operation, host = cell
            granted[operation, WILDCARD if operation in everywhere else host] = None
    return granted


def _granting(granted: Mapping[Cell, None], cell: Cell) -> Cell | None:
    """Return the first entry that allows the cell, preferably with the same operation."""
    operation, host = cell
    for other in (operation, *sorted(allowing(operation) - {operation})):
        for place in (WILDCARD, host):
            if (other, place) in granted:
                return other, place
    return None


def _denying(excess: Set[Cell], allowed: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return the fewest DENY entries for `excess`: by operation, by host, or by both."""
    busy_operations = {operation for operation, _ in allowed}
    busy_hosts = {host for _, host in allowed}
    free = sorted({operation for operation, _ in excess} - busy_operations)
    choices = (
        _denied_by(excess, busy_hosts, chosen)
        for count in range(len(free) + 1)
        for chosen in itertools.combinations(free, count)
    )
    return min(choices, key=lambda found: (len(found), found))


def _denied_by(
    excess: Set[Cell], busy_hosts: Set[str], everywhere: tuple[Operation, ...]
) -> tuple[Cell, ...]:
    """Return DENY entries, those for these operations with all hosts."""
    rest = sorted(cell for cell in excess if cell[0] not in everywhere)
    by_host = {host: [cell for cell in rest if cell[1] == host] for _, host in rest}
    found = [(operation, WILDCARD) for operation in everywhere]
    for host, cells in by_host.items():
        is_all = len(cells) > 1 and host not in busy_hosts
        found += [(Operation.ALL, host)] if is_all else cells
    return tuple(found)


def _entries(
    granted: Mapping[Cell, None],
    denying: Iterable[Cell],
    allowed: Mapping[Cell, int],
    denied: Mapping[Cell, int],
) -> list[Entry]:
    """Return the entries with numbers of requests; each request counts for one entry."""
    counts = dict.fromkeys(granted, 0)
    for cell, requests in allowed.items():
        by = _granting(granted, cell)
        counts[by or cell] += requests
    found = [Entry(*cell, Permission.ALLOW, requests) for cell, requests in counts.items()]
    for operation, host in denying:
        requests = sum(_covered(denied, operation, host))
        found.append(Entry(operation, host, Permission.DENY, requests))
    return found


def _covered(denied: Mapping[Cell, int], operation: Operation, host: str) -> Iterator[int]:
    for (asked, place), requests in denied.items():
        if operation in (asked, Operation.ALL) and host in (place, WILDCARD):
            yield requests
