"""List, delete and reset groups of all four kinds, for the control API: members, offsets, lag."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.control.control_error import ControlError
from kafka_shim.shim.control.state_bodies import NewOffsets
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.group import Group, GroupType
from kafka_shim.shim.state.groups.groups import OffsetCommit
from kafka_shim.shim.state.groups.offsets import CommittedOffset
from kafka_shim.shim.state.groups.streams.task_kinds import task_key_text
from kafka_shim.shim.state.logs.offset_lookup import find_offset_by_timestamp
from kafka_shim.shim.state.topics import Partition, Topic

if TYPE_CHECKING:  # a kind of groups is imported with the first group of it
    from kafka_shim.shim.state.groups.classic.classic_group import ClassicGroup
    from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
    from kafka_shim.shim.state.groups.share.share_group import ShareGroup
    from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup

Row = dict[str, Any]


class GroupControl:
    """The groups of a cluster; every method returns plain values."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def list_groups(self) -> Row:
        groups = sorted(self._cluster.groups, key=lambda group: group.group_id)
        return {"groups": [self._current_group_row(group) for group in groups]}

    def group_row(self, group_id: str) -> Row:
        return self._current_group_row(self._group_or_404(group_id))

    def delete_group(self, group_id: str) -> Row:
        """Delete a group without members, and its offsets."""
        group = self._group_or_404(group_id)
        self._require_no_members(group)
        error = self._cluster.groups.delete_empty_group(group_id)
        if error is not ErrorCode.NONE:
            raise ControlError(409, f"group `{group_id}` cannot be deleted: {error.name}")
        return {"done": True}

    def reset_offsets(self, group_id: str, new_offsets: NewOffsets) -> Row:
        """Set the offsets of a group without members, which is created if it does not exist."""
        group = self._cluster.groups.find_current(group_id)
        if group is not None:
            self._require_no_members(group)
        partitions = list(self._partitions_to_reset(group_id, new_offsets))
        rows = [] if group is None else self._offset_rows(group)
        present = {(row["topic"], row["partition"]): row["offset"] for row in rows}
        offsets_to_set: list[tuple[Topic, Partition, int]] = []
        changes: list[Row] = []
        for topic, partition in partitions:
            before = present.get((topic.name, partition.index))
            after = self._target_offset(partition, new_offsets, before)
            offsets_to_set.append((topic, partition, after))
            row = {"topic": topic.name, "partition": partition.index}
            changes.append(row | {"before": before, "after": after})
        if not new_offsets.dry_run:
            for topic, partition, offset in offsets_to_set:
                self._store_offset(group_id, topic, partition, offset)
            rows = self._offset_rows(self._group_or_404(group_id)) if offsets_to_set else []
        return {"offsets": rows, "changes": changes}

    def _target_offset(
        self, partition: Partition, new_offsets: NewOffsets, present: int | None
    ) -> int:
        """Return the offset to set. Raise ControlError unless exactly one target is given."""
        to, time_ms, shift = new_offsets.to, new_offsets.time_ms, new_offsets.shift
        if [to, time_ms, shift].count(None) != 2:
            raise ControlError(400, "expected one of to, time_ms and shift")
        log = partition.log
        if time_ms is not None:
            facts = self._cluster.facts.records
            by_time = find_offset_by_timestamp(log, max(time_ms, 0), None, facts)
            return log.end_offset if by_time.offset < 0 else by_time.offset
        if shift is not None:
            start = log.start_offset if present is None else present
            return min(max(start + shift, log.start_offset), log.end_offset)
        assert to is not None
        return _parse_target_offset(partition, to)

    def _store_offset(self, group_id: str, topic: Topic, partition: Partition, offset: int) -> None:
        groups = self._cluster.groups
        share = groups.find_share_group(group_id)
        if share is not None:
            share.initialize_share_state_at(topic.topic_id, partition.index, offset)
            share.add_initialized_partitions({topic.topic_id: {partition.index}})
            return
        if groups.find_current(group_id) is None:
            groups.get_or_create_classic_group(group_id)
        groups.store_offsets(
            group_id, [OffsetCommit(topic.topic_id, partition.index, CommittedOffset(offset))]
        )

    def _partitions_to_reset(
        self, group_id: str, new_offsets: NewOffsets
    ) -> Iterator[tuple[Topic, Partition]]:
        """Yield the named partitions, or those with offsets. Raise ControlError for an unknown
        one.
        """
        topics = self._cluster.topics
        if new_offsets.topic is None:
            if new_offsets.partition is not None:
                raise ControlError(400, "partition requires topic")
            for row in self._offset_rows(self._group_or_404(group_id)):
                topic = topics.get(row["topic"])
                assert topic is not None
                yield topic, topic.partitions[row["partition"]]
            return
        topic = topics.get(new_offsets.topic)
        if topic is None:
            raise ControlError(404, f"unknown topic `{new_offsets.topic}`")
        if new_offsets.partition is None:
            yield from ((topic, partition) for partition in topic.partitions)
            return
        partition = topic.led_partition(new_offsets.partition)
        if partition is None:
            raise ControlError(
                404, f"topic `{new_offsets.topic}` has no partition {new_offsets.partition}"
            )
        yield topic, partition

    def _group_or_404(self, group_id: str) -> Group:
        group = self._cluster.groups.find_current(group_id)
        if group is None:
            raise ControlError(404, f"unknown group `{group_id}`")
        return group

    def _require_no_members(self, group: Group) -> None:
        group.remove_overdue_members()
        if not group.is_empty:
            raise ControlError(409, f"group `{group.group_id}` has members: stop them first")

    def _current_group_row(self, group: Group) -> Row:
        group.remove_overdue_members()
        offsets = self._offset_rows(group)
        return {
            "group_id": group.group_id,
            "type": group.type.value,
            "state": group.state_name,
            "members": list(self._member_rows(group)),
            "offsets": offsets,
            "lag": sum(row["lag"] for row in offsets),
        }

    # members

    def _member_rows(self, group: Group) -> Iterator[Row]:
        match group.type:
            case GroupType.CLASSIC:
                return self._classic_member_rows(cast("ClassicGroup", group))
            case GroupType.CONSUMER:
                consumers = cast("ConsumerGroup", group)
                assignments = {
                    m.member_id: consumers.described_assignment(m)
                    for m in consumers.members.values()
                }
                return self._member_rows_with_epochs(consumers, assignments)
            case GroupType.SHARE:
                share_group = cast("ShareGroup", group)
                return self._member_rows_with_epochs(
                    share_group, {m.member_id: m.assigned for m in share_group.members.values()}
                )
        streams = cast("StreamsGroup", group)
        return self._member_rows_with_epochs(
            streams, {m.member_id: m.assigned for m in streams.members.values()}
        )

    def _classic_member_rows(self, group: "ClassicGroup") -> Iterator[Row]:
        from kafka_shim.shim.state.groups.classic import (  # noqa: PLC0415 - for classic groups alone
            consumer_protocol,
        )

        for member in group.described_members():
            assigned = consumer_protocol.decode_plain_assignment(
                member.assignment, self._cluster.topics
            )
            yield {
                "member_id": member.member_id,
                "instance_id": member.instance_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "epoch": group.rebalance.generation_id,
                "assignment": self._assignment_rows(assigned or {}),
            }

    def _member_rows_with_epochs(
        self, group: Any, assignments: Mapping[str, Assignment]
    ) -> Iterator[Row]:
        for member in group.members.values():
            yield {
                "member_id": member.member_id,
                "instance_id": member.instance_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "epoch": member.epoch,
                "assignment": self._assignment_rows(assignments[member.member_id]),
            }

    def _assignment_rows(self, assignment: Assignment) -> list[Row]:
        """Return assignments by topic; those of streams groups by subtopology."""
        rows = []
        for key, partitions in assignment.items():
            topic = self._cluster.topics.by_id(key)
            name = task_key_text(key) if topic is None else topic.name
            rows.append({"topic": name, "partitions": sorted(partitions)})
        return sorted(rows, key=lambda row: str(row["topic"]))

    # offsets

    def _offset_rows(self, group: Group) -> list[Row]:
        if group.type is GroupType.SHARE:
            rows = self._share_offset_rows(cast("ShareGroup", group))
        else:
            rows = self._committed_offset_rows(group.group_id)
        return sorted(rows, key=lambda row: (row["topic"], row["partition"]))

    def _committed_offset_rows(self, group_id: str) -> Iterator[Row]:
        for topic_id, offsets in self._cluster.groups.offsets.offsets_by_topic(group_id):
            topic = self._cluster.topics.by_id(topic_id)
            for index, committed in offsets.items():
                partition = None if topic is None else topic.led_partition(index)
                if topic is not None and partition is not None:
                    end = partition.log.end_offset
                    lag = max(end - committed.offset, 0)
                    yield _offset_row(topic, partition, committed.offset, lag, committed.metadata)

    def _share_offset_rows(self, group: "ShareGroup") -> Iterator[Row]:
        for topic_id, partition_indexes in group.initialized_partitions.items():
            topic = self._cluster.topics.by_id(topic_id)
            for index in partition_indexes:
                partition = None if topic is None else topic.led_partition(index)
                if topic is None or partition is None:
                    continue
                key = (group.group_id, topic_id, index)
                _, state = self._cluster.share_states.read_without_fencing(key)
                if state is not None and state.start_offset >= 0:
                    lag = (
                        partition.log.end_offset - state.start_offset - max(state.finished_count, 0)
                    )
                    yield _offset_row(topic, partition, state.start_offset, max(lag, 0), "")


def _offset_row(topic: Topic, partition: Partition, offset: int, lag: int, metadata: str) -> Row:
    return {
        "topic": topic.name,
        "partition": partition.index,
        "offset": offset,
        "end_offset": partition.log.end_offset,
        "lag": lag,
        "metadata": metadata,
    }


def _parse_target_offset(partition: Partition, target: int | str) -> int:
    log = partition.log
    if target == "earliest":
        return log.start_offset
    if target == "latest":
        return log.end_offset
    if isinstance(target, str):
        raise ControlError(400, f"invalid to `{target}`; expected earliest, latest or an offset")
    if not log.start_offset <= target <= log.end_offset:
        known = f"{log.start_offset} to {log.end_offset}"
        text = f"partition {partition.index} has offsets from {known}"
        raise ControlError(400, f"offset {target} is out of range: {text}")
    return target
