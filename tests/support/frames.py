"""Bytes of requests and responses, as sockets carry them."""

from typing import Any, Final

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header, write_response_header

CORRELATION_ID: Final = 7


def request_frame(
    api: ApiKey,
    version: int,
    request: Any,
    correlation_id: int = CORRELATION_ID,
    client_id: str | None = "test",
) -> bytes:
    """Return header and body of a request, without the size."""
    header = RequestHeader(api, version, correlation_id, client_id)
    return write_request_header(header) + codecs.write_request(request, version)


def response_frame(
    api: ApiKey, version: int, response: Any, correlation_id: int = CORRELATION_ID
) -> bytes:
    """Return header and body of a response, without the size."""
    header = write_response_header(api, version, correlation_id)
    return header + codecs.write_response(api, version, response)


def sized(frame: bytes) -> bytes:
    """Return a frame with its size before it."""
    return len(frame).to_bytes(4, "big") + frame
