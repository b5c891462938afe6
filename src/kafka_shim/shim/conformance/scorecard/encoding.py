"""Encoding of requests: versions, canonical encoding, known codes."""

import re
from collections.abc import Iterator
from typing import Any

from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.shim.conformance.scorecard.behaviour import Behaviour, Sight
from kafka_shim.shim.conformance.scorecard.exchanges import Exchange
from kafka_shim.shim.traffic.replay.events import ConnectionId

_UNSUPPORTED_VERSION = 35
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def _of(seen: list[Exchange], *apis: ApiKey) -> Iterator[Exchange]:
    return (exchange for exchange in seen if exchange.api in apis and exchange.request is not None)


def _negotiates(seen: list[Exchange]) -> Iterator[Sight]:
    met: set[ConnectionId] = set()
    for exchange in seen:
        if exchange.connection_id not in met:
            met.add(exchange.connection_id)
            yield Sight(exchange.api == ApiKey.API_VERSIONS, exchange, "first of its connection")


def _stays_within(seen: list[Exchange]) -> Iterator[Sight]:
    offered: dict[int, tuple[int, int]] = {}
    for exchange in seen:
        response = exchange.response
        if exchange.api == ApiKey.API_VERSIONS:
            if response is not None and response.error_code == 0:
                offered |= {
                    row.api_key: (row.min_version, row.max_version) for row in response.api_keys
                }
        elif offered:
            low, high = offered.get(exchange.api, (0, -1))
            yield Sight(low <= exchange.version <= high, exchange, f"offered {low} to {high}")


def _falls_back(seen: list[Exchange]) -> Iterator[Sight]:
    refused: dict[ConnectionId, Exchange] = {}
    for exchange in seen:
        before = refused.pop(exchange.connection_id, None)
        if before is not None:
            rows = {row.api_key: row.max_version for row in before.response.api_keys}
            # brokers before KIP-511 reject without a list, so any lower version is right
            highest = rows.get(ApiKey.API_VERSIONS, before.version - 1)
            is_lower = exchange.api == ApiKey.API_VERSIONS and exchange.version <= highest
            yield Sight(is_lower, exchange, f"after error 35, which leaves up to {highest}")
        is_refused = exchange.response is not None and exchange.api == ApiKey.API_VERSIONS
        if is_refused and exchange.response.error_code == _UNSUPPORTED_VERSION:
            refused[exchange.connection_id] = exchange


def _names_its_software(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange in _of(seen, ApiKey.API_VERSIONS):
        if exchange.version >= 3:
            names = (
                exchange.request.client_software_name,
                exchange.request.client_software_version,
            )
            yield Sight(all(_SOFTWARE.fullmatch(name) for name in names), exchange, " ".join(names))


def _is_readable(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange in seen:
        is_known = not exchange.decode_error or exchange.errors == [_UNSUPPORTED_VERSION]
        yield Sight(is_known, exchange, exchange.decode_error)


def _ends_where_it_ends(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange in seen:
        if exchange.request is not None:
            yield Sight(
                exchange.trailing == 0,
                exchange,
                f"{exchange.trailing} bytes too many" * (exchange.trailing > 0),
            )


def _is_canonical(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange in seen:
        if exchange.is_canonical is not None:
            yield Sight(exchange.is_canonical, exchange)


def _sends_no_unknown_tags(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange in seen:
        if exchange.request is not None:
            yield Sight(
                not (exchange.header.unknown_tags or exchange.request.unknown_tags), exchange
            )


def _counts_its_requests(seen: list[Exchange]) -> Iterator[Sight]:
    waiting: dict[ConnectionId, dict[int, Exchange]] = {}
    for exchange in seen:
        open_ones = waiting.setdefault(exchange.connection_id, {})
        for number, other in list(open_ones.items()):
            if other.responded_us is not None and other.responded_us <= exchange.time_us:
                del open_ones[number]
        yield Sight(exchange.header.correlation_id not in open_ones, exchange)
        if exchange.responded_us is not None:
            open_ones[exchange.header.correlation_id] = exchange


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
    for exchange in seen:
        if exchange.request is None or exchange.api not in _CODES:
            continue
        name = _ROWS.get(ApiKey(exchange.api))
        rows: list[Any] = [exchange.request] if name is None else getattr(exchange.request, name)
        wrong = [
            f"{field} {getattr(row, field)}"
            for row in rows
            for field, known in _CODES[exchange.api]
            if getattr(row, field) not in known or _is_unknown(exchange, row, field)
        ]
        yield Sight(not wrong, exchange, ", ".join(wrong))


def _is_unknown(exchange: Exchange, row: Any, field: str) -> bool:
    """Return whether an ACL enum is UNKNOWN (code 0), which clients must not send."""
    return exchange.api in (*_ROWS, ApiKey.DESCRIBE_ACLS) and getattr(row, field) == 0


ENCODING = (
    Behaviour(
        "versions.negotiated",
        "requests the broker's versions first",
        35,
        "the first request of a connection is ApiVersions",
        _negotiates,
    ),
    Behaviour(
        "versions.within-offer",
        "sends only versions that the broker offers",
        35,
        "each request's version is within the ApiVersions response",
        _stays_within,
    ),
    Behaviour(
        "versions.fallback",
        "retries in an older version when its ApiVersions is refused",
        511,
        "after UNSUPPORTED_VERSION (35), the next ApiVersions is in a version of that response",
        _falls_back,
    ),
    Behaviour(
        "versions.software-named",
        "sends its software name and version",
        511,
        "ApiVersions 3 and later carry a name and version that brokers accept",
        _names_its_software,
    ),
    Behaviour(
        "encoding.readable",
        "sends only requests that can be decoded",
        None,
        "the body follows the schema of its version",
        _is_readable,
    ),
    Behaviour(
        "encoding.no-trailing-bytes",
        "sends no bytes after a request's last field",
        None,
        "the message ends where the frame ends",
        _ends_where_it_ends,
    ),
    Behaviour(
        "encoding.canonical",
        "encodes each value in its shortest form",
        482,
        "decoded and encoded again, the request has the same bytes (varints, tags, booleans)",
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
        "gives each unanswered request its own correlation id",
        None,
        "no two unanswered requests of a connection have the same correlation id",
        _counts_its_requests,
    ),
)
