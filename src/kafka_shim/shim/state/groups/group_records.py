"""The records of `__consumer_offsets` that nobody has read yet.

Commits only leave a note here. Records are made of the notes (`group_log.py`) when somebody looks
at the log of their partition. If there are very many notes, only the last one of each key is kept,
as if the log had been compacted. Since a look must not take long, these are limited, too.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.groups.offsets import CommittedOffset

if TYPE_CHECKING:
    from kafka_shim.shim.state.coordinators import Coordinators
    from kafka_shim.shim.state.groups.classic.classic_group import ClassicGroup
    from kafka_shim.shim.state.groups.group import Group

NOTES_MAX = 2_000
"""With more unread records, only the last one of each key is kept."""
KEPT_MAX = 2_000
"""The most that are kept for a partition."""
AT_ONCE_MAX = 1_000
"""The most records of one deletion, or of one commit in a transaction."""
ITEMS = 5
"""Items of a note in the list of new notes."""
ROOM = ITEMS * NOTES_MAX
MEMBER_BYTES, BYTES_PER_NOTE = 100, 1_000
"""About the size of a member without metadata and assignment; each kilobyte about members counts
like another record.
"""
DEFAULT_RETENTION = -1
Retention = int | None
"""How long a commit keeps offsets (ms); None: it named topics by id, and has no retention."""

Partition = tuple[bytes, int]
"""A topic id and a partition."""
OffsetKey = tuple[str, bytes, int]
"""A group id, a topic id and a partition."""
MemberKey = tuple[str, int, str]
"""A group id, the type of the key in the log, and a member id or another name."""
MemberRecord = tuple[int, str, msgspec.Struct | None]
"""The type of the key, the name in it, and the value; None is a tombstone."""
Key = OffsetKey | MemberKey | str
"""Of an offset, of a member of a newer group, or a group id."""
FOLLOWS = False
"""In place of a retention: the offset is of the same commit as the one before it."""
Member = tuple[str, str | None, str, str, int, int, bytes, bytes]
"""Ids of member, instance and client, host, rebalance and session timeout (ms), metadata, and
assignment.
"""
Generation = tuple[str, int, str | None, str | None, int, list[Member]]
"""Of a classic group: protocol type, number, protocol, leader, time (ms) and members."""
_PLAIN = frozenset({DEFAULT_RETENTION, FOLLOWS})


class GroupChange(msgspec.Struct, gc=False):
    """The records of one batch: commits, or deleted offsets, or a group; with `deletes_group`, the
    group's tombstone.
    """

    group_id: str
    time_ms: int
    commits: list[tuple[OffsetKey, CommittedOffset]] = []
    retention_ms: Retention = DEFAULT_RETENTION
    deleted_offsets: Sequence[Partition] = ()
    generation: Generation | None = None
    deletes_group: bool = False
    members: Sequence[MemberRecord] = ()
    merged_count: int = 1

    @property
    def record_count(self) -> int:
        is_about_group = self.generation is not None or self.deletes_group
        return len(self.commits) + len(self.deleted_offsets) + is_about_group + len(self.members)


Row = tuple[int, int, CommittedOffset | Generation | msgspec.Struct | None, Retention]
"""A record: its offset, its time (ms), its value (None: a tombstone) and its retention."""


class UnwrittenRecords:
    """The notes of one partition; `kept` are those left of earlier ones, in order."""

    __slots__ = ("changes", "end_offset", "kept")

    def __init__(self, end_offset: int) -> None:
        self.end_offset = end_offset
        """The offset after the last noted record."""
        self.kept: dict[Key, Row] = {}
        self.changes: list[tuple[int, GroupChange]] = []  # each with its first offset

    def keep_last_commit(self, key: OffsetKey, offset: CommittedOffset) -> None:
        """Add a commit, and drop what was kept of its key."""
        at = self.end_offset
        self.end_offset += 1
        self.kept.pop(key, None)  # so that it becomes the last one
        self.kept[key] = (at, offset.committed_ms, offset, DEFAULT_RETENTION)

    def add_change(self, change: GroupChange) -> None:
        self.changes.append((self.end_offset, change))
        self.end_offset += change.record_count

    def compact_by_key(self, *, keeps_tombstones: bool) -> None:
        """Keep the last record of each key."""
        kept = self.kept
        for base_offset, note in self.changes:
            for key, row in records_of_change(base_offset, note):
                kept.pop(key, None)  # so that it becomes the last one
                if row[2] is not None or keeps_tombstones:
                    kept[key] = row
        self.changes.clear()
        for key in list(islice(kept, max(0, len(kept) - KEPT_MAX))):
            del kept[key]


def records_of_change(base_offset: int, change: GroupChange) -> Iterator[tuple[Key, Row]]:
    """Yield the records of a note with their keys."""
    group_id, time_ms, retention_ms = change.group_id, change.time_ms, change.retention_ms
    offset = base_offset
    for key, committed in change.commits:
        yield key, (offset, time_ms, committed, retention_ms)
        offset += 1
    for topic_id, partition in change.deleted_offsets:
        yield (group_id, topic_id, partition), (offset, time_ms, None, None)
        offset += 1
    if change.generation is not None or change.deletes_group:
        yield group_id, (offset, time_ms, change.generation, None)
        offset += 1
    for key_type, name, value in change.members:
        yield (group_id, key_type, name), (offset, time_ms, value, None)
        offset += 1


def _merge_commits_into_changes(flat_items: list[Any]) -> list[GroupChange]:
    """Return the notes, with the offsets of a commit together. Those of a large one may be in
    parts, with others between them.
    """
    found: list[GroupChange] = []
    for row in zip(*[iter(flat_items)] * ITEMS, strict=True):
        group_id, topic_id, partition, content, mark = row
        if isinstance(content, GroupChange):
            found.append(content)
            continue
        last = found[-1] if found and found[-1].commits else None
        if mark is not FOLLOWS or last is None or last.group_id != group_id:
            retention_ms = DEFAULT_RETENTION if mark is FOLLOWS else mark
            last = GroupChange(group_id, content.committed_ms, [], retention_ms)
            found.append(last)
        last.commits.append(((group_id, topic_id, partition), content))
    return found


class GroupLogWriter(Protocol):
    """The logs that the notes are written into, by partition."""

    @property
    def group_topic_exists(self) -> bool: ...
    def end_offset_of_partition(self, index: int) -> int: ...
    def has_records_in_partition(self, index: int) -> bool: ...
    def is_partition_watched(self, index: int) -> bool: ...
    def is_any_partition_watched(self) -> bool: ...
    def write_unwritten_records(self, index: int, unwritten: UnwrittenRecords) -> None: ...
    def write_pending_offsets(
        self, change: GroupChange, producer_id_and_epoch: tuple[int, int]
    ) -> None: ...


class MemberLog(Protocol):
    """The state of a consumer, share or streams group that its records show."""

    @property
    def group(self) -> "Group": ...
    def new_records(self, now_ms: int, member_id: str | None) -> list[MemberRecord]:
        """Return records of what has changed; of one member if only that one may have changed."""

    def group_tombstones(self) -> list[MemberRecord]:
        """Return the records of the group's deletion."""


