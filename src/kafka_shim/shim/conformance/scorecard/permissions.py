"""Behaviours about ACLs, authorized operations and denials."""

from collections.abc import Iterator
from typing import Any

from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.conformance.scorecard.behaviour import Behaviour, Look, Sight
from kafka_shim.shim.conformance.scorecard.exchanges import Exchange

HAMMERING_US = 1_000_000
REPEATS_MAX = 3
"""The same request so often within a second after a final error is taken for a blind retry."""

_CLUSTER = "include_cluster_authorized_operations"
_TOPICS = "include_topic_authorized_operations"
_GROUPS = "include_authorized_operations"
_DESCRIBING: dict[int, tuple[str, ...]] = {
    ApiKey.METADATA: (_CLUSTER, _TOPICS),
    ApiKey.DESCRIBE_CLUSTER: (_CLUSTER,),
    ApiKey.DESCRIBE_GROUPS: (_GROUPS,),
    ApiKey.CONSUMER_GROUP_DESCRIBE: (_GROUPS,),
}
"""The flags that ask for authorized operations."""

_FILTERED = (ApiKey.DESCRIBE_ACLS, ApiKey.DELETE_ACLS)
_ACL_APIS = (*_FILTERED, ApiKey.CREATE_ACLS)


def _of(seen: list[Exchange], *apis: ApiKey) -> Iterator[Exchange]:
    return (exchange for exchange in seen if exchange.api in apis and exchange.request is not None)


def _filters(seen: list[Exchange]) -> Iterator[tuple[Exchange, Any, tuple[str | None, ...]]]:
    """Yield each ACL filter with its three names: resource, principal, host."""
    for exchange in _of(seen, *_FILTERED):
        rows = (
            [exchange.request] if exchange.api == ApiKey.DESCRIBE_ACLS else exchange.request.filters
        )
        for row in rows:
            yield exchange, row, (row.resource_name_filter, row.principal_filter, row.host_filter)


