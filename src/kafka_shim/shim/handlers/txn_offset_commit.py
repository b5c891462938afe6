"""28 TxnOffsetCommit, versions 0-6. Commits offsets in a transaction (KIP-98).

WRITE on the transactional id, or every partition gets TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53);
READ on the group, or every one gets GROUP_AUTHORIZATION_FAILED (30); then READ and existence are
checked for each topic. The group checks the member only if partitions are left. Since version 5 the
broker adds the offsets to the transaction itself (KIP-890). Version 6 has member epochs (KIP-1319)
and identifies topics by id; an unknown one gets UNKNOWN_TOPIC_ID (100) before permission is
checked.
"""

from collections.abc import Iterable

from kafka_shim.authorizer.requirements import (
    TXN_OFFSET_COMMIT_GROUP,
    TXN_OFFSET_COMMIT_TOPIC,
    TXN_OFFSET_COMMIT_TRANSACTIONAL_ID,
)
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kafka_shim.protocol.records.batches import NO_PRODUCER
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
from kafka_shim.shim.handlers.common.transaction_verification import (
    TransactionOwner,
    is_transaction_open,
    verify_partition,
)
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.coordinators import KeyType
from kafka_shim.shim.state.groups.group import CommitIdentity
from kafka_shim.shim.state.groups.group_records import AT_ONCE_MAX, GroupChange
from kafka_shim.shim.state.groups.groups import OffsetCommit
from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.logs.partition_producers import NO_SEQUENCE, ProducedBatch
from kafka_shim.shim.state.transactions.transaction import TopicPartition

BY_ID_SINCE = 6
_OFFSET_COMMIT_VERSION, _OFFSET_COMMIT_VERSION_BY_ID = 8, 10
"""The versions of OffsetCommit whose codes of a group are those of this API, and those by id."""


def handle(request: TxnOffsetCommitRequest, context: RequestContext) -> TxnOffsetCommitResponse:
    denial = context.access.denial_error(
        TXN_OFFSET_COMMIT_TRANSACTIONAL_ID, request.transactional_id
    )
    if denial is NO_ERROR:
        denial = context.access.denial_error(TXN_OFFSET_COMMIT_GROUP, request.group_id)
    if denial is not NO_ERROR:
        response = error_response(request, denial, None)
        return (
            response
            if context.facts.records.denied_txn_commit_lists_each_partition
            else merge_duplicate_rows(response)
        )
    rows = CommitRows(TxnOffsetCommitResponseTopic, TxnOffsetCommitResponsePartition)
    permitted: list[PermittedCommit] = []
    by_id = context.version >= BY_ID_SINCE
    errors = commit_topic_errors(context, TXN_OFFSET_COMMIT_TOPIC, request.topics, by_id=by_id)
    for topic in request.topics:
        permitted += find_permitted_commits(
            context,
            errors,
            topic,
            rows,
            by_id=by_id,
            rejects_missing_partitions=context.facts.records.txn_commit_rejects_missing_partition,
        )
    facts = context.facts.groups
    if not facts.java_group_coordinator:
        permitted = last_commit_of_each_partition(permitted, context)
    codes = _commit_in_transaction(request, permitted, context) if permitted else []
    if facts.java_group_coordinator and not rows.topics:
        return _ordered_response(request, codes)
    for commit, code in zip(permitted, codes, strict=True):
        rows.add_partition_result(commit.request_topic, commit.partition.partition_index, code)
    response = TxnOffsetCommitResponse(topics=list(rows.topics.values()))
    return response if facts.failed_commit_lists_each_partition else merge_duplicate_rows(response)


error_response = mirroring_error_builder(TxnOffsetCommitResponse)


def _ordered_response(
    request: TxnOffsetCommitRequest, codes: Iterable[ErrorCode]
) -> TxnOffsetCommitResponse:
    """Return the rows as in the request, with duplicate topics, if all were passed to the group.

    Topics without partitions are left out.
    """
    remaining_codes = iter(codes)
    response = error_response(request, NO_ERROR, None)
    for topic in response.topics:
        for partition in topic.partitions:
            partition.error_code = next(remaining_codes)
    response.topics = [topic for topic in response.topics if topic.partitions]
    return response


