"""What the share coordinator keeps of a share partition (KIP-932): its start and its deliveries."""

import heapq
import itertools
from collections.abc import Callable, Iterable, Sequence

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.state.topics import Topics

Key = tuple[str, bytes, int]
"""Group, topic id, partition."""


class Deliveries(msgspec.Struct, frozen=True, gc=False):
    """Records `first` to `last` share a state (0 available, 2 acknowledged, 4 archived)."""

    first: int
    last: int
    state: int
    count: int


NOT_KNOWN = -1
NO_EPOCH = -1
"""Of who does not know it."""


class ShareState(msgspec.Struct):
    """What is kept of one share partition; -1 is what is not known yet.

    `complete` counts the records from `start_offset` on that are done with.
    """

    state_epoch: int
    leader_epoch: int = 0
    start_offset: int = NOT_KNOWN
    complete: int = NOT_KNOWN
    deliveries: list[Deliveries] = []


class StateUpdate(msgspec.Struct, frozen=True):
    """What the leader of a share partition has to tell."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    complete: int
    deliveries: Sequence[Deliveries]


ERROR_MESSAGES = {
    ErrorCode.INVALID_REQUEST: "there is no state of such a share partition",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "there is no such partition",
    ErrorCode.FENCED_LEADER_EPOCH: "a newer leader has read the state",
    ErrorCode.FENCED_STATE_EPOCH: "the state is newer",
}
"""What is wrong, by the error that says so."""

NOT_A_BROKER = "only brokers may see and change the states of share groups"


class ShareStates:
    """All share partitions; errors are values, as every partition is answered alone."""

    def __init__(self, topics: Topics, facts: GroupFacts) -> None:
        self._topics = topics
        self._facts = facts
        self._partitions: dict[Key, ShareState] = {}
        self._deletions = topics.deletions
        self.when_changed: Callable[[Key], None] = lambda _: None
        """Called with the key of a share partition that changes."""

    def initialise(self, key: Key, state_epoch: int, start_offset: int) -> ErrorCode:
        """Begin, or begin anew at another offset, with an epoch that is not older."""
        known = self._partitions.get(key)
        if self._is_refused(state_epoch):
            return ErrorCode.INVALID_REQUEST
        if known is not None and self._is_older(state_epoch, known.state_epoch):
            return ErrorCode.FENCED_STATE_EPOCH
        error = self._place_error(key)
        if error is not ErrorCode.NONE:
            return error
        counts = start_offset != NOT_KNOWN and self._facts.share_counts_when_begun
        complete = 0 if counts else NOT_KNOWN
        self._forget_deleted_topics()
        self.when_changed(key)
        self._partitions[key] = ShareState(
            state_epoch, start_offset=start_offset, complete=complete
        )
        return ErrorCode.NONE

    def _forget_deleted_topics(self) -> None:
        if self._deletions == self._topics.deletions:
            return
        self._deletions = self._topics.deletions
        for key in list(self._partitions):
            if self._topics.by_id(key[1]) is None:
                self.when_changed(key)
                del self._partitions[key]

    def read(self, key: Key, leader_epoch: int) -> tuple[ErrorCode, ShareState | None]:
        """The state for a leader, which fences the older ones."""
        found = self._partitions.get(key)
        if found is None or self._is_refused(leader_epoch):
            return ErrorCode.INVALID_REQUEST, None
        if self._is_older(leader_epoch, found.leader_epoch):
            return ErrorCode.FENCED_LEADER_EPOCH, None
        error = self._place_error(key)
        if error is not ErrorCode.NONE:
            return error, None
        self.when_changed(key)
        found.leader_epoch = max(found.leader_epoch, leader_epoch)
        return error, found

    def summary(self, key: Key) -> tuple[ErrorCode, ShareState | None]:
        """The state for anybody; what was never begun is no error and has no state."""
        error = self._place_error(key)
        return error, self._partitions.get(key) if error is ErrorCode.NONE else None

    def write(self, key: Key, update: StateUpdate) -> ErrorCode:
        """Add what became of records; the leader's epoch is looked at before the state's."""
        found = self._partitions.get(key)
        if found is None or self._is_refused(update.leader_epoch, update.state_epoch):
            return ErrorCode.INVALID_REQUEST
        may_lack = self._facts.share_writers_may_be_unknown
        if self._is_older(update.leader_epoch, found.leader_epoch, may_lack=may_lack):
            return ErrorCode.FENCED_LEADER_EPOCH
        if self._is_older(update.state_epoch, found.state_epoch, may_lack=may_lack):
            return ErrorCode.FENCED_STATE_EPOCH
        error = self._place_error(key)
        if error is not ErrorCode.NONE:
            return error
        self.when_changed(key)
        complete = update.complete
        if self._facts.share_states_go_forward and update.start_offset <= found.start_offset:
            is_same = update.start_offset == found.start_offset
            complete = max(complete, found.complete) if is_same else found.complete
        elif update.start_offset != NOT_KNOWN:
            found.start_offset = update.start_offset
        found.complete = complete
        found.deliveries = _combined([*found.deliveries, *update.deliveries], found.start_offset)
        return error

    def delete(self, key: Key) -> ErrorCode:
        """Forget; what was never begun is forgotten as well."""
        error = self._place_error(key)
        if error is ErrorCode.NONE:
            self._partitions.pop(key, None)
            self.when_changed(key)
        return error

    def kept(self, key: Key) -> ShareState | None:
        """The state as it is, to be put aside."""
        return self._partitions.get(key)

    def put_back(self, key: Key, state: ShareState) -> None:
        """Know a state again."""
        self._partitions[key] = state

    def _is_refused(self, *epochs: int) -> bool:
        return self._facts.share_states_go_forward and min(epochs) < 0

    def _is_older(self, epoch: int, known: int, *, may_lack: bool = False) -> bool:
        may_lack = may_lack or self._facts.share_epochs_may_be_unknown
        return epoch < known and not (epoch == NO_EPOCH and may_lack)

    def _place_error(self, key: Key) -> ErrorCode:
        """Whether there is such a partition at all."""
        if key[2] < 0:
            return ErrorCode.INVALID_REQUEST
        topic = self._topics.by_id(key[1])
        is_there = topic is not None and topic.partition(key[2]) is not None
        return ErrorCode.NONE if is_there else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _combined(deliveries: Iterable[Deliveries], start_offset: int) -> list[Deliveries]:
    """In order and without overlaps, from the start on.

    Of two that speak of the same records that with more deliveries counts, or that with the
    greater state. Neighbours that say the same become one.
    """
    rows = sorted(
        (delivery.first, delivery.last, delivery.count, delivery.state) for delivery in deliveries
    )
    cuts = sorted({start_offset, *(row[0] for row in rows), *(row[1] + 1 for row in rows)})
    spoken: list[tuple[int, int, int]] = []  # a heap: what counts most is the first
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
        current = Deliveries(first, after - 1, -spoken[0][1], -spoken[0][0])
        before = found[-1] if found else None
        if before is not None and before.last + 1 == first and _are_alike(before, current):
            found[-1] = Deliveries(before.first, current.last, current.state, current.count)
        else:
            found.append(current)
    return found


def _are_alike(left: Deliveries, right: Deliveries) -> bool:
    return (left.state, left.count) == (right.state, right.count)
