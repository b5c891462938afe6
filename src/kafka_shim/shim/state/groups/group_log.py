"""Writes the records of `__consumer_offsets`: committed offsets and groups.

Records are in the order in which they were noted (`group_records.py`); each note is a batch.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from kafka_shim.protocol.messages.group_metadata_key import GroupMetadataKey
from kafka_shim.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from kafka_shim.protocol.messages.offset_commit_key import OffsetCommitKey
from kafka_shim.protocol.messages.offset_commit_value import OffsetCommitValue
from kafka_shim.protocol.records.batches import DEFAULT_OPTIONS, BatchOptions, Record, encode_batch
from kafka_shim.protocol.records.record_codec import wrap_int64
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.coordinators import Coordinators, KeyType, encode_with_version
from kafka_shim.shim.state.groups.group_records import (
    DEFAULT_RETENTION,
    Generation,
    GroupChange,
    Key,
    Retention,
    Row,
    UnwrittenRecords,
    records_of_change,
)
from kafka_shim.shim.state.groups.offsets import CommittedOffset, topic_name_of_missing_partition
from kafka_shim.shim.state.lazy_partition import LazyPartition
from kafka_shim.shim.state.logs.log import StoredBatch
from kafka_shim.shim.state.settings.group_settings import GroupSettings
from kafka_shim.shim.state.topics import Topic, Topics

OFFSET, GROUP = 1, 2
"""What keys begin with."""
EXPIRING_VERSION = 1
"""The version of an offset with the time at which it expires."""
OFFSETS_PER_BATCH = 100
"""Records that were left of many are written in batches."""
RECORDS_MAX = 5_000
"""A partition with more is compacted; if half of them are left, it loses its oldest batches."""


class GroupLog:
    """Writes into the partitions for the groups."""

    def __init__(
        self,
        coordinators: Coordinators,
        topics: Topics,
        settings: GroupSettings,
        facts: GroupFacts,
        clock: Clock,
        *,
        stamps_horizon: bool,
    ) -> None:
        """`stamps_horizon`: see `log_cleaner.clean`."""
        self._coordinators = coordinators
        self._topics = topics
        self._settings = settings
        self._facts = facts
        self._clock = clock
        self._stamps_horizon = stamps_horizon

    # the logs

    @property
    def _group_topic(self) -> Topic | None:
        return self._coordinators.find_topic(KeyType.GROUP)

    @property
    def group_topic_exists(self) -> bool:
        """Return whether there is anything to write to."""
        return self._group_topic is not None

    def _find_partition(self, index: int) -> LazyPartition | None:
        topic = self._group_topic
        if topic is None:
            return None
        partition = topic.partitions[index]
        assert isinstance(partition, LazyPartition)
        return partition

    def end_offset_of_partition(self, index: int) -> int:
        partition = self._find_partition(index)
        return 0 if partition is None else partition.log_without_flush.end_offset

    def has_records_in_partition(self, index: int) -> bool:
        partition = self._find_partition(index)
        return partition is not None and bool(partition.log_without_flush.batches)

    def is_partition_watched(self, index: int) -> bool:
        """Return whether a client waits for records of a partition."""
        partition = self._find_partition(index)
        return partition is not None and partition.log_without_flush.has_watchers

    def is_any_partition_watched(self) -> bool:
        topic = self._group_topic
        return topic is not None and any(
            map(self.is_partition_watched, range(len(topic.partitions)))
        )

    # writing

    def write_unwritten_records(self, index: int, unwritten: UnwrittenRecords) -> None:
        """Write what was noted about a partition."""
        partition = self._find_partition(index)
        assert partition is not None
        log, kept = partition.log_without_flush, unwritten.kept.items()
        with log.deferring_notification():
            for _, rows in groupby(kept, lambda item: item[1][0] // OFFSETS_PER_BATCH):
                self._append_batch(partition, rows)
            for base_offset, note in unwritten.changes:
                self._append_batch(partition, records_of_change(base_offset, note))
            log.end_offset = max(log.end_offset, unwritten.end_offset)

    def write_pending_offsets(
        self, change: GroupChange, producer_id_and_epoch: tuple[int, int]
    ) -> None:
        """Write offsets of a transaction of a producer (its id and epoch)."""
        partition = self._coordinators.coordinator_partition_creating_topic(
            KeyType.GROUP, change.group_id
        )
        assert isinstance(partition, LazyPartition)
        options = BatchOptions(
            partition_leader_epoch=partition.leader_epoch,
            producer_id=producer_id_and_epoch[0],
            producer_epoch=producer_id_and_epoch[1],
            is_transactional=True,
        )
        self._append_batch(partition, records_of_change(partition.log.end_offset, change), options)

    def _append_batch(
        self,
        partition: LazyPartition,
        rows: Iterable[tuple[Key, Row]],
        options: BatchOptions = DEFAULT_OPTIONS,
    ) -> None:
        """Append a batch; there may be gaps before it and within it."""
        records = list(self._encode_records(rows))
        log, epoch = partition.log_without_flush, partition.leader_epoch
        if not records or log.is_closed:
            return
        if options is DEFAULT_OPTIONS:
            options = BatchOptions(partition_leader_epoch=epoch)
        first, last = records[0].offset, records[-1].offset
        newest = max(record.timestamp for record in records)
        log.end_offset = first
        log.append_batch(StoredBatch(first, last, newest, encode_batch(records, options)), epoch)
        partition.records += len(records)
        if partition.records > RECORDS_MAX:
            self._compact_records(partition)

    def _compact_records(self, partition: LazyPartition) -> None:
        """DEVIATION: compact by the number of records, and drop the oldest of too many; a real
        broker compacts by their size on disk, and keeps the last record of each key.
        """
        from kafka_shim.shim.state.logs.log_cleaner import compact_logs  # noqa: PLC0415 - few brokers need it

        log = partition.log_without_flush
        (done,) = compact_logs([log], self._clock.now_ms(), stamps_horizon=self._stamps_horizon)
        partition.records = done.records_after
        if partition.records > RECORDS_MAX // 2:
            log.delete_records_before(log.batches[len(log.batches) // 2].base_offset)
            partition.records //= 2

    # records

    def _encode_records(self, rows: Iterable[tuple[Key, Row]]) -> Iterator[Record]:
        for key, (offset, time_ms, value, retention_ms) in rows:
            if isinstance(key, str):
                name = encode_with_version(GroupMetadataKey(key), 0, GROUP)
                assert value is None or isinstance(value, tuple)
                content = None if value is None else self._encode_group_value(value)
            elif isinstance(key[1], int):
                assert value is None or isinstance(value, msgspec.Struct)
                group_id, key_type, member = key
                name = newer_group_record_key(group_id, key_type, member)
                content = None if value is None else encode_with_version(value, 0)
            else:
                group_id, topic_id, partition = key
                name_of_missing = topic_name_of_missing_partition(topic_id)
                topic = name_of_missing or self._topics.current_or_deleted_name(topic_id)
                if topic is None:  # deleted long ago, and the offset with it
                    continue
                name = encode_with_version(OffsetCommitKey(group_id, topic, partition), 0, OFFSET)
                assert value is None or isinstance(value, CommittedOffset)
                content = (
                    None
                    if value is None
                    else self._encode_offset_value(topic_id, value, time_ms, retention_ms)
                )
            yield Record(offset, time_ms, name, content)

    def _encode_group_value(self, generation: Generation) -> bytes:
        return encode_with_version(
            group_metadata_value(generation), self._facts.classic_group_record_value_version
        )

    def _encode_offset_value(
        self, topic_id: bytes, committed: CommittedOffset, time_ms: int, retention_ms: Retention
    ) -> bytes:
        """Return an offset's value; with the time at which it expires if a client named one, and
        always in older releases.
        """
        value = OffsetCommitValue(
            offset=committed.offset,
            leader_epoch=committed.leader_epoch,
            metadata=committed.metadata,
            commit_timestamp=time_ms,
        )
        version = self._facts.offset_record_value_version
        if retention_ms is None or self._facts.all_offset_records_have_topic_ids:
            value.topic_id = topic_id
        if retention_ms == DEFAULT_RETENTION and version == EXPIRING_VERSION:
            retention_ms = self._settings.offsets_retention_ms
        if retention_ms not in (None, DEFAULT_RETENTION):
            version = EXPIRING_VERSION
            value.expire_timestamp = wrap_int64(time_ms + retention_ms)
        return encode_with_version(value, version)


def newer_group_record_key(group_id: str, key_type: int, member_id_or_empty: str) -> bytes:
    """Return the key of a record of a consumer, share or streams group."""
    texts = (group_id, member_id_or_empty) if member_id_or_empty else (group_id,)
    parts = [key_type.to_bytes(2, "big")]
    for text in map(str.encode, texts):
        parts += (len(text).to_bytes(2, "big"), text)
    return b"".join(parts)


def group_metadata_value(generation: Generation) -> GroupMetadataValue:
    """Return the value of a group's record."""
    protocol_type, number, protocol, leader, time_ms, members = generation
    return GroupMetadataValue(
        protocol_type=protocol_type,
        generation=number,
        protocol=protocol,
        leader=leader,
        current_state_timestamp=time_ms,
        members=[MemberMetadata(*member) for member in members],
    )
