"""The error codes of responses, and which of them mean that the broker was not ready."""

from collections.abc import Callable, Iterator
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
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


def is_put_off(entry: Response, frame: bytes | None = None) -> bool:
    """Return whether the broker was not ready (`NOT_YET`); decodes only if that is possible."""
    if entry.api_key not in COORDINATED:
        return False
    seen = entry.frame if frame is None else frame
    return any(code in seen for code in _NOT_YET_BYTES) and error_code(entry, frame) in NOT_YET
