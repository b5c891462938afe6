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
Key = OffsetKey | str
"""Of an offset, or a group id."""
FOLLOWS = False
"""In place of a retention: the offset is of the same commit as the one before it."""
Member = tuple[str, str | None, str, str, int, int, bytes, bytes]
"""Ids of member, instance and client, host, rebalance and session timeout (ms), metadata, and
assignment.
"""
Generation = tuple[str, int, str | None, str | None, int, list[Member]]
"""Of a classic group: protocol type, number, protocol, leader, time (ms) and members."""
_PLAIN = frozenset({DEFAULT_RETENTION, FOLLOWS})


class Note(msgspec.Struct, gc=False):
    """The records of one batch: commits, or deleted offsets, or a group; `is_end` is the tombstone
    of a group.
    """

    group_id: str
    time_ms: int
    commits: list[tuple[OffsetKey, CommittedOffset]] = []
    retention_ms: Retention = DEFAULT_RETENTION
    deleted: Sequence[Partition] = ()
    group: Generation | None = None
    is_end: bool = False
    weight: int = 1

    @property
    def count(self) -> int:
        is_about_group = self.group is not None or self.is_end
        return len(self.commits) + len(self.deleted) + is_about_group


Row = tuple[int, int, CommittedOffset | Generation | None, Retention]
"""A record: its offset, its time (ms), its value (None: a tombstone) and its retention."""


class Unread:
    """The notes of one partition; `kept` are those left of earlier ones, in order."""

    __slots__ = ("end_offset", "kept", "notes")

    def __init__(self, end_offset: int) -> None:
        self.end_offset = end_offset
        """The offset after the last noted record."""
        self.kept: dict[Key, Row] = {}
        self.notes: list[tuple[int, Note]] = []  # each with its first offset

    def keep(self, key: OffsetKey, offset: CommittedOffset) -> None:
        """Add a commit, and drop what was kept of its key."""
        at = self.end_offset
        self.end_offset += 1
        self.kept.pop(key, None)  # so that it becomes the last one
        self.kept[key] = (at, offset.committed_ms, offset, DEFAULT_RETENTION)

    def add(self, note: Note) -> None:
        self.notes.append((self.end_offset, note))
        self.end_offset += note.count

    def compact(self, *, keeps_tombstones: bool) -> None:
        """Keep the last record of each key."""
        kept = self.kept
        for base_offset, note in self.notes:
            for key, row in rows_of(base_offset, note):
                kept.pop(key, None)  # so that it becomes the last one
                if row[2] is not None or keeps_tombstones:
                    kept[key] = row
        self.notes.clear()
        for key in list(islice(kept, max(0, len(kept) - KEPT_MAX))):
            del kept[key]


def rows_of(base_offset: int, note: Note) -> Iterator[tuple[Key, Row]]:
    """Yield the records of a note with their keys."""
    group_id, time_ms, retention_ms = note.group_id, note.time_ms, note.retention_ms
    offset = base_offset
    for key, committed in note.commits:
        yield key, (offset, time_ms, committed, retention_ms)
        offset += 1
    for topic_id, partition in note.deleted:
        yield (group_id, topic_id, partition), (offset, time_ms, None, None)
        offset += 1
    if note.group is not None or note.is_end:
        yield group_id, (offset, time_ms, note.group, None)


def _notes(items: list[Any]) -> list[Note]:
    """Return the notes, with the offsets of a commit together. Those of a large one may be in
    parts, with others between them.
    """
    found: list[Note] = []
    for row in zip(*[iter(items)] * ITEMS, strict=True):
        group_id, topic_id, partition, content, mark = row
        if isinstance(content, Note):
            found.append(content)
            continue
        last = found[-1] if found and found[-1].commits else None
        if mark is not FOLLOWS or last is None or last.group_id != group_id:
            retention_ms = DEFAULT_RETENTION if mark is FOLLOWS else mark
            last = Note(group_id, content.committed_ms, [], retention_ms)
            found.append(last)
        last.commits.append(((group_id, topic_id, partition), content))
    return found


class Writer(Protocol):
    """The logs that the notes are written into, by partition."""

    @property
    def exists(self) -> bool: ...
    def end_offset(self, index: int) -> int: ...
    def has_records(self, index: int) -> bool: ...
    def is_watched(self, index: int) -> bool: ...
    def is_watched_anywhere(self) -> bool: ...
    def write(self, index: int, unread: Unread) -> None: ...
    def write_held(self, note: Note, producer: tuple[int, int]) -> None: ...


