"""The share partitions that brokers lead (KIP-932), made at their first use, forgotten with it.

DEVIATION: they are there immediately; a real broker loads them after the first fetch that names
them.
"""

from collections.abc import Callable

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.settings.config_values import duration_to_ms
from kafka_shim.shim.state.settings.group_settings import GroupSettings
from kafka_shim.shim.state.share_partitions.dead_letters import DeadLetters
from kafka_shim.shim.state.share_partitions.in_flight import RecordState
from kafka_shim.shim.state.share_partitions.share_partition import STATE_ERRORS, SharePartition
from kafka_shim.shim.state.share_partitions.share_state import ShareStates
from kafka_shim.shim.state.share_partitions.share_state_values import (
    NOT_KNOWN,
    DeliveryBatch,
    SharePartitionKey,
)
from kafka_shim.shim.state.topics import Partition

STATES = frozenset(RecordState)
FindOffsetByTime = Callable[[PartitionLog, int], int]
"""The first offset from a time (ms) on in a log; negative if there is none."""


class SharePartitions:
    """By group, topic id and partition; a new leader starts with the coordinator's state."""

    def __init__(
        self,
        states: ShareStates,
        settings: GroupSettings,
        clock: Clock,
        find_offset: FindOffsetByTime,
        dead_letters: DeadLetters,
    ) -> None:
        self._states = states
        self._settings = settings
        self._clock = clock
        self._find_offset = find_offset
        self._dead_letters = dead_letters
        self._loaded: dict[SharePartitionKey, SharePartition] = {}

    def find_loaded(self, key: SharePartitionKey) -> SharePartition | None:
        """Return the share partition if a member has fetched from it; drop a fenced one."""
        partition = self._loaded.get(key)
        if partition is not None and partition.is_fenced:
            self._fence(key)
            return None
        return partition

    def load(
        self, key: SharePartitionKey, partition: Partition
    ) -> tuple[ErrorCode, SharePartition | None]:
        """Return the share partition, or the error why it is not available."""
        known = self.find_loaded(key)
        if known is not None and known.leader_epoch == partition.leader_epoch:
            return NO_ERROR, known
        self._fence(key)
        error, state = self._states.read_for_leader(key, partition.leader_epoch)
        if state is None:
            return STATE_ERRORS.get(error, error), None
        if state.start_offset == NOT_KNOWN:
            beginning = self._offset_by_reset_policy(key[0], partition.log)
            state = msgspec.structs.replace(state, start_offset=beginning)
        if state.start_offset < 0:
            return ErrorCode.OFFSET_NOT_AVAILABLE, None
        if not all(map(_is_valid_batch, state.delivery_batches)):
            return ErrorCode.UNKNOWN_SERVER_ERROR, None
        loaded = SharePartition(
            key,
            partition.leader_epoch,
            state,
            self._states,
            self._settings,
            self._clock,
        )
        loaded.dead_letters = self._dead_letters
        self._loaded[key] = loaded
        return NO_ERROR, loaded

    def drop_partitions_of_group(self, group_id: str) -> None:
        """Remove the share partitions of a group without connections."""
        for key in [key for key in self._loaded if key[0] == group_id]:
            self._fence(key)

    def stop_lock_timers(self) -> None:
        """Stop the timers of locks, since the cluster is reset."""
        for partition in self._loaded.values():
            partition.stop_lock_timer()

    def _fence(self, key: SharePartitionKey) -> None:
        dropped = self._loaded.pop(key, None)
        if dropped is not None:
            dropped.is_fenced = True
            dropped.stop_lock_timer()
            dropped.notify()

    def _offset_by_reset_policy(self, group_id: str, log: PartitionLog) -> int:
        reset = self._settings.share_auto_offset_reset(group_id)
        if reset == "earliest":
            return log.start_offset
        kind, _, duration = reset.partition(":")
        if kind == "by_duration":
            return self._find_offset(log, self._clock.now_ms() - (duration_to_ms(duration) or 0))
        return log.high_watermark


def _is_valid_batch(batch: DeliveryBatch) -> bool:
    """Return whether a leader can continue with a row of the state, which clients may write."""
    return batch.delivery_state in STATES and batch.first_offset <= batch.last_offset
