"""Decode requests and encode responses; large ones while the event loop serves other requests."""

from typing import TYPE_CHECKING, Any

from kafka_shim.protocol.codec.chunks import LONG_BYTES, flatten_byte_chunks
from kafka_shim.protocol.codec.runtime import raise_if_too_many_tags
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.shim.apis import ServedApi
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import Session

if TYPE_CHECKING:
    from kafka_shim.shim.request.time_slices import TimeSlices


def decode_header_or_close_connection(
    frame: bytes, session: Session, *, limits_tagged_fields: bool
) -> tuple[RequestHeader, int]:
    """Return the header of a request and where its body begins. Raise CloseConnection if it is
    unreadable, or (`limits_tagged_fields`) has more of these than Kafka accepts since 4.2.2.
    """
    slices = session.slices
    try:
        if slices is None:
            header, body_at = read_request_header(frame)
        else:
            header, body_at = slices.offload(read_request_header, frame)
        if limits_tagged_fields and header.unknown_tags:
            raise_if_too_many_tags(len(header.unknown_tags))
    except ProtocolError as error:
        raise CloseConnection(f"unreadable request header: {error}") from error
    return header, body_at


def decode_request_or_close_connection(
    api: ServedApi, frame: bytes, body_at: int, session: Session
) -> Any:
    """Return the request. Raise CloseConnection if it is unreadable."""
    slices = session.slices
    try:
        if slices is None:
            return api.decode_request(frame, body_at)
        request = slices.offload(api.decode_request, frame, body_at)
    except ProtocolError as error:
        raise CloseConnection(
            f"unreadable {api.key.wire_name} request, version {api.version}: {error}"
        ) from error
    from kafka_shim.shim.request.long_arrays import slice_long_arrays_unless_session_fetch  # noqa: PLC0415 - for large requests alone

    slices.offload(slice_long_arrays_unless_session_fetch, request, api.key, slices)
    return request


def encode_response_frame(
    api: ServedApi, header: RequestHeader, response: Any, slices: "TimeSlices[Any] | None" = None
) -> bytes:
    """Return the frame of a response. Raise ProtocolError if it cannot be encoded."""
    body = (
        api.encode_response(response)
        if slices is None
        else slices.offload(api.encode_response, response)
    )
    return (
        api.pack_response_start(api.response_start_bytes + len(body), header.correlation_id) + body
    )


def encode_fetch_frame_appending_rest_if_long(
    api: ServedApi,
    header: RequestHeader,
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
    start = api.pack_response_start(api.response_start_bytes + size, header.correlation_id)
    if size < LONG_BYTES or following_chunks is None:
        return b"".join((start, *flatten_byte_chunks(body)))
    following_chunks.extend(flatten_byte_chunks(body))
    return start
