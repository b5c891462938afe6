"""Rows of requests and responses; only the fields that the tables need are decoded."""

from itertools import repeat

from kafka_shim.pipeline.rows.access_row import api_name
from kafka_shim.pipeline.rows.columns import (
    ColumnBuilder,
    SplitState,
    connections_by_number,
)
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.codec.resource_names import ResourceNames, read_resource_names
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.protocol.responses import nonzero_error_codes
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.trace_format.segments import Block

_NO_NAMES = ResourceNames()
_COLUMNS_OF_NAMES = ("topics", "groups", "transactional_ids", "undecoded")
_COLUMNS_OF_FRAMES = (
    *("api", "api_key", "api_version", "correlation_id", "client_id"),
    *_COLUMNS_OF_NAMES,
)
"""The columns for which the frames of requests are read."""


def add_request_rows(
    columns: ColumnBuilder, block: Block, selection: Selection, _: SplitState
) -> None:
    """Add a row for each request; for one that cannot be read, the row has the reason."""
    who = connections_by_number(block)
    skim = columns.needs_any_column(*_COLUMNS_OF_NAMES)
    requests = [entry for entry in block.body.entries if isinstance(entry, Request)]
    if not selection.selects_every_entry:
        requests = [
            request
            for request in requests
            if selection.selects_entry(request.time_us, request.api_key)
        ]
    read = []
    if columns.needs_any_column(*_COLUMNS_OF_FRAMES):
        read = [_read_header(request, with_names=skim) for request in requests]
    headers = [header for header, _, _ in read]
    names = [found for _, found, _ in read]
    times = [request.time_us for request in requests]
    columns.add_rows(
        {
            "sequence": (request.sequence for request in requests),
            "time": times,
            "api": (api_name(header.api_key) for header in headers),
            "api_key": (header.api_key for header in headers),
            "api_version": (header.api_version for header in headers),
            "correlation_id": (header.correlation_id for header in headers),
            "client_id": (header.client_id for header in headers),
            "bytes": (len(request.frame) for request in requests),
            "redacted": (request.redacted for request in requests),
            "topics": (found.topics for found in names),
            "groups": (found.groups for found in names),
            "transactional_ids": (found.transactional_ids for found in names),
            "undecoded": (undecoded for _, _, undecoded in read),
            "requests": repeat(1, len(requests)),
            "first_seen": times,
            "last_seen": times,
        },
        [who[request.connection][1] for request in requests],
    )


def add_response_rows(
    columns: ColumnBuilder,
    block: Block,
    selection: Selection,
    pending: SplitState,
) -> None:
    """Add a row for each response, with its latency if the request is in the same split."""
    who = connections_by_number(block)
    read, has_client = (
        columns.needs_any_column("error_codes", "undecoded"),
        columns.needs_any_column("client_id"),
    )
    for entry in block.body.entries:
        connection, connection_values = who.get(entry.connection, (None, {}))
        key = (connection.writer_connection if connection else -1, entry.sequence)
        if isinstance(entry, Request):
            client_id = _read_header(entry, with_names=False)[0].client_id if has_client else None
            pending.sent[key] = entry.time_us, client_id
        if not isinstance(entry, Response):
            continue
        requested_us, client_id = pending.sent.pop(key, (None, None))
        if not selection.selects_entry(entry.time_us, entry.api_key):
            continue
        codes, undecoded = _error_codes(entry) if read else ([], None)
        columns.add_row(
            {
                "sequence": entry.sequence,
                "time": entry.time_us,
                "api": api_name(entry.api_key),
                "api_key": entry.api_key,
                "api_version": entry.api_version,
                "client_id": client_id,
                "latency_us": None if requested_us is None else entry.time_us - requested_us,
                "bytes": len(entry.frame),
                "error_codes": codes,
                "undecoded": undecoded,
            },
            connection_values,
        )


def _read_header(
    request: Request, *, with_names: bool
) -> tuple[RequestHeader, ResourceNames, str | None]:
    try:
        header, at = read_request_header(request.frame)
    except ProtocolError as error:
        return RequestHeader(request.api_key, -1, -1), _NO_NAMES, str(error)
    if not with_names:
        return header, _NO_NAMES, None
    try:
        return (
            header,
            read_resource_names(header.api_key, header.api_version, request.frame, at),
            None,
        )
    except ProtocolError as error:
        return header, _NO_NAMES, str(error)


def _error_codes(entry: Response) -> tuple[list[int], str | None]:
    """Return the distinct error codes in a response, or why it cannot be read."""
    try:
        response, version = read_response_with_version(
            entry.api_key, entry.api_version, entry.frame
        )
    except ProtocolError as error:
        return [], str(error)
    return sorted({*nonzero_error_codes(response, version)}), None
