"""Behaviours about ACLs, authorized operations and denials."""

from collections.abc import Iterator
from typing import Any

from kafka_shim.conformance.scorecard.behaviour import Behaviour, Occurrence, OccurrenceFinder
from kafka_shim.conformance.scorecard.exchanges import Exchange, iter_decoded_requests
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

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


def _iter_acl_filters(
    exchanges: list[Exchange],
) -> Iterator[tuple[Exchange, Any, tuple[str | None, ...]]]:
    """Yield each ACL filter with its three names: resource, principal, host."""
    for exchange in iter_decoded_requests(exchanges, *_FILTERED):
        rows = (
            [exchange.request]
            if exchange.api_key == ApiKey.DESCRIBE_ACLS
            else exchange.request.filters
        )
        for row in rows:
            yield exchange, row, (row.resource_name_filter, row.principal_filter, row.host_filter)


def _find_unspecific_creations(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange in iter_decoded_requests(exchanges, ApiKey.CREATE_ACLS):
        for row in exchange.request.creations:
            is_concrete = (
                row.resource_type > ResourceType.ANY
                and row.resource_pattern_type in (PatternType.LITERAL, PatternType.PREFIXED)
                and row.operation > Operation.ANY
                and row.permission_type in (Permission.DENY, Permission.ALLOW)
                and ":" in row.principal
            )
            yield Occurrence(is_concrete, exchange, row.resource_name)


def _find_prefixed_creations(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange in iter_decoded_requests(exchanges, ApiKey.CREATE_ACLS):
        for row in exchange.request.creations:
            if row.resource_pattern_type == PatternType.PREFIXED:
                yield Occurrence(exchange.version >= 1, exchange, row.resource_name)


def _find_empty_filter_names(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange, _, names in _iter_acl_filters(exchanges):
        if None in names or "" in names:
            yield Occurrence(
                "" not in names, exchange, "an empty text selects nothing" * ("" in names)
            )


def _find_any_codes(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange, row, _ in _iter_acl_filters(exchanges):
        codes = (row.resource_type_filter, row.operation, row.permission_type)
        yield Occurrence(0 not in codes, exchange, "UNKNOWN in place of ANY" * (0 in codes))


def _find_match_filters(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange, row, _ in _iter_acl_filters(exchanges):
        if row.pattern_type_filter == PatternType.MATCH:
            yield Occurrence(exchange.version >= 1, exchange)


def _find_pattern_types(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange, highest_version in _iter_acl_requests(exchanges):
        yield Occurrence(
            exchange.version >= min(1, highest_version),
            exchange,
            f"offered up to {highest_version}",
        )


def _find_acl_fallbacks(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    """Check that a client works without pattern types on brokers before KIP-290."""
    for exchange, highest_version in _iter_acl_requests(exchanges):
        if highest_version == 0:
            yield Occurrence(exchange.version == 0, exchange)


def _iter_acl_requests(
    exchanges: list[Exchange],
) -> Iterator[tuple[Exchange, int]]:
    """Yield each request about ACLs, with the highest version that the
    broker had offered by then.
    """
    offered: dict[int, int] = {}
    for exchange in exchanges:
        if exchange.api_key == ApiKey.API_VERSIONS and exchange.response is not None:
            offered |= {row.api_key: row.max_version for row in exchange.response.api_keys}
        elif exchange.api_key in _ACL_APIS and exchange.api_key in offered:
            yield exchange, offered[exchange.api_key]


def _find_operations_hammering(
    exchanges: list[Exchange],
) -> Iterator[Occurrence]:
    """Check that responses with operations are not requested again
    because they were not decoded.
    """
    for number, exchange in enumerate(exchanges):
        if (
            exchange.request is None
            or exchange.response is None
            or exchange.api_key not in _DESCRIBING
        ):
            continue
        if not any(
            getattr(exchange.request, name, False) for name in _DESCRIBING[exchange.api_key]
        ):
            continue
        yield _rapid_repeat_occurrence(exchange, exchanges[number + 1 :])


def _rapid_repeat_occurrence(exchange: Exchange, later_exchanges: list[Exchange]) -> Occurrence:
    """Check that the principal does not repeat the request several times within a second."""
    requests_operations = (exchange.api_key, exchange.principal, exchange.body)
    repeats = sum(
        (other.api_key, other.principal, other.body) == requests_operations
        and other.time_us - exchange.time_us < HAMMERING_US
        for other in later_exchanges
    )
    note = f"repeated {repeats} times within a second" if repeats else ""
    return Occurrence(repeats < REPEATS_MAX, exchange, note)


def _operations_flag_finder(attribute: str, *apis: ApiKey) -> OccurrenceFinder:
    def find_occurrences(exchanges: list[Exchange]) -> Iterator[Occurrence]:
        for exchange in iter_decoded_requests(exchanges, *apis):
            if getattr(exchange.request, attribute):
                yield Occurrence(is_right=True, exchange=exchange)

    return find_occurrences


def _find_needless_operations_requests(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    record_connections = {
        exchange.connection_id
        for exchange in exchanges
        if exchange.api_key in (ApiKey.PRODUCE, ApiKey.FETCH)
    }
    for exchange in iter_decoded_requests(exchanges, ApiKey.METADATA):
        if exchange.connection_id in record_connections:
            requests_operations = (
                exchange.request.include_topic_authorized_operations
                or exchange.request.include_cluster_authorized_operations
            )
            yield Occurrence(not requests_operations, exchange)


def _denial_hammering_finder(error: ErrorCode) -> OccurrenceFinder:
    """Check that a denied request is not repeated immediately."""

    def find_occurrences(exchanges: list[Exchange]) -> Iterator[Occurrence]:
        denied_exchanges = [
            exchange for exchange in exchanges if error in exchange.error_codes_except_none
        ]
        for number, exchange in enumerate(denied_exchanges):
            yield _rapid_repeat_occurrence(exchange, denied_exchanges[number + 1 :])

    return find_occurrences


def _final_error_behaviour(error: ErrorCode, kip: int | None) -> Behaviour:
    return Behaviour(
        f"errors.{int(error)}-final",
        f"does not retry {error.name} in a loop",
        kip,
        f"a request answered with {int(error)} is not repeated {REPEATS_MAX} times within 1 s",
        _denial_hammering_finder(error),
    )


PERMISSIONS = (
    Behaviour(
        "acls.create-concrete",
        "creates ACLs for concrete patterns, operations and principals",
        140,
        "no ANY, MATCH or UNKNOWN in CreateAcls; principals are Type:name",
        _find_unspecific_creations,
    ),
    Behaviour(
        "acls.create-prefixed",
        "creates prefixed ACLs",
        290,
        "pattern type 4 in CreateAcls 1 or later",
        _find_prefixed_creations,
    ),
    Behaviour(
        "acls.pattern-types",
        "uses pattern types if the broker supports them",
        290,
        "ACL requests are in version 0 only where nothing higher is offered",
        _find_pattern_types,
    ),
    Behaviour(
        "acls.v0-fallback",
        "works without pattern types if the broker does not support them",
        290,
        "ACL requests are in version 0 where nothing higher is offered",
        _find_acl_fallbacks,
    ),
    Behaviour(
        "acls.any-name-null",
        "uses null to match any name",
        140,
        "names, principals and hosts of filters are null, never empty",
        _find_empty_filter_names,
    ),
    Behaviour(
        "acls.any-code",
        "uses ANY to match any type or operation",
        140,
        "code 1 in filters, never 0",
        _find_any_codes,
    ),
    Behaviour(
        "acls.match-filter",
        "requests all ACLs that apply to a name",
        290,
        "pattern type 2 (MATCH) in a filter",
        _find_match_filters,
    ),
    Behaviour(
        "operations.cluster",
        "requests its operations on the cluster",
        430,
        "the flag in DescribeCluster, or Metadata 8 to 10",
        _operations_flag_finder(_CLUSTER, ApiKey.DESCRIBE_CLUSTER, ApiKey.METADATA),
    ),
    Behaviour(
        "operations.topics",
        "requests its operations on topics",
        430,
        "the flag in Metadata 8 or later",
        _operations_flag_finder(_TOPICS, ApiKey.METADATA),
    ),
    Behaviour(
        "operations.groups",
        "requests its operations on groups",
        430,
        "the flag in DescribeGroups 3 or later, or ConsumerGroupDescribe",
        _operations_flag_finder(_GROUPS, ApiKey.DESCRIBE_GROUPS, ApiKey.CONSUMER_GROUP_DESCRIBE),
    ),
    Behaviour(
        "operations.decoded",
        "can read authorized operations",
        430,
        f"a request answered with them is not repeated {REPEATS_MAX} times within 1 s",
        _find_operations_hammering,
    ),
    Behaviour(
        "operations.not-by-default",
        "does not request operations when it does not need them",
        430,
        "Metadata on connections that produce or fetch is without the flags",
        _find_needless_operations_requests,
    ),
    _final_error_behaviour(ErrorCode.TOPIC_AUTHORIZATION_FAILED, None),
    _final_error_behaviour(ErrorCode.GROUP_AUTHORIZATION_FAILED, None),
    _final_error_behaviour(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, None),
    _final_error_behaviour(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 98),
    _final_error_behaviour(ErrorCode.SECURITY_DISABLED, 140),
    _final_error_behaviour(ErrorCode.SASL_AUTHENTICATION_FAILED, 152),
)
