"""The protocol log of kroxylicious (its filter ProtocolLogger): requests and responses as JSON.

    {"header": {"type": "REQUEST", "apiKey": "METADATA", "apiVersion": 13, "correlationId": 2,
      "clientId": "rdkafka"}, "payload": {...}} sessionId=...

An entry has one line, or several as kroxylicious prints it, of which the last begins with `}`. It
is a line of its own, a part of a log line, or a text in a log line that is JSON. The connection is
the `sessionId` beside the entry, if the log's layout has it. Messages with credentials have no
payload, and records are left out.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.code_names import api_key_by_name
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.catalogue import api_name
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.response_frames import write_response_frame
from kafka_shim.traces.importers.log_time import LogTimeError, time_before_message
from kafka_shim.traces.importers.message_from_json import JsonMessageError, message_from_json

ENTRY_CHARACTERS_MAX = 64 * 1024 * 1024

_SESSION = re.compile(r"sessionId[\"\\]*\s*[=:]\s*[\"\\]*([^\s\"\\,}]+)")
_decode = json.JSONDecoder().raw_decode


class LoggedEntry(msgspec.Struct, frozen=True):
    """A request or a response: its encoded frame, and its place in the log.

    `unknown` are fields that were left out.
    """

    line: int
    time_us: int | None
    session: str
    is_request: bool
    header: RequestHeader
    frame: bytes
    unknown: frozenset[str]


class UnreadEntry(NamedTuple):
    """An entry that cannot be read: the number of its first line, and why."""

    line: int
    reason: str


def logged_entries(lines: Iterator[str]) -> Iterator[LoggedEntry | UnreadEntry]:
    """Yield every entry."""
    for number, text in _possible_entry_texts(lines):
        try:
            entry = _parse_entry(number, text)
        except (JsonMessageError, ProtocolError, LogTimeError) as error:
            yield UnreadEntry(number, str(error))
            continue
        if entry is not None:
            yield entry


def _possible_entry_texts(lines: Iterator[str]) -> Iterator[tuple[int, str]]:
    """Yield texts that may be an entry, with the number of their first line."""
    first, parts, length = 0, list[str](), 0
    for number, line in enumerate(lines, start=1):
        if parts:
            parts.append(line)
            length += len(line)
            if line.startswith("}") or length > ENTRY_CHARACTERS_MAX:
                yield first, "".join(parts)
                parts = []
        elif line.rstrip().endswith("{"):  # an entry over several lines
            first, parts, length = number, [line], len(line)
        elif "{" in line:
            yield number, line
    if parts:
        yield first, "".join(parts)


def _parse_entry(number: int, text: str) -> LoggedEntry | None:
    if '"header' not in text.replace("\\", ""):
        return None
    try:
        content, _ = _decode(text, text.index("{"))
    except ValueError as error:
        raise JsonMessageError(f"no whole entry begins here: {error}") from error
    content = _unwrapped_entry(content)
    if content is None:
        return None
    session = _SESSION.search(text)
    try:
        header, frame, unknown = _encode_frame(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, JsonMessageError):
            raise
        raise JsonMessageError(f"not an entry of the protocol log: {error!r}") from error
    is_request = content["header"]["type"] == "REQUEST"
    name = "" if session is None else session[1]
    time = time_before_message(text[:60])
    time_us = None if time is None else time.us
    return LoggedEntry(number, time_us, name, is_request, header, frame, unknown)


def _unwrapped_entry(content: Any) -> dict[str, Any] | None:
    """Return the entry itself, or the one in a text of a JSON log line."""
    if not isinstance(content, dict):
        return None
    if isinstance(content.get("header"), dict):
        return content
    for value in content.values():
        if isinstance(value, str) and value.startswith("{"):
            try:
                inner, _ = _decode(value)
            except ValueError:
                continue
            if isinstance(inner, dict) and isinstance(inner.get("header"), dict):
                return inner
    return None


def _encode_frame(content: dict[str, Any]) -> tuple[RequestHeader, bytes, frozenset[str]]:
    head, payload = content["header"], content.get("payload")
    api = api_key_by_name(str(head["apiKey"]))
    if api is None:
        raise JsonMessageError(f"unknown API `{head['apiKey']}`")
    version, correlation_id = int(head["apiVersion"]), int(head["correlationId"])
    header = RequestHeader(api, version, correlation_id, head.get("clientId"))
    kind = {"REQUEST": "Request", "RESPONSE": "Response"}[head["type"]]
    name = f"{api_name(api)}{kind}"
    # messages with credentials have no payload, so their fields have default values
    unknown: set[str] = set()
    message = message_from_json(name, {} if payload is None else payload, unknown)
    if kind == "Request":
        frame = write_request_header(header) + codecs.write_request(message, version)
    else:
        frame = write_response_frame(header, message)
    return header, frame, frozenset(unknown)