CreateMemberLog = Callable[["Group"], MemberLog]


class GroupRecords:
    """The records of groups for their internal topic, written only if a client reads them."""

    def __init__(
        self, coordinators: "Coordinators", clock: Clock, make_log: Callable[[], GroupLogWriter]
    ) -> None:
        """`make_log` returns what writes the notes into the logs; most clusters need none."""
        self._coordinators = coordinators
        self._clock = clock
        self._make_log = make_log
        self._log: GroupLogWriter | None = None
        self.new: list[Any] = []
        """The notes that were not given to their partitions yet. A commit adds group id, topic id,
        partition, offset, and retention of each offset, as a call or an object takes longer; other
        notes are objects.
        """
        self._weight = 0  # of all notes but new commits
        self._unread: dict[int, UnwrittenRecords] = {}  # by partition
        self._deleted: dict[Partition, None] = {}  # by the request that is handled
        self.room = ROOM
        """The length of `new` above which `process_queued_changes` must be called;
        0: somebody has looked, and may wait for more.
        """
        self._wakes = False
        self._logged: dict[str, MemberLog] = {}  # consumer, share and streams groups

    # notes

    def collect_offset_deletion(self, topic_id: bytes, partition: int) -> None:
        """Note that an offset is deleted; `queue_deletion_batch` follows."""
        if len(self._deleted) < AT_ONCE_MAX:
            self._deleted[topic_id, partition] = None

    def queue_deletion_batch(self, group_id: str, *, with_group: bool = False) -> None:
        """Note the deletions, and perhaps that of the group, as one batch."""
        deleted = tuple(self._deleted)
        self._deleted.clear()
        if deleted or with_group:
            now_ms = self._clock.now_ms()
            weight = len(deleted) + with_group
            self._queue_change(
                GroupChange(
                    group_id,
                    now_ms,
                    deleted_offsets=deleted,
                    deletes_group=with_group,
                    merged_count=weight,
                )
            )

    def queue_generation_record(self, group: "ClassicGroup") -> None:
        """Note the generation of a classic group."""
        cycle, roster = group.rebalance, group.roster
        protocol = cycle.protocol_name
        members: list[Member] = [
            (
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                member.rebalance_timeout_ms,
                member.session_timeout_ms,
                member.metadata_of_protocol(protocol),
                member.assignment,
            )
            for member in roster.members.values()
        ]
        leader = roster.leader_id if members else None
        now_ms = self._clock.now_ms()
        found = (roster.protocol_type, cycle.generation_id, protocol, leader, now_ms, members)
        size = sum([MEMBER_BYTES + len(row[-1]) + len(row[-2]) for row in members])
        self._queue_change(
            GroupChange(
                group.group_id, now_ms, generation=found, merged_count=1 + size // BYTES_PER_NOTE
            )
        )

    def queue_new_classic_group_record(self, group_id: str) -> None:
        """Note a classic group that has no generation yet."""
        now_ms = self._clock.now_ms()
        self._queue_change(
            GroupChange(group_id, now_ms, generation=("", 0, None, None, now_ms, []))
        )

    def queue_changed_member_records(
        self, group: "Group", log: CreateMemberLog, member_id: str | None
    ) -> None:
        """Note the changed records of a group of a newer kind; see `MemberLog.new_records`."""
        known = self._logged.get(group.group_id)
        if known is None or known.group is not group:
            known = self._logged[group.group_id] = log(group)
        self._queue_member_records(
            group.group_id, known.new_records(self._clock.now_ms(), member_id)
        )

    def mark_members_logged(self, group: "Group", log: CreateMemberLog) -> None:
        """Note nothing about the present state of a group of a newer kind."""
        known = self._logged[group.group_id] = log(group)
        known.new_records(self._clock.now_ms(), None)

    def queue_tombstones_of_deleted_group(self, group: "Group") -> None:
        """Note the deletion of a group of a newer kind."""
        logged = self._logged.pop(group.group_id, None)
        if logged is not None and logged.group is group:
            self._queue_member_records(group.group_id, logged.group_tombstones())

    def has_member_records_of(self, group: "Group") -> bool:
        """Return whether there are records of this group of a newer kind."""
        logged = self._logged.get(group.group_id)
        return logged is not None and logged.group is group

    def _queue_member_records(self, group_id: str, members: Sequence[MemberRecord]) -> None:
        if members:
            now_ms = self._clock.now_ms()
            self._queue_change(
                GroupChange(group_id, now_ms, members=members, merged_count=len(members))
            )

    def drop_all_changes(self) -> None:
        """Drop all notes: their topic is gone, or they are in a snapshot's log."""
        self.new.clear()
        self._weight = 0
        self._unread.clear()
        self._deleted.clear()
        self._logged.clear()

    def _queue_change(self, change: GroupChange) -> None:
        self.new += (change.group_id, b"", 0, change, DEFAULT_RETENTION)
        self._weight += change.merged_count
        self._limit_changes()
        if not self.room and not self._wakes:
            self._wakes = True
            self._clock.call_later(
                0, self._write_watched_partitions
            )  # now, a change of a group may be half done

    def process_queued_changes(self) -> None:
        """Compact too many notes; write records that a client waits for."""
        self._limit_changes()
        if not self.room:
            self._write_watched_partitions()

    def _limit_changes(self) -> None:
        if len(self.new) > ROOM or self._weight > NOTES_MAX:
            self._compact_all_partitions()

    def _compact_all_partitions(self) -> None:
        if self._weight or not _PLAIN.issuperset(self.new[ITEMS - 1 :: ITEMS]):
            self._move_changes_to_partitions()
        else:
            self._compact_new_plain_commits()
        self._weight = 0
        for index, unread in self._unread.items():
            unread.compact_by_key(keeps_tombstones=self.log.has_records_in_partition(index))

    def _compact_new_plain_commits(self) -> None:
        """Compact new notes that are commits without own retention, as quickly as possible.

        Of a partition, they get its last offsets.
        """
        groups, topic_ids, partitions, offsets = (self.new[at::ITEMS] for at in range(ITEMS - 1))
        last = dict(zip(zip(groups, topic_ids, partitions, strict=True), offsets, strict=True))
        self.new.clear()
        unread = {
            group_id: self._unwritten_of_group(group_id) for group_id in dict.fromkeys(groups)
        }
        for group_id, count in Counter(groups).items():
            unread[group_id].end_offset += count
        for group_id, _, _ in last:
            unread[group_id].end_offset -= 1
        for key, committed in sorted(last.items(), key=lambda item: item[1].order):
            unread[key[0]].keep_last_commit(key, committed)

    def _write_watched_partitions(self) -> None:
        self._wakes = False
        self._move_changes_to_partitions()
        for index in list(self._unread):
            if self.log.is_partition_watched(index):
                self.write_partition(index)
        self.room = 0 if self.log.is_any_partition_watched() else ROOM

    def _move_changes_to_partitions(self) -> None:
        """Give the new notes to their partitions."""
        notes = _merge_commits_into_changes(self.new)
        self.new.clear()
        of_groups: dict[str, UnwrittenRecords] = {}
        for note in notes:
            if note.commits:
                note.merged_count = len(note.commits)
                self._weight += note.merged_count
            unread = of_groups.get(note.group_id)
            if unread is None:
                unread = of_groups[note.group_id] = self._unwritten_of_group(note.group_id)
            unread.add_change(note)

    def _unwritten_of_group(self, group_id: str) -> UnwrittenRecords:
        index = self._coordinators.group_partition_index(group_id)
        unread = self._unread.get(index)
        if unread is None:
            unread = self._unread[index] = UnwrittenRecords(self.log.end_offset_of_partition(index))
        return unread

    # looks

    def end_offset_for_group(self, group_id: str) -> int:
        """Return the offset after the last record of the partition that a group is in."""
        self._move_changes_to_partitions()
        return self._unwritten_of_group(group_id).end_offset

    @property
    def log(self) -> GroupLogWriter:
        if self._log is None:
            self._log = self._make_log()
        return self._log

    def write_partition(self, index: int) -> None:
        """Write what was noted about a partition into its log."""
        self.room = 0
        self._move_changes_to_partitions()
        unread = self._unread.pop(index, None)
        if unread is not None:
            self._weight -= sum(note.merged_count for _, note in unread.changes)
            self.log.write_unwritten_records(index, unread)

    def write_all_partitions(self) -> None:
        """Write what was noted about all partitions, if their topic exists."""
        if (self.new or self._unread) and self.log.group_topic_exists:
            self._move_changes_to_partitions()
            for index in list(self._unread):
                self.write_partition(index)
