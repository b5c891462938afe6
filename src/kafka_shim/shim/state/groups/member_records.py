"""The records of consumer groups in `__consumer_offsets` (KIP-848).

A coordinator logs what a heartbeat changes: members, epochs, targets and assignments. Here they are
the differences between a group and its state when it was last noted, in Kafka's order.
"""

import hashlib
from collections.abc import Iterable, Mapping

import msgspec

from kafka_shim.protocol.messages import (
    consumer_group_current_member_assignment_value as consumer_current,
    consumer_group_target_assignment_member_value as consumer_target,
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
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.consumer.consumer_member import ConsumerMember
from kafka_shim.shim.state.groups.group_records import AT_ONCE_MAX, MemberRecord
from kafka_shim.shim.state.groups.reconciliation import ReconciliationState
from kafka_shim.shim.state.java_collections import in_hash_map_order
from kafka_shim.shim.state.topics import Topics

GROUP, PARTITION_METADATA, MEMBER, TARGET_EPOCH, TARGET, CURRENT, REGULAR_EXPRESSION = (
    *range(3, 9),
    16,
)
"""Types of keys."""
STATES = {
    ReconciliationState.STABLE: 0,
    ReconciliationState.UNREVOKED: 1,
    ReconciliationState.UNRELEASED: 2,
}
TOPICS_MAX = 1_000
"""Longer assignments are not written."""


class LoggedConsumerGroup:
    """The state of a consumer group that its records show."""

    def __init__(self, group: ConsumerGroup, topics: Topics) -> None:
        """Start with a group without members."""
        self.group = self._group = group
        self._topics = topics
        self._members: dict[str, ConsumerMember] = {}
        self._targets: dict[str, Assignment] = {}
        self._by_member: Mapping[str, Assignment] = {}
        self._epoch, self._target_epoch = group.target.first_epochs
        self._changes: list[MemberRecord] = []
        self._now_ms = 0
        self._expressions: Mapping[str, frozenset[str]] = {}

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
        self._add_inherited_assignment(gone, changed)
        self._add_regular_expressions()
        self._add_epochs()
        self._add_current_assignments(changed)
        self._members.update((name, group.members[name]) for name in changed)
        return self._changes

    def group_tombstones(self) -> list[MemberRecord]:
        """Return the records of the group's deletion."""
        self._changes = []
        self._add_member_tombstones(list(self._members))
        for key_type in (TARGET_EPOCH, PARTITION_METADATA, GROUP):
            self._add_record(key_type, "", None)
        return self._changes

    def _add_record(self, key_type: int, name: str, value: msgspec.Struct | None) -> None:
        if len(self._changes) < AT_ONCE_MAX:
            self._changes.append((key_type, name, value))

    def _add_member_tombstones(self, gone: Iterable[str]) -> None:
        for name in gone:
            del self._members[name]
            self._targets.pop(name, None)
            for key_type in (CURRENT, TARGET, MEMBER):
                self._add_record(key_type, name, None)

    def _add_changed_members(self, changed: Iterable[str]) -> None:
        for name in changed:
            value = self._member_value(self._group.members[name])
            known = self._members.get(name)
            if known is None or self._member_value(known) != value:
                self._add_record(MEMBER, name, value)

    def _add_inherited_assignment(self, gone: list[str], changed: list[str]) -> None:
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
                self._add_current_assignment(name, None, copied)

    def _add_epochs(self) -> None:
        target = self._group.target
        if self._epoch != target.epoch:
            self._epoch = target.epoch
            self._add_record(GROUP, "", self._group_value())
        if self._by_member is not target.by_member or len(self._targets) != len(target.by_member):
            self._by_member = target.by_member
            names = target.by_member
            for name in names if len(names) > AT_ONCE_MAX else in_hash_map_order(names):
                if name not in self._targets or self._targets[name] != target.by_member[name]:
                    self._add_target_assignment(name)
        if self._target_epoch != target.target_epoch:
            self._target_epoch = target.target_epoch
            time_ms = self._now_ms if self._group.members else 0
            value = self._target_epoch_value(target.target_epoch, time_ms)
            self._add_record(TARGET_EPOCH, "", value)

    def _add_target_assignment(self, name: str) -> None:
        assignment = self._group.target.target_of_member(name)
        self._targets[name] = assignment
        if len(assignment) <= TOPICS_MAX:
            self._add_record(TARGET, name, self._target_assignment_value(assignment))

    def _add_current_assignments(self, changed: Iterable[str]) -> None:
        for name in changed:
            self._add_current_assignment(name, self._members.get(name), self._group.members[name])

    def _add_current_assignment(
        self, name: str, known: ConsumerMember | None, member: ConsumerMember
    ) -> None:
        if self._topics_in_current_assignment(member) > TOPICS_MAX:
            return
        value = self._current_assignment_value(member)
        is_same = (
            known is not None
            and self._topics_in_current_assignment(known) <= TOPICS_MAX
            and self._current_assignment_value(known) == value
        )
        if not is_same:
            self._add_record(CURRENT, name, value)

    def _topics_in_current_assignment(self, member: ConsumerMember) -> int:
        """Return the number of topics that a member has or must revoke."""
        return len(member.assigned) + len(member.revoking)

    def _metadata_hash(self) -> int:
        """Return a number that stands for the subscribed topics, 0 if there are none.

        DEVIATION: it is not Kafka's hash, but changes with the topics and their partitions, too.
        """
        counts = self._group.target.partition_counts_at_last_refresh
        if not counts or not self._group.members:
            return 0
        digest = hashlib.blake2b(repr(sorted(counts.items())).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True) | 1

    def _add_regular_expressions(self) -> None:
        group = self._group
        matched = group.subscriptions.topics_by_expression
        if not matched and not self._expressions:
            return
        used = {member.topic_regex for member in group.members.values()}
        matched = {name: topics for name, topics in matched.items() if name in used}
        for expression in self._expressions:
            if expression not in matched:
                self._add_record(REGULAR_EXPRESSION, expression, None)
        for expression, topics in matched.items():
            if self._expressions.get(expression) != topics:
                value = ConsumerGroupRegularExpressionValue(
                    topics=sorted(topics), version=self._topics.epoch, timestamp=self._now_ms
                )
                self._add_record(REGULAR_EXPRESSION, expression, value)
        self._expressions = matched

    def _member_value(self, member: ConsumerMember) -> msgspec.Struct:
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

    def _current_assignment_value(self, member: ConsumerMember) -> msgspec.Struct:
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

    def _target_assignment_value(self, assignment: Assignment) -> msgspec.Struct:
        rows = [
            consumer_target.TopicPartition(topic_id, sorted(held))
            for topic_id, held in assignment.items()
        ]
        return consumer_target.ConsumerGroupTargetAssignmentMemberValue(rows)

    def _group_value(self) -> msgspec.Struct:
        return ConsumerGroupMetadataValue(self._epoch, self._metadata_hash())

    def _target_epoch_value(self, epoch: int, time_ms: int) -> msgspec.Struct:
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
