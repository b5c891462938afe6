"""Decode requests and encode responses."""

from typing import Any

from kafka_shim.protocol.codec.chunks import LONG_BYTES, flatten_byte_chunks
from kafka_shim.protocol.codec.runtime import raise_if_too_many_tags
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.shim.apis import ServedApi
from kafka_shim.shim.errors import CloseConnection


def decode_header(frame: bytes, *, limits_tagged_fields: bool) -> tuple[RequestHeader, int]:
    """Return the header of a request and where its body begins. Raise CloseConnection if it is
    unreadable, or (`limits_tagged_fields`) has more of these than Kafka accepts since 4.2.2.
    """
    try:
        header, body_at = read_request_header(frame)
        if limits_tagged_fields and header.unknown_tags:
            raise_if_too_many_tags(len(header.unknown_tags))
    except ProtocolError as error:
        raise CloseConnection(f"unreadable request header: {error}") from error
    return header, body_at


def decode_request(api: ServedApi, frame: bytes, body_at: int) -> Any:
    """Return the request. Raise CloseConnection if it is unreadable."""
    try:
        return api.decode_request(frame, body_at)
    except ProtocolError as error:
        raise CloseConnection(
            f"unreadable {api.key.wire_name} request, version {api.version}: {error}"
        ) from error


def encode_response(api: ServedApi, correlation_id: int, response: Any) -> bytes:
    """Return the frame of a response. Raise ProtocolError if it cannot be encoded."""
    body = api.encode_response(response)
    return api.pack_response_start(api.response_start_bytes + len(body), correlation_id) + body


def encode_fetch_response(
    api: ServedApi,
    correlation_id: int,
    response: Any,
    following_chunks: list[bytes | memoryview] | None,
) -> bytes:
    """Return the start of a Fetch response's frame, and append the rest to `following_chunks`:
    records go from the log to the socket without being copied together. Return the whole frame if
    it is short, or None is given.
    """
    assert api.encode_response_in_chunks is not None
    body = api.encode_response_in_chunks(response)
    size = sum(map(len, body))
    start = api.pack_response_start(api.response_start_bytes + size, correlation_id)
    if size < LONG_BYTES or following_chunks is None:
        return b"".join((start, *flatten_byte_chunks(body)))
    following_chunks.extend(flatten_byte_chunks(body))
    return start
