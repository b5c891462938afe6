"""Import log files into a trace."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from kafka_shim.protocol.trace.entries import AUDIT, DERIVED, Access, Connection, Request, Response
from kafka_shim.protocol.trace.redaction import response_without_secrets, without_secrets
from kafka_shim.shim.traffic.importers.audit_log import AuditLine, parse_line
from kafka_shim.shim.traffic.importers.log_time import time_us
from kafka_shim.shim.traffic.importers.message_from_json import JsonMessageError
from kafka_shim.shim.traffic.importers.request_log import LoggedRequest, parse_request
from kafka_shim.shim.traffic.traces.writing import Writing


class Imported(msgspec.Struct):
    """The number of imported lines, and the unreadable ones by number.

    `unknown` are fields of messages that were left out, with their counts.
    """

    lines: int = 0
    entries: int = 0
    refused: list[tuple[int, str]] = []
    unknown: dict[str, int] = {}

    def leave_out(self, fields: Iterable[str]) -> None:
        for field in fields:
            self.unknown[field] = self.unknown.get(field, 0) + 1


def import_audit_log(lines: Iterator[str], folder: Path) -> Imported:
    """Import decisions as accesses, each with its own sequence, since the log names no requests."""
    report = Imported()
    with closing(Writing(folder, "audit-log")) as writing:
        _import(lines, report, lambda line, at: _audit(writing, parse_line(line), at))
    return report


def import_request_log(lines: Iterator[str], folder: Path) -> Imported:
    """Import requests with their responses, on the connections in the log."""
    report = Imported()
    with closing(Writing(folder, "request-log")) as writing:
        _import(lines, report, lambda line, at: _logged(writing, parse_request(line), at, report))
    return report


def _import(lines: Iterator[str], report: Imported, import_line: Callable[[str, int], int]) -> None:
    last_us = 0
    for number, line in enumerate(lines, start=1):
        report.lines += 1
        last_us = max(last_us, time_us(line) or 0)
        try:
            report.entries += import_line(line, last_us)
        except JsonMessageError as error:
            report.refused.append((number, str(error)))


def _audit(writing: Writing, line: AuditLine | None, at_us: int) -> int:
    if line is None:
        return 0
    number = writing.number((line.principal, line.host))
    who = Connection(0, number, -1, "", line.host, 0, line.principal, accesses=AUDIT)
    writing.add(
        Access(
            writing.in_block(who),
            writing.sequence(number),
            at_us,
            line.api_key,
            0,
            line.operation,
            line.resource_type,
            line.resource_name,
            line.allowed,
            line.rule,
            line.count,
        )
    )
    return 1


def _logged(writing: Writing, request: LoggedRequest | None, at_us: int, report: Imported) -> int:
    if request is None:
        return 0
    report.leave_out(request.unknown)
    number = writing.number(request.connection)
    who = Connection(
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
    place = writing.in_block(who)
    sequence = writing.sequence(number)
    began_us = max(0, at_us - request.took_us)  # the line is written at the end of the request
    key, version = request.api_key, request.api_version
    frame, _ = without_secrets(request.request, key)
    writing.add(Request(place, sequence, began_us, frame, redacted=True))
    if request.response is None:
        return 1
    frame, _ = response_without_secrets(request.response, key, version)
    writing.add(Response(place, sequence, at_us, key, version, frame, redacted=True))
    return 2
