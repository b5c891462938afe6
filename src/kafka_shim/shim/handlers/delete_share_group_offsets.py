"""92 DeleteShareGroupOffsets, version 0. Deletes a share group's offsets of topics (KIP-932).

DELETE on the group, READ on each topic. The group must have no members. A group error,
INVALID_GROUP_ID (24), NON_EMPTY_GROUP (68) or GROUP_ID_NOT_FOUND (69), replaces the results of all
topics; the first release checks the group only if a topic is left. A group that never initialised a
partition returns no rows for permitted topics, even for missing ones.
"""

from kafka_shim.authorizer.requirements import (
    DELETE_SHARE_GROUP_OFFSETS_GROUP,
    DELETE_SHARE_GROUP_OFFSETS_TOPIC,
)
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.topic_access import topic_error
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.share.share_group import ShareGroup

MESSAGES = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "READ on the topic is denied",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "the group has no offsets for the topic",
}


def handle(
    request: DeleteShareGroupOffsetsRequest, context: RequestContext
) -> DeleteShareGroupOffsetsResponse:
    context.require_group_protocol("share", "share groups are disabled")
    denial = context.access.denial_error(DELETE_SHARE_GROUP_OFFSETS_GROUP, request.group_id)
    if denial is not ErrorCode.NONE:
        raise RequestRejected(denial, "DELETE on the group is denied")
    names = _distinct_topic_names(request, context)
    errors = [topic_error(context, DELETE_SHARE_GROUP_OFFSETS_TOPIC, name) for name in names]
    group = None
    always = context.facts.groups.share_offset_deletion_always_checks_group
    if always or ErrorCode.NONE in errors:
        group = _empty_share_group(request.group_id, context)
    lists_permitted_topics = group is None or group.has_ever_initialized
    return DeleteShareGroupOffsetsResponse(
        responses=[
            _delete_topic_offsets(group, name, error, context)
            for name, error in zip(names, errors, strict=True)
            if lists_permitted_topics or error is ErrorCode.TOPIC_AUTHORIZATION_FAILED
        ]
    )


error_response = mirroring_error_builder(DeleteShareGroupOffsetsResponse)


def _distinct_topic_names(
    request: DeleteShareGroupOffsetsRequest, context: RequestContext
) -> list[str]:
    """Return the topics: existing ones once, missing ones as often as they are named."""
    topics = context.cluster.topics
    keyed: dict[str | int, str] = {}
    for at, topic in enumerate(request.topics):
        name = topic.topic_name
        keyed[name if name in topics else at] = name
    return list(keyed.values())


def _empty_share_group(group_id: str, context: RequestContext) -> ShareGroup:
    if not group_id:
        raise RequestRejected(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
    context.require_group_coordinator(group_id)
    group = context.cluster.groups.find_share_group(group_id)
    if group is None:
        raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, f"unknown share group `{group_id}`")
    if not group.is_empty:
        raise RequestRejected(ErrorCode.NON_EMPTY_GROUP, f"group `{group_id}` has members")
    return group


def _delete_topic_offsets(
    group: ShareGroup | None, name: str, denial: ErrorCode, context: RequestContext
) -> DeleteShareGroupOffsetsResponseTopic:
    topic = context.cluster.topics.get(name)
    error = denial
    if denial is ErrorCode.NONE and topic is not None and group is not None:
        if group.delete_share_states_of_topic(topic.topic_id):
            return DeleteShareGroupOffsetsResponseTopic(topic_name=name, topic_id=topic.topic_id)
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return DeleteShareGroupOffsetsResponseTopic(
        topic_name=name, error_code=error, error_message=MESSAGES.get(error)
    )
