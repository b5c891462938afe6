"""Answers read from their frames."""

from collections.abc import Callable, Iterator
from typing import Any

from protocol import codecs
from protocol.enums import ApiKey
from protocol.error_codes import ErrorCode
from protocol.errors import ProtocolError
from protocol.headers import RequestHeader, read_response_header, write_response_header
from protocol.trace.entries import Response
from shim.replay.fields import COORDINATED, NOT_YET

_REFUSED = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")
_NOT_YET_BYTES = tuple(code.to_bytes(2, "big") for code in NOT_YET)


def write_answer(header: RequestHeader, answer: Any) -> bytes:
    """The frame of an answer to a request: the inverse of `read_answer`."""
    key, version = header.api_key, header.api_version
    head = write_response_header(key, version, header.correlation_id)
    if key == ApiKey.API_VERSIONS and answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
        version = 0
    return head + codecs.write_response(key, version, answer)


def read_answer(entry: Response, frame: bytes) -> tuple[Any, int]:
    """The answer and its version: a refusal of ApiVersions is in version 0 whatever was asked."""
    key, version = entry.api_key, entry.api_version
    _, at = read_response_header(key, version, frame)
    if key == ApiKey.API_VERSIONS and frame[at : at + 2] == _REFUSED:
        version = 0
    return codecs.read_response(key, version, frame, at), version


def error_code(entry: Response, frame: bytes | None = None) -> int:
    """The code of the recorded answer, or of another one to the same request."""
    try:
        answer = read_answer(entry, entry.frame if frame is None else frame)[0]
    except ProtocolError:
        return -1
    for rows in ("coordinators", "groups"):  # since versions that ask about several at once
        inner = getattr(answer, rows, None)
        if inner:
            return int(inner[0].error_code)
    codes = _PARTITION_CODES.get(entry.api_key)
    if codes is not None:
        return next(codes(answer), 0)  # a coordinator's error is on all of them
    return int(getattr(answer, "error_code", 0))


def _committed(answer: Any) -> Iterator[int]:
    return (one.error_code for topic in answer.topics for one in topic.partitions)


def _added(answer: Any) -> Iterator[int]:
    topics = answer.results_by_topic_v3_and_below
    return (one.partition_error_code for topic in topics for one in topic.results_by_partition)


_PARTITION_CODES: dict[int, Callable[[Any], Iterator[int]]] = {
    ApiKey.OFFSET_COMMIT: _committed,
    ApiKey.TXN_OFFSET_COMMIT: _committed,
    ApiKey.ADD_PARTITIONS_TO_TXN: _added,
}


def is_put_off(entry: Response, frame: bytes | None = None) -> bool:
    """Whether the broker was not ready for the request (`NOT_YET`); read only if it may be so."""
    if entry.api_key not in COORDINATED:
        return False
    seen = entry.frame if frame is None else frame
    return any(code in seen for code in _NOT_YET_BYTES) and error_code(entry, frame) in NOT_YET
