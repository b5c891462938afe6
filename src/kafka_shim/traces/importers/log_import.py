"""Import the logs of brokers into a trace."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import tzinfo
from pathlib import Path

import msgspec

from kafka_shim.trace_format.entries import AUDIT, DERIVED, Access, Connection, Request, Response
from kafka_shim.trace_format.redaction import (
    redact_request,
    redact_response,
)
from kafka_shim.traces.importers import authorizer_log, request_log
from kafka_shim.traces.importers.authorizer_log import InvalidDecisionError, LoggedDecision
from kafka_shim.traces.importers.log_entries import LogEntry, LogEntryReader
from kafka_shim.traces.importers.message_from_json import JsonMessageError
from kafka_shim.traces.importers.request_log import LoggedRequest
from kafka_shim.traces.trace_writer import TraceWriter

EXAMPLES_MAX = 3
EXAMPLE_CHARACTERS_MAX = 200
_LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|ERROR)\b")
_DECISIONS_COMPARED = 1_000
"""So many decisions at a log's beginning show how its lines end."""


class UnreadLine(msgspec.Struct):
    """A line, or the first line of an entry, that could not be read."""

    source: str
    line: int
    reason: str
    text: str = ""


class ImportReport(msgspec.Struct):
    """Counts of lines, of the trace's entries, and of log entries that could not be read.

    `denials` are entries of denied accesses. `examples` are the first unread entries. `unknown`
    are fields of messages that were left out, with their counts; `skipped` are files that are no
    text.
    """

    lines: int = 0
    entries: int = 0
    unread: int = 0
    denials: int = 0
    examples: list[UnreadLine] = []
    unknown: dict[str, int] = {}
    skipped: list[str] = []

    def count_unknown(self, fields: Iterable[str]) -> None:
        for field in fields:
            self.unknown[field] = self.unknown.get(field, 0) + 1

    def add_unread(self, source: str, line: int, reason: str, text: str = "") -> None:
        self.unread += 1
        if len(self.examples) < EXAMPLES_MAX:
            excerpt = text.strip()[:EXAMPLE_CHARACTERS_MAX]
            self.examples.append(UnreadLine(source, line, reason, excerpt))

    def unread_percent(self) -> float:
        """Return how much of what should have become entries could not be read."""
        return 100 * self.unread / (self.unread + self.entries) if self.unread else 0.0


class LogImport(ABC):
    """Imports logs, one after the other, into one trace."""

    def __init__(self, folder: Path, writer: str, zone: tzinfo | None = None) -> None:
        self._writer = TraceWriter(folder, writer)
        self._zone = zone
        self.report = ImportReport()

    @abstractmethod
    def import_lines(self, lines: Iterable[str], source: str = "") -> None:
        """Import the lines of a log; `source` is its name in the report."""

    def close(self) -> None:
        """Write the remaining entries."""
        self._writer.close()

    def _entry_time_us(self, entry: LogEntry, last_us: int | None) -> int:
        """Return an entry's time, or `last_us`. Raise InvalidDecisionError without either."""
        if entry.error:
            raise InvalidDecisionError(entry.error)
        if entry.time is not None:
            return entry.time.us
        if last_us is None:
            raise InvalidDecisionError("no date and time in it, and none in an entry before it")
        return last_us


class AuthorizerLogImport(LogImport):
    """Imports decisions as accesses; each has its own sequence, as the log names no requests."""

    def __init__(self, folder: Path, zone: tzinfo | None = None) -> None:
        super().__init__(folder, "audit-log", zone)

    def import_lines(self, lines: Iterable[str], source: str = "") -> None:
        entries = LogEntryReader(authorizer_log.may_contain_entry, self._zone, "Principal")
        first: list[tuple[LogEntry, LoggedDecision, int]] = []
        line_ends: _LineEnds | None = None
        last_us = None
        for entry in entries.relevant_entries(lines):
            try:
                decision = _parse_decision_or_none(entry)
                if decision is None:
                    continue
                last_us = self._entry_time_us(entry, last_us)
            except InvalidDecisionError as error:
                self.report.add_unread(source, entry.line, str(error), entry.text)
                continue
            if line_ends is not None:
                self._write_whole_entry(source, entry, decision, last_us, line_ends)
                continue
            first.append((entry, decision, last_us))
            if len(first) == _DECISIONS_COMPARED:
                line_ends = self._write_first_decisions(source, first)
        if line_ends is None:
            self._write_first_decisions(source, first)
        self.report.lines += entries.lines

    def _write_first_decisions(
        self, source: str, first: Sequence[tuple[LogEntry, LoggedDecision, int]]
    ) -> "_LineEnds":
        """Write the first decisions of a log, which show how its lines end."""
        line_ends = _LineEnds([decision for _, decision, _ in first])
        for entry, decision, at_us in first:
            self._write_whole_entry(source, entry, decision, at_us, line_ends)
        return line_ends

    def _write_whole_entry(
        self,
        source: str,
        entry: LogEntry,
        decision: LoggedDecision,
        at_us: int,
        line_ends: "_LineEnds",
    ) -> None:
        if line_ends.name_may_be_cut(decision, is_whole_line=entry.is_whole):
            reason = f"the line may be cut off in `{decision.resource_name}`"
            self.report.add_unread(source, entry.line, reason, entry.text)
        else:
            self._write_access(decision, at_us, _log_level(entry))

    def _write_access(self, decision: LoggedDecision, at_us: int, log_level: str) -> None:
        number = self._writer.connection_number_for_key((decision.principal, decision.host))
        connection = Connection(
            0, number, -1, "", decision.host, 0, decision.principal, access_source=AUDIT
        )
        self._writer.add(
            Access(
                self._writer.connection_index_in_block(connection),
                self._writer.next_sequence(number),
                at_us,
                decision.api_key,
                0,
                decision.operation,
                decision.resource_type,
                decision.resource_name,
                decision.allowed,
                decision.rule,
                decision.count,
                log_level,
            )
        )
        self.report.entries += 1
        self.report.denials += not decision.allowed


