"""Request and response headers: which version goes with which request, and the exceptions.

Flexible requests have header 2, ControlledShutdown 0 has header 0, all others 1; the client id is
never compact. Flexible responses have header 1, all others and every ApiVersions response 0.
"""

from struct import Struct, error as struct_error

import msgspec

from protocol.catalogue import is_flexible
from protocol.errors import DecodeError
from protocol.runtime import Tags, read_tags, tag_section
from protocol.utf8 import decode_like_java

_API_VERSIONS = 18
_CONTROLLED_SHUTDOWN = 7
_REQUEST = Struct(">hhi")
_REQUEST_WITH_CLIENT = Struct(">hhih")
_CORRELATION = Struct(">i")


class RequestHeader(msgspec.Struct, gc=False):
    """What every request starts with."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None = None
    unknown_tags: Tags = ()


class ResponseHeader(msgspec.Struct, gc=False):
    """What every response starts with."""

    correlation_id: int
    unknown_tags: Tags = ()


def request_header_version(api_key: int, version: int) -> int:
    """Return 0, 1 or 2; a version above all known ones has the header of the highest known one."""
    if is_flexible(api_key, version):
        return 2
    return 0 if (api_key, version) == (_CONTROLLED_SHUTDOWN, 0) else 1


def response_header_version(api_key: int, version: int) -> int:
    """Return 0 or 1; ApiVersions always answers with 0, so that any client can read it."""
    return int(api_key != _API_VERSIONS and is_flexible(api_key, version))


def read_request_header(frame: bytes) -> tuple[RequestHeader, int]:
    """Return the header at the start of a frame, and the position of the body.

    The API key and version need not exist: what follows the correlation id is then read as far as
    it can be. Raises DecodeError when the first eight bytes are not there, or when the header of
    an API that exists is damaged.
    """
    try:
        api_key, version, correlation_id, length = _REQUEST_WITH_CLIENT.unpack_from(frame)
        header_version = request_header_version(api_key, version)
        if header_version == 0:
            return RequestHeader(api_key, version, correlation_id), 8
        end = 10
        client_id = None
        if length >= 0:
            end = 10 + length
            client_id = _text(frame, end)
        header = RequestHeader(api_key, version, correlation_id, client_id)
        if header_version == 2:
            end += 1
            if frame[end - 1]:
                header.unknown_tags, end = read_tags(frame, end, frame[end - 1])
    except struct_error:
        return _bare(frame)
    except IndexError as fault:
        raise DecodeError("request header: its tags are missing") from fault
    return header, end


def _text(frame: bytes, end: int) -> str:
    if end > len(frame):
        raise DecodeError(f"request header: {end - len(frame)} bytes of the client id are missing")
    try:
        return frame[10:end].decode()
    except UnicodeDecodeError:
        return decode_like_java(frame[10:end])


def _bare(frame: bytes) -> tuple[RequestHeader, int]:
    """Return a header that ends after the correlation id, as header 0 does."""
    if len(frame) < _REQUEST.size:
        raise DecodeError(f"request header: only {len(frame)} bytes")
    header = RequestHeader(*_REQUEST.unpack_from(frame))
    if request_header_version(header.api_key, header.api_version) == 0:
        return header, _REQUEST.size
    raise DecodeError("request header: the client id is missing")


def write_request_header(header: RequestHeader) -> bytes:
    """Return a request's header in the version that its API key and version ask for."""
    version = request_header_version(header.api_key, header.api_version)
    start = _REQUEST.pack(header.api_key, header.api_version, header.correlation_id)
    if version == 0:
        return start
    client_id = b"" if header.client_id is None else header.client_id.encode()
    length = -1 if header.client_id is None else len(client_id)
    tags = tag_section((), header.unknown_tags) if version == 2 else b""
    return b"".join((start, length.to_bytes(2, "big", signed=True), client_id, tags))


def write_response_header(
    api_key: int, version: int, correlation_id: int, unknown_tags: Tags = ()
) -> bytes:
    """Return a response's header, to be followed by its body."""
    start = _CORRELATION.pack(correlation_id)
    if response_header_version(api_key, version) == 0:
        return start
    return start + (tag_section((), unknown_tags) if unknown_tags else b"\0")


def read_response_header(api_key: int, version: int, frame: bytes) -> tuple[ResponseHeader, int]:
    """Return the header that a response to this API and version starts with, and where the body is.

    Raises DecodeError when it is damaged.
    """
    if len(frame) < _CORRELATION.size:
        raise DecodeError(f"response header: only {len(frame)} bytes")
    header = ResponseHeader(*_CORRELATION.unpack_from(frame))
    if response_header_version(api_key, version) == 0:
        return header, 4
    try:
        header.unknown_tags, end = read_tags(frame, 5, frame[4])
    except IndexError as fault:
        raise DecodeError("response header: its tags are missing") from fault
    return header, end
