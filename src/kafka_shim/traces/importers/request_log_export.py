"""Export a trace as JSON lines in the format of Kafka's request log (KIP-673)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import read_request_frame, read_response_with_version
from kafka_shim.protocol.wire_json import message_json
from kafka_shim.trace_format.entries import Connection, Request, Response
from kafka_shim.trace_format.segments import Damage, read_trace


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
