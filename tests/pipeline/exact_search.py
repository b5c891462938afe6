"""An exhaustive search for the fewest ACLs on a resource that decide as observed.

It is written from Kafka's rules, independently of the job: it tries every set of cells that ALLOW
entries can allow, and every set of cells that DENY entries can deny.
"""

from collections.abc import Iterable, Mapping

from kafka_shim.protocol.enums import Operation
from tests.pipeline.twin import IMPLIED

Cell = tuple[Operation, str]
"""An operation, and the host that it comes from."""


def fewest(observed: Mapping[Cell, bool]) -> int:
    """Return the size of the smallest set that allows only operations which were allowed."""
    places = {cell: 1 << number for number, cell in enumerate(sorted(observed))}
    allowed = sum(bit for cell, bit in places.items() if observed[cell])
    denied = sum(places.values()) - allowed
    done = {operation for (operation, _), is_allowed in observed.items() if is_allowed}
    hosts = {host for _, host in observed}
    grants = {
        sum(bit for cell, bit in places.items() if _allows(operation, host, cell))
        for operation in done
        for host in ("*", *hosts)
    }
    refusals = {
        sum(bit for cell, bit in places.items() if _denies(operation, host, cell))
        for operation in (*{cell[0] for cell in observed}, Operation.ALL)
        for host in ("*", *hosts)
    }
    granting = _unions(grants)
    denying = _unions(mask for mask in refusals if not mask & allowed)
    return min(
        size + min(less for refused, less in denying.items() if not given & denied & ~refused)
        for given, size in granting.items()
        if not allowed & ~given
    )


def _allows(operation: Operation, host: str, cell: Cell) -> bool:
    includes = operation is cell[0] or operation in IMPLIED.get(cell[0], ())
    return includes and host in ("*", cell[1])


def _denies(operation: Operation, host: str, cell: Cell) -> bool:
    return operation in (cell[0], Operation.ALL) and host in ("*", cell[1])


def _unions(masks: Iterable[int]) -> dict[int, int]:
    """Return every union of masks, with the smallest number of masks that it needs."""
    choices = [*masks]
    found = {0: 0}
    latest = [0]
    while latest:
        size = found[latest[0]] + 1
        new = {union | mask for union in latest for mask in choices} - found.keys()
        found.update(dict.fromkeys(new, size))
        latest = [*new]
    return found
