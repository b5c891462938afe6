"""Export a trace as JSON lines in the format of Kafka's request log (KIP-673)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.response_frames import read_response_frame
from kafka_shim.protocol.trace.entries import Connection, Request, Response
from kafka_shim.protocol.trace.segments import Damage, read_trace
from kafka_shim.protocol.wire_json import message_json


def export_rows(
    trace: Path,
    progress: Callable[[int], None] = lambda _: None,
    damage: list[Damage] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield one object per request, when its response is read; those without one at the end.

    `progress` is called with the number of bytes read; unreadable parts are added to `damage`.
    """
    waiting: dict[tuple[str, int, int], tuple[Connection, Request]] = {}
    for block in read_trace(trace, progress):
        if isinstance(block, Damage):
            if damage is not None:
                damage.append(block)
            continue
        writer = Path(block.path).stem.rpartition("-")[0]
        people = {who.number: who for who in block.body.connections}
        for entry in block.body.entries:
            who = people[entry.connection]
            key = (writer, who.writer_connection, entry.sequence)
            if isinstance(entry, Request):
                waiting[key] = who, entry
            elif isinstance(entry, Response) and key in waiting:
                _, request = waiting.pop(key)
                yield from _row(who, request, entry)
    for who, request in waiting.values():
        yield from _row(who, request, None)


def _row(peer: Connection, request: Request, response: Response | None) -> Iterator[dict[str, Any]]:
    try:
        header, at = read_request_header(request.frame)
        message = codecs.read_request(header.api_key, header.api_version, request.frame, at)
    except ProtocolError:
        return
    row = {
        "isForwarded": False,
        "requestHeader": _header(header),
        "request": message_json(message, header.api_version),
    }
    if response is not None:
        try:
            key, version = response.api_key, response.api_version
            answer, version = read_response_frame(key, version, response.frame)
            row["response"] = message_json(answer, version)
        except ProtocolError:
            row["response"] = None
        row["totalTimeMs"] = (response.time_us - request.time_us) / 1000
    yield row | {
        "connection": f"node-{peer.node_id}:0-{peer.host}:{peer.port}-{peer.writer_connection}",
        "securityProtocol": peer.listener,
        "principal": peer.principal,
        "listener": peer.listener,
        "clientInformation": {
            "softwareName": peer.software_name,
            "softwareVersion": peer.software_version,
        },
        "timeUs": request.time_us,
    }


def _header(header: RequestHeader) -> dict[str, Any]:
    return {
        "requestApiKey": header.api_key,
        "requestApiVersion": header.api_version,
        "correlationId": header.correlation_id,
        "clientId": header.client_id,
        "requestApiKeyName": ApiKey(header.api_key).name,
    }
