"""The rows of groups that differ from those last written.

Members are replaced, never changed, so the objects themselves show what is to be written again.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.change_recording_dict import ChangeRecordingDict
from kafka_shim.shim.state.groups.classic.classic_group import ClassicGroup
from kafka_shim.shim.state.groups.group import Group, GroupType
from kafka_shim.shim.state.groups.share.share_group import ShareGroup
from kafka_shim.shim.storage.database import Row
from kafka_shim.shim.storage.group_rows import (
    GROUP,
    INITIALIZED,
    MEMBER,
    InitializedRow,
    RestoredOrders,
    classic_group_row,
    is_settled,
)
from kafka_shim.shim.storage.member_rows import (
    EpochGroup,
    GroupRow,
    Member,
    MemberRow,
    group_row,
    member_row,
)
from kafka_shim.shim.storage.settings_rows import as_json_text


class PersistedGroups:
    """What is written of all groups."""

    def __init__(self) -> None:
        self._written: dict[str, _PersistedClassicGroup | _PersistedEpochGroup] = {}

    def clear(self) -> None:
        """Forget everything, since nothing is written."""
        self._written.clear()

    def adopt_restored_group(self, group: Group, orders: RestoredOrders) -> None:
        """Take the rows of a group that was restored from them for written."""
        written = self._written[group.group_id] = _create_change_tracker(group)
        if isinstance(written, _PersistedEpochGroup):
            written.adopt_current_state(orders)
        else:
            written.update_persisted_state()

    def take_changed_rows(self, group_id: str, group: Group | None) -> Iterator[Row]:
        """Yield the changed rows of a group; None: it does not exist.

        Nothing of a rebalancing group is written.
        """
        if isinstance(group, ClassicGroup) and not is_settled(group):
            return
        written = self._written.get(group_id)
        if group is None:
            if written is not None:
                del self._written[group_id]
                yield GROUP, group_id, None
                yield from written.member_deletion_rows()
            return
        if written is None or written.group is not group:
            if written is not None:
                yield from written.member_deletion_rows()
            written = self._written[group_id] = _create_change_tracker(group)
        yield from written.take_changed_rows()


def _create_change_tracker(group: Group) -> "_PersistedClassicGroup | _PersistedEpochGroup":
    if group.type is GroupType.CLASSIC:
        return _PersistedClassicGroup(cast("ClassicGroup", group))
    return _PersistedEpochGroup(cast("EpochGroup", group))


class _PersistedClassicGroup:
    """What is written of a classic group: one row with its members, as in Kafka."""

    def __init__(self, group: ClassicGroup) -> None:
        self.group = group
        self._state: tuple[object, ...] = ()

    def take_changed_rows(self) -> Iterator[Row]:
        if self.update_persisted_state():
            yield GROUP, self.group.group_id, as_json_text(classic_group_row(self.group))

    def update_persisted_state(self) -> bool:
        """Take the present state for written; return whether it is another one."""
        rebalance, roster = self.group.rebalance, self.group.roster
        state = (
            rebalance.state,
            rebalance.generation_id,
            rebalance.protocol_name,
            rebalance.empty_since_ms,
            roster.protocol_type,
            roster.leader_id,
            roster.revision,
        )
        is_changed, self._state = state != self._state, state
        return is_changed

    def member_deletion_rows(self) -> Iterator[Row]:
        """Yield nothing: members have no rows of their own."""
        yield from ()


class _PersistedMember(NamedTuple):
    """A member as it was written; `order` is its place among the members."""

    order: int
    member: Member
    target: Assignment | None

    def row(self) -> MemberRow:
        return member_row(self.member, self.target, self.order)


class _PersistedEpochGroup:
    """What is written of a consumer, share or streams group."""

    def __init__(self, group: EpochGroup) -> None:
        self.group = group
        self._row: GroupRow | None = None
        self._members: dict[str, _PersistedMember] = {}
        self._initialized: dict[bytes, InitializedRow] = {}
        self._next_order = 0

    def adopt_current_state(self, orders: RestoredOrders) -> None:
        """Take the group's present state for written, with the orders in its rows."""
        self._row = group_row(self.group)
        targets = self.group.target.by_member
        members: ChangeRecordingDict[str, Member] = self.group.members  # type: ignore[assignment]
        for (member_id, member), order in zip(members.items(), orders.members, strict=True):
            self._members[member_id] = _PersistedMember(order, member, targets.get(member_id))
        self._restart_change_recording()
        if isinstance(self.group, ShareGroup):
            initialized = self.group.initialized_partitions
            for (topic_id, at), order in zip(initialized.items(), orders.topics, strict=True):
                self._initialized[topic_id] = InitializedRow(order, sorted(at))
            initialized.start_recording()
        self._next_order = max([*orders.members, *orders.topics], default=-1) + 1

    def take_changed_rows(self) -> Iterator[Row]:
        row = group_row(self.group)
        if row != self._row:
            self._row = row
            yield GROUP, self.group.group_id, as_json_text(row)
        yield from self._take_changed_rows_of_members()
        if isinstance(self.group, ShareGroup):
            yield from self._take_initialized_rows(self.group.initialized_partitions)

    def member_deletion_rows(self) -> Iterator[Row]:
        """Yield the rows that delete all others than the group's own."""
        for member_id in self._members:
            yield MEMBER, self._row_key(member_id), None
        for topic_id in self._initialized:
            yield INITIALIZED, self._row_key(topic_id), None

    def _take_changed_rows_of_members(self) -> Iterator[Row]:
        members: ChangeRecordingDict[str, Member] = self.group.members  # type: ignore[assignment]
        targets = self.group.target.by_member
        for member_id, is_moved in self._changed_member_moves(members, targets).items():
            member, before = members.get(member_id), self._members.get(member_id)
            if member is None:
                if before is not None:
                    del self._members[member_id]
                    yield MEMBER, self._row_key(member_id), None
                continue
            target = targets.get(member_id)
            if before is None or is_moved:
                now = _PersistedMember(self._next_order, member, target)
                self._next_order += 1
            elif before.member is member and _is_same_in_order(before.target, target):
                continue
            else:
                now = _PersistedMember(before.order, member, target)
            self._members[member_id] = now
            row = now.row()
            if before is None or before.row() != row:
                yield MEMBER, self._row_key(member_id), as_json_text(row)
        self._restart_change_recording()

    def _changed_member_moves(
        self,
        members: ChangeRecordingDict[str, Member],
        targets: ChangeRecordingDict[str, Assignment],
    ) -> dict[str, bool]:
        """Return the members that may have changed; True: behind all others."""
        changed = members.changed_keys
        if changed is not None and targets.changed_keys is not None:
            return {**dict.fromkeys(targets.changed_keys, False), **changed}
        return self._all_member_moves(members)

    def _all_member_moves(self, members: ChangeRecordingDict[str, Member]) -> dict[str, bool]:
        """Return all members, present or not, like `_changed_member_moves`."""
        every = dict.fromkeys(self._members.keys() - members.keys(), False)
        is_moved, last = False, -1
        for member_id in members:
            before = self._members.get(member_id)
            is_moved = is_moved or before is None or before.order < last
            if before is not None:
                last = before.order
            every[member_id] = is_moved
        return every

    def _restart_change_recording(self) -> None:
        self.group.members.start_recording()
        self.group.target.by_member.start_recording()

    def _take_initialized_rows(
        self, initialized: ChangeRecordingDict[bytes, set[int]]
    ) -> Iterator[Row]:
        changed: Iterable[bytes] | None = initialized.changed_keys
        if changed is None:
            changed = [*initialized, *(self._initialized.keys() - initialized.keys())]
        for topic_id in changed:
            before, partitions = self._initialized.get(topic_id), initialized.get(topic_id)
            if partitions is None:
                if before is not None:
                    del self._initialized[topic_id]
                    yield INITIALIZED, self._row_key(topic_id), None
                continue
            if before is None:
                order, self._next_order = self._next_order, self._next_order + 1
            else:
                order = before.order
            row = InitializedRow(order, sorted(partitions))
            if row != before:
                self._initialized[topic_id] = row
                yield INITIALIZED, self._row_key(topic_id), as_json_text(row)
        initialized.start_recording()

    def _row_key(self, part: str | bytes) -> str:
        return as_json_text([self.group.group_id, part])


def _is_same_in_order(before: Assignment | None, now: Assignment | None) -> bool:
    return before is now or (before == now and list(before or ()) == list(now or ()))
