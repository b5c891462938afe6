"""Error codes of responses, and responses of brokers that are not ready yet."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.response_frames import read_response_frame
from kafka_shim.protocol.trace.entries import Response
from kafka_shim.shim.traffic.replay.fields import COORDINATED, NOT_YET

_NOT_YET_BYTES = tuple(code.to_bytes(2, "big") for code in NOT_YET)


def error_code(entry: Response, frame: bytes | None = None) -> int:
    """Return the code of the recorded response, or of another one to the same request."""
    try:
        told = entry.frame if frame is None else frame
        response, _ = read_response_frame(entry.api_key, entry.api_version, told)
    except ProtocolError:
        return -1
    for rows in ("coordinators", "groups"):  # in versions for several coordinators or groups
        inner = getattr(response, rows, None)
        if inner and hasattr(inner[0], "error_code"):  # groups in a list have none
            return int(inner[0].error_code)
    codes = _PARTITION_CODES.get(entry.api_key)
    if codes is not None:
        return next(codes(response), 0)  # a coordinator's error is in all of them
    return int(getattr(response, "error_code", 0))


def _committed(response: Any) -> Iterator[int]:
    return (partition.error_code for topic in response.topics for partition in topic.partitions)


def _added(response: Any) -> Iterator[int]:
    topics = response.results_by_topic_v3_and_below
    return (
        result.partition_error_code for topic in topics for result in topic.results_by_partition
    )


_PARTITION_CODES: dict[int, Callable[[Any], Iterator[int]]] = {
    ApiKey.OFFSET_COMMIT: _committed,
    ApiKey.TXN_OFFSET_COMMIT: _committed,
    ApiKey.ADD_PARTITIONS_TO_TXN: _added,
}


def is_not_ready(entry: Response, frame: bytes | None = None) -> bool:
    """Return whether the broker was not ready (`NOT_YET`); decodes only if that is possible."""
    if entry.api_key not in COORDINATED:
        return False
    seen = entry.frame if frame is None else frame
    return any(code in seen for code in _NOT_YET_BYTES) and error_code(entry, frame) in NOT_YET


REBALANCE_IN_PROGRESS = 27
_RETRYABLE_MEMBER_REQUESTS = frozenset({ApiKey.HEARTBEAT, ApiKey.SYNC_GROUP})
"""Requests of members that change nothing if they are sent again."""


def is_before_join(
    request: bytes, entry: Response, actual: bytes, unanswered: Iterable[bytes]
) -> bool:
    """Return whether the target answered a member's `request` as if the group were not rebalancing.

    `entry` is the recorded response, `actual` the target's; `unanswered` are requests in flight.
    """
    if (
        entry.api_key not in _RETRYABLE_MEMBER_REQUESTS
        or error_code(entry) != REBALANCE_IN_PROGRESS
    ):
        return False
    if error_code(entry, actual) != 0:
        return False
    group = _read(request).group_id
    return any(
        int.from_bytes(frame[:2], "big") == ApiKey.JOIN_GROUP
        and getattr(_read(frame), "group_id", None) == group
        for frame in unanswered
    )


def _read(frame: bytes) -> Any:
    """Return a decoded request; None if it cannot be decoded."""
    header, at = read_request_header(frame)
    try:
        return codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return None
