"""Log files into a trace."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from protocol.trace.entries import AUDIT, DERIVED, Access, Connection, Request, Response
from protocol.trace.redaction import answer_without_secrets, without_secrets
from shim.importers.audit_log import AuditLine, parse_line
from shim.importers.log_time import time_us
from shim.importers.message_from_json import JsonMessageError
from shim.importers.request_log import LoggedRequest, parse_request
from shim.importers.writing import Writing


class Imported(msgspec.Struct):
    """How many lines became entries, and which could not be read, by their number.

    `unknown` are fields of messages that were left out, and how often.
    """

    lines: int = 0
    entries: int = 0
    refused: list[tuple[int, str]] = []
    unknown: dict[str, int] = {}

    def leave_out(self, fields: Iterable[str]) -> None:
        for field in fields:
            self.unknown[field] = self.unknown.get(field, 0) + 1


def import_audit_log(lines: Iterator[str], folder: Path) -> Imported:
    """Decisions as accesses; each has a sequence of its own, since the log names no requests."""
    writing = Writing(folder, "audit-log")
    report = Imported()
    _import(lines, report, lambda line, at: _audit(writing, parse_line(line), at))
    writing.close()
    return report


def import_request_log(lines: Iterator[str], folder: Path) -> Imported:
    """Requests with their answers, on the connections that the log names."""
    writing = Writing(folder, "request-log")
    report = Imported()
    _import(lines, report, lambda line, at: _logged(writing, parse_request(line), at, report))
    writing.close()
    return report


def _import(lines: Iterator[str], report: Imported, one: Callable[[str, int], int]) -> None:
    last_us = 0
    for number, line in enumerate(lines, start=1):
        report.lines += 1
        last_us = max(last_us, time_us(line) or 0)
        try:
            report.entries += one(line, last_us)
        except JsonMessageError as error:
            report.refused.append((number, str(error)))


def _audit(writing: Writing, found: AuditLine | None, at_us: int) -> int:
    if found is None:
        return 0
    number = writing.number((found.principal, found.host))
    who = Connection(0, number, -1, "", found.host, 0, found.principal, accesses=AUDIT)
    writing.add(
        Access(
            writing.in_block(who),
            writing.sequence(number),
            at_us,
            found.api_key,
            0,
            found.operation,
            found.resource_type,
            found.resource_name,
            found.allowed,
            found.rule,
            found.count,
        )
    )
    return 1


def _logged(writing: Writing, found: LoggedRequest | None, at_us: int, report: Imported) -> int:
    if found is None:
        return 0
    report.leave_out(found.unknown)
    number = writing.number(found.connection)
    who = Connection(
        0,
        number,
        -1,
        found.listener,
        found.host,
        found.port,
        found.principal,
        "",
        found.software_name,
        found.software_version,
        DERIVED,
    )
    place = writing.in_block(who)
    sequence = writing.sequence(number)
    began_us = max(0, at_us - found.took_us)  # the line is written when all is done
    key, version = found.api_key, found.api_version
    frame, _ = without_secrets(found.request, key)
    writing.add(Request(place, sequence, began_us, frame, redacted=True))
    if found.response is None:
        return 1
    frame, _ = answer_without_secrets(found.response, key, version)
    writing.add(Response(place, sequence, at_us, key, version, frame, redacted=True))
    return 2
