"""Requests that the recording does not answer: the exception, and error responses."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.request_frames import read_request_frame
from kafka_shim.protocol.response_frames import write_response_frame
from kafka_shim.shim.apis import import_handler
from kafka_shim.shim.traffic.cassettes.interactions import Interaction
from kafka_shim.shim.traffic.cassettes.request_content import FieldDifference


class MismatchError(Exception):
    """The recording has no response to a request; `nearest` is the nearest recorded request."""

    def __init__(
        self,
        kind: str,
        reason: str,
        nearest: Interaction | None = None,
        difference: FieldDifference | None = None,
    ) -> None:
        """`kind` is what differs, as in `Mismatch`."""
        super().__init__(reason)
        self.kind = kind
        self.nearest = nearest
        self.difference = difference


def error_response_frame(frame: bytes, error: ErrorCode, reason: str) -> bytes | None:
    """Return the frame of an error response to a request, with the reason where the API has a
    field for it; None if the request cannot be read or gets no response.
    """
    try:
        header, message = read_request_frame(frame)
    except ProtocolError:
        return None
    if header.api_key == ApiKey.PRODUCE and message.acks == 0:
        return None
    handler = import_handler(ApiKey(header.api_key))
    return write_response_frame(header, handler.error_response(message, error, reason))
