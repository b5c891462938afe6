"""Split a log into entries, whatever wrote its lines: log4j, Docker, Kubernetes or a log service.

An entry is the text that the broker logged and its time. JSON is unpacked: one object or several
in a line, or one object over several lines; Docker's json-file, log4j2's JsonLayout, ECS, GELF,
Filebeat, journald, Loki, Elasticsearch's hits, OpenTelemetry's records, Azure's tables, and
CloudWatch's lists of events. So are quoted fields of CSV.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import tzinfo
from typing import Any

import msgspec

from kafka_shim.traces.importers.log_time import (
    LogTime,
    LogTimeError,
    json_time,
    time_before_message,
)

ENTRY_CHARACTERS_MAX = 64 * 1024 * 1024
TIME_CHARACTERS_MAX = 400
"""The part of a line in which its time is looked for."""

_CRI = re.compile(r"(?P<time>\d{4}-\d\d-\d\dT\S+) (?P<stream>stdout|stderr) (?P<tag>[FP]) ")
_MESSAGE_FIELDS = (
    *("message", "log", "msg", "MESSAGE", "short_message", "full_message", "@message"),
    *("textPayload", "line", "_raw", "body", "formattedMessage", "LogMessage"),
)
_TIME_FIELDS = (
    *("instant", "timeMillis", "@timestamp", "timestamp", "time", "ts", "eventTime", "datetime"),
    *("date", "asctime", "_time", "__REALTIME_TIMESTAMP", "timeUnixNano", "observedTimeUnixNano"),
    *("TimeGenerated", "ISODATE"),
)
_LOGGER_FIELDS = ("loggerName", "logger_name", "log.logger", "logger", "_logger")
_JOURNAL_BYTES = re.compile(r'"MESSAGE"\s*:\s*\[')
"""journald writes a message with unprintable characters, such as colors, as numbers of bytes."""
_CSV_QUOTE = re.compile(r'(?:^|([,;\t]))"')
_COLOR = re.compile(r"\x1b\[[\d;]*m")
_WORD = re.compile(r"[\w.$-]*")
_decode = json.JSONDecoder().raw_decode


class LogEntry(msgspec.Struct, frozen=True):
    """An entry of a log: its first line, its text, and where it was found.

    `wrapped` is an object of JSON that has no text of its own, such as a CloudEvent. `is_whole` is
    false for a last line without a line end, which may be cut off. `error` says why the entry
    cannot be unpacked, or its time not be read.
    """

    line: int
    text: str
    time: LogTime | None = None
    logger: str = ""
    wrapped: dict[str, Any] | None = None
    is_whole: bool = True
    error: str = ""


class LogEntryReader:
    """Reads the entries of one log.

    `is_relevant` returns whether a line is worth unpacking. The time is before `message_start`.
    """

    def __init__(
        self,
        is_relevant: Callable[[str], bool],
        zone: tzinfo | None = None,
        message_start: str = "",
    ) -> None:
        self._is_relevant = is_relevant
        self._zone = zone
        self._message_start = message_start
        self._partial: dict[str, str] = {}
        self.lines = 0

    def relevant_entries(self, lines: Iterable[str]) -> Iterator[LogEntry]:
        """Yield the relevant entries of the lines."""
        for number, text in self._joined_lines(lines):
            if self._is_relevant(text) or _JOURNAL_BYTES.search(text) is not None:
                yield from self._line_entries(number, text)

    def _joined_lines(self, lines: Iterable[str]) -> Iterator[tuple[int, str]]:
        """Yield lines; those of one JSON object, or of one entry that CRI split, as one."""
        first, parts, end, length = 0, list[str](), "", 0
        for self.lines, line in enumerate(lines, start=1):
            if parts:
                parts.append(line)
                length += len(line)
                if line.startswith(end) or length > ENTRY_CHARACTERS_MAX:
                    yield first, "".join(parts)
                    parts = []
                continue
            end = _json_closing_start(line)
            if end:
                first, parts, length = self.lines, [line], len(line)
            else:
                whole_line = self._join_cri_parts(line)
                if whole_line:
                    yield self.lines, whole_line
        if parts:
            yield first, "".join(parts)
        for rest in self._partial.values():
            yield self.lines, rest

    def _join_cri_parts(self, line: str) -> str:
        """Return a line with the parts before it that CRI split off; empty if a part follows."""
        match = _CRI.match(line)
        if match is None:
            return line
        text = line[match.end() :]
        preceding_part = self._partial.pop(match["stream"], "")
        if match["tag"] == "P" and len(preceding_part) <= ENTRY_CHARACTERS_MAX:
            self._partial[match["stream"]] = (preceding_part or match[0]) + text.rstrip("\r\n")
            return ""
        return preceding_part + text if preceding_part else match[0] + text

    def _line_entries(self, number: int, text: str) -> Iterator[LogEntry]:
        """Yield the entries in a line; an error if its text is relevant, but no entry was found."""
        entry = None
        for entry in self._entries_in_text(number, text):
            yield entry
        if entry is None and self._is_relevant(text):
            yield LogEntry(number, text, error="no field of its JSON is a message")

    def _entries_in_text(self, number: int, text: str) -> Iterator[LogEntry]:
        if '"' not in text:  # most lines: neither JSON nor CSV
            yield self._timed_entry(number, text, None)
            return
        start = _start_of_json(text)
        if start < 0:
            yield from self._entries_in_text_without_json(number, text)
            return
        try:
            outer_time = time_before_message(text[:start][-TIME_CHARACTERS_MAX:], self._zone)
        except LogTimeError:
            outer_time = None
        while start >= 0:
            try:
                value, end = _decode(text, start)
            except ValueError as error:
                reason = f"no whole JSON object begins here: {error}"
                yield LogEntry(number, text[start:], error=reason)
                return
            if isinstance(value, dict) and "requestHeader" in value:  # a line of the request log
                yield self._timed_entry(number, text, outer_time)
                return
            yield from self._entries_in_json_value(number, value, outer_time)
            rest = text[end:]
            start = text.find("{", end)
            if start < 0 and self._is_relevant(rest):
                yield self._timed_entry(number, rest, outer_time)

    def _entries_in_text_without_json(self, number: int, text: str) -> Iterator[LogEntry]:
        """Yield a line as an entry, or the entries in the fields of a row of CSV."""
        head = text.partition(self._message_start)[0] if self._message_start else ""
        quote = _CSV_QUOTE.search(head)
        if quote is None:
            yield self._timed_entry(number, text, None)
            return
        try:
            (row,) = csv.reader([text.rstrip("\r\n")], delimiter=quote[1] or ",", strict=True)
        except csv.Error as error:
            yield LogEntry(number, text, error=f"no whole row of CSV: {error}")
            return
        yield from self._entries_in_row(number, row, None)

    def _entries_in_row(
        self, number: int, row: list[Any], outer_time: LogTime | None
    ) -> Iterator[LogEntry]:
        """Yield the entries in a list with a message and maybe its time: of CSV, Loki, Azure."""
        messages = [part for part in row if isinstance(part, str) and self._is_relevant(part)]
        for message in messages:
            times = (self._time_or_none(part) for part in row if part not in messages)
            time = next((time for time in times if time is not None), outer_time)
            yield from self._entries_in_json_field(number, message, time)

    def _time_or_none(self, value: Any) -> LogTime | None:
        try:
            return json_time(value, self._zone)
        except LogTimeError:
            return None

    def _entries_in_json_value(
        self, number: int, value: Any, outer_time: LogTime | None
    ) -> Iterator[LogEntry]:
        """Yield the entries in a JSON value, at any depth."""
        if isinstance(value, list):
            yield from self._entries_in_row(number, value, outer_time)
            for element in value:
                yield from self._entries_in_json_value(number, element, outer_time)
        elif isinstance(value, dict):
            try:
                time = self._time_of_json_object(value) or outer_time
            except LogTimeError as error:
                yield LogEntry(number, json.dumps(value), error=str(error))
                return
            yield from self._entries_in_json_object(number, value, time)

    def _entries_in_json_object(
        self, number: int, value: dict[str, Any], time: LogTime | None
    ) -> Iterator[LogEntry]:
        if "specversion" in value:  # a CloudEvent
            yield LogEntry(number, "", time, wrapped=value)
            return
        if isinstance(value.get("MESSAGE"), list):
            value = value | {"MESSAGE": _text_of_bytes(value["MESSAGE"])}
        fields = [name for name in _MESSAGE_FIELDS if isinstance(value.get(name), str)]
        further = [
            name
            for name, text in value.items()
            if name not in fields and isinstance(text, str) and _WORD.fullmatch(text) is None
        ]
        for name in fields + further:
            if self._is_relevant(value[name]):
                yield from self._entries_in_json_field(number, value[name], time)
                return
        logger = next((str(value[name]) for name in _LOGGER_FIELDS if name in value), "")
        if fields and self._is_relevant(logger):
            yield LogEntry(number, value[fields[0]], time, logger)
            return
        parts = [part for part in value.values() if isinstance(part, dict | list)]
        for part in parts:
            yield from self._entries_in_json_value(number, part, time)

    def _entries_in_json_field(
        self, number: int, text: str, time: LogTime | None
    ) -> Iterator[LogEntry]:
        """Yield the entries in a text that JSON contains: lines of a broker, or JSON again."""
        for line in text.splitlines():
            if not self._is_relevant(line):
                continue
            if _start_of_json(line) >= 0:
                for entry in self._entries_in_text(number, line):
                    yield msgspec.structs.replace(entry, time=entry.time or time)
            else:
                yield self._timed_entry(number, f"{line}\n", time)

    def _timed_entry(self, number: int, text: str, outer_time: LogTime | None) -> LogEntry:
        """Return a line with its time: its own if that has a zone, else that of its JSON object."""
        text, is_whole = text.rstrip("\r\n"), text.endswith("\n")
        head = text.partition(self._message_start)[0] if self._message_start else text
        try:
            own_time = time_before_message(head[:TIME_CHARACTERS_MAX], self._zone)
        except LogTimeError as error:
            if outer_time is None:
                return LogEntry(number, text, is_whole=is_whole, error=str(error))
            own_time = None
        times = [time for time in (own_time, outer_time) if time is not None]
        time = next((time for time in times if time.has_zone), times[0] if times else None)
        return LogEntry(number, text, time, is_whole=is_whole)

    def _time_of_json_object(self, value: dict[str, Any]) -> LogTime | None:
        if "timestampSeconds" in value:  # Google Cloud
            seconds, nanoseconds = value["timestampSeconds"], value.get("timestampNanos", 0)
            return json_time({"epochSecond": seconds, "nanoOfSecond": nanoseconds})
        times = (json_time(value[name], self._zone) for name in _TIME_FIELDS if name in value)
        return next((time for time in times if time is not None), None)


def _json_closing_start(line: str) -> str:
    """Return how the last line of the JSON object begins whose first line this is; else empty."""
    content = line.strip(" \t\r\n,")
    if not content.startswith("{") or content.endswith(("}", "}]")):
        return ""
    if content != "{" and not line.rstrip().endswith(("{", "[", ",")):
        return ""
    indent = "" if line.startswith(",") else line[: len(line) - len(line.lstrip())]
    return f"{indent}}}"


def _text_of_bytes(values: list[Any]) -> str:
    """Return a message that journald wrote as bytes, without the escape sequences of colors."""
    if not all(isinstance(value, int) and 0 <= value < 256 for value in values):
        return ""
    return _COLOR.sub("", bytes(values).decode(errors="replace"))


def _start_of_json(text: str) -> int:
    """Return where a JSON object begins that is not a part of a message; -1 if none does."""
    match = re.search(r"\{\s*\"(?!\")", text)
    return -1 if match is None else match.start()
