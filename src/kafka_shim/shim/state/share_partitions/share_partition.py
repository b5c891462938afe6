"""A partition of one share group on its leader (KIP-932): acquire, acknowledge, release.

Records are given to one member at a time, under a lock with a timeout. Acknowledgements and
releases are written to the share coordinator; acquisitions are not.
"""

from collections.abc import Callable, Iterable, Sequence

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.clock import Clock, Timer
from kafka_shim.shim.state.settings.group_settings import GroupSettings
from kafka_shim.shim.state.share_partitions.dead_letters import (
    REJECTED,
    WORN_OUT,
    Dead,
    DeadLetters,
)
from kafka_shim.shim.state.share_partitions.in_flight import (
    InFlight,
    InFlightBatch,
    InFlightBatches,
    Piece,
    RecordState,
    wire_count,
)
from kafka_shim.shim.state.share_partitions.share_acknowledgement import (
    Acknowledgement,
    Acknowledging,
)
from kafka_shim.shim.state.share_partitions.share_state import ShareStates
from kafka_shim.shim.state.share_partitions.share_values import (
    NOT_KNOWN,
    Deliveries,
    Key,
    ShareState,
    StateUpdate,
    joined,
)
from kafka_shim.shim.wait import Watched

STATE_ERRORS = {
    ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_STATE_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.INVALID_REQUEST: ErrorCode.UNKNOWN_SERVER_ERROR,
}
"""Errors for clients, by the share coordinator's error."""


