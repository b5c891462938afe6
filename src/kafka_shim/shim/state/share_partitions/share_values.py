"""The state of a share partition in the share coordinator, and updates of it."""

from collections.abc import Iterable, Sequence

import msgspec

Key = tuple[str, bytes, int]
"""Group, topic id, partition."""


class Deliveries(msgspec.Struct, frozen=True, gc=False):
    """Records `first` to `last` share a state (0 available, 2 acknowledged, 4 archived)."""

    first: int
    last: int
    state: int
    count: int


def joined(rows: Iterable[Deliveries]) -> list[Deliveries]:
    """Return sorted rows; adjacent ones with the same state and count are one."""
    found: list[Deliveries] = []
    for row in rows:
        before = found[-1] if found else None
        if (
            before is not None
            and before.last + 1 == row.first
            and before.state == row.state
            and before.count == row.count
        ):
            found[-1] = Deliveries(before.first, row.last, row.state, row.count)
        else:
            found.append(row)
    return found


NOT_KNOWN = -1
NO_EPOCH = -1
"""Of who does not know it."""


class ShareState(msgspec.Struct):
    """The stored state of a share partition; -1: unknown.

    `complete` counts the finished records from `start_offset` on. The other fields are about its
    records in the topic: epoch, offset and time of the last snapshot, time of the first one,
    updates.
    """

    state_epoch: int
    leader_epoch: int = 0
    start_offset: int = NOT_KNOWN
    complete: int = NOT_KNOWN
    deliveries: list[Deliveries] = []
    snapshot_epoch: int = 0
    snapshot_offset: int = 0
    created_ms: int = 0
    written_ms: int = 0
    updates: int = 0


class StateUpdate(msgspec.Struct, frozen=True):
    """An update by the leader of a share partition."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    complete: int
    deliveries: Sequence[Deliveries]
