"""Rows about requests and answers: read as far as the tables need, the rest is stepped over."""

from pipeline.answers import decoded, error_codes
from pipeline.rows import Columns, Pending, Selection, api_name, people
from protocol.errors import ProtocolError
from protocol.headers import RequestHeader, read_request_header
from protocol.skim import ResourceNames, skim_request
from protocol.trace.entries import Request, Response
from protocol.trace.segments import Block

_NO_NAMES = ResourceNames()


def request_rows(columns: Columns, block: Block, selection: Selection, _: Pending) -> None:
    """A row for each request; one that cannot be read says why and is not left out."""
    who = people(block)
    for entry in block.body.entries:
        if not isinstance(entry, Request) or not selection.wants(entry.time_us, _key(entry.frame)):
            continue
        header, names, undecoded = _read(entry.frame, skim=columns.wants("topics", "groups"))
        columns.add(
            {
                "sequence": entry.sequence,
                "time": entry.time_us,
                "api": api_name(header.api_key),
                "api_key": header.api_key,
                "api_version": header.api_version,
                "correlation_id": header.correlation_id,
                "client_id": header.client_id,
                "bytes": len(entry.frame),
                "redacted": entry.redacted,
                "topics": names.topics,
                "groups": names.groups,
                "transactional_ids": names.transactional_ids,
                "undecoded": undecoded,
                "requests": 1,
                "first_seen": entry.time_us,
                "last_seen": entry.time_us,
            },
            who[entry.connection][1],
        )


def response_rows(columns: Columns, block: Block, selection: Selection, open_: Pending) -> None:
    """A row for each answer, with the time since its request if that is in the same split."""
    who = people(block)
    for entry in block.body.entries:
        connection, person = who.get(entry.connection, (None, {}))
        key = (connection.writer_connection if connection else -1, entry.sequence)
        if isinstance(entry, Request):
            open_.times[key] = entry.time_us
        if not isinstance(entry, Response):
            continue
        asked_us = open_.times.pop(key, None)
        if not selection.wants(entry.time_us, entry.api_key):
            continue
        codes, undecoded = _codes(entry) if columns.wants("error_codes") else ([], None)
        columns.add(
            {
                "sequence": entry.sequence,
                "time": entry.time_us,
                "api": api_name(entry.api_key),
                "api_key": entry.api_key,
                "api_version": entry.api_version,
                "latency_us": None if asked_us is None else entry.time_us - asked_us,
                "bytes": len(entry.frame),
                "error_codes": codes,
                "undecoded": undecoded,
            },
            person,
        )


def _key(frame: bytes) -> int:
    return int.from_bytes(frame[:2], "big", signed=True)


def _read(frame: bytes, *, skim: bool) -> tuple[RequestHeader, ResourceNames, str | None]:
    try:
        header, at = read_request_header(frame)
    except ProtocolError as error:
        return RequestHeader(_key(frame), -1, -1), _NO_NAMES, str(error)
    if not skim:
        return header, _NO_NAMES, None
    try:
        return header, skim_request(header.api_key, header.api_version, frame, at), None
    except ProtocolError as error:
        return header, _NO_NAMES, str(error)


def _codes(entry: Response) -> tuple[list[int], str | None]:
    """The errors that an answer has in it, each once."""
    try:
        return error_codes(decoded(entry)), None
    except ProtocolError as error:
        return [], str(error)