class SharePartition(Watched):
    """The records in flight of one partition in one group, `start_offset` to `end_offset`.

    `state` is the coordinator's state, with the start offset. Watchers are called whenever records
    may have become available.
    """

    def __init__(
        self,
        key: Key,
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
        self.complete = 0
        self.looks_back = False  # records may have become available again
        self.seen_offset = NOT_KNOWN  # offset of the last read for available records
        self.is_fenced = False
        self._state_epoch = state.state_epoch
        self._states = states
        self._settings = settings
        self._clock = clock
        self.dead_letters: DeadLetters | None = None
        self._dead: list[Dead] = []  # archived by changes that are not yet written
        self._timer: Timer | None = None
        self._timer_ms = 0.0
        self._load(state.deliveries)

    def _load(self, deliveries: Sequence[Deliveries]) -> None:
        """Load the state of records in flight; those in gaps were never delivered."""
        at = self.start_offset
        for delivery in deliveries:
            if at < delivery.first:
                gap = InFlight(RecordState.AVAILABLE, 0)
                self.batches.put(InFlightBatch(at, delivery.first - 1, gap))
            held = InFlight(RecordState(delivery.state), delivery.count)
            self.batches.put(InFlightBatch(delivery.first, delivery.last, held))
            if held.state.is_final:
                self.complete += delivery.last - delivery.first + 1
            at = delivery.last + 1
        if self.batches:
            self.end_offset = at - 1
            self.looks_back = True
            self._move_start()

    # properties

    @property
    def group_id(self) -> str:
        return self.key[0]

    @property
    def renews(self) -> bool:
        """Whether members may renew their locks."""
        return self._settings.share_renews(self.group_id)

    @property
    def delivery_count_max(self) -> int:
        return self._settings.share_delivery_count_limit(self.group_id)

    @property
    def in_flight(self) -> int:
        return self.end_offset - self.start_offset + 1 if self.batches else 0

    @property
    def room(self) -> int:
        """Number of records that may still be acquired."""
        return self._settings.share_partition_max_record_locks(self.group_id) - self.in_flight

    @property
    def can_acquire(self) -> bool:
        return self.next_offset != self.end_offset + 1 or self.room > 0

    @property
    def next_offset(self) -> int:
        """Offset to read from: released records come first."""
        if not self.batches or self.start_offset > self.batches.newest.last:
            self.looks_back = False
            return self.end_offset
        if self.looks_back:
            for batch in self.batches:
                for piece in batch.pieces():
                    if piece.held.state is RecordState.AVAILABLE:
                        return piece.first
            self.looks_back = False
        return self.end_offset + 1

    # locks

    def lock(self, held: InFlight, member_id: str) -> None:
        """Acquire records for a member until the lock times out."""
        held.acquire(member_id, self._lock_end_ms())
        self._watch(held.locked_until_ms)

    def _lock_end_ms(self) -> float:
        return self._clock.now_ms() + self._settings.share_record_lock_duration_ms(self.group_id)

    def _watch(self, until_ms: float) -> None:
        """Set the timer, one for all locks, to the earliest end of a lock."""
        if self._timer is not None and self._timer_ms <= until_ms:
            return
        self.stop()
        self._timer_ms = until_ms
        delay_ms = until_ms - self._clock.now_ms()
        self._timer = self._clock.call_later(delay_ms, self._end_locks)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_locks(self) -> None:
        self._timer = None
        now_ms = self._clock.now_ms()
        self._give_back(lambda held: held.locked_until_ms <= now_ms)
        acquired = [
            piece.held.locked_until_ms
            for batch in self.batches
            for piece in batch.pieces()
            if piece.held.state is RecordState.ACQUIRED
        ]
        if acquired:
            self._watch(min(acquired))

    def release(self, member_id: str) -> None:
        """Release the records of a member whose session ended."""
        self._give_back(lambda held: held.member_id == member_id)

    def _give_back(self, is_meant: Callable[[InFlight], bool]) -> None:
        changed = []
        for batch in self.batches:
            straddles = batch.first < self.start_offset <= batch.last
            if straddles and batch.whole is not None and is_meant(batch.whole):
                batch.split()
            for piece in batch.pieces():
                if piece.held.state is RecordState.ACQUIRED and is_meant(piece.held):
                    is_gone = piece.last < self.start_offset
                    state = RecordState.ARCHIVED if is_gone else RecordState.AVAILABLE
                    changed.append(self.leave(piece, state))
        if changed:
            self._settle(changed)

    # acknowledging

    def acknowledge(self, member_id: str, given: Iterable[Acknowledgement]) -> ErrorCode:
        """Apply all acknowledgements, or none if one fails; return the error."""
        round_ = Acknowledging(self, member_id)
        complete = self.complete
        error = round_.take(given)
        if error is ErrorCode.NONE and round_.told:
            error = self._settle(round_.told)
        if error is not ErrorCode.NONE:
            round_.undo()
            self._dead.clear()
            self.complete = complete
        return error

    def renew(self, held: InFlight) -> None:
        """Extend the lock on records."""
        held.locked_until_ms = self._lock_end_ms()

    def leave(self, piece: Piece, state: RecordState, *, is_rejected: bool = False) -> Deliveries:
        """Set the state of records after their lock; return the change for the coordinator."""
        held = piece.held
        held.give_up(state, self.delivery_count_max)
        if is_rejected or held.state is not state:
            why = REJECTED if is_rejected else WORN_OUT
            self._dead.append(Dead(piece.first, piece.last, held.count, why))
        if held.state.is_final:
            self.complete += max(0, piece.last - max(self.start_offset, piece.first) + 1)
        else:
            self.looks_back = True
        return Deliveries(piece.first, piece.last, held.state, wire_count(held.count))

    def _settle(self, changed: Sequence[Deliveries]) -> ErrorCode:
        """Write changes to the coordinator, with the start offset before these changes."""
        rows = joined(changed)  # one for thousands of records
        update = StateUpdate(
            self._state_epoch, self.leader_epoch, self.start_offset, self.complete, rows
        )
        error = self._states.write(self.key, update)
        if error is not ErrorCode.NONE:
            self.is_fenced = True
            self._dead.clear()
            return STATE_ERRORS.get(error, error)
        dead, self._dead = self._dead, []
        if self.dead_letters is not None:
            for given_up in dead:
                self.dead_letters.write(self.key, given_up)
        self._move_start()
        self.wake()
        return error

    def _move_start(self) -> None:
        """Advance the start offset past final records, and drop them."""
        done = NOT_KNOWN
        following = None
        for batch in self.batches:
            for piece in batch.pieces():
                if not piece.held.state.is_final:
                    break
                done = piece.last
            if done != batch.last:
                following = batch
                break
        if done < self.start_offset:
            return
        if following is None:
            self.start_offset = self.end_offset = done + 1
            self.batches = InFlightBatches()
            self.complete = 0
            return
        self.complete -= done + 1 - self.start_offset
        self.start_offset = max(done + 1, following.first)
        self.batches.drop_before(following.first)

    # the log

    def trim(self, log_start_offset: int) -> None:
        """Advance to the log's start offset; earlier records are not delivered again."""
        if log_start_offset <= self.start_offset:
            return
        if not self.batches:
            self.start_offset = self.end_offset = log_start_offset
            self.complete = 0
            return
        for batch in self.batches.beginning_in(0, log_start_offset - 1):
            for piece in batch.pieces(self.start_offset, log_start_offset - 1):
                if piece.held.state.is_final:
                    last = min(piece.last, log_start_offset - 1)
                    self.complete -= max(0, last - max(piece.first, self.start_offset) + 1)
        last_gone = log_start_offset - 1
        if self.batches.archive(self.start_offset, last_gone, RecordState.AVAILABLE):
            self.looks_back = True
        self.start_offset = log_start_offset
        self.end_offset = max(self.end_offset, log_start_offset)
