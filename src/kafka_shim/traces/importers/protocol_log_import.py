"""Import kroxylicious' protocol log into a trace."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from kafka_shim.trace_format.entries import (
    DERIVED,
    UNKNOWN_PRINCIPAL,
    Connection,
    Request,
    Response,
)
from kafka_shim.trace_format.redaction import (
    redact_or_truncate_request_frame,
    redact_or_truncate_response_frame,
)
from kafka_shim.traces.importers.log_import import ImportReport
from kafka_shim.traces.importers.protocol_log import LoggedEntry, UnreadEntry, logged_entries
from kafka_shim.traces.trace_writer import TraceWriter


def import_protocol_log(lines: Iterator[str], folder: Path) -> ImportReport:
    """Import requests and responses by session; without sessions, a client id is a connection."""
    report = ImportReport()
    with closing(_MatchingTraceWriter(folder)) as pairing:
        for entry in logged_entries(_counted_lines(lines, report)):
            if isinstance(entry, UnreadEntry):
                report.add_unread("", *entry)
            elif pairing.write_unless_unmatched(entry):
                report.entries += 1
                report.count_unknown(entry.unknown)
            else:
                reason = "a response to no request that is in the log"
                report.add_unread("", entry.line, reason)
    return report


def _counted_lines(lines: Iterator[str], report: ImportReport) -> Iterator[str]:
    for line in lines:
        report.lines += 1
        yield line


class _MatchingTraceWriter:
    """Matches responses with requests by session, correlation id and API."""

    def __init__(self, folder: Path) -> None:
        self._writer = TraceWriter(folder, "protocol-log")
        self._unanswered_requests: dict[tuple[str, int, int], list[tuple[int, int]]] = {}
        self._now_us = 0  # time of the last line that has one

    def write_unless_unmatched(self, entry: LoggedEntry) -> bool:
        """Add an entry; return False for a response without a request."""
        self._now_us = max(self._now_us, entry.time_us or 0)
        header = entry.header
        unanswered = self._unanswered_requests.setdefault(
            (entry.session, header.correlation_id, header.api_key), []
        )
        if entry.is_request:
            number = self._writer.connection_number_for_key((entry.session, header.client_id))
            sequence = self._writer.next_sequence(number)
            unanswered.append((number, sequence))
            self._write_redacted_request(number, sequence, entry)
            return True
        if not unanswered:
            return False
        self._write_redacted_response(*unanswered.pop(0), entry)
        return True

    def close(self) -> None:
        self._writer.close()

    def _write_redacted_request(self, number: int, sequence: int, entry: LoggedEntry) -> None:
        frame, _ = redact_or_truncate_request_frame(entry.frame, entry.header.api_key)
        connection_number = self._connection_in_block(number)
        self._writer.add(Request(connection_number, sequence, self._now_us, frame, redacted=True))

    def _write_redacted_response(self, number: int, sequence: int, entry: LoggedEntry) -> None:
        key, version = entry.header.api_key, entry.header.api_version
        frame, _ = redact_or_truncate_response_frame(entry.frame, key, version)
        connection_number = self._connection_in_block(number)
        self._writer.add(
            Response(connection_number, sequence, self._now_us, key, version, frame, redacted=True)
        )

    def _connection_in_block(self, number: int) -> int:
        """Return the connection's number; the log has neither principal
        nor address of the client.
        """
        connection = Connection(0, number, -1, "", "", 0, UNKNOWN_PRINCIPAL, access_source=DERIVED)
        return self._writer.connection_index_in_block(connection)
