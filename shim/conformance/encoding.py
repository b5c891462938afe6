"""How requests are written: versions, strict encoding, known codes."""

import re
from collections.abc import Iterator
from typing import Any

from protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from shim.conformance.behaviour import Behaviour, Sight
from shim.conformance.exchanges import Exchange
from shim.replay.events import Line

_UNSUPPORTED_VERSION = 35
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def _of(seen: list[Exchange], *apis: ApiKey) -> Iterator[Exchange]:
    return (one for one in seen if one.api in apis and one.request is not None)


def _negotiates(seen: list[Exchange]) -> Iterator[Sight]:
    met: set[Line] = set()
    for one in seen:
        if one.line not in met:
            met.add(one.line)
            yield Sight(one.api == ApiKey.API_VERSIONS, one, "first of its connection")


def _stays_within(seen: list[Exchange]) -> Iterator[Sight]:
    offered: dict[int, tuple[int, int]] = {}
    for one in seen:
        answer = one.answer
        if one.api == ApiKey.API_VERSIONS:
            if answer is not None and answer.error_code == 0:
                offered |= {
                    row.api_key: (row.min_version, row.max_version) for row in answer.api_keys
                }
        elif offered:
            low, high = offered.get(one.api, (0, -1))
            yield Sight(low <= one.version <= high, one, f"offered {low} to {high}")


def _falls_back(seen: list[Exchange]) -> Iterator[Sight]:
    refused: dict[Line, Exchange] = {}
    for one in seen:
        before = refused.pop(one.line, None)
        if before is not None:
            rows = {row.api_key: row.max_version for row in before.answer.api_keys}
            # brokers before KIP-511 refuse without a list: then any lower version is a try
            highest = rows.get(ApiKey.API_VERSIONS, before.version - 1)
            is_lower = one.api == ApiKey.API_VERSIONS and one.version <= highest
            yield Sight(is_lower, one, f"after error 35, which leaves up to {highest}")
        is_refused = one.answer is not None and one.api == ApiKey.API_VERSIONS
        if is_refused and one.answer.error_code == _UNSUPPORTED_VERSION:
            refused[one.line] = one


def _names_its_software(seen: list[Exchange]) -> Iterator[Sight]:
    for one in _of(seen, ApiKey.API_VERSIONS):
        if one.version >= 3:
            names = (one.request.client_software_name, one.request.client_software_version)
            yield Sight(all(_SOFTWARE.fullmatch(name) for name in names), one, " ".join(names))


def _is_readable(seen: list[Exchange]) -> Iterator[Sight]:
    for one in seen:
        is_known = not one.fault or one.errors == [_UNSUPPORTED_VERSION]
        yield Sight(is_known, one, one.fault)


def _ends_where_it_ends(seen: list[Exchange]) -> Iterator[Sight]:
    for one in seen:
        if one.request is not None:
            yield Sight(
                one.trailing == 0, one, f"{one.trailing} bytes too many" * (one.trailing > 0)
            )


def _is_canonical(seen: list[Exchange]) -> Iterator[Sight]:
    for one in seen:
        if one.is_canonical is not None:
            yield Sight(one.is_canonical, one)


def _sends_no_unknown_tags(seen: list[Exchange]) -> Iterator[Sight]:
    for one in seen:
        if one.request is not None:
            yield Sight(not (one.header.unknown_tags or one.request.unknown_tags), one)


def _counts_its_requests(seen: list[Exchange]) -> Iterator[Sight]:
    waiting: dict[Line, dict[int, Exchange]] = {}
    for one in seen:
        open_ones = waiting.setdefault(one.line, {})
        for number, other in list(open_ones.items()):
            if other.answered_us is not None and other.answered_us <= one.time_us:
                del open_ones[number]
        yield Sight(one.header.correlation_id not in open_ones, one)
        if one.answered_us is not None:
            open_ones[one.header.correlation_id] = one