def _commit_in_transaction(
    request: TxnOffsetCommitRequest, permitted: list[PermittedCommit], context: RequestContext
) -> list[ErrorCode]:
    """Commit, and return the error code of each partition."""
    groups = context.cluster.groups
    fits = metadata_size_checks(permitted, context)
    error = _group_coordinator_error(request, context)
    if error is NO_ERROR and request.group_id and not context.facts.groups.java_group_coordinator:
        groups.get_or_create_classic_group(request.group_id)
    error = error or _verify_group(request, context)
    if error is NO_ERROR:
        identity = CommitIdentity(
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
            _OFFSET_COMMIT_VERSION_BY_ID
            if context.version >= BY_ID_SINCE
            else _OFFSET_COMMIT_VERSION,
        )
        commits = [
            commit.offset_commit()
            for commit, does_fit in zip(permitted, fits, strict=True)
            if does_fit
        ]
        error = groups.commit_offsets(
            request.group_id,
            identity,
            commits,
            request.producer_id,
            lambda: _append_offsets(request, commits, context),
        )
    unfit = error or ErrorCode.OFFSET_METADATA_TOO_LARGE
    return [error if does_fit else unfit for does_fit in fits]


def _group_coordinator_error(request: TxnOffsetCommitRequest, context: RequestContext) -> ErrorCode:
    if not request.group_id and context.facts.records.txn_commit_rejects_empty_group_id:
        return ErrorCode.INVALID_GROUP_ID
    return context.group_coordinator_error(request.group_id)


def _offsets_log(
    request: TxnOffsetCommitRequest, context: RequestContext
) -> tuple[TopicPartition, PartitionLog]:
    """Return the log of the group's partition of the offsets topic."""
    coordinators = context.cluster.coordinators
    offsets = coordinators.get_or_create_topic(KeyType.GROUP)
    partition = coordinators.coordinator_partition_creating_topic(KeyType.GROUP, request.group_id)
    return (offsets.name, partition.index), partition.log


def _verify_group(request: TxnOffsetCommitRequest, context: RequestContext) -> ErrorCode:
    """Return NONE if the group is in the producer's transaction, or was added now (KIP-890)."""
    target, log = _offsets_log(request, context)
    facts = context.facts.records
    producer = request.producer_id, request.producer_epoch
    if not facts.offset_commit_verifies_transaction_group or is_transaction_open(
        log, *producer, facts
    ):
        return NO_ERROR
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    return verify_partition(
        TransactionOwner(request.transactional_id, *producer),
        target,
        context,
        facts.txn_offset_commit_adds_group_since,
        facts.txn_offset_commit_abortable_error_since,
    )


def _append_offsets(
    request: TxnOffsetCommitRequest, commits: list[OffsetCommit], context: RequestContext
) -> ErrorCode:
    """Append pending offsets to the offsets topic, or return the error for the producer's epoch.

    Before 4.0 those of no producer are committed as if there were no transaction.
    """
    if request.producer_id == NO_PRODUCER and not context.facts.groups.java_group_coordinator:
        return NO_ERROR
    _, log = _offsets_log(request, context)
    known = log.producers.get_producer(request.producer_id)
    if request.producer_epoch < 0:
        return ErrorCode.UNKNOWN_SERVER_ERROR
    is_old = known is not None and request.producer_epoch < known.epoch
    if is_old and context.facts.records.txn_commit_rejects_older_epoch:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    now_ms = context.cluster.clock.now_ms()
    written = ProducedBatch(NO_SEQUENCE, NO_SEQUENCE, log.end_offset, now_ms)
    log.producers.note_appended_batch(
        request.producer_id, request.producer_epoch, written, is_transactional=True
    )
    producer = request.producer_id, request.producer_epoch
    group_id = request.group_id
    pending_offsets = [
        ((group_id, commit.topic_id, commit.partition), commit.committed_offset)
        for commit in commits[:AT_ONCE_MAX]
    ]
    context.cluster.groups.records.log.write_pending_offsets(
        GroupChange(group_id, now_ms, pending_offsets), producer
    )
    return NO_ERROR
