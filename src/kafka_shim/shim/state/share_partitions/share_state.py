"""The share coordinator's state of share partitions (KIP-932): start offset and deliveries."""

import heapq
import itertools
from collections.abc import Callable, Sequence

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.state.share_partitions.share_state_values import (
    NO_EPOCH,
    NOT_KNOWN,
    DeliveryBatch,
    SharePartitionKey,
    ShareState,
    ShareStateUpdate,
    join_adjacent_batches,
)
from kafka_shim.shim.state.topics import Topics

ERROR_MESSAGES = {
    ErrorCode.INVALID_REQUEST: "the share partition has no state",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "unknown partition",
    ErrorCode.FENCED_LEADER_EPOCH: "a newer leader has fenced this one",
    ErrorCode.FENCED_STATE_EPOCH: "the state has a newer epoch",
    ErrorCode.POLICY_VIOLATION: "too many records would be in flight",
}
"""Error messages by error code."""

NOT_A_BROKER = "only brokers may read and change the state of share groups"

IN_FLIGHT_MAX = 20_000
"""DEVIATION: records in flight that other brokers may write for a share partition. A leader may
need time and memory for each of them; real brokers have no limit, and seldom have more than 10,000.
"""


class ShareStates:
    """The states of all share partitions; errors are returned, as each partition has its own."""

    def __init__(
        self, topics: Topics, facts: GroupFacts, create_topic: Callable[[], object]
    ) -> None:
        """`create_topic` creates `__share_group_state` if it does not exist."""
        self._topics = topics
        self._facts = facts
        self._create_topic = create_topic
        self._states: dict[SharePartitionKey, ShareState] = {}
        self._keys_by_topic: dict[bytes, dict[SharePartitionKey, None]] = {}
        topics.when_deleted = self._delete_states_of_topic
        self._when_changed: Callable[[SharePartitionKey], None] = lambda _: None

    def set_change_listener(self, on_change: Callable[[SharePartitionKey], None]) -> None:
        """Call `on_change` with the key of each share partition that changes."""
        self._when_changed = on_change

    def reset_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> ErrorCode:
        """Create or reset a state at `start_offset`; the epoch must not be older than the current
        one.
        """
        known = self._states.get(key)
        if self._has_forbidden_negative_epoch(state_epoch):
            return ErrorCode.INVALID_REQUEST
        if known is not None and self._is_older_epoch(state_epoch, known.state_epoch):
            return ErrorCode.FENCED_STATE_EPOCH
        error = self._unknown_partition_error(key)
        if error is not NO_ERROR:
            return error
        counts = (
            start_offset != NOT_KNOWN and self._facts.share_delivery_count_starts_with_given_offset
        )
        finished_count = 0 if counts else NOT_KNOWN
        self._when_changed(key)
        state = ShareState(state_epoch, start_offset=start_offset, finished_count=finished_count)
        self._states[key] = state
        self._keys_by_topic.setdefault(key[1], {})[key] = None
        if self._facts.share_coordinators_have_topic:
            self._create_topic()
        return NO_ERROR

    def _delete_states_of_topic(self, topic_id: bytes) -> None:
        for key in list(self._keys_by_topic.get(topic_id, ())):
            self._delete_state(key)

    def _delete_state(self, key: SharePartitionKey) -> None:
        del self._states[key]
        keys = self._keys_by_topic[key[1]]
        del keys[key]
        if not keys:
            del self._keys_by_topic[key[1]]
        self._when_changed(key)

    def read_for_leader(
        self, key: SharePartitionKey, leader_epoch: int
    ) -> tuple[ErrorCode, ShareState | None]:
        """Return the state for a leader, and fence leaders of older epochs."""
        state = self._states.get(key)
        if state is None or self._has_forbidden_negative_epoch(leader_epoch):
            return ErrorCode.INVALID_REQUEST, None
        if self._is_older_epoch(leader_epoch, state.leader_epoch):
            return ErrorCode.FENCED_LEADER_EPOCH, None
        error = self._unknown_partition_error(key)
        if error is not NO_ERROR:
            return error, None
        if leader_epoch > state.leader_epoch:
            self._when_changed(key)
            state.leader_epoch = leader_epoch
        return error, state

    def read_without_fencing(self, key: SharePartitionKey) -> tuple[ErrorCode, ShareState | None]:
        """Return the state without fencing; a partition without state gives NONE and None."""
        error = self._unknown_partition_error(key)
        return error, self._states.get(key) if error is NO_ERROR else None

    def apply_update(
        self, key: SharePartitionKey, update: ShareStateUpdate, *, in_flight_max: int | None = None
    ) -> ErrorCode:
        """Apply a leader's update; the leader epoch is checked before the state epoch."""
        state = self._states.get(key)
        if state is None or self._has_forbidden_negative_epoch(
            update.leader_epoch, update.state_epoch
        ):
            return ErrorCode.INVALID_REQUEST
        may_lack = self._facts.share_write_accepts_unknown_leader_epoch
        if self._is_older_epoch(
            update.leader_epoch, state.leader_epoch, accepts_unknown_epoch=may_lack
        ):
            return ErrorCode.FENCED_LEADER_EPOCH
        if self._is_older_epoch(
            update.state_epoch, state.state_epoch, accepts_unknown_epoch=may_lack
        ):
            return ErrorCode.FENCED_STATE_EPOCH
        error = self._unknown_partition_error(key)
        if error is not NO_ERROR:
            return error
        start, finished_count = self._updated_progress(state, update)
        deliveries = _merge_batches_highest_count_wins(
            [*state.delivery_batches, *update.delivery_batches], start
        )
        if in_flight_max is not None and deliveries:
            end = max(delivery.last_offset for delivery in deliveries)
            if end - max(0, start) >= in_flight_max:
                return ErrorCode.POLICY_VIOLATION
        self._when_changed(key)
        state.start_offset, state.finished_count, state.delivery_batches = (
            start,
            finished_count,
            deliveries,
        )
        return error

    def _updated_progress(self, state: ShareState, update: ShareStateUpdate) -> tuple[int, int]:
        """Return the start offset and the number of finished records after an update."""
        start, finished_count = state.start_offset, update.finished_count
        if self._facts.share_start_offset_never_decreases and update.start_offset <= start:
            is_same = update.start_offset == start
            return start, max(
                finished_count, state.finished_count
            ) if is_same else state.finished_count
        return start if update.start_offset == NOT_KNOWN else update.start_offset, finished_count

    def delete_state(self, key: SharePartitionKey) -> ErrorCode:
        """Delete a state; NONE also if the partition has none."""
        error = self._unknown_partition_error(key)
        if error is NO_ERROR and key in self._states:
            self._delete_state(key)
        return error

    def get_state(self, key: SharePartitionKey) -> ShareState | None:
        """Return the state, to be stored."""
        return self._states.get(key)

    def restore_state(self, key: SharePartitionKey, state: ShareState) -> None:
        """Restore a stored state."""
        self._states[key] = state
        self._keys_by_topic.setdefault(key[1], {})[key] = None

    def _has_forbidden_negative_epoch(self, *epochs: int) -> bool:
        return self._facts.share_start_offset_never_decreases and min(epochs) < 0

    def _is_older_epoch(
        self, epoch: int, current_epoch: int, *, accepts_unknown_epoch: bool = False
    ) -> bool:
        accepts_unknown_epoch = (
            accepts_unknown_epoch or self._facts.share_read_accepts_unknown_leader_epoch
        )
        return epoch < current_epoch and not (epoch == NO_EPOCH and accepts_unknown_epoch)

    def _unknown_partition_error(self, key: SharePartitionKey) -> ErrorCode:
        """Return the error if the partition does not exist."""
        if key[2] < 0:
            return ErrorCode.INVALID_REQUEST
        topic = self._topics.by_id(key[1])
        is_there = topic is not None and topic.led_partition(key[2]) is not None
        return NO_ERROR if is_there else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _merge_batches_highest_count_wins(
    batches: Sequence[DeliveryBatch], start_offset: int
) -> list[DeliveryBatch]:
    """Merge deliveries from `start_offset` on: sorted, without overlaps.

    Of two for the same records, the one with the higher count wins, then the one with the greater
    state. Adjacent rows with the same state and count are joined. A row alone is kept even if its
    last record is before its first.
    """
    rows = sorted(
        (batch.first_offset, batch.last_offset, batch.delivery_count, batch.delivery_state)
        for batch in batches
    )
    if len(rows) == 1 and rows[0][0] > rows[0][1] >= start_offset:
        return list(batches)
    cuts = sorted({start_offset, *(row[0] for row in rows), *(row[1] + 1 for row in rows)})
    heap: list[tuple[int, int, int]] = []  # a heap: the winner is first
    merged: list[DeliveryBatch] = []
    at = 0
    for first, after in itertools.pairwise(cuts):
        while at < len(rows) and rows[at][0] <= first:
            _, last, count, state = rows[at]
            heapq.heappush(heap, (-count, -state, last))
            at += 1
        while heap and heap[0][2] < first:
            heapq.heappop(heap)
        if not heap or first < start_offset:
            continue
        merged.append(DeliveryBatch(first, after - 1, -heap[0][1], -heap[0][0]))
    return join_adjacent_batches(merged)
