"""8 OffsetCommit, versions 0-10. Stores a group's offsets.

READ on the group, or every partition gets GROUP_AUTHORIZATION_FAILED (30); then READ and existence
are checked for each topic. The group checks the member only if partitions are left, so an invalid
member with invalid topics is not reported. Version 0 writes to ZooKeeper, where there is one;
version 10 identifies topics by id (KIP-848).
"""

from kafka_shim.authorizer.requirements import OFFSET_COMMIT_GROUP, OFFSET_COMMIT_TOPIC
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.offset_commits import (
    CommitRows,
    PermittedCommit,
    commit_topic_errors,
    find_permitted_commits,
    last_commit_of_each_partition,
    merge_duplicate_rows,
    metadata_size_checks,
)
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.group import CommitIdentity
from kafka_shim.shim.state.groups.group_records import Retention

BY_ID_SINCE = 10
TO_ZOOKEEPER = 0
_TOO_LARGE = ErrorCode.OFFSET_METADATA_TOO_LARGE


def handle(request: OffsetCommitRequest, context: RequestContext) -> OffsetCommitResponse:
    facts = context.facts.groups
    denial = context.access.denial_error(OFFSET_COMMIT_GROUP, request.group_id)
    if denial is NO_ERROR:
        denial = context.group_coordinator_error(request.group_id)
    if denial is not NO_ERROR:
        response = error_response(request, denial, None)
        return (
            response if facts.denied_commit_lists_each_partition else merge_duplicate_rows(response)
        )
    rows = CommitRows(OffsetCommitResponseTopic, OffsetCommitResponsePartition)
    permitted: list[PermittedCommit] = []
    by_id = context.version >= BY_ID_SINCE
    errors = commit_topic_errors(context, OFFSET_COMMIT_TOPIC, request.topics, by_id=by_id)
    for topic in request.topics:
        permitted += find_permitted_commits(
            context,
            errors,
            topic,
            rows,
            by_id=by_id,
            rejects_missing_partitions=facts.commit_rejects_missing_partition,
        )
    if not facts.java_group_coordinator:
        permitted = last_commit_of_each_partition(permitted, context)
    # where the coordinator answers for everything, it does so as often as it was asked
    rows.merges = bool(rows.topics) or not facts.java_group_coordinator
    if not permitted:
        pass
    elif context.version != TO_ZOOKEEPER:
        _commit_to_group(request, permitted, rows, context)
    elif not facts.zookeeper_offset_commit_is_supported:
        return error_response(request, ErrorCode.UNSUPPORTED_VERSION, None)
    else:
        _commit_to_zookeeper(request.group_id, permitted, rows, context)
    response = OffsetCommitResponse(topics=list(rows.topics.values()))
    return response if facts.failed_commit_lists_each_partition else merge_duplicate_rows(response)


error_response = mirroring_error_builder(OffsetCommitResponse)
"""With duplicate topics as in the request (seen on 4.3.1)."""


def _commit_to_group(
    request: OffsetCommitRequest,
    permitted: list[PermittedCommit],
    rows: CommitRows[OffsetCommitResponseTopic],
    context: RequestContext,
) -> None:
    groups = context.cluster.groups
    identity = CommitIdentity(
        request.member_id,
        request.group_instance_id,
        request.generation_id_or_member_epoch,
        context.version,
    )
    fits = metadata_size_checks(permitted, context)
    commits = [
        commit.offset_commit() for commit, does_fit in zip(permitted, fits, strict=True) if does_fit
    ]
    retention_ms: Retention = request.retention_time_ms
    if (
        context.version >= BY_ID_SINCE
        and not context.facts.groups.all_offset_records_have_topic_ids
    ):
        retention_ms = None
    error = groups.commit_offsets(request.group_id, identity, commits, retention_ms=retention_ms)
    unfit = error or _TOO_LARGE
    for commit, does_fit in zip(permitted, fits, strict=True):
        code = error if does_fit else unfit
        rows.add_partition_result(commit.request_topic, commit.partition.partition_index, code)


def _commit_to_zookeeper(
    group_id: str,
    permitted: list[PermittedCommit],
    rows: CommitRows[OffsetCommitResponseTopic],
    context: RequestContext,
) -> None:
    groups = context.cluster.groups
    fits = metadata_size_checks(permitted, context)
    for commit, does_fit in zip(permitted, fits, strict=True):
        index = commit.partition.partition_index
        if not does_fit:
            rows.add_partition_result(
                commit.request_topic, index, ErrorCode.OFFSET_METADATA_TOO_LARGE
            )
        elif not group_id:
            # An empty element of a path in ZooKeeper.
            rows.add_partition_result(commit.request_topic, index, ErrorCode.UNKNOWN_SERVER_ERROR)
        else:
            groups.zookeeper_offsets.store_offset(
                group_id, commit.topic.topic_id, index, commit.offset_commit().committed_offset
            )
            rows.add_partition_result(commit.request_topic, index, NO_ERROR)
