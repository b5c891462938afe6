"""The report of a replay, as text and JSON, and its trace."""

import time
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import Any

import msgspec

from kafka_shim.protocol.code_names import api_name_or_key
from kafka_shim.trace_format.entries import (
    DERIVED,
    Connection,
    ConnectionClosed,
    Request,
    Response,
)
from kafka_shim.trace_format.redaction import (
    redact_request,
    redact_response,
)
from kafka_shim.traces.replay.compare import Difference
from kafka_shim.traces.replay.events import Event
from kafka_shim.traces.replay.target_connection import InFlightRequest
from kafka_shim.traces.trace_writer import TraceWriter

_API = Struct(">hh")


EXAMPLES_KEPT_MAX = 10_000
"""Differences of one kind that are kept singly; a million would fill the memory."""


class RequestId(msgspec.Struct, frozen=True):
    """A request of the trace: connection, sequence, API and version, and principal.

    A connection's number is unique for its writer.
    """

    connection: int
    sequence: int
    api: str
    version: int
    principal: str
    writer: str = ""


class ReplayReport(msgspec.Struct):
    """Counts, differences by API and field, and requests that could not be replayed.

    `skipped_requests` counts those for which the recorded broker was not ready, and those to
    authenticate that it did not answer; `unrecorded_responses` those that the trace does not have.
    The first EXAMPLES_KEPT_MAX of each kind are kept; `counts_by_field` and `unreplayable_count`
    count all.
    """

    requests: int = 0
    responses: int = 0
    differing_responses: int = 0
    skipped_requests: int = 0
    unrecorded_responses: int = 0
    ignored: frozenset[str] = frozenset()
    seconds: float = 0.0
    differences_by_field: dict[tuple[str, str], list[tuple[RequestId, Difference]]] = {}
    counts_by_field: dict[tuple[str, str], int] = {}
    unreplayable_requests: list[tuple[RequestId, str]] = []
    unreplayable_count: int = 0

    @property
    def has_no_differences(self) -> bool:
        """Return whether every response was compared and none differs."""
        return not self.differences_by_field and not self.unreplayable_requests

    def add_differences(self, request_id: RequestId, differences: list[Difference]) -> None:
        """Count a response's differences, except those in `ignored`."""
        if request_id.api in self.ignored:
            return
        differences = [d for d in differences if f"{request_id.api}.{d.field}" not in self.ignored]
        self.differing_responses += bool(differences)
        for difference in differences:
            kind = (request_id.api, difference.field)
            self.counts_by_field[kind] = self.counts_by_field.get(kind, 0) + 1
            examples = self.differences_by_field.setdefault(kind, [])
            if len(examples) < EXAMPLES_KEPT_MAX:
                examples.append((request_id, difference))

    def add_unreplayable_request(self, request_id: RequestId, reason: str) -> None:
        self.unreplayable_count += 1
        if len(self.unreplayable_requests) < EXAMPLES_KEPT_MAX:
            self.unreplayable_requests.append((request_id, reason))

    def json_fields(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "requests": self.requests,
            "responses": self.responses,
            "differing_responses": self.differing_responses,
            "left_out": self.skipped_requests,
            "unrecorded": self.unrecorded_responses,
            "seconds": round(self.seconds, 3),
            "differences": [
                {
                    "api": api,
                    "field": field,
                    "count": self.counts_by_field[api, field],
                    "examples": [
                        msgspec.to_builtins(request_id)
                        | {"recorded": difference.recorded, "actual": difference.actual}
                        for request_id, difference in rows[:5]
                    ],
                }
                for (api, field), rows in sorted(self.differences_by_field.items())
            ],
            "misses": self.unreplayable_count,
            "missed": [
                msgspec.to_builtins(request_id) | {"why": reason}
                for request_id, reason in self.unreplayable_requests
            ],
        }

    def summary_lines(self) -> Iterator[str]:
        """Yield a table with one example of each kind of difference."""
        parts = [
            f"{self.requests} requests replayed in {self.seconds:.2f} s",
            f"{self.responses} responses compared",
            f"{self.differing_responses} differ",
            f"{self.unreplayable_count} missed",
        ]
        if self.skipped_requests:
            parts.append(f"{self.skipped_requests} skipped (the recorded broker was not ready)")
        if self.unrecorded_responses:
            parts.append(f"{self.unrecorded_responses} extra responses")
        yield ", ".join(parts)
        if self.differences_by_field:
            yield f"\n{'count':>6}  {'api':<24} {'field':<40} example: recorded -> actual"
        for (api, field), rows in sorted(self.differences_by_field.items()):
            request_id, difference = rows[0]
            count, versioned_api = self.counts_by_field[api, field], f"{api} v{request_id.version}"
            yield (
                f"{count:>6}  {versioned_api:<24} {field:<40}"
                f" {_shortened_value(difference.recorded)} -> {_shortened_value(difference.actual)}"
                f"  (connection {request_id.connection}, request {request_id.sequence},"
                f" {request_id.principal})"
            )
        if self.unreplayable_requests:
            yield "\nnot replayed, or without a response:"
        for request_id, reason in self.unreplayable_requests:
            yield (
                f"  connection {request_id.connection}, request {request_id.sequence}:"
                f" {request_id.api} v{request_id.version} of {request_id.principal}: {reason}"
            )


def request_id_of_event(event: Event) -> RequestId:
    """Return the id of an event's request; its API is `?` if unknown."""
    api, version = "?", 0
    match event.entry:
        case Request(frame=frame) if len(frame) >= _API.size:
            api_key, version = _API.unpack_from(frame)
            api = api_name_or_key(api_key)
        case Response(api_key=api_key, api_version=version):
            api = api_name_or_key(api_key)
    writer, connection = event.connection_id
    return RequestId(connection, event.entry.sequence, api, version, event.principal, writer)


def _shortened_value(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


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
