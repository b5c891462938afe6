"""Records what clients send, what they are answered and what was decided (docs/trace-format.md).

Entries are collected and written as a block at about 1 MiB or after 100 ms, whichever is first.
"""

from pathlib import Path

from authorizer.acl_formats.trace_rule import decision_rule
from authorizer.model import Decision
from protocol.headers import RequestHeader
from protocol.trace.entries import (
    RECORDED,
    Access,
    Body,
    Closed,
    Connection,
    Entry,
    Request,
    Response,
)
from protocol.trace.redaction import answer_without_secrets, without_secrets
from protocol.trace.segments import Keeping, SegmentWriter
from shim.access import AccessRecord
from shim.clock import Clock, Timer
from shim.session import Session

BLOCK_BYTES = 1024 * 1024
FLUSH_MS = 100
RESTART = 1_000_000_000
"""From so many on, times the segments that were there, a writer that starts again counts its
connections: a trace has each number once."""

_ENTRY_BYTES = 32  # roughly what an entry takes besides its frame


class Recorder:
    """One writer of a trace; fed by dispatch, in the order in which things happen.

    `accesses` is where those come from, as in a trace's connections.
    """

    def __init__(
        self,
        directory: Path,
        clock: Clock,
        *,
        writer: str = "broker-1",
        keeping: Keeping | None = None,
        accesses: str = RECORDED,
    ) -> None:
        self._source = accesses
        kept = keeping or Keeping()
        self._segments = SegmentWriter(
            directory,
            writer,
            segment_bytes=kept.segment_bytes,
            keep_segments=kept.segments,
            compression=kept.compression,
        )
        self._first_connection = self._segments.first_number * RESTART
        self._clock = clock
        self._timer: Timer | None = None
        self._entries: list[Entry] = []
        self._bytes = 0
        self._connections: list[Connection] = []
        self._rules: dict[int, tuple[Decision, str]] = {}  # by identity: decisions are kept
        self._decided_us = 0
        self.entries_written = 0

    def request(self, session: Session, header: RequestHeader, frame: bytes) -> int:
        """Note a request; tells its sequence number on the connection."""
        sequence = session.requests
        session.requests = sequence + 1
        self._decided_us = now_us = self._clock.now_us()
        kept, redacted = without_secrets(frame, header.api_key)
        self._add(Request(self._number(session), sequence, now_us, kept, redacted), len(kept))
        return sequence

    def response(
        self, session: Session, sequence: int, header: RequestHeader, frame: bytes
    ) -> None:
        """Note an answer; `frame` is without its size."""
        key, version = header.api_key, header.api_version
        kept, redacted = answer_without_secrets(frame, key, version)
        number, now_us = self._number(session), self._clock.now_us()
        self._add(Response(number, sequence, now_us, key, version, kept, redacted), len(kept))

    def accesses(
        self, session: Session, sequence: int, header: RequestHeader, records: list[AccessRecord]
    ) -> None:
        """Note what was decided for the request that was noted last, at the same time."""
        for record in records:
            action, decision = record.action, record.decision
            rule = self._rules.get(id(decision)) or self._rule(decision)
            self._add(
                Access(
                    self._number(session),  # asked anew: the entry before may have ended a block
                    sequence,
                    self._decided_us,
                    header.api_key,
                    header.api_version,
                    action.operation,
                    action.resource_type,
                    action.resource_name,
                    decision.allowed,
                    rule[1],
                    record.count,
                ),
                0,
            )

    def closed(self, session: Session, reason: str) -> None:
        """Note the end of a connection."""
        self._add(Closed(self._number(session), session.requests, self._clock.now_us(), reason), 0)

    def flush(self) -> None:
        """Write what has been collected."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._entries:
            return
        self._segments.write(Body(self._connections, self._entries))
        self.entries_written += len(self._entries)
        self._entries = []
        self._connections = []
        self._rules = {}
        self._bytes = 0

    def close(self) -> None:
        """Write the rest and finish the segment."""
        self.flush()
        self._segments.close()

    def _add(self, entry: Entry, size: int) -> None:
        self._entries.append(entry)
        self._bytes += size + _ENTRY_BYTES
        if self._timer is None or self._bytes >= BLOCK_BYTES:
            self._end_block()

    def _end_block(self) -> None:
        if self._bytes >= BLOCK_BYTES:
            self.flush()
        else:
            self._timer = self._clock.call_later(FLUSH_MS, self.flush)

    def _number(self, session: Session) -> int:
        """The block's number for this connection as it is known by now."""
        principal, software = session.principal, session.client_software_name
        row = session.trace_row
        if (
            row is None
            or row[0] is not self._connections
            or row[1] is not principal
            or row[2] is not software
        ):
            number = len(self._connections)
            self._connections.append(self._described(session, number))
            row = session.trace_row = (self._connections, principal, software, number)
        return row[3]

    def _rule(self, decision: Decision) -> tuple[Decision, str]:
        known = self._rules[id(decision)] = (decision, decision_rule(decision))
        return known

    def _described(self, session: Session, number: int) -> Connection:
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
            self._source,
        )
