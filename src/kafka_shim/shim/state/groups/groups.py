"""All groups by id, with their offsets: creation, lookup, removal, and commits.

A group is created by its first member or its first committed offset. Offsets outlive members but
not the group.
"""

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, cast

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.records.batches import NO_PRODUCER
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.groups.group import CommitIdentity, Group, GroupType
from kafka_shim.shim.state.groups.group_records import (
    DEFAULT_RETENTION,
    FOLLOWS,
    ROOM,
    GroupRecords,
    MemberLog,
    Retention,
)
from kafka_shim.shim.state.groups.offsets import (
    CommittedOffset,
    Offsets,
    topic_name_of_missing_partition,
)
from kafka_shim.shim.state.lazy_partition import GROUPS_TOPIC
from kafka_shim.shim.state.periodic_work import PeriodicWork
from kafka_shim.shim.state.settings.group_settings import GroupSettings
from kafka_shim.shim.state.topics import Topics

if TYPE_CHECKING:  # a kind of groups is imported with the first group of it
    from kafka_shim.shim.state.groups.classic.classic_group import ClassicGroup
    from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
    from kafka_shim.shim.state.groups.share.share_group import ShareGroup
    from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup


GROUP_ID_NOT_FOUND_SINCE = 9
"""The OffsetCommit version that can say that the group is unknown (KIP-848)."""


class OffsetCommit(msgspec.Struct, frozen=True, gc=False):
    """One partition's offset in a commit."""

    topic_id: bytes
    partition: int
    committed_offset: CommittedOffset


# without a line of Python for each of the many partitions that one request can have
_TOPIC_AND_PARTITION = attrgetter("topic_id", "partition")
_TOPIC_PARTITION_AND_OFFSET = attrgetter("topic_id", "partition", "committed_offset")