def _creates_concrete(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange in _of(seen, ApiKey.CREATE_ACLS):
        for row in exchange.request.creations:
            is_concrete = (
                row.resource_type > ResourceType.ANY
                and row.resource_pattern_type in (PatternType.LITERAL, PatternType.PREFIXED)
                and row.operation > Operation.ANY
                and row.permission_type in (Permission.DENY, Permission.ALLOW)
                and ":" in row.principal
            )
            yield Sight(is_concrete, exchange, row.resource_name)


def _creates_prefixed(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange in _of(seen, ApiKey.CREATE_ACLS):
        for row in exchange.request.creations:
            if row.resource_pattern_type == PatternType.PREFIXED:
                yield Sight(exchange.version >= 1, exchange, row.resource_name)


def _any_is_null(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange, _, names in _filters(seen):
        if None in names or "" in names:
            yield Sight("" not in names, exchange, "an empty text selects nothing" * ("" in names))


def _any_is_a_code(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange, row, _ in _filters(seen):
        codes = (row.resource_type_filter, row.operation, row.permission_type)
        yield Sight(0 not in codes, exchange, "UNKNOWN in place of ANY" * (0 in codes))


def _matches(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange, row, _ in _filters(seen):
        if row.pattern_type_filter == PatternType.MATCH:
            yield Sight(exchange.version >= 1, exchange)


def _has_pattern_types(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange, highest in _offers(seen):
        yield Sight(exchange.version >= min(1, highest), exchange, f"offered up to {highest}")


def _falls_back_to_v0(seen: list[Exchange]) -> Iterator[Sight]:
    """Check that a client works without pattern types on brokers before KIP-290."""
    for exchange, highest in _offers(seen):
        if highest == 0:
            yield Sight(exchange.version == 0, exchange)


def _offers(seen: list[Exchange]) -> Iterator[tuple[Exchange, int]]:
    """Yield each request about ACLs, with the highest version that the
    broker had offered by then.
    """
    offered: dict[int, int] = {}
    for exchange in seen:
        if exchange.api == ApiKey.API_VERSIONS and exchange.response is not None:
            offered |= {row.api_key: row.max_version for row in exchange.response.api_keys}
        elif exchange.api in _ACL_APIS and exchange.api in offered:
            yield exchange, offered[exchange.api]


def _decodes_operations(seen: list[Exchange]) -> Iterator[Sight]:
    """Check that responses with operations are not requested again
    because they were not decoded.
    """
    for number, exchange in enumerate(seen):
        if exchange.request is None or exchange.response is None or exchange.api not in _DESCRIBING:
            continue
        if not any(getattr(exchange.request, name, False) for name in _DESCRIBING[exchange.api]):
            continue
        yield _is_taken_for_a_response(exchange, seen[number + 1 :])


def _is_taken_for_a_response(exchange: Exchange, later: list[Exchange]) -> Sight:
    """Check that the principal does not repeat the request several times within a second."""
    asked = (exchange.api, exchange.principal, exchange.body)
    again = sum(
        (other.api, other.principal, other.body) == asked
        and other.time_us - exchange.time_us < HAMMERING_US
        for other in later
    )
    note = f"repeated {again} times within a second" if again else ""
    return Sight(again < REPEATS_MAX, exchange, note)


def _asks_operations(attribute: str, *apis: ApiKey) -> Look:
    def look(seen: list[Exchange]) -> Iterator[Sight]:
        for exchange in _of(seen, *apis):
            if getattr(exchange.request, attribute):
                yield Sight(right=True, exchange=exchange)

    return look


def _does_not_always_ask(seen: list[Exchange]) -> Iterator[Sight]:
    record_connections = {
        exchange.connection_id
        for exchange in seen
        if exchange.api in (ApiKey.PRODUCE, ApiKey.FETCH)
    }
    for exchange in _of(seen, ApiKey.METADATA):
        if exchange.connection_id in record_connections:
            asked = (
                exchange.request.include_topic_authorized_operations
                or exchange.request.include_cluster_authorized_operations
            )
            yield Sight(not asked, exchange)


def _takes_for_final(error: ErrorCode) -> Look:
    """Check that a denied request is not repeated at once."""

    def look(seen: list[Exchange]) -> Iterator[Sight]:
        denied = [exchange for exchange in seen if error in exchange.errors]
        for number, exchange in enumerate(denied):
            yield _is_taken_for_a_response(exchange, denied[number + 1 :])

    return look


def _final(error: ErrorCode, kip: int | None) -> Behaviour:
    return Behaviour(
        f"errors.{int(error)}-final",
        f"does not retry {error.name} in a loop",
        kip,
        f"a request answered with {int(error)} is not repeated {REPEATS_MAX} times within 1 s",
        _takes_for_final(error),
    )


PERMISSIONS = (
    Behaviour(
        "acls.create-concrete",
        "creates ACLs for concrete patterns, operations and principals",
        140,
        "no ANY, MATCH or UNKNOWN in CreateAcls; principals are Type:name",
        _creates_concrete,
    ),
    Behaviour(
        "acls.create-prefixed",
        "creates prefixed ACLs",
        290,
        "pattern type 4 in CreateAcls 1 or later",
        _creates_prefixed,
    ),
    Behaviour(
        "acls.pattern-types",
        "uses pattern types if the broker supports them",
        290,
        "ACL requests are in version 0 only where nothing higher is offered",
        _has_pattern_types,
    ),
    Behaviour(
        "acls.v0-fallback",
        "works without pattern types if the broker does not support them",
        290,
        "ACL requests are in version 0 where nothing higher is offered",
        _falls_back_to_v0,
    ),
    Behaviour(
        "acls.any-name-null",
        "uses null to match any name",
        140,
        "names, principals and hosts of filters are null, never empty",
        _any_is_null,
    ),
    Behaviour(
        "acls.any-code",
        "uses ANY to match any type or operation",
        140,
        "code 1 in filters, never 0",
        _any_is_a_code,
    ),
    Behaviour(
        "acls.match-filter",
        "requests all ACLs that apply to a name",
        290,
        "pattern type 2 (MATCH) in a filter",
        _matches,
    ),
    Behaviour(
        "operations.cluster",
        "requests its operations on the cluster",
        430,
        "the flag in DescribeCluster, or Metadata 8 to 10",
        _asks_operations(_CLUSTER, ApiKey.DESCRIBE_CLUSTER, ApiKey.METADATA),
    ),
    Behaviour(
        "operations.topics",
        "requests its operations on topics",
        430,
        "the flag in Metadata 8 or later",
        _asks_operations(_TOPICS, ApiKey.METADATA),
    ),
    Behaviour(
        "operations.groups",
        "requests its operations on groups",
        430,
        "the flag in DescribeGroups 3 or later, or ConsumerGroupDescribe",
        _asks_operations(_GROUPS, ApiKey.DESCRIBE_GROUPS, ApiKey.CONSUMER_GROUP_DESCRIBE),
    ),
    Behaviour(
        "operations.decoded",
        "can read authorized operations",
        430,
        f"a request answered with them is not repeated {REPEATS_MAX} times within 1 s",
        _decodes_operations,
    ),
    Behaviour(
        "operations.not-by-default",
        "does not request operations when it does not need them",
        430,
        "Metadata on connections that produce or fetch is without the flags",
        _does_not_always_ask,
    ),
    _final(ErrorCode.TOPIC_AUTHORIZATION_FAILED, None),
    _final(ErrorCode.GROUP_AUTHORIZATION_FAILED, None),
    _final(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, None),
    _final(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 98),
    _final(ErrorCode.SECURITY_DISABLED, 140),
    _final(ErrorCode.SASL_AUTHENTICATION_FAILED, 152),
)
