"""The records of consumer, share and streams groups in `__consumer_offsets`.

A coordinator logs what a heartbeat changes: members, epochs, targets and assignments. Here they are
the differences between a group and its state when it was last noted, in Kafka's order.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import msgspec

from kafka_shim.protocol.messages import (
    consumer_group_current_member_assignment_value as consumer_current,
    consumer_group_target_assignment_member_value as consumer_target,
    share_group_current_member_assignment_value as share_current,
    share_group_state_partition_metadata_value as share_states,
    share_group_target_assignment_member_value as share_target,
    streams_group_current_member_assignment_value as streams_current,
    streams_group_member_metadata_value as streams_member,
    streams_group_metadata_value as streams_metadata,
    streams_group_target_assignment_member_value as streams_target,
    streams_group_topology_value as streams_topology,
)
from kafka_shim.protocol.messages.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataValue,
)
from kafka_shim.protocol.messages.consumer_group_metadata_value import ConsumerGroupMetadataValue
from kafka_shim.protocol.messages.consumer_group_regular_expression_value import (
    ConsumerGroupRegularExpressionValue,
)
from kafka_shim.protocol.messages.consumer_group_target_assignment_metadata_value import (
    ConsumerGroupTargetAssignmentMetadataValue,
)
from kafka_shim.protocol.messages.share_group_member_metadata_value import (
    ShareGroupMemberMetadataValue,
)
from kafka_shim.protocol.messages.share_group_metadata_value import ShareGroupMetadataValue
from kafka_shim.protocol.messages.share_group_target_assignment_metadata_value import (
    ShareGroupTargetAssignmentMetadataValue,
)
from kafka_shim.protocol.messages.streams_group_target_assignment_metadata_value import (
    StreamsGroupTargetAssignmentMetadataValue,
)
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.consumer.consumer_member import ConsumerMember
from kafka_shim.shim.state.groups.group import Group
from kafka_shim.shim.state.groups.group_records import AT_ONCE_MAX, MemberRecord
from kafka_shim.shim.state.groups.reconciliation import ReconciliationState
from kafka_shim.shim.state.groups.share.share_group import ShareGroup, ShareMember
from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup
from kafka_shim.shim.state.groups.streams.streams_member import StreamsMember
from kafka_shim.shim.state.groups.streams.streams_topology import InternalTopic, StreamsTopology
from kafka_shim.shim.state.groups.streams.task_kinds import (
    active_tasks_by_subtopology as active_tasks,
    standby_tasks_by_subtopology as standby_tasks,
)
from kafka_shim.shim.state.java_collections import in_hash_map_order
from kafka_shim.shim.state.topics import Topics

REGULAR_EXPRESSION, PARTITION_METADATA, STATE_PARTITIONS, TOPOLOGY = 16, 4, 15, 23
"""Types of keys that only one kind of group has."""
STATES = {
    ReconciliationState.STABLE: 0,
    ReconciliationState.UNREVOKED: 1,
    ReconciliationState.UNRELEASED: 2,
}
TOPICS_MAX = 1_000
"""Longer assignments and topologies are not written: their heartbeat would block the loop."""
NO_EPOCHS: Mapping[tuple[bytes, int], int] = {}


class KeyTypes(NamedTuple):
    """The types of the keys that each kind of group has."""

    group: int
    member: int
    target_epoch: int
    target: int
    current: int


class LoggedGroup(ABC):
    """The state of a group that its records show."""

    key_types: KeyTypes

    def __init__(self, group: Any, topics: Topics) -> None:
        """Start with a group without members."""
        self.group = self._group = group
        self._topics = topics
        self._members: dict[str, Any] = {}
        self._targets: dict[str, Assignment] = {}
        self._by_member: Mapping[str, Assignment] = {}
        self._epoch, self._target_epoch = group.target.first_epochs
        self._changes: list[MemberRecord] = []
        self._now_ms = 0

    def new_records(self, now_ms: int, member_id: str | None) -> list[MemberRecord]:
        """Return records of what has changed; of one member if only that one may have changed.

        DEVIATION: a change of very many members has 1,000 records; assignments of more than
        TOPICS_MAX topics have none.
        """
        self._changes, self._now_ms = [], now_ms
        group = self._group
        is_alone = (
            self._by_member is group.target.by_member
            and self._epoch == group.target.epoch
            and member_id in self._members
            and member_id in group.members
            and len(self._members) == len(group.members)
        )
        present = [member_id] if is_alone and member_id is not None else list(group.members)
        gone = [] if is_alone else [name for name in self._members if name not in group.members]
        self._add_member_tombstones(gone)
        changed = [name for name in present if group.members[name] is not self._members.get(name)]
        self._add_changed_members(changed)
        self._add_inherited_targets_and_assignments(gone, changed)
        self._add_regexes_or_topology()
        self._add_epochs_and_targets()
        self._add_current_assignments(changed)
        self._add_share_state_partitions()
        self._members.update((name, group.members[name]) for name in changed)
        return self._changes

    def group_tombstones(self) -> list[MemberRecord]:
        """Return the records of the group's deletion."""
        self._changes = []
        self._add_member_tombstones(list(self._members))
        self._add_tombstones_of_group_records()
        return self._changes

    def _add_record_unless_too_many(
        self, key_type: int, name: str, value: msgspec.Struct | None
    ) -> None:
        if len(self._changes) < AT_ONCE_MAX:
            self._changes.append((key_type, name, value))

    def _add_member_tombstones(self, gone: Iterable[str]) -> None:
        for name in gone:
            del self._members[name]
            self._targets.pop(name, None)
            for key_type in (self.key_types.current, self.key_types.target, self.key_types.member):
                self._add_record_unless_too_many(key_type, name, None)

    def _add_changed_members(self, changed: Iterable[str]) -> None:
        for name in changed:
            value = self.member_value(self._group.members[name])
            known = self._members.get(name)
            if known is None or self.member_value(known) != value:
                self._add_record_unless_too_many(self.key_types.member, name, value)

    def _add_inherited_targets_and_assignments(self, gone: list[str], changed: list[str]) -> None:
        """Add the target and the assignment that a static member takes over."""
        if not gone:
            return
        for name in changed:
            member = self._group.members[name]
            if name not in self._members and member.instance_id is not None and member.assigned:
                self._add_target_assignment(name)
                copied = msgspec.structs.replace(
                    member, epoch=0, previous_epoch=0, state=ReconciliationState.STABLE
                )
                self._add_current_assignment_unless_same(name, None, copied)

    def _add_epochs_and_targets(self) -> None:
        target = self._group.target
        if self.check_and_note_group_record_change():
            self._epoch = target.epoch
            self._add_record_unless_too_many(self.key_types.group, "", self.group_value())
        if self._by_member is not target.by_member or len(self._targets) != len(target.by_member):
            self._by_member = target.by_member
            names = target.by_member
            for name in names if len(names) > AT_ONCE_MAX else in_hash_map_order(names):
                if name not in self._targets or self._targets[name] != target.by_member[name]:
                    self._add_target_assignment(name)
        if self._target_epoch != target.target_epoch:
            self._target_epoch = target.target_epoch
            time_ms = self._now_ms if self._group.members else 0
            value = self.target_epoch_value(target.target_epoch, time_ms)
            self._add_record_unless_too_many(self.key_types.target_epoch, "", value)

    def _add_target_assignment(self, name: str) -> None:
        assignment = self._group.target.target_of_member(name)
        self._targets[name] = assignment
        if len(assignment) <= TOPICS_MAX:
            self._add_record_unless_too_many(
                self.key_types.target, name, self.target_assignment_value(assignment)
            )

    def _add_current_assignments(self, changed: Iterable[str]) -> None:
        for name in changed:
            self._add_current_assignment_unless_same(
                name, self._members.get(name), self._group.members[name]
            )

    def _add_current_assignment_unless_same(self, name: str, known: Any, member: Any) -> None:
        if self.topics_in_current_assignment(member) > TOPICS_MAX:
            return
        value = self.current_assignment_value(member)
        is_known = known is not None and self.topics_in_current_assignment(known) <= TOPICS_MAX
        if not is_known or self.current_assignment_value(known) != value:
            self._add_record_unless_too_many(self.key_types.current, name, value)

    def check_and_note_group_record_change(self) -> bool:
        """Return whether the group's record changes."""
        return bool(self._epoch != self._group.target.epoch)

    def topics_in_current_assignment(self, member: Any) -> int:
        """Return the number of topics that a member has or must revoke."""
        return len(member.assigned) + len(member.revoking)

    def metadata_hash(self) -> int:
        """Return a number that stands for the subscribed topics, 0 if there are none.

        DEVIATION: it is not Kafka's hash, but changes with the topics and their partitions, too.
        """
        counts = self._group.target.partition_counts_at_last_refresh
        if not counts or not self._group.members:
            return 0
        digest = hashlib.blake2b(repr(sorted(counts.items())).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True) | 1

    # the parts that the kinds of groups have in different forms

    @abstractmethod
    def member_value(self, member: Any) -> msgspec.Struct:
        """Return the value of a member."""

    @abstractmethod
    def current_assignment_value(self, member: Any) -> msgspec.Struct:
        """Return the value of a member's current assignment."""

    @abstractmethod
    def target_assignment_value(self, assignment: Assignment) -> msgspec.Struct:
        """Return the value of a target assignment."""

    @abstractmethod
    def group_value(self) -> msgspec.Struct:
        """Return the value of the group."""

    @abstractmethod
    def target_epoch_value(self, epoch: int, time_ms: int) -> msgspec.Struct:
        """Return the value of the epoch of the targets."""

    def _add_regexes_or_topology(self) -> None:  # noqa: B027 - most groups have none
        """Add what precedes the group's epoch."""

    def _add_share_state_partitions(self) -> None:  # noqa: B027 - most groups have none
        """Add what follows the members' assignments."""

    def _add_tombstones_of_group_records(self) -> None:
        self._add_record_unless_too_many(self.key_types.target_epoch, "", None)
        self._add_record_unless_too_many(self.key_types.group, "", None)