class Groups:
    """The groups of a cluster and their offsets; each API has its own error for a missing group."""

    records: GroupRecords
    """What they write into their internal topic; the cluster provides it."""

    def __init__(
        self,
        settings: GroupSettings,
        facts: GroupFacts,
        topics: Topics,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self.settings = settings
        self.offsets = Offsets(clock, keeps_transactions=not facts.java_group_coordinator)
        self.zookeeper_offsets = Offsets(clock)
        """Version 0 of OffsetCommit and OffsetFetch knew of these alone, as long as there was
        ZooKeeper; no group comes to be by them."""
        self.facts = facts
        self._topics = topics
        self._clock = clock
        self._random = rng
        self._groups: dict[str, Group] = {}
        self._unwritten: dict[str, int] = {}
        """Groups of the Java coordinator without a record, and where their partition ended."""
        self._deletions = topics.deletions
        self._kept_in: bytes | None = None  # the id of the topic of groups
        self.when_touched: Callable[[str], None] = lambda _: None
        """Called with the id of a group that may change now, or be new, or go."""
        self.clock_of_group: Callable[[str], Clock] = lambda _: clock
        """Returns the clock for the timers of a group."""
        self._rounds = PeriodicWork(
            clock,
            lambda: settings.offsets_check_interval_ms,
            self._expire_groups,
        )

    def stop_periodic_work(self) -> None:
        """Stop periodic work."""
        self._rounds.stop_timer()

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[Group]:
        self._drop_deleted_topics()
        return iter(list(self._groups.values()))

    def find_current(self, group_id: str) -> Group | None:
        self._drop_deleted_topics()
        self.when_touched(group_id)
        return self._groups.get(group_id)

    def peek_group(self, group_id: str) -> Group | None:
        """Return the group's state for a snapshot."""
        return self._groups.get(group_id)

    def is_listed(self, group_id: str) -> bool:
        """Return whether descriptions and lists have a group that exists.

        The Java coordinator answers these from committed state. What wrote no record, such as a
        first commit whose metadata is all too long, is in it since the next write to its partition.
        """
        since = self._unwritten.get(group_id)
        return since is None or self.records.end_offset_for_group(group_id) > since

    def find_classic_group(self, group_id: str) -> "ClassicGroup | None":
        """Return the group if it exists and uses the classic protocol."""
        return cast("ClassicGroup | None", self._find_group_of_type(group_id, GroupType.CLASSIC))

    def find_consumer_group(self, group_id: str) -> "ConsumerGroup | None":
        """Return the group if it exists and uses the consumer protocol."""
        return cast("ConsumerGroup | None", self._find_group_of_type(group_id, GroupType.CONSUMER))

    def find_share_group(self, group_id: str) -> "ShareGroup | None":
        """Return the group if it exists and is a share group."""
        return cast("ShareGroup | None", self._find_group_of_type(group_id, GroupType.SHARE))

    def find_streams_group(self, group_id: str) -> "StreamsGroup | None":
        """Return the group if it exists and is a streams group."""
        return cast("StreamsGroup | None", self._find_group_of_type(group_id, GroupType.STREAMS))

    def _find_group_of_type(self, group_id: str, wanted: GroupType) -> Group | None:
        group = self.find_current(group_id)
        return group if group is not None and group.type is wanted else None

    def get_or_create_classic_group(self, group_id: str) -> "ClassicGroup":
        """Return the classic group; create it if it does not exist."""
        group = self.find_classic_group(group_id)
        if group is None:
            group = self.create_unstored_classic_group(group_id)
            self.save_group(group)
        return group

    def create_unstored_classic_group(self, group_id: str) -> "ClassicGroup":
        from kafka_shim.shim.state.groups.classic.classic_group import ClassicGroup  # noqa: PLC0415 - see above

        clock = self.clock_of_group(group_id)
        made = ClassicGroup(group_id, self.settings, self.facts, clock, self._random)
        made.rebalance.on_settled = partial(self.records.queue_generation_record, made)
        return made

    def save_group(self, group: Group) -> None:
        """Store the group, replacing another one with its id."""
        replaced = self._groups.get(group.group_id)
        if replaced is not None and replaced is not group:
            replaced.close()
            if replaced.type is not GroupType.CLASSIC:
                self._log_group_deletion(replaced)
        if group is not replaced and group.type is not GroupType.CLASSIC:
            self.queue_member_changes(group)
        self._groups[group.group_id] = group
        self.when_touched(group.group_id)
        kept_in = self._topics.get(GROUPS_TOPIC)
        self._kept_in = None if kept_in is None else kept_in.topic_id
        self._rounds.ensure_round_scheduled()

    def start_member_log(self, group: Group) -> None:
        """Note each change of members of a new consumer group for the log."""
        group.on_changed = partial(self.queue_member_changes, group)

    def mark_as_logged(self, group: Group) -> None:
        """Take the state of a restored group for logged."""
        if group.type is GroupType.CONSUMER:
            self.records.mark_members_logged(group, self._create_member_log)

    def _create_member_log(self, group: Group) -> MemberLog:
        from kafka_shim.shim.state.groups.member_records import LoggedConsumerGroup  # noqa: PLC0415 - see above

        return LoggedConsumerGroup(cast("ConsumerGroup", group), self._topics)

    def log_classic_member_change(self, group_id: str) -> None:
        """Note a change by a classic member for the log, if its group is a consumer group."""
        group = self._groups.get(group_id)
        if group is not None:
            group.on_changed(None)

    def queue_member_changes(self, group: Group, member_id: str | None = None) -> None:
        """Note for the log what has changed in a consumer group, maybe of one member only. A group
        of a newer kind replaces a classic group with its id.
        """
        replaced = self._groups.get(group.group_id)
        is_classic = replaced is not None and replaced.type is GroupType.CLASSIC
        if is_classic and not self.records.has_member_records_of(group):
            self.records.queue_deletion_batch(group.group_id, with_group=True)
        if group.type is GroupType.CONSUMER:
            self.records.queue_changed_member_records(group, self._create_member_log, member_id)

    def _log_group_deletion(self, group: Group) -> None:
        group.on_changed = lambda _: None
        self.records.queue_tombstones_of_deleted_group(group)

    def delete_empty_group(self, group_id: str) -> ErrorCode:
        """Delete a group with its offsets; it must have no members (KIP-229)."""
        group = self.find_current(group_id)
        if not group_id and not self.facts.delete_groups_accepts_empty_group_id:
            return ErrorCode.INVALID_GROUP_ID
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        group.remove_overdue_members()
        if not group.is_empty:
            return ErrorCode.NON_EMPTY_GROUP
        self._remove_group(group)
        return NO_ERROR

    def finish_offset_deletion(self, group: Group) -> None:
        """End a deletion of offsets: remove an empty group without others, except in newer
        releases.
        """
        keeps = self.facts.java_group_coordinator
        if not keeps and group.is_empty and not self.offsets.group_has_offsets(group.group_id):
            self._remove_group(group)
        else:
            self.records.queue_deletion_batch(group.group_id)

    def _remove_group(self, group: Group) -> None:
        group.close()
        group_id = group.group_id
        del self._groups[group_id]
        self._unwritten.pop(group_id, None)
        self.when_touched(group_id)
        with_pending = self.facts.java_group_coordinator
        for partition in self.offsets.partitions_with_offset(group_id, with_pending=with_pending):
            self.records.collect_offset_deletion(*partition)
        self.offsets.delete_offsets_of_group(group_id)
        self.records.queue_deletion_batch(
            group_id, with_group=self._deletion_writes_group_tombstone(group)
        )
        self._log_group_deletion(group)

    def _deletion_writes_group_tombstone(self, group: Group) -> bool:
        """Return whether a group has a tombstone when it is deleted."""
        if group.type is not GroupType.CLASSIC:
            return False
        has_generation = cast("ClassicGroup", group).rebalance.generation_id > 0
        return has_generation or self.facts.java_group_coordinator

    def write_records_of_partition(self, index: int) -> None:
        """Write the records of a partition of the topic of groups, since a client reads it."""
        self._drop_deleted_topics()
        self.records.write_partition(index)

    def _drop_deleted_topics(self) -> None:
        """Remove offsets of deleted topics, and in older releases empty groups without other
        offsets; remove all groups if their internal topic was deleted.
        """
        if self._deletions == self._topics.deletions:
            return
        deleted = self._topics.ids_deleted_since(self._deletions)
        self._deletions = self._topics.deletions
        if self._kept_in is not None and self._topics.by_id(self._kept_in) is None:
            self._kept_in = None
            for group in list(self._groups.values()):
                if group.type is GroupType.CLASSIC:
                    cast("ClassicGroup", group).rebalance.abort_pending_requests()
                self._remove_group(group)
            self.records.drop_all_changes()
        if deleted is None:
            deleted = [
                topic_id
                for topic_id in self.offsets.topic_ids()
                if self._topics.by_id(topic_id) is None
                and topic_name_of_missing_partition(topic_id) is None
            ]
        affected = self.offsets.group_ids_with_offsets_of_topics(deleted)
        with_pending = self.facts.java_group_coordinator
        written = {
            group_id: list(
                self.offsets.partitions_with_offset(group_id, deleted, with_pending=with_pending)
            )
            for group_id in affected
        }
        for topic_id in deleted:
            self.offsets.delete_offsets_of_topic(topic_id)
        # before the Java coordinator, this is when all empty groups without offsets are removed
        every = affected if self.facts.java_group_coordinator else list(self._groups)
        for group_id in every:
            if group_id in self._groups:
                for partition in written.get(group_id, ()):
                    self.records.collect_offset_deletion(*partition)
                self.finish_offset_deletion(self._groups[group_id])

    def _expire_groups(self) -> Iterator[bool]:
        """Forget old offsets, and empty groups without any; yield for each group whether it is
        left.
        """
        for group in list(self._groups.values()):
            if self._groups.get(group.group_id) is group and group.expires:
                self._expire_offsets_of_group(group)
                if group.is_empty and not self.offsets.group_has_offsets(group.group_id):
                    self._remove_group(group)
                self.records.queue_deletion_batch(group.group_id)
            yield group.group_id in self._groups

    def _expire_offsets_of_group(self, group: Group) -> None:
        before_ms = self._clock.now_ms() - self.settings.offsets_retention_ms
        for topic_id, offsets in list(self.offsets.offsets_by_topic(group.group_id)):
            topic = self._topics.by_id(topic_id)
            name = topic_name_of_missing_partition(topic_id) if topic is None else topic.name
            if name is None:
                continue
            for partition, offset in list(offsets.items()):
                idle_since_ms = group.offset_unused_since_ms(name, offset.committed_ms)
                is_old = idle_since_ms is not None and idle_since_ms <= before_ms
                if is_old and not self.offsets.has_pending_offset(
                    group.group_id, topic_id, partition
                ):
                    self.delete_offset(group.group_id, topic_id, partition)

    def delete_offset(self, group_id: str, topic_id: bytes, partition: int) -> None:
        """Delete an offset; `finish_offset_deletion` follows."""
        if self.offsets.partition_has_offset(
            group_id, topic_id, partition, or_pending=self.facts.java_group_coordinator
        ):
            self.records.collect_offset_deletion(topic_id, partition)
        self.offsets.delete_offset(group_id, topic_id, partition)

    # commits of offsets

    def empty_group_id_error(self, group_id: str) -> ErrorCode:
        """Return INVALID_GROUP_ID for an empty id, in releases that reject it."""
        wrong = not group_id and self.facts.empty_group_id_is_invalid_group_id
        return ErrorCode.INVALID_GROUP_ID if wrong else NO_ERROR

    def commit_offsets(
        self,
        group_id: str,
        identity: CommitIdentity,
        commits: Sequence[OffsetCommit],
        producer_id: int | None = None,
        append_error: Callable[[], ErrorCode] = lambda: NO_ERROR,
        retention_ms: Retention = DEFAULT_RETENTION,
    ) -> ErrorCode:
        """Store offsets; those with a producer id count after its transaction.

        An error applies to the whole commit, and nothing is stored. `append_error` is called last:
        it returns whether the coordinator's log accepts the offsets.
        """
        group = self.find_current(group_id)
        identity.is_transactional = producer_id is not None
        partitions = list(map(_TOPIC_AND_PARTITION, commits))
        error = self._offset_commit_error(group, identity, partitions)
        if producer_id is not None and not group_id:
            error = self.empty_group_id_error(group_id)
        if error is not NO_ERROR:
            return error
        error = append_error() if commits else NO_ERROR
        if error is not NO_ERROR:
            if producer_id is not None and not self.facts.java_group_coordinator:
                self.offsets.drop_pending_offsets(group_id, producer_id, partitions)
            return error
        if group is None:
            self.get_or_create_classic_group(group_id)
            if not commits and self.facts.java_group_coordinator:
                self._unwritten[group_id] = self.records.end_offset_for_group(group_id)
        if producer_id is not None and (
            producer_id != NO_PRODUCER or self.facts.java_group_coordinator
        ):
            rows = map(_TOPIC_PARTITION_AND_OFFSET, commits)
            self.offsets.store_pending_offsets(group_id, producer_id, rows)
            return NO_ERROR
        self.store_offsets(group_id, commits, retention_ms)
        if commits and self.find_current(group_id) is None:
            self.get_or_create_classic_group(group_id)
        return NO_ERROR

    def store_offsets(
        self,
        group_id: str,
        commits: Sequence[OffsetCommit],
        retention_ms: Retention = DEFAULT_RETENTION,
    ) -> None:
        """Store offsets that count immediately."""
        records, mark = self.records, retention_ms
        for commit in commits:  # one after the other: the request can be large
            topic_id, partition = commit.topic_id, commit.partition
            offset = self.offsets.store_offset(
                group_id, topic_id, partition, commit.committed_offset
            )
            records.new += (group_id, topic_id, partition, offset, mark)
            mark = FOLLOWS
            if len(records.new) > ROOM:  # which takes a moment, so not after all of them
                records.process_queued_changes()
                mark = retention_ms
        if len(records.new) > records.room:
            records.process_queued_changes()

    def _offset_commit_error(
        self,
        group: Group | None,
        identity: CommitIdentity,
        partitions: Collection[tuple[bytes, int]],
    ) -> ErrorCode:
        if group is not None:
            return group.commit_error(identity, partitions)
        if identity.generation_id < 0:
            return NO_ERROR
        if self.facts.java_group_coordinator and identity.version >= GROUP_ID_NOT_FOUND_SINCE:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.ILLEGAL_GENERATION

    def settle_pending_offsets(self, producer_id: int, *, committed: bool) -> None:
        """Commit or discard the pending offsets of a producer's transaction."""
        self.offsets.settle_pending_offsets(producer_id, committed=committed)
