"""The state of a share partition in the share coordinator, and updates of it."""

from collections.abc import Iterable, Sequence

import msgspec

SharePartitionKey = tuple[str, bytes, int]
"""Group, topic id, partition."""


class DeliveryBatch(msgspec.Struct, frozen=True, gc=False):
    """Records `first` to `last` share a state (0 available, 2 acknowledged, 4 archived)."""

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


def join_adjacent_batches(sorted_batches: Iterable[DeliveryBatch]) -> list[DeliveryBatch]:
    """Return sorted rows; adjacent ones with the same state and count are one."""
    joined: list[DeliveryBatch] = []
    for row in sorted_batches:
        before = joined[-1] if joined else None
        if (
            before is not None
            and before.last_offset + 1 == row.first_offset
            and before.delivery_state == row.delivery_state
            and before.delivery_count == row.delivery_count
        ):
            joined[-1] = DeliveryBatch(
                before.first_offset, row.last_offset, row.delivery_state, row.delivery_count
            )
        else:
            joined.append(row)
    return joined


NOT_KNOWN = -1
NO_EPOCH = -1
"""Of who does not know it."""


class ShareState(msgspec.Struct):
    """The stored state of a share partition; -1: unknown.

    `finished_count` counts the finished records from `start_offset` on.
    """

    state_epoch: int
    leader_epoch: int = 0
    start_offset: int = NOT_KNOWN
    finished_count: int = NOT_KNOWN
    delivery_batches: list[DeliveryBatch] = []


class ShareStateUpdate(msgspec.Struct, frozen=True):
    """An update by the leader of a share partition."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    finished_count: int
    delivery_batches: Sequence[DeliveryBatch]
