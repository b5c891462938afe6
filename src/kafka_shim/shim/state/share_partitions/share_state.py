"""The share coordinator's state of share partitions (KIP-932): start offset and deliveries."""

import heapq
import itertools
from collections.abc import Callable, Sequence

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.state.share_partitions.share_log import DELIVERIES_MAX, ShareLog
from kafka_shim.shim.state.share_partitions.share_values import (
    NO_EPOCH,
    NOT_KNOWN,
    Deliveries,
    Key,
    ShareState,
    StateUpdate,
    joined,
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

    def __init__(self, topics: Topics, facts: GroupFacts, log: ShareLog) -> None:
        self._topics = topics
        self._facts = facts
        self._log = log
        self._partitions: dict[Key, ShareState] = {}
        log.states = self._partitions
        topics.when_deleted = self._forget_topic
        self._when_changed: Callable[[Key], None] = lambda _: None

    def note_changes(self, noted: Callable[[Key], None]) -> None:
        """Call `noted` with the key of each share partition that changes."""
        self._when_changed = self._log.when_changed = noted

    def stop(self) -> None:
        """Stop the log's timers."""
        self._log.stop()

    def initialise(self, key: Key, state_epoch: int, start_offset: int) -> ErrorCode:
        """Create or reset a state at `start_offset`; the epoch must not be older than the current
        one.
        """
        known = self._partitions.get(key)
        if self._is_refused(state_epoch):
            return ErrorCode.INVALID_REQUEST
        if known is not None and self._is_older(state_epoch, known.state_epoch):
            return ErrorCode.FENCED_STATE_EPOCH
        error = self._place_error(key)
        if error is not ErrorCode.NONE:
            return error
        counts = (
            start_offset != NOT_KNOWN and self._facts.share_delivery_count_starts_with_given_offset
        )
        complete = 0 if counts else NOT_KNOWN
        self._when_changed(key)
        state = ShareState(state_epoch, start_offset=start_offset, complete=complete)
        self._partitions[key] = state
        self._log.begun(key, state, known)
        return ErrorCode.NONE

    def _forget_topic(self, topic_id: bytes) -> None:
        for key in [key for key in self._partitions if key[1] == topic_id]:
            self._forget(key)

    def _forget(self, key: Key) -> None:
        del self._partitions[key]
        self._when_changed(key)
        self._log.gone(key)

    def read(self, key: Key, leader_epoch: int) -> tuple[ErrorCode, ShareState | None]:
        """Return the state for a leader, and fence leaders of older epochs."""
        found = self._partitions.get(key)
        if found is None or self._is_refused(leader_epoch):
            return ErrorCode.INVALID_REQUEST, None
        if self._is_older(leader_epoch, found.leader_epoch):
            return ErrorCode.FENCED_LEADER_EPOCH, None
        error = self._place_error(key)
        if error is not ErrorCode.NONE:
            return error, None
        if leader_epoch > found.leader_epoch:
            self._when_changed(key)
            found.leader_epoch = leader_epoch
            self._log.changed(key, found, found.start_offset)
        return error, found

    def summary(self, key: Key) -> tuple[ErrorCode, ShareState | None]:
        """Return the state without fencing; a partition without state gives NONE and None."""
        error = self._place_error(key)
        return error, self._partitions.get(key) if error is ErrorCode.NONE else None

    def write(
        self, key: Key, update: StateUpdate, *, in_flight_max: int | None = None
    ) -> ErrorCode:
        """Apply a leader's update; the leader epoch is checked before the state epoch."""
        found = self._partitions.get(key)
        if found is None or self._is_refused(update.leader_epoch, update.state_epoch):
            return ErrorCode.INVALID_REQUEST
        may_lack = self._facts.share_write_accepts_unknown_leader_epoch
        if self._is_older(update.leader_epoch, found.leader_epoch, may_lack=may_lack):
            return ErrorCode.FENCED_LEADER_EPOCH
        if self._is_older(update.state_epoch, found.state_epoch, may_lack=may_lack):
            return ErrorCode.FENCED_STATE_EPOCH
        error = self._place_error(key)
        if error is not ErrorCode.NONE:
            return error
        start, complete = self._progress(found, update)
        deliveries = _combined([*found.deliveries, *update.deliveries], start)
        if in_flight_max is not None and deliveries:
            end = max(delivery.last for delivery in deliveries)
            if end - max(0, start) >= in_flight_max:
                return ErrorCode.POLICY_VIOLATION
        self._when_changed(key)
        found.start_offset, found.complete, found.deliveries = start, complete, deliveries
        told = start if self._facts.share_start_offset_never_decreases else update.start_offset
        self._log.changed(key, found, told, _combined(update.deliveries[:DELIVERIES_MAX], told))
        return error

    def _progress(self, found: ShareState, update: StateUpdate) -> tuple[int, int]:
        """Return the start offset and the number of finished records after an update."""
        start, complete = found.start_offset, update.complete
        if self._facts.share_start_offset_never_decreases and update.start_offset <= start:
            is_same = update.start_offset == start
            return start, max(complete, found.complete) if is_same else found.complete
        return start if update.start_offset == NOT_KNOWN else update.start_offset, complete

    def delete(self, key: Key) -> ErrorCode:
        """Delete a state; NONE also if the partition has none."""
        error = self._place_error(key)
        if error is ErrorCode.NONE and key in self._partitions:
            self._forget(key)
        return error

    def kept(self, key: Key) -> ShareState | None:
        """Return the state, to be stored."""
        return self._partitions.get(key)

    def put_back(self, key: Key, state: ShareState) -> None:
        """Restore a stored state."""
        self._partitions[key] = state
        self._log.look_after()

    def _is_refused(self, *epochs: int) -> bool:
        return self._facts.share_start_offset_never_decreases and min(epochs) < 0

    def _is_older(self, epoch: int, known: int, *, may_lack: bool = False) -> bool:
        may_lack = may_lack or self._facts.share_read_accepts_unknown_leader_epoch
        return epoch < known and not (epoch == NO_EPOCH and may_lack)

    def _place_error(self, key: Key) -> ErrorCode:
        """Return the error if the partition does not exist."""
        if key[2] < 0:
            return ErrorCode.INVALID_REQUEST
        topic = self._topics.by_id(key[1])
        is_there = topic is not None and topic.partition(key[2]) is not None
        return ErrorCode.NONE if is_there else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _combined(deliveries: Sequence[Deliveries], start_offset: int) -> list[Deliveries]:
    """Merge deliveries from `start_offset` on: sorted, without overlaps.

    Of two for the same records, the one with the higher count wins, then the one with the greater
    state. Adjacent rows with the same state and count are joined. A row alone is kept even if its
    last record is before its first.
    """
    rows = sorted(
        (delivery.first, delivery.last, delivery.count, delivery.state) for delivery in deliveries
    )
    if len(rows) == 1 and rows[0][0] > rows[0][1] >= start_offset:
        return list(deliveries)
    cuts = sorted({start_offset, *(row[0] for row in rows), *(row[1] + 1 for row in rows)})
    spoken: list[tuple[int, int, int]] = []  # a heap: the winner is first
    found: list[Deliveries] = []
    at = 0
    for first, after in itertools.pairwise(cuts):
        while at < len(rows) and rows[at][0] <= first:
            _, last, count, state = rows[at]
            heapq.heappush(spoken, (-count, -state, last))
            at += 1
        while spoken and spoken[0][2] < first:
            heapq.heappop(spoken)
        if not spoken or first < start_offset:
            continue
        found.append(Deliveries(first, after - 1, -spoken[0][1], -spoken[0][0]))
    return joined(found)
