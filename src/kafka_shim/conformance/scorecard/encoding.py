"""Encoding of requests: versions, canonical encoding, known codes."""

import re
from collections.abc import Iterator
from typing import Any

from kafka_shim.conformance.scorecard.behaviour import Behaviour, Occurrence
from kafka_shim.conformance.scorecard.exchanges import Exchange, iter_decoded_requests
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.traces.replay.events import ConnectionId

_UNSUPPORTED_VERSION = 35
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def _find_first_requests(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    seen_connections: set[ConnectionId] = set()
    for exchange in exchanges:
        if exchange.connection_id not in seen_connections:
            seen_connections.add(exchange.connection_id)
            yield Occurrence(
                exchange.api_key == ApiKey.API_VERSIONS, exchange, "first of its connection"
            )


def _find_unoffered_versions(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    offered: dict[int, tuple[int, int]] = {}
    for exchange in exchanges:
        response = exchange.response
        if exchange.api_key == ApiKey.API_VERSIONS:
            if response is not None and response.error_code == 0:
                offered |= {
                    row.api_key: (row.min_version, row.max_version) for row in response.api_keys
                }
        elif offered:
            low, high = offered.get(exchange.api_key, (0, -1))
            yield Occurrence(low <= exchange.version <= high, exchange, f"offered {low} to {high}")


def _find_api_versions_fallbacks(
    exchanges: list[Exchange],
) -> Iterator[Occurrence]:
    rejected_exchanges: dict[ConnectionId, Exchange] = {}
    for exchange in exchanges:
        rejected_exchange = rejected_exchanges.pop(exchange.connection_id, None)
        if rejected_exchange is not None:
            rows = {row.api_key: row.max_version for row in rejected_exchange.response.api_keys}
            # brokers before KIP-511 reject without a list, so any lower version is right
            highest = rows.get(ApiKey.API_VERSIONS, rejected_exchange.version - 1)
            is_lower = exchange.api_key == ApiKey.API_VERSIONS and exchange.version <= highest
            yield Occurrence(is_lower, exchange, f"after error 35, which leaves up to {highest}")
        is_api_versions_response = (
            exchange.response is not None and exchange.api_key == ApiKey.API_VERSIONS
        )
        if is_api_versions_response and exchange.response.error_code == _UNSUPPORTED_VERSION:
            rejected_exchanges[exchange.connection_id] = exchange


def _find_software_names(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange in iter_decoded_requests(exchanges, ApiKey.API_VERSIONS):
        if exchange.version >= 3:
            names = (
                exchange.request.client_software_name,
                exchange.request.client_software_version,
            )
            yield Occurrence(
                all(_SOFTWARE.fullmatch(name) for name in names), exchange, " ".join(names)
            )


def _find_undecodable_requests(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange in exchanges:
        is_decoded = not exchange.decode_error or exchange.error_codes_except_none == [
            _UNSUPPORTED_VERSION
        ]
        yield Occurrence(is_decoded, exchange, exchange.decode_error)


def _find_trailing_bytes(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange in exchanges:
        if exchange.request is not None:
            yield Occurrence(
                exchange.trailing_bytes == 0,
                exchange,
                f"{exchange.trailing_bytes} bytes too many" * (exchange.trailing_bytes > 0),
            )


def _find_noncanonical_encodings(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange in exchanges:
        if exchange.is_canonical is not None:
            yield Occurrence(exchange.is_canonical, exchange)


def _find_unknown_tags(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange in exchanges:
        if exchange.request is not None:
            yield Occurrence(
                not (exchange.header.unknown_tags or exchange.request.unknown_tags), exchange
            )


def _find_reused_correlation_ids(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    open_by_connection: dict[ConnectionId, dict[int, Exchange]] = {}
    for exchange in exchanges:
        open_requests = open_by_connection.setdefault(exchange.connection_id, {})
        for number, other in list(open_requests.items()):
            if other.responded_us is not None and other.responded_us <= exchange.time_us:
                del open_requests[number]
        yield Occurrence(exchange.header.correlation_id not in open_requests, exchange)
        if exchange.responded_us is not None:
            open_requests[exchange.header.correlation_id] = exchange


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


def _find_undefined_codes(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange in exchanges:
        if exchange.request is None or exchange.api_key not in _CODES:
            continue
        name = _ROWS.get(ApiKey(exchange.api_key))
        rows: list[Any] = [exchange.request] if name is None else getattr(exchange.request, name)
        wrong = [
            f"{field} {getattr(row, field)}"
            for row in rows
            for field, defined_codes in _CODES[exchange.api_key]
            if getattr(row, field) not in defined_codes
            or _is_unknown_acl_code(exchange, row, field)
        ]
        yield Occurrence(not wrong, exchange, ", ".join(wrong))


def _is_unknown_acl_code(exchange: Exchange, row: Any, field: str) -> bool:
    """Return whether an ACL enum is UNKNOWN (code 0), which clients must not send."""
    return exchange.api_key in (*_ROWS, ApiKey.DESCRIBE_ACLS) and getattr(row, field) == 0


ENCODING = (
    Behaviour(
        "versions.negotiated",
        "requests the broker's versions first",
        35,
        "the first request of a connection is ApiVersions",
        _find_first_requests,
    ),
    Behaviour(
        "versions.within-offer",
        "sends only versions that the broker offers",
        35,
        "each request's version is within the ApiVersions response",
        _find_unoffered_versions,
    ),
    Behaviour(
        "versions.fallback",
        "retries in an older version when its ApiVersions is refused",
        511,
        "after UNSUPPORTED_VERSION (35), the next ApiVersions is in a version of that response",
        _find_api_versions_fallbacks,
    ),
    Behaviour(
        "versions.software-named",
        "sends its software name and version",
        511,
        "ApiVersions 3 and later carry a name and version that brokers accept",
        _find_software_names,
    ),
    Behaviour(
        "encoding.readable",
        "sends only requests that can be decoded",
        None,
        "the body follows the schema of its version",
        _find_undecodable_requests,
    ),
    Behaviour(
        "encoding.no-trailing-bytes",
        "sends no bytes after a request's last field",
        None,
        "the message ends where the frame ends",
        _find_trailing_bytes,
    ),
    Behaviour(
        "encoding.canonical",
        "encodes each value in its shortest form",
        482,
        "decoded and encoded again, the request has the same bytes (varints, tags, booleans)",
        _find_noncanonical_encodings,
    ),
    Behaviour(
        "encoding.known-tags",
        "sends no tagged fields that the schema lacks",
        482,
        "no unknown tags in header or body",
        _find_unknown_tags,
    ),
    Behaviour(
        "encoding.known-codes",
        "sends only codes that exist",
        140,
        "resource and pattern types, operations, permissions (never UNKNOWN), acks, isolation,"
        " coordinator types",
        _find_undefined_codes,
    ),
    Behaviour(
        "encoding.correlation-ids",
        "gives each unanswered request its own correlation id",
        None,
        "no two unanswered requests of a connection have the same correlation id",
        _find_reused_correlation_ids,
    ),
)
