"""What the share coordinator keeps of a share partition (KIP-932): its start and its deliveries."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from protocol.error_codes import ErrorCode
from shim.state.topics import Topics

Key = tuple[str, bytes, int]
"""Group, topic id, partition."""


class Deliveries(msgspec.Struct, frozen=True, gc=False):
    """Records `first` to `last` share a state (0 available, 2 acknowledged, 4 archived)."""

    first: int
    last: int
    state: int
    count: int


class SharePartition(msgspec.Struct):
    """One share partition. `start_offset` -1: not known yet."""

    state_epoch: int
    leader_epoch: int = 0
    start_offset: int = -1
    complete: int = 0
    deliveries: list[Deliveries] = []


class ShareStates:
    """All share partitions; errors are values, as every partition is answered alone."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._partitions: dict[Key, SharePartition] = {}

    def initialise(self, key: Key, state_epoch: int, start_offset: int) -> ErrorCode:
        """Begin, or begin anew at another offset, with an epoch that is not older."""
        if not self._exists(key):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        known = self._partitions.get(key)
        if known is not None and state_epoch < known.state_epoch:
            return ErrorCode.FENCED_STATE_EPOCH
        self._partitions[key] = SharePartition(state_epoch, start_offset=start_offset)
        return ErrorCode.NONE

    def is_begun(self, key: Key) -> bool:
        """Whether the state of a share partition has been begun."""
        return key in self._partitions

    def of_group(self, group_id: str) -> Iterator[tuple[bytes, int, SharePartition]]:
        """Topic id, partition and state of all that a group has begun."""
        for (group, topic_id, partition), found in self._partitions.items():
            if group == group_id:
                yield topic_id, partition, found

    def read(self, key: Key, leader_epoch: int) -> tuple[ErrorCode, SharePartition | None]:
        """The state for a leader; a newer leader fences the older ones."""
        error, found = self._find(key)
        if found is not None and leader_epoch < found.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH, None
        if found is not None:
            found.leader_epoch = leader_epoch
        return error, found

    def summary(self, key: Key) -> tuple[ErrorCode, SharePartition | None]:
        """The state for anybody; what was never begun is no error and has no state."""
        error, found = self._find(key)
        return (ErrorCode.NONE if error is ErrorCode.INVALID_REQUEST else error), found

    def write(
        self, key: Key, epochs: tuple[int, int], start_offset: int, deliveries: Sequence[Deliveries]
    ) -> ErrorCode:
        """Lay newer deliveries over the older ones; `epochs` are the state's and the leader's."""
        error, found = self._find(key)
        if found is None:
            return error
        state_epoch, leader_epoch = epochs
        if state_epoch < found.state_epoch:
            return ErrorCode.FENCED_STATE_EPOCH
        if leader_epoch < found.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        found.leader_epoch = leader_epoch
        if start_offset >= 0:
            found.start_offset = start_offset
        found.deliveries = _overlaid(found.deliveries, deliveries, found.start_offset)
        return ErrorCode.NONE

    def delete(self, key: Key) -> ErrorCode:
        """Forget; what was never begun is forgotten as well."""
        if not self._exists(key):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        self._partitions.pop(key, None)
        return ErrorCode.NONE

    def _find(self, key: Key) -> tuple[ErrorCode, SharePartition | None]:
        """INVALID_REQUEST is for a partition that was never begun (asked of 4.3.1)."""
        if not self._exists(key):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None
        found = self._partitions.get(key)
        return (ErrorCode.INVALID_REQUEST, None) if found is None else (ErrorCode.NONE, found)

    def _exists(self, key: Key) -> bool:
        topic = self._topics.by_id(key[1])
        return topic is not None and topic.partition(key[2]) is not None


def _overlaid(
    older: Iterable[Deliveries], newer: Sequence[Deliveries], start_offset: int
) -> list[Deliveries]:
    """Newer deliveries win where both speak of a record; what is before the start is dropped."""
    found = list(older)
    for one in newer:
        kept = []
        for old in found:
            if old.first < one.first:
                last = min(old.last, one.first - 1)
                kept.append(Deliveries(old.first, last, old.state, old.count))
            if old.last > one.last:
                first = max(old.first, one.last + 1)
                kept.append(Deliveries(first, old.last, old.state, old.count))
        found = [*kept, one]
    trimmed = (
        Deliveries(max(one.first, start_offset), one.last, one.state, one.count)
        for one in found
        if one.last >= start_offset
    )
    return sorted(trimmed, key=lambda one: one.first)
