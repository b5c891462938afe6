"""Kafka's request log (KIP-673), read into the entries of a trace, and written from a trace.

... Completed request:{"isForwarded":false,"requestHeader":{...},"request":{...},
"response":{...},"connection":"10.0.0.1:9092-10.0.0.2:51234-0",...} (kafka.request.logger)
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.catalogue import api_name
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.message_frames import (
    read_request_frame,
    read_response_with_version,
    write_response_frame,
)
from kafka_shim.protocol.wire_json import message_json
from kafka_shim.trace_format.entries import UNKNOWN_PRINCIPAL, Connection, Request, Response
from kafka_shim.trace_format.segments import Damage, read_trace
from kafka_shim.traces.importers.logged_principal import principal_or_none
from kafka_shim.traces.importers.message_from_json import JsonMessageError, message_from_json

_CONNECTION = re.compile(r"(?P<host>.+):(?P<port>\d+)-(?:\d+-)?\d+")


class LoggedRequest(msgspec.Struct, frozen=True):
    """A line as frames, encoded from its JSON without record contents.

    `connection` is Kafka's connection id, `took_us` the time until the response. `response` is None
    without a response. `unknown` are fields that were left out. `time_us` is 0 unless the row was
    exported from a trace.
    """

    connection: str
    host: str
    port: int
    principal: str
    listener: str
    software_name: str
    software_version: str
    api_key: int
    api_version: int
    request: bytes
    response: bytes | None
    took_us: int
    unknown: frozenset[str]
    time_us: int


def may_contain_entry(text: str) -> bool:
    """Return whether a part of a log may have a request."""
    return "requestHeader" in text


def parse_request_log_line(line: str) -> LoggedRequest | None:
    """Return the request in a line; None if it has none. Raise JsonMessageError."""
    start = line.find("{")
    if start < 0 or '"requestHeader"' not in line:
        return None
    try:
        content, _ = json.JSONDecoder().raw_decode(line, start)
        return _parse_logged_request(content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, JsonMessageError):
            raise
        raise JsonMessageError(f"not a line of the request log: {error!r}") from error


def _parse_logged_request(content: dict[str, Any]) -> LoggedRequest:
    head = content["requestHeader"]
    key, version = int(head["requestApiKey"]), int(head["requestApiVersion"])
    header = RequestHeader(key, version, int(head["correlationId"]), head.get("clientId"))
    software = content.get("clientInformation") or {}
    host, port = _client_address(str(content.get("connection", "")))
    logged_principal = content.get("principal")
    principal = principal_or_none(str(logged_principal)) if logged_principal else UNKNOWN_PRINCIPAL
    if principal is None:
        raise JsonMessageError(f"unknown form of a principal: `{logged_principal}`")
    unknown: set[str] = set()
    try:
        name = api_name(key)
        request = message_from_json(f"{name}Request", version, content["request"], unknown)
        frame = write_request_header(header) + codecs.write_request(request, version)
        response = _encode_response(f"{name}Response", content.get("response"), header, unknown)
    except ProtocolError as error:
        raise JsonMessageError(str(error)) from error
    return LoggedRequest(
        str(content.get("connection", "")),
        host,
        port,
        principal,
        content.get("listener") or "",
        software.get("softwareName") or "",
        software.get("softwareVersion") or "",
        key,
        version,
        frame,
        response,
        int(float(content.get("totalTimeMs") or 0) * 1000),
        frozenset(unknown),
        int(content.get("timeUs") or 0),
    )


def _encode_response(
    name: str, content: Any, header: RequestHeader, unknown: set[str]
) -> bytes | None:
    if not isinstance(content, dict):
        return None
    message = message_from_json(name, header.api_version, content, unknown)
    return write_response_frame(header, message)


def _client_address(connection: str) -> tuple[str, int]:
    """Return the client's part of `server:port-client:port-index` (4.x adds a processor number)."""
    _, _, client_part = connection.partition("-")
    match = _CONNECTION.fullmatch(client_part)
    return ("", 0) if match is None else (match["host"], int(match["port"]))


def exported_request_log_rows(
    trace: Path,
    progress: Callable[[int], None] = lambda _: None,
    damage: list[Damage] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield one object per request, when its response is read; those without one at the end.

    `progress` is called with the number of bytes read; unreadable parts are added to `damage`.
    """
    unanswered_requests: dict[tuple[str, int, int], tuple[Connection, Request]] = {}
    for block in read_trace(trace, progress):
        if isinstance(block, Damage):
            if damage is not None:
                damage.append(block)
            continue
        writer = Path(block.path).stem.rpartition("-")[0]
        connections = {connection.number: connection for connection in block.body.connections}
        for entry in block.body.entries:
            connection = connections[entry.connection]
            key = (writer, connection.writer_connection, entry.sequence)
            if isinstance(entry, Request):
                unanswered_requests[key] = connection, entry
            elif isinstance(entry, Response) and key in unanswered_requests:
                _, request = unanswered_requests.pop(key)
                yield from _request_log_row(connection, request, entry)
    for connection, request in unanswered_requests.values():
        yield from _request_log_row(connection, request, None)


def _request_log_row(
    connection: Connection, request: Request, response: Response | None
) -> Iterator[dict[str, Any]]:
    try:
        header, message = read_request_frame(request.frame)
    except ProtocolError:
        return
    row = {
        "isForwarded": False,
        "requestHeader": _header_fields(header),
        "request": message_json(message, header.api_version),
    }
    if response is not None:
        try:
            key, version = response.api_key, response.api_version
            response_message, version = read_response_with_version(key, version, response.frame)
            row["response"] = message_json(response_message, version)
        except ProtocolError:
            row["response"] = None
        row["totalTimeMs"] = (response.time_us - request.time_us) / 1000
    server, client = f"node-{connection.node_id}:0", f"{connection.host}:{connection.port}"
    yield row | {
        "connection": f"{server}-{client}-{connection.writer_connection}",
        "securityProtocol": connection.listener,
        "principal": connection.principal,
        "listener": connection.listener,
        "clientInformation": {
            "softwareName": connection.software_name,
            "softwareVersion": connection.software_version,
        },
        "timeUs": request.time_us,
    }


def _header_fields(header: RequestHeader) -> dict[str, Any]:
    return {
        "requestApiKey": header.api_key,
        "requestApiVersion": header.api_version,
        "correlationId": header.correlation_id,
        "clientId": header.client_id,
        "requestApiKeyName": ApiKey(header.api_key).name,
    }
