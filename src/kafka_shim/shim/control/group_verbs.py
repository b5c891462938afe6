"""The control API's calls about groups of all four kinds: members, offsets, lag, reset."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.control.problem import ControlError
from kafka_shim.shim.control.state_shapes import NewOffsets
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.group import Group, GroupType
from kafka_shim.shim.state.groups.groups import Commit
from kafka_shim.shim.state.groups.offsets import CommittedOffset
from kafka_shim.shim.state.groups.streams.task_kinds import named
from kafka_shim.shim.state.topics import Partition, Topic

if TYPE_CHECKING:  # a kind of groups is imported with the first group of it
    from kafka_shim.shim.state.groups.classic.classic_group import ClassicGroup
    from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
    from kafka_shim.shim.state.groups.share.share_group import ShareGroup
    from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup

Row = dict[str, Any]


class ControlGroups:
    """The groups of a cluster; every method answers plain values."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def rows(self) -> Row:
        groups = sorted(self._cluster.groups, key=lambda group: group.group_id)
        return {"groups": [self._row(group) for group in groups]}

    def row(self, group_id: str) -> Row:
        return self._row(self._known(group_id))

    def delete(self, group_id: str) -> Row:
        """Delete a group without members, and its offsets."""
        group = self._known(group_id)
        self._check_empty(group)
        error = self._cluster.groups.delete(group_id)
        if error is not ErrorCode.NONE:
            raise ControlError(409, f"group `{group_id}` cannot be deleted: {error.name}")
        return {"done": True}

    def reset(self, group_id: str, new: NewOffsets) -> Row:
        """Set the offsets of a group without members, which is created if it does not exist."""
        group = self._cluster.groups.find(group_id)
        if group is not None:
            self._check_empty(group)
        places = list(self._places(group_id, new))
        wanted = [(*place, _offset(place[1], new.to)) for place in places]
        for topic, partition, offset in wanted:
            self._set(group_id, topic, partition, offset)
        offsets = self._offsets(self._known(group_id)) if wanted else []
        return {"offsets": offsets}

    def _set(self, group_id: str, topic: Topic, partition: Partition, offset: int) -> None:
        groups = self._cluster.groups
        share = groups.share(group_id)
        if share is not None:
            share.initialize_partition(topic.topic_id, partition.index, offset)
            share.note_initialized({topic.topic_id: {partition.index}})
            return
        if groups.find(group_id) is None:
            groups.classic_or_new(group_id)
        groups.store(group_id, [Commit(topic.topic_id, partition.index, CommittedOffset(offset))])

    def _places(self, group_id: str, new: NewOffsets) -> Iterator[tuple[Topic, Partition]]:
        """Return the partitions of a reset."""
        topics = self._cluster.topics
        if new.topic is None:
            if new.partition is not None:
                raise ControlError(400, "partition requires topic")
            for row in self._offsets(self._known(group_id)):
                topic = topics.get(row["topic"])
                assert topic is not None
                yield topic, topic.partitions[row["partition"]]
            return
        topic = topics.get(new.topic)
        if topic is None:
            raise ControlError(404, f"unknown topic `{new.topic}`")
        if new.partition is None:
            yield from ((topic, partition) for partition in topic.partitions)
            return
        partition = topic.partition(new.partition)
        if partition is None:
            raise ControlError(404, f"topic `{new.topic}` has no partition {new.partition}")
        yield topic, partition

    def _known(self, group_id: str) -> Group:
        group = self._cluster.groups.find(group_id)
        if group is None:
            raise ControlError(404, f"unknown group `{group_id}`")
        return group

    def _check_empty(self, group: Group) -> None:
        group.expire_overdue()
        if not group.is_empty:
            raise ControlError(409, f"group `{group.group_id}` has members: stop them first")

    def _row(self, group: Group) -> Row:
        group.expire_overdue()
        offsets = self._offsets(group)
        return {
            "group_id": group.group_id,
            "type": group.type.value,
            "state": group.state_name,
            "members": list(self._members(group)),
            "offsets": offsets,
            "lag": sum(row["lag"] for row in offsets),
        }

    # members

    def _members(self, group: Group) -> Iterator[Row]:
        match group.type:
            case GroupType.CLASSIC:
                return self._classic(cast("ClassicGroup", group))
            case GroupType.CONSUMER:
                consumers = cast("ConsumerGroup", group)
                shown = {m.member_id: consumers.shown_assignment(m) for m in _all(consumers)}
                return self._with_epochs(consumers, shown)
            case GroupType.SHARE:
                sharing = cast("ShareGroup", group)
                return self._with_epochs(sharing, {m.member_id: m.assigned for m in _all(sharing)})
        streams = cast("StreamsGroup", group)
        return self._with_epochs(streams, {m.member_id: m.assigned for m in _all(streams)})

    def _classic(self, group: "ClassicGroup") -> Iterator[Row]:
        from kafka_shim.shim.state.groups.classic import subscription  # noqa: PLC0415 - with the first member

        for member in group.views():
            assigned = subscription.read_assignment(member.assignment, self._cluster.topics)
            yield {
                "member_id": member.member_id,
                "instance_id": member.instance_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "epoch": group.cycle.generation_id,
                "assignment": self._topics(assigned or {}),
            }

    def _with_epochs(self, group: Any, assignments: Mapping[str, Assignment]) -> Iterator[Row]:
        for member in _all(group):
            yield {
                "member_id": member.member_id,
                "instance_id": member.instance_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "epoch": member.epoch,
                "assignment": self._topics(assignments[member.member_id]),
            }

    def _topics(self, assignment: Assignment) -> list[Row]:
        """Return assignments by topic; those of streams groups by subtopology."""
        rows = []
        for key, partitions in assignment.items():
            topic = self._cluster.topics.by_id(key)
            name = named(key) if topic is None else topic.name
            rows.append({"topic": name, "partitions": sorted(partitions)})
        return sorted(rows, key=lambda row: str(row["topic"]))

    # offsets

    def _offsets(self, group: Group) -> list[Row]:
        if group.type is GroupType.SHARE:
            found = self._share_offsets(cast("ShareGroup", group))
        else:
            found = self._committed(group.group_id)
        return sorted(found, key=lambda row: (row["topic"], row["partition"]))

    def _committed(self, group_id: str) -> Iterator[Row]:
        for topic_id, offsets in self._cluster.groups.offsets.of_group(group_id):
            topic = self._cluster.topics.by_id(topic_id)
            for index, committed in offsets.items():
                partition = None if topic is None else topic.partition(index)
                if topic is not None and partition is not None:
                    end = partition.log.end_offset
                    lag = max(end - committed.offset, 0)
                    yield _offset_row(topic, partition, committed.offset, lag, committed.metadata)

    def _share_offsets(self, group: "ShareGroup") -> Iterator[Row]:
        for topic_id, begun in group.begun.items():
            topic = self._cluster.topics.by_id(topic_id)
            for index in begun:
                partition = None if topic is None else topic.partition(index)
                if topic is None or partition is None:
                    continue
                key = (group.group_id, topic_id, index)
                _, state = self._cluster.share_states.read_without_fencing(key)
                if state is not None and state.start_offset >= 0:
                    left = (
                        partition.log.end_offset - state.start_offset - max(state.finished_count, 0)
                    )
                    yield _offset_row(topic, partition, state.start_offset, max(left, 0), "")


def _all(group: Any) -> list[Any]:
    """Return the members of a group of a newer protocol."""
    return list(group.members.values())


def _offset_row(topic: Topic, partition: Partition, offset: int, lag: int, metadata: str) -> Row:
    return {
        "topic": topic.name,
        "partition": partition.index,
        "offset": offset,
        "end_offset": partition.log.end_offset,
        "lag": lag,
        "metadata": metadata,
    }


def _offset(partition: Partition, to: int | str) -> int:
    log = partition.log
    if to == "earliest":
        return log.start_offset
    if to == "latest":
        return log.end_offset
    if isinstance(to, str):
        raise ControlError(400, f"invalid to `{to}`; expected earliest, latest or an offset")
    if not log.start_offset <= to <= log.end_offset:
        known = f"{log.start_offset} to {log.end_offset}"
        text = f"partition {partition.index} has offsets from {known}"
        raise ControlError(400, f"offset {to} is out of range: {text}")
    return to
