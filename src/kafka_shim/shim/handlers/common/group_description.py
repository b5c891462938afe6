"""Descriptions of groups of the newer protocols: ConsumerGroupDescribe (KIP-848),
ShareGroupDescribe (KIP-932) and StreamsGroupDescribe (KIP-1071).

Denied groups come first. If the caller may not describe a topic of a group, the group's entry has
only TOPIC_AUTHORIZATION_FAILED (29). Missing groups and groups of other types get
GROUP_ID_NOT_FOUND (69).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.protocol.enums import NO_OPERATIONS, ResourceType
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.groups import Groups
from kafka_shim.shim.state.java_collections import in_timeline_hash_map_order

Group = TypeVar("Group")
Row = TypeVar("Row")


class GroupDescribeRequest(Protocol):
    """The request of any of these APIs."""

    group_ids: list[str]
    include_authorized_operations: bool


class GroupDescribeApi(msgspec.Struct, Generic[Group, Row], frozen=True):
    """One of these APIs; `protocol` is its groups' name in group.coordinator.rebalance.protocols.

    The caller must be allowed to describe the topics of `topic_names_of_group`. `describe` returns
    a group's row (with authorized operations as bits), of the type `row_type`.
    """

    protocol: str
    group_requirement: Requirement
    topic_requirement: Requirement
    find_group: Callable[[Groups, str], Group | None]
    topic_names_of_group: Callable[[Group, RequestContext], Sequence[str]]
    describe: Callable[[Group, int, RequestContext], Row]
    row_type: Callable[..., Row]

    def describe_all(self, request: GroupDescribeRequest, context: RequestContext) -> list[Row]:
        """Return a row for each requested group.

        Raise RequestRejected if none can be described.
        """
        if self.protocol not in context.cluster.groups.settings.enabled_protocols:
            context.access.declare_no_further_checks()
            raise RequestRejected(ErrorCode.UNSUPPORTED_VERSION)
        allowed, denied = context.access.split_each_allowed(
            self.group_requirement, request.group_ids
        )
        if "" in allowed and not context.facts.groups.describe_rejects_empty_group_id_alone:
            raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
        error = ErrorCode.GROUP_AUTHORIZATION_FAILED
        wants_operations = request.include_authorized_operations
        rows = [self._failed_row(group_id, error, None) for group_id in denied]
        if not context.facts.groups.consumer_groups_are_preview:
            return rows + [
                self._describe_group(group_id, context, wants_operations=wants_operations)
                for group_id in allowed
            ]
        index_of = context.cluster.coordinators.group_partition_index
        return rows + [
            self._describe_group(group_id, context, wants_operations=wants_operations)
            if index_of(group_id) == index
            else self._failed_row(group_id, ErrorCode.GROUP_ID_NOT_FOUND, None)
            for index in dict.fromkeys(map(index_of, allowed))
            for group_id in allowed
        ]

    def _failed_row(self, group_id: str, error: ErrorCode, message: str | None) -> Row:
        return self.row_type(error_code=error, error_message=message, group_id=group_id)

    def _describe_group(
        self, group_id: str, context: RequestContext, *, wants_operations: bool
    ) -> Row:
        error = (
            context.group_coordinator_error(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
        )
        if error is not NO_ERROR:
            return self._failed_row(group_id, error, None)
        group = self.find_group(context.cluster.groups, group_id)
        if group is None:
            is_preview = context.facts.groups.consumer_groups_are_preview
            text = None if is_preview else f"there is no {self.protocol} group `{group_id}`"
            return self._failed_row(group_id, ErrorCode.GROUP_ID_NOT_FOUND, text)
        names = self.topic_names_of_group(group, context)
        if context.access.split_allowed(self.topic_requirement, names, str)[1]:
            text = "the group has topics that the caller may not describe"
            return self._failed_row(group_id, ErrorCode.TOPIC_AUTHORIZATION_FAILED, text)
        operations = NO_OPERATIONS
        if wants_operations:
            operations = context.access.authorized_operations(ResourceType.GROUP, group_id)
        return self.describe(group, operations, context)


Member = TypeVar("Member")


def members_in_map_order(members: Mapping[str, Member]) -> list[Member]:
    """Return members in the order of Kafka's map."""
    return [members[member_id] for member_id in in_timeline_hash_map_order(members)]


class AssignedTopic(NamedTuple):
    """An existing topic of an assignment, with its assigned partitions in order."""

    topic_id: bytes
    name: str
    partitions: list[int]


def existing_topics_of_assignment(
    assignment: Assignment, context: RequestContext
) -> list[AssignedTopic]:
    """Return the topics of an assignment without deleted ones."""
    topics = context.cluster.topics
    topic_partitions = (
        (topics.by_id(topic_id), partitions) for topic_id, partitions in assignment.items()
    )
    return [
        AssignedTopic(topic.topic_id, topic.name, sorted(partitions))
        for topic, partitions in topic_partitions
        if topic is not None
    ]


def assigned_topic_names(assignments: Iterable[Assignment], context: RequestContext) -> list[str]:
    """Return the distinct names of all topics of some assignments, in order."""
    names = {
        name
        for assignment in assignments
        for _, name, _ in existing_topics_of_assignment(assignment, context)
    }
    return sorted(names)
