"""Records requests, responses and decisions (docs/reference/trace-format.md).

Entries are collected and written as a block when it has about 1 MiB, or after 100 ms. Work that can
wait is done after the responses are sent, so that no client waits for it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from kafka_shim.authorizer.model import Decision
from kafka_shim.policy.formats.trace_rule import format_decision_rule
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.shim.clock import Clock, Timer
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.request.access import AccessRecord
from kafka_shim.shim.request.session import Session
from kafka_shim.text.logs import Log
from kafka_shim.trace_format.blocks import BLOCK_BYTES
from kafka_shim.trace_format.entries import (
    RECORDED,
    Access,
    BlockBody,
    Connection,
    ConnectionClosed,
    Entry,
    Request,
    Response,
)
from kafka_shim.trace_format.redaction import (
    SECRET_REQUESTS,
    SECRET_RESPONSES,
    redact_request,
    redact_response,
)
from kafka_shim.trace_format.segments import SegmentWriter, TraceStorage

log = Log("shim.traces")

FLUSH_MS = 100
RESTART = 1_000_000_000
"""From this many on, times the existing segments, a restarted writer counts its
connections: a trace has each number once."""

_ENTRY_BYTES = 32  # roughly what an entry takes besides its frame

BlockRow: TypeAlias = tuple[object, int]
"""The connections of the block, as its identity, and the index of a connection in them."""
RequestOutcome: TypeAlias = tuple[
    int, int, RequestHeader, int, Sequence[AccessRecord], int, bytes | None
]
"""Connection, sequence and header of a request, its arrival, and its outcomes with times."""


class TraceRecorder:
    """A writer of a trace, called by the dispatcher in the order of events.

    `accesses_source` is as in a trace's connections. A full disk ends the recording, which is
    logged; with `raises_on_write_error`, the call raises OSError. Code that runs for every request
    is inlined, since function calls are a large part of the cost of recording.
    """

    def __init__(
        self,
        directory: Path,
        clock: Clock,
        *,
        writer: str = "broker-1",
        storage: TraceStorage | None = None,
        accesses_source: str = RECORDED,
        raises_on_write_error: bool = False,
    ) -> None:
        """Open the trace. Raise ConfigError if it cannot be written."""
        self.masks: Sequence[str] = ()
        """Those that records have before they are recorded; the trace names them."""
        self._accesses_source = accesses_source
        self.release = ""
        """The broker's release, which the trace names if it is known."""
        self._raises_on_write_error = raises_on_write_error
        trace_storage = storage or TraceStorage()
        try:
            self._segments = SegmentWriter(
                directory,
                writer,
                segment_bytes=trace_storage.segment_bytes,
                segments_max=trace_storage.segments,
                compression=trace_storage.compression,
            )
        except OSError as error:
            raise ConfigError(f"cannot record to `{directory}`: {error.strerror}") from error
        self.failure: OSError | None = None
        """Why nothing is recorded any more."""
        self._first_connection = self._segments.first_number * RESTART
        self._clock = clock
        self._now_us = clock.now_us
        self._timer: Timer | None = None
        self._entries: list[Entry] = []
        self._pending_events: list[
            Request | RequestOutcome
        ] = []  # in the order in which they happened
        self._bytes = 0
        self._connections: list[Connection] = []
        self._rules: dict[int, tuple[Decision, str]] = {}  # by identity: decisions are kept
        self._arrived_us = 0
        self.entries_written = 0

    def record_request(self, session: Session, header: RequestHeader, frame: bytes) -> int:
        """Keep a request for later conversion; return its sequence number on the connection."""
        row = session.trace_row
        if row is None or row[0] is not self._connections:
            row = self._get_or_create_connection_row(session)
        sequence = session.requests
        session.requests = sequence + 1
        self._arrived_us = now_us = self._now_us()
        redacted = False
        if header.api_key in SECRET_REQUESTS:
            frame, redacted = redact_request(frame, header.api_key)
        self._pending_events.append(Request(row[1], sequence, now_us, frame, redacted))
        self._bytes += len(frame) + _ENTRY_BYTES
        return sequence

    def record_outcome(
        self,
        session: Session,
        sequence: int,
        header: RequestHeader,
        access_records: Sequence[AccessRecord],
        frame: bytes | None,
    ) -> None:
        """Record the decisions of a request, at its arrival time if it was recorded last, and the
        response, `frame` without its size, if there is one by now.
        """
        row = session.trace_row
        if row is None or row[0] is not self._connections:
            row = self._get_or_create_connection_row(session)
        now_us = self._now_us()
        self._pending_events.append(
            (row[1], sequence, header, self._arrived_us, access_records, now_us, frame)
        )

    def flush_events(self) -> None:
        """Convert recorded events and write a full block; called after responses were sent."""
        if self._pending_events:
            self._convert_pending_events()
        if self._bytes >= BLOCK_BYTES:
            self.flush()

    def _convert_pending_events(self) -> None:
        pending, self._pending_events = self._pending_events, []
        for entry in pending:
            if isinstance(entry, Request):
                self._entries.append(entry)
            else:
                self._append_outcome_entries(entry)

    def _append_outcome_entries(self, outcome: RequestOutcome) -> None:
        number, sequence, header, arrived_us, decided, responded_us, frame = outcome
        key, version = header.api_key, header.api_version
        append = self._entries.append
        for record in decided:
            action, decision = record.action, record.decision
            rule = self._rules.get(id(decision)) or self._cache_decision_rule(decision)
            append(
                Access(
                    number,
                    sequence,
                    arrived_us,
                    key,
                    version,
                    action.operation,
                    action.resource_type,
                    action.resource_name,
                    decision.allowed,
                    rule[1],
                    record.count,
                )
            )
            self._bytes += _ENTRY_BYTES
        if frame is None:
            return
        redacted = False
        if key in SECRET_RESPONSES:
            frame, redacted = redact_response(frame, key, version)
        append(Response(number, sequence, responded_us, key, version, frame, redacted))
        self._bytes += len(frame) + _ENTRY_BYTES

    def record_close(self, session: Session, reason: str) -> None:
        """Record the end of a connection."""
        self.flush_events()
        row = self._get_or_create_connection_row(session)
        self._entries.append(ConnectionClosed(row[1], session.requests, self._now_us(), reason))
        self._bytes += _ENTRY_BYTES

    def flush(self) -> None:
        """Write the collected entries."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._convert_pending_events()
        if not self._entries:
            return
        if self.failure is None:
            self._write_block()
        self._entries = []
        self._connections = []
        self._rules = {}
        self._bytes = 0

    def close(self) -> None:
        """Write the rest and finish the segment."""
        self.flush()
        try:
            self._segments.close()
        except OSError as error:
            self._abort_recording(error)

    def _write_block(self) -> None:
        try:
            self._segments.write_block(BlockBody(self._connections, self._entries, [*self.masks]))
        except OSError as error:
            self._abort_recording(error)
        else:
            self.entries_written += len(self._entries)

    def _abort_recording(self, error: OSError) -> None:
        if self.failure is not None:
            return
        self.failure = error
        if self._raises_on_write_error:
            raise error
        path = str(self._segments.current_segment_path)
        log.error("recording has ended early", segment=path, reason=error.strerror)

    def _get_or_create_connection_row(self, session: Session) -> BlockRow:
        """Return the connection's row in this block, added if it is new; arm the flush timer."""
        if self._timer is None:
            self._timer = self._clock.call_later(FLUSH_MS, self.flush)
        row = session.trace_row
        if row is None or row[0] is not self._connections:
            row = session.trace_row = (self._connections, len(self._connections))
            self._connections.append(self._connection_entry(session, row[1]))
        return row

    def _cache_decision_rule(self, decision: Decision) -> tuple[Decision, str]:
        cached = self._rules[id(decision)] = (decision, format_decision_rule(decision))
        return cached

    def _connection_entry(self, session: Session, number: int) -> Connection:
        return Connection(
            number,
            self._first_connection + session.number,
            session.node_id,
            session.listener.name,
            session.host,
            session.port,
            session.principal,
            session.mechanism or "",
            session.client_software_name,
            session.client_software_version,
            self._accesses_source,
            session.observed_host,
            self.release,
        )