class LoggedConsumerGroup(LoggedGroup):
    """The records of a consumer group (KIP-848)."""

    key_types = KeyTypes(3, 5, 6, 7, 8)

    def __init__(self, group: ConsumerGroup, topics: Topics) -> None:
        super().__init__(group, topics)
        self._expressions: Mapping[str, frozenset[str]] = {}

    def _add_regexes_or_topology(self) -> None:
        group = cast("ConsumerGroup", self._group)
        matched = group.subscriptions.topics_by_expression
        if not matched and not self._expressions:
            return
        used = {member.topic_regex for member in group.members.values()}
        matched = {name: topics for name, topics in matched.items() if name in used}
        for expression in self._expressions:
            if expression not in matched:
                self._add_record_unless_too_many(REGULAR_EXPRESSION, expression, None)
        for expression, topics in matched.items():
            if self._expressions.get(expression) != topics:
                value = ConsumerGroupRegularExpressionValue(
                    topics=sorted(topics), version=self._topics.epoch, timestamp=self._now_ms
                )
                self._add_record_unless_too_many(REGULAR_EXPRESSION, expression, value)
        self._expressions = matched

    def _add_tombstones_of_group_records(self) -> None:
        self._add_record_unless_too_many(self.key_types.target_epoch, "", None)
        self._add_record_unless_too_many(PARTITION_METADATA, "", None)
        self._add_record_unless_too_many(self.key_types.group, "", None)

    def member_value(self, member: ConsumerMember) -> msgspec.Struct:
        classic = member.classic_join
        return ConsumerGroupMemberMetadataValue(
            instance_id=member.instance_id,
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=sorted(member.topic_names),
            subscribed_topic_regex=member.topic_regex or "",
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            server_assignor=member.server_assignor,
            classic_member_metadata=None
            if classic is None
            else ClassicMemberMetadata(
                classic.session_timeout_ms,
                [ClassicProtocol(name, metadata) for name, metadata in classic.protocols],
            ),
        )

    def current_assignment_value(self, member: ConsumerMember) -> msgspec.Struct:
        return consumer_current.ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=member.epoch,
            previous_member_epoch=member.previous_epoch,
            state=STATES[member.state],
            assigned_partitions=_topic_partitions_with_epochs(
                member.assigned, member.assigned_since_epoch
            ),
            partitions_pending_revocation=_topic_partitions_with_epochs(
                member.revoking, member.revoking_since_epoch
            ),
        )

    def target_assignment_value(self, assignment: Assignment) -> msgspec.Struct:
        rows = [
            consumer_target.TopicPartition(topic_id, sorted(held))
            for topic_id, held in assignment.items()
        ]
        return consumer_target.ConsumerGroupTargetAssignmentMemberValue(rows)

    def group_value(self) -> msgspec.Struct:
        return ConsumerGroupMetadataValue(self._epoch, self.metadata_hash())

    def target_epoch_value(self, epoch: int, time_ms: int) -> msgspec.Struct:
        return ConsumerGroupTargetAssignmentMetadataValue(epoch, time_ms)


