"""Reads and writes request and response headers.

Flexible requests have header 2, ControlledShutdown 0 has header 0, all others 1; the client id is
never compact. Flexible responses have header 1, all others and every ApiVersions response 0.
"""

from struct import Struct, error as struct_error

import msgspec

from kafka_shim.protocol.codec.catalogue import has_version, is_flexible
from kafka_shim.protocol.codec.java_utf8 import decode_like_java
from kafka_shim.protocol.codec.runtime import Tags, encode_tag_section, read_tags
from kafka_shim.protocol.errors import DecodeError, EncodeError
from kafka_shim.protocol.messages.apis import APIS

_API_VERSIONS = 18
_CONTROLLED_SHUTDOWN = 7
_VERSIONS_END = 32
_REQUEST = Struct(">hhi")
_REQUEST_WITH_CLIENT = Struct(">hhih")
_LENGTH = Struct(">h")
_HEADER_0 = Struct(">hh").pack(_CONTROLLED_SHUTDOWN, 0)
_CORRELATION = Struct(">i")
_TAGS_BYTES: dict[bytes, int] = {}
"""Size of an empty tag section in the header, 0 or 1, by the API key and version at the start of a
frame. Filled with existing versions when they are first received."""


class RequestHeader(msgspec.Struct, gc=False):
    """The header of a request."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None = None
    unknown_tags: Tags = ()


class ResponseHeader(msgspec.Struct, gc=False):
    """The header of a response."""

    correlation_id: int
    unknown_tags: Tags = ()


def is_kafka_request(header: RequestHeader) -> bool:
    """Return whether bytes that begin with this header can be a request, not a raw SASL token.

    In a token of PLAIN, SCRAM, OAUTHBEARER or GSSAPI, the first two bytes are not an API key, or
    the next two are not a version: bytes of text are 32 or more.
    """
    if header.api_key == _API_VERSIONS:  # answered in every version
        return True
    return header.api_key in APIS and 0 <= header.api_version < _VERSIONS_END


def request_header_version(api_key: int, version: int) -> int:
    """Return 0, 1 or 2; a version above all known ones has the header of the highest known one."""
    if is_flexible(api_key, version):
        return 2
    return 0 if (api_key, version) == (_CONTROLLED_SHUTDOWN, 0) else 1


def response_header_version(api_key: int, version: int) -> int:
    """Return 0 or 1; 0 for ApiVersions, so that any client can read the response."""
    return int(api_key != _API_VERSIONS and is_flexible(api_key, version))


def read_request_header(frame: bytes) -> tuple[RequestHeader, int]:
    """Return the header at the start of a frame, and the position of the body.

    An unknown API key or version is allowed: the part after the correlation id is then read as far
    as possible, so that the request can be answered. Raise DecodeError if the first eight bytes
    are missing, or if the header of an existing version is damaged.
    """
    try:
        tags_bytes = _TAGS_BYTES[frame[:4]]
        api_key, version, correlation_id, length = _REQUEST_WITH_CLIENT.unpack_from(frame)
        end = 10 + length
        if 10 <= end <= len(frame) and not (tags_bytes and frame[end]):
            client_id = frame[10:end].decode()
            return RequestHeader(api_key, version, correlation_id, client_id), end + tags_bytes
    except (KeyError, IndexError, struct_error, UnicodeDecodeError):
        pass  # read again, field by field
    return _read_request_header_leniently(frame)


def _read_request_header_leniently(frame: bytes) -> tuple[RequestHeader, int]:
    try:
        found = _read_request_header(frame)
    except (DecodeError, IndexError, struct_error) as error:
        if len(frame) < _REQUEST.size:
            raise DecodeError(f"request header: only {len(frame)} bytes") from error
        header = RequestHeader(*_REQUEST.unpack_from(frame))
        if has_version(header.api_key, header.api_version):
            said = str(error) if isinstance(error, DecodeError) else "it ends early"
            raise DecodeError(f"request header: {said}") from error
        return header, len(frame)
    key, version = found[0].api_key, found[0].api_version
    if has_version(key, version) and frame[:4] != _HEADER_0:
        _TAGS_BYTES[frame[:4]] = int(is_flexible(key, version))
    return found


def _read_request_header(frame: bytes) -> tuple[RequestHeader, int]:
    if frame[:4] == _HEADER_0:
        return RequestHeader(*_REQUEST.unpack_from(frame)), _REQUEST.size
    api_key, version, correlation_id, length = _REQUEST_WITH_CLIENT.unpack_from(frame)
    end = 10
    client_id = None
    if length >= 0:
        end += length
        if end > len(frame):
            raise DecodeError(f"{end - len(frame)} bytes of the client id are missing")
        client_id = decode_like_java(frame[10:end])
    header = RequestHeader(api_key, version, correlation_id, client_id)
    if is_flexible(api_key, version):
        end += 1
        if frame[end - 1]:
            header.unknown_tags, end = read_tags(frame, end, frame[end - 1])
    return header, end


def write_request_header(header: RequestHeader) -> bytes:
    """Return the header of a request in the version that its API requires.

    Raise EncodeError if a number or the client id is out of range.
    """
    try:
        start = _REQUEST.pack(header.api_key, header.api_version, header.correlation_id)
        version = request_header_version(header.api_key, header.api_version)
        if version == 0:
            return start
        client_id = b"" if header.client_id is None else header.client_id.encode()
        length = _LENGTH.pack(-1 if header.client_id is None else len(client_id))
    except (struct_error, UnicodeEncodeError) as error:
        raise EncodeError(f"request header: {error}") from error
    tags = encode_tag_section((), header.unknown_tags) if version == 2 else b""
    return b"".join((start, length, client_id, tags))


def write_response_header(
    api_key: int, version: int, correlation_id: int, unknown_tags: Tags = ()
) -> bytes:
    """Return a response's header, to be followed by its body."""
    start = _CORRELATION.pack(correlation_id)
    if response_header_version(api_key, version) == 0:
        return start
    return start + (encode_tag_section((), unknown_tags) if unknown_tags else b"\0")


def read_response_header(api_key: int, version: int, frame: bytes) -> tuple[ResponseHeader, int]:
    """Return the header of a response to this API and version, and the position of the body.

    Raise DecodeError if it is damaged.
    """
    if len(frame) < _CORRELATION.size:
        raise DecodeError(f"response header: only {len(frame)} bytes")
    header = ResponseHeader(*_CORRELATION.unpack_from(frame))
    if response_header_version(api_key, version) == 0:
        return header, 4
    try:
        header.unknown_tags, end = read_tags(frame, 5, frame[4])
    except (IndexError, DecodeError) as error:
        said = error if isinstance(error, DecodeError) else "its tags are missing"
        raise DecodeError(f"response header: {said}") from error
    return header, end
