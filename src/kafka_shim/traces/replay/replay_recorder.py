"""The trace of a replay: what was sent, and the target's responses."""

import time
from pathlib import Path

from kafka_shim.trace_format.entries import (
    DERIVED,
    Connection,
    ConnectionClosed,
    Request,
    Response,
)
from kafka_shim.trace_format.redaction import redact_request, redact_response
from kafka_shim.traces.replay.events import Event
from kafka_shim.traces.replay.replay_connection import InFlightRequest
from kafka_shim.traces.trace_writer import TraceWriter


class ReplayRecorder:
    """Writes a trace with the recorded connections' numbers and all responses of the target."""

    def __init__(self, folder: Path) -> None:
        self._writer = TraceWriter(folder, "replay")

    def record_request(self, in_flight_request: InFlightRequest) -> None:
        api_key = int.from_bytes(in_flight_request.frame[:2], "big")
        frame, redacted = redact_request(in_flight_request.frame, api_key)
        connection_number, sequence = (
            self._connection_in_block(in_flight_request.event),
            in_flight_request.event.entry.sequence,
        )
        self._writer.add(Request(connection_number, sequence, _now_us(), frame, redacted))

    def record_response(self, in_flight_request: InFlightRequest, response_frame: bytes) -> None:
        key, version = (
            int.from_bytes(in_flight_request.frame[at : at + 2], "big") for at in (0, 2)
        )
        frame, redacted = redact_response(response_frame, key, version)
        connection_number, sequence = (
            self._connection_in_block(in_flight_request.event),
            in_flight_request.event.entry.sequence,
        )
        self._writer.add(
            Response(connection_number, sequence, _now_us(), key, version, frame, redacted)
        )

    def record_authentication(self, event: Event, entry: Request | Response) -> None:
        """Write an authentication as it was recorded, without its secrets."""
        connection_number = self._connection_in_block(event)
        if isinstance(entry, Request):
            self._writer.add(
                Request(connection_number, entry.sequence, _now_us(), entry.frame, redacted=True)
            )
        else:
            key, version = entry.api_key, entry.api_version
            self._writer.add(
                Response(
                    connection_number,
                    entry.sequence,
                    _now_us(),
                    key,
                    version,
                    entry.frame,
                    redacted=True,
                )
            )

    def record_close(self, event: Event, reason: str) -> None:
        self._writer.add(
            ConnectionClosed(
                self._connection_in_block(event), event.entry.sequence, _now_us(), reason
            )
        )

    def close(self) -> None:
        self._writer.close()

    def _connection_in_block(self, event: Event) -> int:
        number = self._writer.connection_number_for_key(event.connection_id)
        description = (event.node_id, event.listener, event.host, event.port, event.principal)
        connection = Connection(0, number, *description, access_source=DERIVED)
        return self._writer.connection_index_in_block(connection)


def _now_us() -> int:
    return time.time_ns() // 1000