def _topic_partitions_with_epochs(
    assignment: Assignment, epochs: Mapping[tuple[bytes, int], int]
) -> list[consumer_current.TopicPartitions]:
    return [
        consumer_current.TopicPartitions(
            topic_id, sorted(held), [epochs.get((topic_id, at), 0) for at in sorted(held)]
        )
        for topic_id, held in assignment.items()
    ]


class LoggedShareGroup(LoggedGroup):
    """The records of a share group (KIP-932)."""

    key_types = KeyTypes(11, 10, 12, 13, 14)

    def __init__(self, group: ShareGroup, topics: Topics) -> None:
        super().__init__(group, topics)
        self._initialized: dict[bytes, frozenset[int]] = {}

    def _add_share_state_partitions(self) -> None:
        """Add a record before partitions are initialised, and one after that."""
        group = cast("ShareGroup", self._group)
        if len(group.initialized_partitions) > TOPICS_MAX:
            return
        now = {topic: frozenset(held) for topic, held in group.initialized_partitions.items()}
        if now == self._initialized:
            return
        new = {
            topic_id: held - self._initialized.get(topic_id, frozenset())
            for topic_id, held in now.items()
            if held != self._initialized.get(topic_id)
        }
        if new:
            self._add_state_partitions(new, self._initialized)
        self._initialized = now
        self._add_state_partitions({}, now)

    def _add_state_partitions(
        self,
        initializing: Mapping[bytes, frozenset[int]],
        initialized: Mapping[bytes, frozenset[int]],
    ) -> None:
        value = share_states.ShareGroupStatePartitionMetadataValue(
            initializing_topics=self._topic_infos_with_names(initializing),
            initialized_topics=self._topic_infos_with_names(initialized),
        )
        self._add_record_unless_too_many(STATE_PARTITIONS, "", value)

    def _topic_infos_with_names(
        self, partitions: Mapping[bytes, frozenset[int]]
    ) -> list[share_states.TopicPartitionsInfo]:
        return [
            share_states.TopicPartitionsInfo(
                topic_id,
                self._topics.name_of_topic_even_recently_deleted(topic_id) or "",
                sorted(held),
            )
            for topic_id, held in partitions.items()
        ]

    def _add_tombstones_of_group_records(self) -> None:
        if self._initialized:
            value = share_states.ShareGroupStatePartitionMetadataValue(
                deleting_topics=[
                    share_states.TopicInfo(
                        topic_id, self._topics.name_of_topic_even_recently_deleted(topic_id) or ""
                    )
                    for topic_id in self._initialized
                ]
            )
            self._add_record_unless_too_many(STATE_PARTITIONS, "", value)
        self._add_record_unless_too_many(self.key_types.target_epoch, "", None)
        self._add_record_unless_too_many(STATE_PARTITIONS, "", None)
        self._add_record_unless_too_many(self.key_types.group, "", None)

    def member_value(self, member: ShareMember) -> msgspec.Struct:
        return ShareGroupMemberMetadataValue(
            member.rack_id, member.client_id, member.client_host, sorted(member.topic_names)
        )

    def topics_in_current_assignment(self, member: ShareMember) -> int:
        return len(member.assigned)

    def current_assignment_value(self, member: ShareMember) -> msgspec.Struct:
        return share_current.ShareGroupCurrentMemberAssignmentValue(
            member_epoch=member.epoch,
            previous_member_epoch=member.previous_epoch,
            assigned_partitions=[
                share_current.TopicPartitions(topic_id, sorted(held))
                for topic_id, held in member.assigned.items()
            ],
        )

    def target_assignment_value(self, assignment: Assignment) -> msgspec.Struct:
        rows = [
            share_target.TopicPartition(topic_id, sorted(held))
            for topic_id, held in assignment.items()
        ]
        return share_target.ShareGroupTargetAssignmentMemberValue(rows)

    def group_value(self) -> msgspec.Struct:
        return ShareGroupMetadataValue(self._epoch, self.metadata_hash())

    def target_epoch_value(self, epoch: int, time_ms: int) -> msgspec.Struct:
        return ShareGroupTargetAssignmentMetadataValue(epoch, time_ms)


