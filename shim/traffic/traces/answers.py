"""Answers read from their frames, and written into them."""

from typing import Any

from kafka_shim.protocol import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.headers import RequestHeader, read_response_header, write_response_header
from kafka_shim.protocol.trace.entries import Response

_REFUSED = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")


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
