"""A trace of the replay: what was sent, and the target's responses."""

import time
from pathlib import Path

from kafka_shim.protocol.trace.entries import DERIVED, Closed, Connection, Request, Response
from kafka_shim.protocol.trace.redaction import response_without_secrets, without_secrets
from kafka_shim.shim.traffic.replay.events import Event
from kafka_shim.shim.traffic.replay.target_connection import InFlightRequest
from kafka_shim.shim.traffic.traces.trace_writer import TraceWriter


class ReplayRecorder:
    """Writes a trace with the recorded connections' numbers and all responses of the target."""

    def __init__(self, folder: Path) -> None:
        self._writer = TraceWriter(folder, "replay")

    def request(self, sent: InFlightRequest) -> None:
        api_key = int.from_bytes(sent.frame[:2], "big")
        frame, redacted = without_secrets(sent.frame, api_key)
        place, sequence = self._place(sent.event), sent.event.entry.sequence
        self._writer.add(Request(place, sequence, _now_us(), frame, redacted))

    def response(self, sent: InFlightRequest, answer: bytes) -> None:
        key, version = (int.from_bytes(sent.frame[at : at + 2], "big") for at in (0, 2))
        frame, redacted = response_without_secrets(answer, key, version)
        place, sequence = self._place(sent.event), sent.event.entry.sequence
        self._writer.add(Response(place, sequence, _now_us(), key, version, frame, redacted))

    def recorded(self, event: Event, entry: Request | Response) -> None:
        """Write a log-in as it was recorded, without its secrets."""
        place = self._place(event)
        if isinstance(entry, Request):
            self._writer.add(Request(place, entry.sequence, _now_us(), entry.frame, redacted=True))
        else:
            key, version = entry.api_key, entry.api_version
            self._writer.add(
                Response(place, entry.sequence, _now_us(), key, version, entry.frame, redacted=True)
            )

    def closed(self, event: Event, reason: str) -> None:
        self._writer.add(Closed(self._place(event), event.entry.sequence, _now_us(), reason))

    def close(self) -> None:
        self._writer.close()

    def _place(self, event: Event) -> int:
        number = self._writer.number(event.connection_id)
        description = (event.node_id, event.listener, event.host, event.port, event.principal)
        who = Connection(0, number, *description, accesses=DERIVED)
        return self._writer.in_block(who)


def _now_us() -> int:
    return time.time_ns() // 1000