class LoggedStreamsGroup(LoggedGroup):
    """The records of a streams group (KIP-1071)."""

    key_types = KeyTypes(17, 19, 20, 21, 22)

    def __init__(self, group: StreamsGroup, topics: Topics) -> None:
        super().__init__(group, topics)
        self._topology: StreamsTopology | None = None
        self._described: object = None

    def _add_regexes_or_topology(self) -> None:
        topology = cast("StreamsGroup", self._group).topology
        if topology is not self._topology and topology != self._topology:
            assert topology is not None
            if _subtopology_and_topic_count(topology) <= TOPICS_MAX:
                self._add_record_unless_too_many(TOPOLOGY, "", _topology_value(topology))
        self._topology = topology

    def check_and_note_group_record_change(self) -> bool:
        group = cast("StreamsGroup", self._group)
        is_described_otherwise = group.description != self._described
        self._described = group.description
        return is_described_otherwise or super().check_and_note_group_record_change()

    def metadata_hash(self) -> int:
        counts = self._group.target.partition_counts_at_last_refresh
        return super().metadata_hash() or int(counts is not None)

    def _add_tombstones_of_group_records(self) -> None:
        super()._add_tombstones_of_group_records()
        self._add_record_unless_too_many(TOPOLOGY, "", None)

    def member_value(self, member: StreamsMember) -> msgspec.Struct:
        endpoint = member.endpoint and streams_member.Endpoint(*member.endpoint)
        tags = [streams_member.KeyValue(*tag) for tag in member.client_tags.items()]
        return streams_member.StreamsGroupMemberMetadataValue(
            instance_id=member.instance_id,
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            topology_epoch=member.topology_epoch,
            process_id=member.process_id,
            user_endpoint=endpoint,
            client_tags=tags,
        )

    def current_assignment_value(self, member: StreamsMember) -> msgspec.Struct:
        active, standby = active_tasks(member.assigned), standby_tasks(member.assigned)
        revoked, stopped = active_tasks(member.revoking), standby_tasks(member.revoking)
        return streams_current.StreamsGroupCurrentMemberAssignmentValue(
            member_epoch=member.epoch,
            previous_member_epoch=member.previous_epoch,
            state=STATES[member.state] + 1,
            active_tasks=_current_tasks(active, member.assigned_since_epoch),
            standby_tasks=_current_tasks(standby),
            active_tasks_pending_revocation=_current_tasks(revoked, member.revoking_since_epoch),
            standby_tasks_pending_revocation=_current_tasks(stopped),
        )

    def target_assignment_value(self, assignment: Assignment) -> msgspec.Struct:
        active, standby = active_tasks(assignment), standby_tasks(assignment)
        return streams_target.StreamsGroupTargetAssignmentMemberValue(
            active_tasks=_target_tasks(active), standby_tasks=_target_tasks(standby)
        )

    def group_value(self) -> msgspec.Struct:
        group = cast("StreamsGroup", self._group)
        configured = group.tasks.configured
        is_validated = configured is not None and bool(configured.tasks)
        described = -1 if group.description is None else group.description[0]
        return streams_metadata.StreamsGroupMetadataValue(
            epoch=self._epoch,
            metadata_hash=self.metadata_hash(),
            validated_topology_epoch=group.topology_epoch if is_validated else -1,
            last_assignment_configs=[
                streams_metadata.LastAssignmentConfig("num.standby.replicas", str(replicas))
                for replicas in group.last_assignment_settings[:1]
            ],
            stored_description_topology_epoch=described,
        )

    def target_epoch_value(self, epoch: int, time_ms: int) -> msgspec.Struct:
        return StreamsGroupTargetAssignmentMetadataValue(epoch, time_ms)


