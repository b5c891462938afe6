"""Reads frames of requests: the header and the message."""

from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.headers import RequestHeader, read_request_header


def read_request_frame(frame: bytes) -> tuple[RequestHeader, Any]:
    """Return the header and the message of a request. Raise ProtocolError if it is damaged."""
    header, at = read_request_header(frame)
    return header, codecs.read_request(header.api_key, header.api_version, frame, at)
