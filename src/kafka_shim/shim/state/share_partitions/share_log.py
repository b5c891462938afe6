"""The records of `__share_group_state` (KIP-932): snapshots of share partitions, and updates.

A snapshot comes at the beginning, after a number of updates, and once when nobody has written for
long. What lies before the oldest snapshot that counts is deleted now and then.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from kafka_shim.protocol.messages.share_snapshot_key import ShareSnapshotKey
from kafka_shim.protocol.messages.share_snapshot_value import (
    ShareSnapshotValue,
    StateBatch as SnapshotBatch,
)
from kafka_shim.protocol.messages.share_update_key import ShareUpdateKey
from kafka_shim.protocol.messages.share_update_value import (
    ShareUpdateValue,
    StateBatch as UpdateBatch,
)
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.coordinators import (
    Coordinators,
    KeyType,
    append_record,
    encode_with_version,
    share_key,
)
from kafka_shim.shim.state.periodic_work import PeriodicWork
from kafka_shim.shim.state.settings.configs import Configs
from kafka_shim.shim.state.share_partitions.share_state_values import (
    NOT_KNOWN,
    DeliveryBatch,
    SharePartitionKey,
    ShareState,
)
from kafka_shim.shim.state.topics import Partition

SNAPSHOT, UPDATE = 0, 1
"""What keys begin with."""
VERSION = 0
DELIVERIES_MAX = 200
"""DEVIATION: maximum rows of deliveries in one record; further ones are not written."""


class ShareLogSettings(msgspec.Struct, frozen=True):
    """Broker settings: how many updates come before a snapshot, after how long (ms) there is one
    without updates, and how often (ms) old records are deleted.
    """

    updates_per_snapshot: int
    idle_snapshot_ms: int
    prune_interval_ms: int


def share_log_settings(configs: Configs) -> ShareLogSettings:
    """Return the settings of brokers, or their defaults in releases without them."""

    def setting(name: str, default: int) -> int:
        known = f"share.coordinator.{name}"
        return (
            configs.effective_broker_int(known) if known in configs.broker_definitions else default
        )

    return ShareLogSettings(
        updates_per_snapshot=setting("snapshot.update.records.per.snapshot", 500),
        idle_snapshot_ms=setting("cold.partition.snapshot.interval.ms", 300_000),
        prune_interval_ms=setting("state.topic.prune.interval.ms", 300_000),
    )


class ShareLog:
    """Writes into the partition that a share partition's key falls into."""

    def __init__(
        self,
        coordinators: Coordinators,
        clock: Clock,
        settings: ShareLogSettings,
        facts: GroupFacts,
    ) -> None:
        self._coordinators = coordinators
        self._clock = clock
        self._settings = settings
        self._facts = facts
        self._idle = PeriodicWork(
            clock, lambda: settings.idle_snapshot_ms, self._snapshot_idle_states_yielding_if_current
        )
        self._pruning = PeriodicWork(
            clock, lambda: settings.prune_interval_ms, self._delete_records_before_snapshots
        )
        self.states: dict[SharePartitionKey, ShareState] = {}
        """Of which snapshots may be written later: those of the coordinator."""
        self.when_changed: Callable[[SharePartitionKey], None] = lambda _: None
        """Called with the key of a share partition that has a snapshot by itself."""

    def stop_periodic_work(self) -> None:
        """Stop periodic work."""
        self._idle.stop_timer()
        self._pruning.stop_timer()

    def write_first_snapshot(
        self, key: SharePartitionKey, state: ShareState, previous_state: ShareState | None
    ) -> None:
        """Write the first snapshot of a state, which takes the place of another."""
        state.snapshot_epoch = 0 if previous_state is None else previous_state.snapshot_epoch + 1
        state.created_ms = self._clock.now_ms()
        self._write_snapshot(key, state)
        self.start_periodic_work()

    def start_periodic_work(self) -> None:
        """Write snapshots and delete old records from now on: there are states."""
        if self._facts.share_records_have_current_form:
            self._idle.schedule_next_round()
            self._pruning.schedule_next_round()

    def write_update_or_snapshot(
        self,
        key: SharePartitionKey,
        state: ShareState,
        start_offset: int,
        delivery_batches: Sequence[DeliveryBatch] = (),
    ) -> None:
        """Write the start offset and the changes, or a snapshot after enough updates."""
        if state.updates_since_snapshot >= self._settings.updates_per_snapshot:
            state.snapshot_epoch += 1
            self._write_snapshot(key, state)
            return
        state.updates_since_snapshot += 1
        value = ShareUpdateValue(
            snapshot_epoch=state.snapshot_epoch,
            leader_epoch=state.leader_epoch,
            start_offset=start_offset,
            delivery_complete_count=self._logged_finished_count(state),
            state_batches=[
                UpdateBatch(
                    row.first_offset, row.last_offset, row.delivery_state, row.delivery_count
                )
                for row in delivery_batches
            ],
        )
        self._append_record_if_release_logs_states(
            key,
            encode_with_version(ShareUpdateKey(*key), VERSION, UPDATE),
            encode_with_version(value, VERSION),
        )

    def write_tombstone(self, key: SharePartitionKey) -> None:
        """Write the tombstone of a share partition."""
        self._append_record_if_release_logs_states(
            key, encode_with_version(ShareSnapshotKey(*key), VERSION, SNAPSHOT), None
        )

    def _write_snapshot(self, key: SharePartitionKey, state: ShareState) -> None:
        state.updates_since_snapshot = 0
        state.snapshot_ms = self._clock.now_ms()
        value = ShareSnapshotValue(
            snapshot_epoch=state.snapshot_epoch,
            state_epoch=state.state_epoch,
            leader_epoch=state.leader_epoch,
            start_offset=state.start_offset,
            delivery_complete_count=self._logged_finished_count(state),
            create_timestamp=state.created_ms,
            write_timestamp=state.snapshot_ms,
            state_batches=[
                SnapshotBatch(
                    row.first_offset, row.last_offset, row.delivery_state, row.delivery_count
                )
                for row in state.delivery_batches[:DELIVERIES_MAX]
            ],
        )
        record_key = encode_with_version(ShareSnapshotKey(*key), VERSION, SNAPSHOT)
        state.snapshot_offset = self._append_record_if_release_logs_states(
            key, record_key, encode_with_version(value, VERSION)
        )

    def _logged_finished_count(self, state: ShareState) -> int:
        return state.finished_count if self._facts.share_records_have_delivery_count else NOT_KNOWN

    def _append_record_if_release_logs_states(
        self, key: SharePartitionKey, record_key: bytes, value: bytes | None
    ) -> int:
        if not self._facts.share_records_have_current_form:
            return 0
        partition = self._state_partition_creating_topic(key)
        now_ms = self._clock.now_ms()
        return append_record(partition.log, partition.leader_epoch, now_ms, record_key, value)

    def _state_partition_creating_topic(self, key: SharePartitionKey) -> Partition:
        return self._coordinators.coordinator_partition_creating_topic(
            KeyType.SHARE, share_key(*key)
        )

    def _snapshot_idle_states_yielding_if_current(self) -> Iterator[bool]:
        """Write snapshots of states without updates; yield for each state."""
        before_ms = self._clock.now_ms() - self._settings.idle_snapshot_ms
        for key, state in list(self.states.items()):
            is_current = self.states.get(key) is state
            if is_current and state.snapshot_ms == state.created_ms <= before_ms:
                self.when_changed(key)
                state.snapshot_epoch += 1
                self._write_snapshot(key, state)
            yield is_current

    def _delete_records_before_snapshots(self) -> Iterator[bool]:
        """Delete records before the valid snapshots; yield for each state."""
        partitions = self._coordinators.topic_or_create(KeyType.SHARE).partitions
        needed = {  # states that begin meanwhile are behind these
            each.index: each.log.batches[-1].base_offset if each.log.batches else 0
            for each in partitions
        }
        for key, state in list(self.states.items()):
            index = self._state_partition_creating_topic(key).index
            needed[index] = min(needed.get(index, 0), state.snapshot_offset)
            yield True
        for partition in partitions:
            log, start = partition.log, needed.get(partition.index, 0)
            if log.start_offset < start <= log.end_offset:  # the topic may have been made again
                log.delete_records_remembering_max_timestamp(start)
