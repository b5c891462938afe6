"""Error codes of responses, and responses of brokers that are not ready yet."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.trace_format.entries import Response, decode_request, decode_response
from kafka_shim.traces.identities.message_fields import COORDINATOR_APIS, NOT_READY_ERRORS

DENIALS_BY_ACLS = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)  # fmt: skip
_NOT_YET_BYTES = tuple(code.to_bytes(2, "big") for code in NOT_READY_ERRORS)


def overall_error_code(entry: Response, other_response_frame: bytes | None = None) -> int:
    """Return the error code of the recorded response, or of another one to the same request.

    Of several coordinators, groups or partitions, the first one counts. -1 if it cannot be decoded.
    """
    response_frame = entry.frame if other_response_frame is None else other_response_frame
    response = decode_response(entry.api_key, entry.api_version, response_frame)
    return -1 if response is None else error_code_of(entry.api_key, response)


def error_code_of(api_key: int, response: Any) -> int:
    """Return the error code of a decoded response, as `overall_error_code`."""
    for rows in ("coordinators", "groups"):  # in versions for several coordinators or groups
        inner_rows = getattr(response, rows, None)
        if inner_rows and hasattr(inner_rows[0], "error_code"):  # groups in a list have none
            return int(inner_rows[0].error_code)
    codes = _PARTITION_CODES.get(api_key)
    if codes is not None:
        return next(codes(response), 0)  # a coordinator's error is in all of them
    return int(getattr(response, "error_code", 0))


def _offset_commit_error_codes(response: Any) -> Iterator[int]:
    return (partition.error_code for topic in response.topics for partition in topic.partitions)


def _added_partition_error_codes(response: Any) -> Iterator[int]:
    topics = response.results_by_topic_v3_and_below
    return (
        result.partition_error_code for topic in topics for result in topic.results_by_partition
    )


_PARTITION_CODES: dict[int, Callable[[Any], Iterator[int]]] = {
    ApiKey.OFFSET_COMMIT: _offset_commit_error_codes,
    ApiKey.TXN_OFFSET_COMMIT: _offset_commit_error_codes,
    ApiKey.ADD_PARTITIONS_TO_TXN: _added_partition_error_codes,
}


def is_coordinator_elsewhere(entry: Response, other_response_frame: bytes | None = None) -> bool:
    """Return whether the response says that a coordinator is not ready, or elsewhere."""
    if entry.api_key not in COORDINATOR_APIS:
        return False
    response_frame = entry.frame if other_response_frame is None else other_response_frame
    return (
        any(code in response_frame for code in _NOT_YET_BYTES)
        and overall_error_code(entry, other_response_frame) in NOT_READY_ERRORS
    )


REBALANCE_IN_PROGRESS = 27
_RETRYABLE_MEMBER_REQUESTS = frozenset({ApiKey.HEARTBEAT, ApiKey.SYNC_GROUP})
"""Requests of members that change nothing if they are sent again."""


def target_responded_before_rebalance(
    member_request: bytes,
    entry: Response,
    target_frame: bytes,
    unanswered_requests: Iterable[bytes],
) -> bool:
    """Return whether the target responded to a member without the recorded rebalance, which begins.

    `entry` is the recorded response. The rebalance begins if a JoinGroup is unanswered.
    """
    if (
        entry.api_key not in _RETRYABLE_MEMBER_REQUESTS
        or overall_error_code(entry) != REBALANCE_IN_PROGRESS
    ):
        return False
    if overall_error_code(entry, target_frame) != 0:
        return False
    group = decode_request(member_request)[1].group_id
    return any(
        int.from_bytes(frame[:2], "big") == ApiKey.JOIN_GROUP
        and getattr(decode_request(frame)[1], "group_id", None) == group
        for frame in unanswered_requests
    )
