"""Messages of the entries of a trace."""

from typing import Any

from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.response_frames import read_response_with_version
from kafka_shim.trace_format.entries import Response


def read_response_or_none(entry: Response) -> Any:
    """Return the message; None if it cannot be read."""
    try:
        return read_response_with_version(entry.api_key, entry.api_version, entry.frame)[0]
    except ProtocolError:
        return None