def _log_level(entry: LogEntry) -> str:
    """Return the level of an entry, which a layout has before the message; empty if unknown."""
    level = _LEVEL.search(entry.text.partition("Principal = ")[0])
    return "" if level is None else level[0]


class _LineEnds:
    """How the lines of a log end, learned from its first decisions.

    Up to Kafka 2.3 nothing but the layout's text follows the resource's name: if a line was cut
    off, or continues with another one, its name is wrong, and the end of the line shows it.
    """

    def __init__(self, first: Sequence[LoggedDecision]) -> None:
        ends = Counter(decision.text_after for decision in first)
        self._usual = max(ends, key=lambda end: (ends[end], len(end)), default="")
        self._names_are_last = not (self._usual or any(each.names_request for each in first))

    def name_may_be_cut(self, decision: LoggedDecision, *, is_whole_line: bool) -> bool:
        """Return whether the decision is from a line that ends otherwise than those of the log."""
        if decision.names_request:
            self._names_are_last = False
            return False
        if decision.text_after:
            return decision.text_after != self._usual
        return not (self._names_are_last and is_whole_line)


def _parse_decision_or_none(entry: LogEntry) -> LoggedDecision | None:
    if entry.wrapped is not None:
        return authorizer_log.parse_confluent_audit_event(entry.wrapped)
    if entry.error:
        raise InvalidDecisionError(entry.error)
    if entry.logger and not authorizer_log.may_contain_entry(entry.text):
        return authorizer_log.parse_authorizer_log_line(f"{entry.text} ({entry.logger})")
    return authorizer_log.parse_authorizer_log_line(entry.text)


class RequestLogImport(LogImport):
    """Imports requests with their responses, on the connections in the log."""

    def __init__(self, folder: Path, zone: tzinfo | None = None) -> None:
        super().__init__(folder, "request-log", zone)

    def import_lines(self, lines: Iterable[str], source: str = "") -> None:
        entries = LogEntryReader(request_log.may_contain_entry, self._zone, "{")
        last_us = None
        for entry in entries.relevant_entries(lines):
            try:
                request = _parse_log_entry(entry)
                if request is None:
                    continue
                last_us = self._entry_time_us(entry, request.time_us or last_us)
            except (JsonMessageError, InvalidDecisionError) as error:
                self.report.add_unread(source, entry.line, str(error))
                continue
            self._write_redacted(request, last_us)
        self.report.lines += entries.lines

    def _write_redacted(self, request: LoggedRequest, at_us: int) -> None:
        self.report.count_unknown(request.unknown)
        number = self._writer.connection_number_for_key(request.connection)
        connection = Connection(
            0,
            number,
            -1,
            request.listener,
            request.host,
            request.port,
            request.principal,
            "",
            request.software_name,
            request.software_version,
            DERIVED,
        )
        index = self._writer.connection_index_in_block(connection)
        sequence = self._writer.next_sequence(number)
        began_us = max(0, at_us - request.took_us)  # the line is written at the request's end
        key, version = request.api_key, request.api_version
        frame, _ = redact_request(request.request, key)
        self._writer.add(Request(index, sequence, began_us, frame, redacted=True))
        self.report.entries += 1
        if request.response is not None:
            frame, _ = redact_response(request.response, key, version)
            self._writer.add(Response(index, sequence, at_us, key, version, frame, redacted=True))
            self.report.entries += 1


def _parse_log_entry(entry: LogEntry) -> LoggedRequest | None:
    if entry.error:
        raise InvalidDecisionError(entry.error)
    return request_log.parse_request_log_line(entry.text)


def import_authorizer_log(
    lines: Iterable[str], folder: Path, zone: tzinfo | None = None
) -> ImportReport:
    """Import the lines of one authorizer log."""
    with closing(AuthorizerLogImport(folder, zone)) as importing:
        importing.import_lines(lines)
    return importing.report


def import_request_log(
    lines: Iterable[str], folder: Path, zone: tzinfo | None = None
) -> ImportReport:
    """Import the lines of one request log."""
    with closing(RequestLogImport(folder, zone)) as importing:
        importing.import_lines(lines)
    return importing.report
