"""The share partitions that brokers lead (KIP-932), made at their first use, forgotten with it.

DEVIATION: they are there immediately; a real broker loads them after the first fetch that names
them.
"""

from collections.abc import Callable

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.logs.log import Log
from kafka_shim.shim.state.settings.config_values import milliseconds
from kafka_shim.shim.state.settings.group_settings import GroupSettings
from kafka_shim.shim.state.share_partitions.dead_letters import DeadLetters
from kafka_shim.shim.state.share_partitions.in_flight import RecordState
from kafka_shim.shim.state.share_partitions.share_partition import STATE_ERRORS, SharePartition
from kafka_shim.shim.state.share_partitions.share_state import ShareStates
from kafka_shim.shim.state.share_partitions.share_values import NOT_KNOWN, Deliveries, Key
from kafka_shim.shim.state.topics import Partition

STATES = frozenset(RecordState)
FindOffset = Callable[[Log, int], int]
"""The first offset from a time (ms) on in a log; negative if there is none."""


class SharePartitions:
    """By group, topic id and partition; a new leader starts with the coordinator's state."""

    def __init__(
        self,
        states: ShareStates,
        settings: GroupSettings,
        clock: Clock,
        find_offset: FindOffset,
        dead_letters: DeadLetters,
    ) -> None:
        self._states = states
        self._settings = settings
        self._clock = clock
        self._find_offset = find_offset
        self._dead_letters = dead_letters
        self._known: dict[Key, SharePartition] = {}

    def find(self, key: Key) -> SharePartition | None:
        """Return the share partition if a member has fetched from it."""
        found = self._known.get(key)
        if found is not None and found.is_fenced:
            self._drop(key)
            return None
        return found

    def load(self, key: Key, partition: Partition) -> tuple[ErrorCode, SharePartition | None]:
        """Return the share partition, or the error why it is not available."""
        known = self.find(key)
        if known is not None and known.leader_epoch == partition.leader_epoch:
            return ErrorCode.NONE, known
        self._drop(key)
        error, state = self._states.read(key, partition.leader_epoch)
        if state is None:
            return STATE_ERRORS.get(error, error), None
        if state.start_offset == NOT_KNOWN:
            beginning = self._beginning(key[0], partition.log)
            state = msgspec.structs.replace(state, start_offset=beginning)
        if state.start_offset < 0:
            return ErrorCode.OFFSET_NOT_AVAILABLE, None
        if not all(map(_is_usable, state.deliveries)):
            return ErrorCode.UNKNOWN_SERVER_ERROR, None
        made = SharePartition(
            key,
            partition.leader_epoch,
            state,
            self._states,
            self._settings,
            self._clock,
        )
        made.dead_letters = self._dead_letters
        self._known[key] = made
        return ErrorCode.NONE, made

    def drop_group(self, group_id: str) -> None:
        """Remove the share partitions of a group without connections."""
        for key in [key for key in self._known if key[0] == group_id]:
            self._drop(key)

    def stop(self) -> None:
        """Stop the timers of locks, since the cluster is reset."""
        for partition in self._known.values():
            partition.stop()

    def _drop(self, key: Key) -> None:
        dropped = self._known.pop(key, None)
        if dropped is not None:
            dropped.is_fenced = True
            dropped.stop()
            dropped.wake()

    def _beginning(self, group_id: str, log: Log) -> int:
        reset = self._settings.share_auto_offset_reset(group_id)
        if reset == "earliest":
            return log.start_offset
        kind, _, duration = reset.partition(":")
        if kind == "by_duration":
            return self._find_offset(log, self._clock.now_ms() - (milliseconds(duration) or 0))
        return log.high_watermark


def _is_usable(delivery: Deliveries) -> bool:
    """Return whether a leader can continue with a row of the state, which clients may write."""
    return delivery.state in STATES and delivery.first <= delivery.last