class GroupRecords:
    """What a coordinator has written about groups."""

    def __init__(
        self, coordinators: "Coordinators", clock: Clock, make_log: Callable[[], Writer]
    ) -> None:
        """`make_log` returns what writes the notes into the logs; most clusters need none."""
        self._coordinators = coordinators
        self._clock = clock
        self._make_log = make_log
        self._log: Writer | None = None
        self.new: list[Any] = []
        """The notes that were not given to their partitions yet. A commit adds group id, topic id,
        partition, offset, and retention of each offset, as a call or an object takes longer; a
        `Note` has the place of an offset.
        """
        self._weight = 0  # of all notes but new commits
        self._unread: dict[int, Unread] = {}  # by partition
        self._deleted: dict[Partition, None] = {}  # by the request that is handled
        self.room = ROOM
        """The length of `new` above which `look_after` must be called; 0: somebody has looked, and
        may wait for more.
        """
        self._wakes = False

    # notes

    def delete(self, topic_id: bytes, partition: int) -> None:
        """Note that an offset is deleted; `end_deletion` follows."""
        if len(self._deleted) < AT_ONCE_MAX:
            self._deleted[topic_id, partition] = None

    def end_deletion(self, group_id: str, *, with_group: bool = False) -> None:
        """Note the deletions, and perhaps that of the group, as one batch."""
        deleted = tuple(self._deleted)
        self._deleted.clear()
        if deleted or with_group:
            now_ms = self._clock.now_ms()
            weight = len(deleted) + with_group
            self._add(Note(group_id, now_ms, deleted=deleted, is_end=with_group, weight=weight))

    def group(self, group: "ClassicGroup") -> None:
        """Note the generation of a classic group."""
        cycle, roster = group.cycle, group.roster
        protocol = cycle.protocol_name
        members: list[Member] = [
            (
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                member.rebalance_timeout_ms,
                member.session_timeout_ms,
                member.metadata(protocol),
                member.assignment,
            )
            for member in roster.members.values()
        ]
        leader = roster.leader_id if members else None
        now_ms = self._clock.now_ms()
        found = (roster.protocol_type, cycle.generation_id, protocol, leader, now_ms, members)
        size = sum([MEMBER_BYTES + len(row[-1]) + len(row[-2]) for row in members])
        self._add(Note(group.group_id, now_ms, group=found, weight=1 + size // BYTES_PER_NOTE))

    def new_group(self, group_id: str) -> None:
        """Note a classic group that has no generation yet."""
        now_ms = self._clock.now_ms()
        self._add(Note(group_id, now_ms, group=("", 0, None, None, now_ms, [])))

    def forget(self) -> None:
        """Drop all notes: their topic is gone, or they are in a snapshot's log."""
        self.new.clear()
        self._weight = 0
        self._unread.clear()
        self._deleted.clear()

    def _add(self, note: Note) -> None:
        self.new += (note.group_id, b"", 0, note, DEFAULT_RETENTION)
        self._weight += note.weight
        self._compact_many()
        if not self.room and not self._wakes:
            self._wakes = True
            self._clock.call_later(0, self._wake)  # now, a change of a group may be half done

    def look_after(self) -> None:
        """Compact too many notes; have records made if somebody waits for them."""
        self._compact_many()
        if not self.room:
            self._wake()

    def _compact_many(self) -> None:
        if len(self.new) > ROOM or self._weight > NOTES_MAX:
            self._compact()

    def _compact(self) -> None:
        if self._weight or not _PLAIN.issuperset(self.new[ITEMS - 1 :: ITEMS]):
            self._route()
        else:
            self._keep_last()
        self._weight = 0
        for index, unread in self._unread.items():
            unread.compact(keeps_tombstones=self.log.has_records(index))

    def _keep_last(self) -> None:
        """Compact new notes that are commits without own retention, as quickly as possible.

        Of a partition, they get its last offsets.
        """
        groups, topic_ids, partitions, offsets = (self.new[at::ITEMS] for at in range(ITEMS - 1))
        last = dict(zip(zip(groups, topic_ids, partitions, strict=True), offsets, strict=True))
        self.new.clear()
        unread = {group_id: self._unread_of(group_id) for group_id in dict.fromkeys(groups)}
        for group_id, count in Counter(groups).items():
            unread[group_id].end_offset += count
        for group_id, _, _ in last:
            unread[group_id].end_offset -= 1
        for key, committed in sorted(last.items(), key=lambda item: item[1].order):
            unread[key[0]].keep(key, committed)

    def _wake(self) -> None:
        self._wakes = False
        self._route()
        for index in list(self._unread):
            if self.log.is_watched(index):
                self.write(index)
        self.room = 0 if self.log.is_watched_anywhere() else ROOM

    def _route(self) -> None:
        """Give the new notes to their partitions."""
        notes = _notes(self.new)
        self.new.clear()
        of_groups: dict[str, Unread] = {}
        for note in notes:
            if note.commits:
                note.weight = len(note.commits)
                self._weight += note.weight
            unread = of_groups.get(note.group_id)
            if unread is None:
                unread = of_groups[note.group_id] = self._unread_of(note.group_id)
            unread.add(note)

    def _unread_of(self, group_id: str) -> Unread:
        index = self._coordinators.group_partition_index(group_id)
        unread = self._unread.get(index)
        if unread is None:
            unread = self._unread[index] = Unread(self.log.end_offset(index))
        return unread

    # looks

    @property
    def log(self) -> Writer:
        if self._log is None:
            self._log = self._make_log()
        return self._log

    def write(self, index: int) -> None:
        """Write what was noted about a partition into its log."""
        self.room = 0
        self._route()
        unread = self._unread.pop(index, None)
        if unread is not None:
            self._weight -= sum(note.weight for _, note in unread.notes)
            self.log.write(index, unread)

    def write_all(self) -> None:
        """Write what was noted about all partitions, if their topic exists."""
        if (self.new or self._unread) and self.log.exists:
            self._route()
            for index in list(self._unread):
                self.write(index)
