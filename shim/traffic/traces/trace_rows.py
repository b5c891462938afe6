"""A trace's entries as plain rows for people and for JSON: decoded, in Kafka's own field names."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kafka_shim.protocol import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header, read_response_header
from kafka_shim.protocol.trace.entries import Access, Closed, Connection, Entry, Request, Response
from kafka_shim.protocol.trace.segments import Damage, read_trace
from kafka_shim.protocol.wire_json import message_json


class TraceReader:
    """Reads a trace from the start each time; `damage` is what the last pass met."""

    def __init__(self, path: Path, progress: Callable[[int], None] = lambda _: None) -> None:
        self._path = path
        self._progress = progress
        self.damage: list[Damage] = []

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dict an entry, in the order of the trace."""
        self.damage = []
        for block in read_trace(self._path, self._progress):
            if isinstance(block, Damage):
                self.damage.append(block)
                continue
            people = {who.number: who for who in block.body.connections}
            for entry in block.body.entries:
                yield _who(people[entry.connection], entry) | _what(entry)


def _who(connection: Connection, entry: Entry) -> dict[str, Any]:
    return {
        "time_us": entry.time_us,
        "connection": connection.writer_connection,
        "sequence": entry.sequence,
        "principal": connection.principal,
        "host": connection.host,
        "port": connection.port,
        "listener": connection.listener,
        "node_id": connection.node_id,
        "software_name": connection.software_name,
        "software_version": connection.software_version,
    }


def _what(entry: Entry) -> dict[str, Any]:
    match entry:
        case Request():
            return {"entry": "request", "redacted": entry.redacted} | _request(entry.frame)
        case Response():
            return {"entry": "response", "redacted": entry.redacted} | _response(entry)
        case Access():
            return {
                "entry": "access",
                "api": _api(entry.api_key),
                "version": entry.api_version,
                "operation": Operation(entry.operation).name,
                "resource_type": ResourceType(entry.resource_type).name,
                "resource_name": entry.resource_name,
                "allowed": entry.allowed,
                "rule": entry.rule,
                "count": entry.count,
            }
        case Closed():
            return {"entry": "closed", "reason": entry.reason}


def _request(frame: bytes) -> dict[str, Any]:
    try:
        header, at = read_request_header(frame)
    except ProtocolError as error:
        return {"api": None, "version": None, "client_id": None, "undecoded": str(error)}
    found = {
        "api": _api(header.api_key),
        "version": header.api_version,
        "correlation_id": header.correlation_id,
        "client_id": header.client_id,
    }
    try:
        message = codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError as error:
        return found | {"undecoded": str(error)}
    return found | {"request": message_json(message, header.api_version)}


def _response(entry: Response) -> dict[str, Any]:
    found: dict[str, Any] = {"api": _api(entry.api_key), "version": entry.api_version}
    try:
        header, at = read_response_header(entry.api_key, entry.api_version, entry.frame)
        message = codecs.read_response(entry.api_key, entry.api_version, entry.frame, at)
    except ProtocolError as error:
        return found | {"undecoded": str(error)}
    found["correlation_id"] = header.correlation_id
    return found | {"response": message_json(message, entry.api_version)}


def _api(key: int) -> str:
    try:
        return ApiKey(key).wire_name
    except ValueError:
        return str(key)
