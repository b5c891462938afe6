"""Messages of the entries of a trace; None for those that cannot be read."""

from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.response_frames import read_response_with_version
from kafka_shim.trace_format.entries import Response


def decode_request(frame: bytes) -> tuple[RequestHeader, Any]:
    """Return header and message of a request; the message is None if it cannot be read."""
    header, at = read_request_header(frame)
    try:
        return header, codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return header, None


def decode_response(api_key: int, version: int, frame: bytes) -> Any:
    """Return the response to a request of this version; None if it cannot be read."""
    try:
        return read_response_with_version(api_key, version, frame)[0]
    except ProtocolError:
        return None


def decode_response_entry(entry: Response) -> Any:
    """Return the message; None if it cannot be read."""
    return decode_response(entry.api_key, entry.api_version, entry.frame)