_CODES: dict[int, tuple[tuple[str, frozenset[int]], ...]] = {
    ApiKey.PRODUCE: (("acks", frozenset({-1, 0, 1})),),
    ApiKey.FETCH: (("isolation_level", frozenset({0, 1})),),
    ApiKey.LIST_OFFSETS: (("isolation_level", frozenset({0, 1})),),
    ApiKey.FIND_COORDINATOR: (("key_type", frozenset({0, 1, 2})),),
    ApiKey.DESCRIBE_ACLS: (
        ("resource_type_filter", frozenset(ResourceType)),
        ("pattern_type_filter", frozenset(PatternType)),
        ("operation", frozenset(Operation)),
        ("permission_type", frozenset(Permission)),
    ),
    ApiKey.CREATE_ACLS: (
        ("resource_type", frozenset(ResourceType)),
        ("resource_pattern_type", frozenset(PatternType)),
        ("operation", frozenset(Operation)),
        ("permission_type", frozenset(Permission)),
    ),
    ApiKey.DELETE_ACLS: (
        ("resource_type_filter", frozenset(ResourceType)),
        ("pattern_type_filter", frozenset(PatternType)),
        ("operation", frozenset(Operation)),
        ("permission_type", frozenset(Permission)),
    ),
}
_ROWS = {ApiKey.CREATE_ACLS: "creations", ApiKey.DELETE_ACLS: "filters"}


def _knows_its_codes(seen: list[Exchange]) -> Iterator[Sight]:
    for one in seen:
        if one.request is None or one.api not in _CODES:
            continue
        name = _ROWS.get(ApiKey(one.api))
        rows: list[Any] = [one.request] if name is None else getattr(one.request, name)
        wrong = [
            f"{field} {getattr(row, field)}"
            for row in rows
            for field, known in _CODES[one.api]
            if getattr(row, field) not in known or _is_unknown(one, row, field)
        ]
        yield Sight(not wrong, one, ", ".join(wrong))


def _is_unknown(one: Exchange, row: Any, field: str) -> bool:
    """Code 0 of the ACL enums is UNKNOWN, which nobody may send."""
    return one.api in (*_ROWS, ApiKey.DESCRIBE_ACLS) and getattr(row, field) == 0


ENCODING = (
    Behaviour(
        "versions.negotiated",
        "asks for the broker's versions before anything else",
        35,
        "the first request of a connection is ApiVersions",
        _negotiates,
    ),
    Behaviour(
        "versions.within-offer",
        "sends only versions that the broker offers",
        35,
        "each request's version is within the ApiVersions answer",
        _stays_within,
    ),
    Behaviour(
        "versions.fallback",
        "falls back when its ApiVersions version is refused",
        511,
        "after error 35 the connection sends ApiVersions in a version of that answer",
        _falls_back,
    ),
    Behaviour(
        "versions.software-named",
        "says which software it is",
        511,
        "ApiVersions 3 and later carry a name and version that brokers accept",
        _names_its_software,
    ),
    Behaviour(
        "encoding.readable",
        "every request can be read",
        None,
        "the body follows the schema of its version",
        _is_readable,
    ),
    Behaviour(
        "encoding.no-trailing-bytes",
        "nothing follows a request's last field",
        None,
        "the message ends where the frame ends",
        _ends_where_it_ends,
    ),
    Behaviour(
        "encoding.canonical",
        "writes each value in its one shortest form",
        482,
        "read and written again, the request has the same bytes (varints, tags, booleans)",
        _is_canonical,
    ),
    Behaviour(
        "encoding.known-tags",
        "sends no tagged fields that the schema lacks",
        482,
        "no unknown tags in header or body",
        _sends_no_unknown_tags,
    ),
    Behaviour(
        "encoding.known-codes",
        "sends only codes that exist",
        140,
        "resource and pattern types, operations, permissions (never UNKNOWN), acks, isolation,"
        " coordinator types",
        _knows_its_codes,
    ),
    Behaviour(
        "encoding.correlation-ids",
        "tells its open requests apart",
        None,
        "no two unanswered requests of a connection have the same correlation id",
        _counts_its_requests,
    ),
)
