"""Reads and writes frames of requests and responses: the header and the message.

A rejected ApiVersions is answered in version 0, since its client may know no other.
"""

from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.headers import (
    RequestHeader,
    read_request_header,
    read_response_header,
    write_response_header,
)

_REFUSED = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")


def read_response_with_version(api_key: int, version: int, frame: bytes) -> tuple[Any, int]:
    """Return a response and the version it is written in.

    That is 0 if ApiVersions does not support `version`. Raise ProtocolError if it is damaged.
    """
    _, at = read_response_header(api_key, version, frame)
    if api_key == ApiKey.API_VERSIONS and frame[at : at + 2] == _REFUSED:
        version = 0
    return codecs.read_response(api_key, version, frame, at), version


def write_response_frame(header: RequestHeader, response: Any) -> bytes:
    """Return the frame of a response: the inverse of `read_response_with_version`."""
    key, version = header.api_key, header.api_version
    head = write_response_header(key, version, header.correlation_id)
    if key == ApiKey.API_VERSIONS and response.error_code == ErrorCode.UNSUPPORTED_VERSION:
        version = 0
    return head + codecs.write_response(key, version, response)


def read_request_frame(frame: bytes) -> tuple[RequestHeader, Any]:
    """Return the header and the message of a request. Raise ProtocolError if it is damaged."""
    header, at = read_request_header(frame)
    return header, codecs.read_request(header.api_key, header.api_version, frame, at)
