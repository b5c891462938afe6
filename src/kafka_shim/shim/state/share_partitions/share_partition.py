"""A partition of one share group on its leader (KIP-932): acquire, acknowledge, release.

Records are given to one member at a time, under a lock with a timeout. Acknowledgements and
releases are written to the share coordinator; acquisitions are not.
"""

from collections.abc import Callable, Iterable, Sequence

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.clock import Clock, Timer
from kafka_shim.shim.state.settings.group_settings import GroupSettings
from kafka_shim.shim.state.share_partitions.dead_letters import (
    REJECTED,
    WORN_OUT,
    ArchivedRecords,
    DeadLetters,
)
from kafka_shim.shim.state.share_partitions.in_flight import (
    InFlightBatch,
    InFlightBatches,
    InFlightState,
    RecordState,
    SameStateRecords,
    wrap_delivery_count_to_int16,
)
from kafka_shim.shim.state.share_partitions.share_acknowledgement import (
    Acknowledgement,
    UndoableAcknowledgements,
)
from kafka_shim.shim.state.share_partitions.share_state import ShareStates
from kafka_shim.shim.state.share_partitions.share_state_values import (
    NOT_KNOWN,
    DeliveryBatch,
    SharePartitionKey,
    ShareState,
    ShareStateUpdate,
    join_adjacent_batches,
)
from kafka_shim.shim.wait import ChangeNotifier

STATE_ERRORS = {
    ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_STATE_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.INVALID_REQUEST: ErrorCode.UNKNOWN_SERVER_ERROR,
}
"""Errors for clients, by the share coordinator's error."""


