"""Responses after which the client, and so the replay, sends the request again."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import write_response_frame
from kafka_shim.protocol.messages import (
    add_partitions_to_txn as adding,
    offset_commit as committing,
    txn_offset_commit as sending,
)
from kafka_shim.protocol.messages.end_txn import EndTxnResponse
from kafka_shim.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorResponse,
)
from kafka_shim.protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from kafka_shim.protocol.messages.metadata import MetadataResponse
from kafka_shim.trace_format.entries import Response
from kafka_shim.traces.replay.error_codes import is_coordinator_elsewhere


def committed(code: int) -> committing.OffsetCommitResponse:
    rows = [committing.OffsetCommitResponsePartition(0, code)]
    return committing.OffsetCommitResponse(
        topics=[committing.OffsetCommitResponseTopic("t", partitions=rows)]
    )


def sent(code: int) -> sending.TxnOffsetCommitResponse:
    rows = [sending.TxnOffsetCommitResponsePartition(0, code)]
    return sending.TxnOffsetCommitResponse(
        topics=[sending.TxnOffsetCommitResponseTopic("t", partitions=rows)]
    )


def added(code: int) -> adding.AddPartitionsToTxnResponse:
    rows = [adding.AddPartitionsToTxnPartitionResult(0, code)]
    topic = adding.AddPartitionsToTxnTopicResult("t", rows)
    return adding.AddPartitionsToTxnResponse(results_by_topic_v3_and_below=[topic])


def found(code: int) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(coordinators=[Coordinator("g", -1, "", -1, code)])


@pytest.mark.parametrize(
    ("api", "version", "response", "is_so"),
    [
        (ApiKey.OFFSET_COMMIT, 8, committed(16), True),
        (ApiKey.OFFSET_COMMIT, 8, committed(0), False),
        (ApiKey.OFFSET_COMMIT, 8, committing.OffsetCommitResponse(), False),
        (ApiKey.TXN_OFFSET_COMMIT, 5, sent(51), True),
        (ApiKey.TXN_OFFSET_COMMIT, 5, sent(53), False),
        (ApiKey.ADD_PARTITIONS_TO_TXN, 3, added(51), True),
        (ApiKey.ADD_PARTITIONS_TO_TXN, 3, added(29), False),
        (ApiKey.END_TXN, 4, EndTxnResponse(error_code=51), True),
        (ApiKey.FIND_COORDINATOR, 6, found(15), True),
        (ApiKey.FIND_COORDINATOR, 6, found(30), False),
        (ApiKey.METADATA, 12, MetadataResponse(controller_id=15), False),
        (ApiKey.LIST_GROUPS, 4, ListGroupsResponse(groups=[ListedGroup("\0\x0f")]), False),
        (ApiKey.LIST_GROUPS, 4, ListGroupsResponse(error_code=15), True),
    ],
)
def test_retriable_coordinator_errors_are_recognized(
    api: ApiKey, version: int, response: Any, is_so: bool
) -> None:
    frame = write_response_frame(RequestHeader(api, version, 7, "c"), response)
    assert is_coordinator_elsewhere(Response(0, 0, 0, api, version, frame)) is is_so
