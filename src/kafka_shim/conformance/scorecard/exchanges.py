"""A trace as exchanges: each decoded request with its response."""

from collections.abc import Iterator
from typing import Any

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header, write_request_header
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.protocol.responses import nonzero_error_codes
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.replay.events import ConnectionId, Event, Recording


class Exchange(msgspec.Struct):
    """A request with its response.

    `request` is None if it could not be decoded (`decode_error` says why), `response` if there
    was none. `trailing_bytes` counts the bytes after the message. `is_canonical` is None if secrets
    were removed, since it is then unknown.
    """

    connection_id: ConnectionId
    sequence: int
    principal: str
    time_us: int
    header: RequestHeader
    body: bytes
    request: Any = None
    decode_error: str = ""
    trailing_bytes: int = 0
    is_canonical: bool | None = None
    response: Any = None
    responded_us: int | None = None

    @property
    def api_key(self) -> int:
        return self.header.api_key

    @property
    def version(self) -> int:
        return self.header.api_version

    @property
    def error_codes_except_none(self) -> list[int]:
        """All error codes in the response except 0."""
        return [] if self.response is None else nonzero_error_codes(self.response, self.version)

    @property
    def name_text(self) -> str:
        """The name of the exchange, such as `connection 3 request 7: CreateAcls v2`."""
        try:
            api_key = ApiKey(self.api_key).wire_name
        except ValueError:
            api_key = f"api key {self.api_key}"
        return (
            f"connection {self.connection_id[1]} request {self.sequence}: {api_key} v{self.version}"
        )


def exchanges_of_recording(recording: Recording) -> list[Exchange]:
    """Return every request of a trace, in its order."""
    exchanges_by_request: dict[tuple[ConnectionId, int], Exchange] = {}
    for event in recording.events:
        entry = event.entry
        if isinstance(entry, Request):
            for exchange in _parse_exchange(event, entry):
                exchanges_by_request[event.connection_id, entry.sequence] = exchange
        elif (
            isinstance(entry, Response)
            and (event.connection_id, entry.sequence) in exchanges_by_request
        ):
            _add_response(exchanges_by_request[event.connection_id, entry.sequence], entry)
    return list(exchanges_by_request.values())


def iter_decoded_requests(exchanges: list[Exchange], *apis: ApiKey) -> Iterator[Exchange]:
    """Yield the decoded requests of these APIs."""
    return (
        exchange
        for exchange in exchanges
        if exchange.api_key in apis and exchange.request is not None
    )


def _parse_exchange(event: Event, entry: Request) -> Iterator[Exchange]:
    try:
        header, at = read_request_header(entry.frame)
    except ProtocolError:
        return  # the broker closed the connection: so the API is unknown
    exchange = Exchange(
        event.connection_id,
        entry.sequence,
        event.principal,
        entry.time_us,
        header,
        entry.frame[at:],
    )
    try:
        exchange.request = codecs.read_request(header.api_key, header.api_version, entry.frame, at)
        exchange.trailing_bytes = codecs.bytes_after_request(
            header.api_key, header.api_version, entry.frame, at
        )
        if not entry.redacted:
            written = codecs.write_request(exchange.request, header.api_version)
            whole = write_request_header(header) + written
            exchange.is_canonical = (
                entry.frame[: len(entry.frame) - exchange.trailing_bytes] == whole
            )
    except ProtocolError as error:
        exchange.decode_error = str(error)
    yield exchange


def _add_response(exchange: Exchange, entry: Response) -> None:
    exchange.responded_us = entry.time_us
    try:
        exchange.response, _ = read_response_with_version(
            entry.api_key, entry.api_version, entry.frame
        )
    except ProtocolError:
        exchange.response = None