class SharePartition(ChangeNotifier):
    """The records in flight of one partition in one group, `start_offset` to `end_offset`.

    `state` is the coordinator's state, with the start offset. Watchers are called whenever records
    may have become available.
    """

    def __init__(
        self,
        key: SharePartitionKey,
        leader_epoch: int,
        state: ShareState,
        states: ShareStates,
        settings: GroupSettings,
        clock: Clock,
    ) -> None:
        super().__init__()
        self.key = key
        self.leader_epoch = leader_epoch
        self.batches = InFlightBatches()
        self.start_offset = self.end_offset = state.start_offset
        self.finished_count = 0
        self.may_have_released_records = False  # records may have become available again
        self.last_read_offset = NOT_KNOWN  # offset of the last read for available records
        self.is_fenced = False
        self._state_epoch = state.state_epoch
        self._states = states
        self._settings = settings
        self._clock = clock
        self.dead_letters: DeadLetters | None = None
        self._unwritten_dead_letters: list[
            ArchivedRecords
        ] = []  # archived by changes that are not yet written
        self._timer: Timer | None = None
        self._timer_ms = 0.0
        self._load_delivery_batches(state.delivery_batches)

    def _load_delivery_batches(self, delivery_batches: Sequence[DeliveryBatch]) -> None:
        """Load the state of records in flight; those in gaps were never delivered."""
        at = self.start_offset
        for delivery in delivery_batches:
            if at < delivery.first_offset:
                gap = InFlightState(RecordState.AVAILABLE, 0)
                self.batches.put_batch(InFlightBatch(at, delivery.first_offset - 1, gap))
            in_flight_state = InFlightState(
                RecordState(delivery.delivery_state), delivery.delivery_count
            )
            self.batches.put_batch(
                InFlightBatch(delivery.first_offset, delivery.last_offset, in_flight_state)
            )
            if in_flight_state.state.is_final:
                self.finished_count += delivery.last_offset - delivery.first_offset + 1
            at = delivery.last_offset + 1
        if self.batches:
            self.end_offset = at - 1
            self.may_have_released_records = True
            self._advance_start_offset()

    # properties

    @property
    def group_id(self) -> str:
        return self.key[0]

    @property
    def allows_lock_renewal(self) -> bool:
        """Return whether members may renew their locks."""
        return self._settings.share_allows_lock_renewal(self.group_id)

    @property
    def delivery_count_max(self) -> int:
        return self._settings.share_delivery_count_limit(self.group_id)

    @property
    def in_flight_count(self) -> int:
        return self.end_offset - self.start_offset + 1 if self.batches else 0

    @property
    def acquirable_record_count(self) -> int:
        """Number of records that may still be acquired."""
        return self._settings.share_partition_max_record_locks(self.group_id) - self.in_flight_count

    @property
    def has_fetchable_records(self) -> bool:
        return self.next_fetch_offset != self.end_offset + 1 or self.acquirable_record_count > 0

    @property
    def next_fetch_offset(self) -> int:
        """Offset to read from: released records come first."""
        if not self.batches or self.start_offset > self.batches.newest_batch.last_offset:
            self.may_have_released_records = False
            return self.end_offset
        if self.may_have_released_records:
            for batch in self.batches:
                for piece in batch.acknowledgeable_ranges():
                    if piece.in_flight_state.state is RecordState.AVAILABLE:
                        return piece.first_offset
            self.may_have_released_records = False
        return self.end_offset + 1

    # locks

    def lock_records(self, in_flight_state: InFlightState, member_id: str) -> None:
        """Acquire records for a member until the lock times out."""
        in_flight_state.acquire_for_member(member_id, self._lock_end_ms())
        self._schedule_lock_timer(in_flight_state.locked_until_ms)

    def _lock_end_ms(self) -> float:
        return self._clock.now_ms() + self._settings.share_record_lock_duration_ms(self.group_id)

    def _schedule_lock_timer(self, lock_end_ms: float) -> None:
        """Set the timer, one for all locks, to the earliest end of a lock."""
        if self._timer is not None and self._timer_ms <= lock_end_ms:
            return
        self.stop_lock_timer()
        self._timer_ms = lock_end_ms
        delay_ms = lock_end_ms - self._clock.now_ms()
        self._timer = self._clock.call_later(delay_ms, self._release_expired_locks)

    def stop_lock_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _release_expired_locks(self) -> None:
        self._timer = None
        now_ms = self._clock.now_ms()
        self._release_acquired_records(lambda held: held.locked_until_ms <= now_ms)
        acquired = [
            piece.in_flight_state.locked_until_ms
            for batch in self.batches
            for piece in batch.acknowledgeable_ranges()
            if piece.in_flight_state.state is RecordState.ACQUIRED
        ]
        if acquired:
            self._schedule_lock_timer(min(acquired))

    def release_records_of_member(self, member_id: str) -> None:
        """Release the records of a member whose session ended."""
        self._release_acquired_records(lambda held: held.member_id == member_id)

    def _release_acquired_records(self, is_to_release: Callable[[InFlightState], bool]) -> None:
        changed_batches = []
        for batch in self.batches:
            straddles = batch.first_offset < self.start_offset <= batch.last_offset
            if straddles and batch.common_state is not None and is_to_release(batch.common_state):
                batch.split_into_records()
            for piece in batch.acknowledgeable_ranges():
                if piece.in_flight_state.state is RecordState.ACQUIRED and is_to_release(
                    piece.in_flight_state
                ):
                    is_gone = piece.last_offset < self.start_offset
                    state = RecordState.ARCHIVED if is_gone else RecordState.AVAILABLE
                    changed_batches.append(self.end_lock(piece, state))
        if changed_batches:
            self._persist_changes(changed_batches)

    # acknowledging

    def acknowledge(self, member_id: str, acknowledgements: Iterable[Acknowledgement]) -> ErrorCode:
        """Apply all acknowledgements, or none if one fails; return the error."""
        undoable = UndoableAcknowledgements(self, member_id)
        finished_count = self.finished_count
        error = undoable.apply(acknowledgements)
        if error is NO_ERROR and undoable.changed_batches:
            error = self._persist_changes(undoable.changed_batches)
        if error is not NO_ERROR:
            undoable.undo_applied()
            self._unwritten_dead_letters.clear()
            self.finished_count = finished_count
        return error

    def renew_lock(self, in_flight_state: InFlightState) -> None:
        """Extend the lock on records."""
        in_flight_state.locked_until_ms = self._lock_end_ms()

    def end_lock(
        self, records: SameStateRecords, new_state: RecordState, *, is_rejected: bool = False
    ) -> DeliveryBatch:
        """Set the state of records after their lock; return the change for the coordinator."""
        in_flight_state = records.in_flight_state
        in_flight_state.end_lock(new_state, self.delivery_count_max)
        if is_rejected or in_flight_state.state is not new_state:
            why = REJECTED if is_rejected else WORN_OUT
            self._unwritten_dead_letters.append(
                ArchivedRecords(
                    records.first_offset, records.last_offset, in_flight_state.delivery_count, why
                )
            )
        if in_flight_state.state.is_final:
            self.finished_count += max(
                0, records.last_offset - max(self.start_offset, records.first_offset) + 1
            )
        else:
            self.may_have_released_records = True
        return DeliveryBatch(
            records.first_offset,
            records.last_offset,
            in_flight_state.state,
            wrap_delivery_count_to_int16(in_flight_state.delivery_count),
        )

    def _persist_changes(self, changed_batches: Sequence[DeliveryBatch]) -> ErrorCode:
        """Write changes to the coordinator, with the start offset before these changes.

        Then write dead letters and advance the start offset; an error fences the partition.
        """
        rows = join_adjacent_batches(changed_batches)  # one for thousands of records
        update = ShareStateUpdate(
            self._state_epoch, self.leader_epoch, self.start_offset, self.finished_count, rows
        )
        error = self._states.apply_update(self.key, update)
        if error is not NO_ERROR:
            self.is_fenced = True
            self._unwritten_dead_letters.clear()
            return STATE_ERRORS.get(error, error)
        dead, self._unwritten_dead_letters = self._unwritten_dead_letters, []
        if self.dead_letters is not None:
            for given_up in dead:
                self.dead_letters.write_to_queue(self.key, given_up)
        self._advance_start_offset()
        self.notify()
        return error

    def _advance_start_offset(self) -> None:
        """Advance the start offset past final records, and drop them."""
        last_finished = NOT_KNOWN
        following = None
        for batch in self.batches:
            for piece in batch.acknowledgeable_ranges():
                if not piece.in_flight_state.state.is_final:
                    break
                last_finished = piece.last_offset
            if last_finished != batch.last_offset:
                following = batch
                break
        if last_finished < self.start_offset:
            return
        if following is None:
            self.start_offset = self.end_offset = last_finished + 1
            self.batches = InFlightBatches()
            self.finished_count = 0
            return
        self.finished_count -= last_finished + 1 - self.start_offset
        self.start_offset = max(last_finished + 1, following.first_offset)
        self.batches.drop_batches_starting_before(following.first_offset)

    # the log

    def advance_to_log_start(self, log_start_offset: int) -> None:
        """Advance to the log's start offset; earlier records are not delivered again."""
        if log_start_offset <= self.start_offset:
            return
        if not self.batches:
            self.start_offset = self.end_offset = log_start_offset
            self.finished_count = 0
            return
        for batch in self.batches.batches_starting_between(0, log_start_offset - 1):
            for piece in batch.acknowledgeable_ranges(self.start_offset, log_start_offset - 1):
                if piece.in_flight_state.state.is_final:
                    last = min(piece.last_offset, log_start_offset - 1)
                    self.finished_count -= max(
                        0, last - max(piece.first_offset, self.start_offset) + 1
                    )
        last_gone = log_start_offset - 1
        if self.batches.archive_records_in_state(
            self.start_offset, last_gone, RecordState.AVAILABLE
        ):
            self.may_have_released_records = True
        self.start_offset = log_start_offset
        self.end_offset = max(self.end_offset, log_start_offset)
