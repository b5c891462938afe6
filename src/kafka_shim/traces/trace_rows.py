"""A trace's entries as decoded rows in Kafka's field names, for text and JSON, and as lines."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import IntEnum
from pathlib import Path
from typing import Any

from kafka_shim.policy.formats.trace_rule import readable_rule
from kafka_shim.protocol.code_names import api_name_or_key, error_name_with_code
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.protocol.responses import nonzero_error_codes
from kafka_shim.protocol.wire_json import message_json
from kafka_shim.text.message_text import escaped
from kafka_shim.trace_format.entries import (
    DERIVED,
    Access,
    Connection,
    ConnectionClosed,
    Entry,
    Request,
    Response,
)
from kafka_shim.trace_format.segments import Damage, read_trace
from kafka_shim.traces.derived_denials import DerivedDenials

DERIVED_RULE_PREFIX = "the response"
"""Prefix of the rule of a denial that only the response shows."""


class TraceReader:
    """Reads a trace from the start each time; `damage` is that of the last pass."""

    def __init__(self, path: Path, progress: Callable[[int], None] = lambda _: None) -> None:
        self._path = path
        self._progress = progress
        self.damage: list[Damage] = []

    def rows(
        self, *, with_denials: bool = False, with_frames: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Yield one dict per entry, in the order of the trace.

        `with_denials`: in a trace without decisions, add the denials that a response shows after
        it. `with_frames`: add the bytes of requests and responses as `frame`.
        """
        self.damage = []
        derived = DerivedDenials()
        for block in read_trace(self._path, self._progress):
            if isinstance(block, Damage):
                self.damage.append(block)
                continue
            connections = {connection.number: connection for connection in block.body.connections}
            for entry in block.body.entries:
                connection = connections[entry.connection]
                common_fields = _common_fields(connection, entry)
                fields = common_fields | _entry_fields(entry)
                if with_frames and isinstance(entry, Request | Response):
                    fields["frame"] = entry.frame
                yield fields
                if with_denials and connection.access_source == DERIVED:
                    denial_rows = _derived_rows(derived, connection, entry)
                    yield from (common_fields | row for row in denial_rows)


def _derived_rows(
    derived: DerivedDenials, connection: Connection, entry: Entry
) -> Iterator[dict[str, Any]]:
    if isinstance(entry, Request):
        derived.plan_request(connection.writer_connection, entry)
    elif isinstance(entry, Response):
        for action, alternatives in derived.find_denials(connection.writer_connection, entry):
            others = " or ".join(other.operation.name for other in alternatives)
            yield _access_fields(
                Access(
                    *(entry.connection, entry.sequence, entry.time_us),
                    *(entry.api_key, entry.api_version),
                    action.operation,
                    action.resource_type,
                    action.resource_name,
                    allowed=False,
                    rule=f"{DERIVED_RULE_PREFIX}, unless {others} was denied"
                    if others
                    else DERIVED_RULE_PREFIX,
                )
            )


def _common_fields(connection: Connection, entry: Entry) -> dict[str, Any]:
    return {
        "time_us": entry.time_us,
        "connection": connection.writer_connection,
        "sequence": entry.sequence,
        "principal": connection.principal,
        "host": connection.host,
        "observed_host": connection.observed_host,
        "port": connection.port,
        "listener": connection.listener,
        "node_id": connection.node_id,
        "software_name": connection.software_name,
        "software_version": connection.software_version,
    }


def _entry_fields(entry: Entry) -> dict[str, Any]:
    match entry:
        case Request():
            return {"entry": "request", "redacted": entry.redacted} | _request_fields(entry.frame)
        case Response():
            return {"entry": "response", "redacted": entry.redacted} | _response_fields(entry)
        case Access():
            return _access_fields(entry)
        case ConnectionClosed():
            return {"entry": "closed", "reason": entry.reason}


def _access_fields(entry: Access) -> dict[str, Any]:
    return {
        "entry": "access",
        "api": api_name_or_key(entry.api_key),
        "version": entry.api_version,
        "operation": _enum_name(Operation, entry.operation),
        "resource_type": _enum_name(ResourceType, entry.resource_type),
        "resource_name": entry.resource_name,
        "allowed": entry.allowed,
        "rule": entry.rule,
        "count": entry.count,
    }


def _enum_name(kind: type[IntEnum], code: int) -> str:
    """Return the name of a code, or the code itself if it is unknown."""
    try:
        return kind(code).name
    except ValueError:
        return str(code)


def _request_fields(frame: bytes) -> dict[str, Any]:
    try:
        header, at = read_request_header(frame)
    except ProtocolError as error:
        return {"api": None, "version": None, "client_id": None, "undecoded": str(error)}
    fields = {
        "api": api_name_or_key(header.api_key),
        "version": header.api_version,
        "correlation_id": header.correlation_id,
        "client_id": header.client_id,
    }
    try:
        message = codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError as error:
        return fields | {"undecoded": str(error)}
    return fields | {"request": message_json(message, header.api_version)}


def _response_fields(entry: Response) -> dict[str, Any]:
    fields: dict[str, Any] = {"api": api_name_or_key(entry.api_key), "version": entry.api_version}
    try:
        message, version = read_response_with_version(entry.api_key, entry.api_version, entry.frame)
    except ProtocolError as error:
        return fields | {"undecoded": str(error)}
    correlation_id = int.from_bytes(entry.frame[:4], "big", signed=True)
    fields |= {
        "correlation_id": correlation_id,
        "error_codes": sorted({*nonzero_error_codes(message, version)}),
    }
    return fields | {"response": message_json(message, version)}


MESSAGE_CHARACTERS = 160
"""So much of a message is shown; all of it is in the row."""

_ARROWS = {"request": "->", "response": "<-"}


def row_as_text_line(row: dict[str, Any]) -> str:
    """Return time (UTC), `connection/sequence`, principal, and `->` a
    request or `<-` a response.
    """
    time = datetime.fromtimestamp(row["time_us"] / 1_000_000, UTC).isoformat(
        " ", timespec="milliseconds"
    )
    request_position = f"{row['connection']}/{row['sequence']}"
    principal, text = map(escaped, (row["principal"], _entry_text(row)))
    return f"{time[:23]}  {request_position:>7}  {principal}  {text}"


def _entry_text(row: dict[str, Any]) -> str:
    kind = row["entry"]
    if kind == "closed":
        return f"closed: {row['reason']}" if row["reason"] else "closed"
    api = f"{row['api']} v{row['version']}"
    if kind == "access":
        outcome = "allowed" if row["allowed"] else "denied"
        resource = f"{row['resource_type']}:{row['resource_name']}"
        times = f" x{row['count']}" if row["count"] > 1 else ""
        rule = readable_rule(row["rule"])
        return f"{outcome} {row['operation']} {resource}{times} for {api} by {rule}"
    return f"{_ARROWS[kind]} {api} {_errors_text(row)}{_message_text(row, kind)}"


def _errors_text(row: dict[str, Any]) -> str:
    return "".join(f"{error_name_with_code(code)} " for code in row.get("error_codes", ()))


def _message_text(row: dict[str, Any], kind: str) -> str:
    if "undecoded" in row:
        return f"cannot be decoded: {row['undecoded']}"
    text = json.dumps(row[kind])
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[:MESSAGE_CHARACTERS]}..."
