"""Rows about accesses: what the broker decided, and which part each played in its request."""

from functools import cache

from pipeline.roles import EITHER, alternatives, instead_of, roles
from pipeline.rows import Columns, Pending, Selection, api_name, people
from protocol.enums import ApiKey, Operation, ResourceType
from protocol.errors import ProtocolError
from protocol.headers import read_request_header
from protocol.skim import skim_request
from protocol.trace.entries import Access, Request
from protocol.trace.segments import Block


def access_rows(columns: Columns, block: Block, selection: Selection, open_: Pending) -> None:
    """A row for each access that was recorded."""
    who = people(block)
    wanted = _by_name(selection.release)
    requests: dict[tuple[int, int], list[Access]] = {}
    for entry in block.body.entries:
        if isinstance(entry, Request):
            if int.from_bytes(entry.frame[:2], "big", signed=True) in wanted:
                number = who[entry.connection][0].writer_connection
                open_.frames[number, entry.sequence] = entry.frame
        elif isinstance(entry, Access) and selection.wants(entry.time_us, entry.api_key):
            requests.setdefault((entry.connection, entry.sequence), []).append(entry)
    for (number, sequence), accesses in requests.items():
        connection, person = who[number]
        frame = open_.frames.pop((connection.writer_connection, sequence), None)
        topics = _topics(frame)
        if columns.wants("requests"):
            _count(open_, person, accesses, topics, selection.release)
        else:
            _add(columns, person, accesses, topics, selection.release)


def _count(
    open_: Pending,
    person: dict[str, object],
    accesses: list[Access],
    topics: list[str],
    release: str,
) -> None:
    """Add to the counts: far cheaper than a row each, since most accesses are repeated."""
    counts = open_.counts
    principal, host = person["principal"], person["host"]
    for access, role in zip(accesses, roles(accesses, topics, release), strict=True):
        instead = tuple(instead_of(access, topics, release)) if role == EITHER else ()
        key = (
            *(principal, host, access.api_key, access.api_version),
            *(access.operation, access.resource_type, access.resource_name),
            *(role, instead, access.allowed, access.rule),
        )
        found = counts.get(key)
        if found is None:
            example = f"{person['writer']}/{person['connection']}#{access.sequence}"
            counts[key] = [1, access.time_us, access.time_us, example]
        else:
            found[0] += 1
            found[2] = max(found[2], access.time_us)


def count_rows(columns: Columns, open_: Pending) -> None:
    """A row for each different access that was counted, which is forgotten then."""
    for key, (requests, first, last, example) in open_.counts.items():
        principal, host, api_key, version, operation, kind, name, *rest = key
        role, instead, allowed, rule = rest
        columns.add(
            {
                "principal": principal,
                "host": host,
                "api": api_name(api_key),
                "api_key": api_key,
                "api_version": version,
                "operation": Operation(operation).name,
                "resource_type": ResourceType(kind).name,
                "resource_name": name,
                "role": role,
                "instead": list(instead),
                "source": "recorded",
                "allowed": allowed,
                "rule": rule,
                "requests": requests,
                "first_seen": first,
                "last_seen": last,
                "example": example,
            }
        )
    open_.counts.clear()


def _add(
    columns: Columns,
    person: dict[str, object],
    accesses: list[Access],
    topics: list[str],
    release: str,
) -> None:
    for access, role in zip(accesses, roles(accesses, topics, release), strict=True):
        columns.add(
            {
                "sequence": access.sequence,
                "time": access.time_us,
                "api": api_name(access.api_key),
                "api_key": access.api_key,
                "api_version": access.api_version,
                "operation": Operation(access.operation).name,
                "resource_type": ResourceType(access.resource_type).name,
                "resource_name": access.resource_name,
                "role": role,
                "instead": instead_of(access, topics, release) if role == EITHER else [],
                "source": "recorded",
                "allowed": access.allowed,
                "rule": access.rule,
                "count": access.count,
            },
            person,
        )


@cache
def _by_name(release: str) -> frozenset[int]:
    """APIs of which the names in the request matter to what could have been asked."""
    return frozenset({ApiKey.METADATA, *(key for key, _, _ in alternatives(release))})


def _topics(frame: bytes | None) -> list[str]:
    if frame is None:
        return []
    try:
        header, at = read_request_header(frame)
        return skim_request(header.api_key, header.api_version, frame, at).topics
    except ProtocolError:
        return []