def _target_tasks(tasks: Mapping[bytes, frozenset[int]]) -> list[streams_target.TaskIds]:
    return [
        streams_target.TaskIds(name.decode(), sorted(held)) for name, held in sorted(tasks.items())
    ]


def _current_tasks(
    tasks: Mapping[bytes, frozenset[int]], epochs: Mapping[tuple[bytes, int], int] | None = None
) -> list[streams_current.TaskIds]:
    return [
        streams_current.TaskIds(
            name.decode(),
            sorted(held),
            None if epochs is None else [epochs.get((name, at), 0) for at in sorted(held)],
        )
        for name, held in sorted(tasks.items())
    ]


def _subtopology_and_topic_count(topology: StreamsTopology) -> int:
    """Return the number of subtopologies and of their topics."""
    return sum(
        1 + len(each.sources) + len(each.sinks) + len(each.changelogs) + len(each.repartition)
        for each in topology.subtopologies
    )


def _topology_value(topology: StreamsTopology) -> msgspec.Struct:
    subtopologies = sorted(topology.subtopologies, key=lambda each: each.subtopology_id)
    return streams_topology.StreamsGroupTopologyValue(
        epoch=topology.epoch,
        subtopologies=[
            streams_topology.Subtopology(
                subtopology_id=each.subtopology_id,
                source_topics=list(each.sources),
                state_changelog_topics=list(_topic_infos(each.changelogs)),
                repartition_sink_topics=list(each.sinks),
                repartition_source_topics=list(_topic_infos(each.repartition)),
            )
            for each in subtopologies
        ],
    )


def _topic_infos(topics: Iterable[InternalTopic]) -> Iterator[streams_topology.TopicInfo]:
    for topic in topics:
        configs = [streams_topology.TopicConfig(*config) for config in topic.configs]
        yield streams_topology.TopicInfo(
            topic.name, topic.partitions, topic.replication_factor, configs
        )


def create_logged_group(group: Group, topics: Topics) -> LoggedGroup:
    """Return the log state of a group of which no record is written yet."""
    if isinstance(group, ConsumerGroup):
        return LoggedConsumerGroup(group, topics)
    if isinstance(group, ShareGroup):
        return LoggedShareGroup(group, topics)
    return LoggedStreamsGroup(cast("StreamsGroup", group), topics)
