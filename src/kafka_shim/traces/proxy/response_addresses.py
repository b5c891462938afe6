"""Replaces the brokers' addresses in responses by addresses of the proxy.

Otherwise clients would connect to the brokers directly.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey

AddressReplacement = Callable[[int, str, int], tuple[str, int]]
"""From a broker's id, host and port to the address that clients get."""

_LABEL: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_IP_6: Final = re.compile(r"[0-9A-Fa-f:.]+(%[A-Za-z0-9_.-]+)?")
_NAME_MAX: Final = 253


def is_valid_address(host: str, port: int) -> bool:
    """Return whether the name and the number are valid, so that a client could connect."""
    if not 0 < port < 1 << 16 or not 0 < len(host) <= _NAME_MAX:
        return False
    if ":" in host:
        return _IP_6.fullmatch(host) is not None
    try:
        name = host.encode("idna").decode("ascii")
    except UnicodeError:
        return False
    return all(_LABEL.fullmatch(label) for label in name.removesuffix(".").split("."))


def _metadata_brokers(response: Any) -> Iterator[Any]:
    yield from response.brokers


def _coordinators_with_address(response: Any) -> Iterator[Any]:
    """Yield coordinators: one before version 4, then a list; denied ones have no address."""
    yield from (coordinator for coordinator in response.coordinators if coordinator.port >= 0)
    if response.port > 0:
        yield response


def _node_endpoints(response: Any) -> Iterator[Any]:
    yield from response.node_endpoints


_BROKER_ROWS_BY_API: dict[int, Callable[[Any], Iterator[Any]]] = {
    ApiKey.METADATA: _metadata_brokers,
    ApiKey.DESCRIBE_CLUSTER: _metadata_brokers,
    ApiKey.FIND_COORDINATOR: _coordinators_with_address,
    ApiKey.PRODUCE: _node_endpoints,
    ApiKey.FETCH: _node_endpoints,
    ApiKey.SHARE_FETCH: _node_endpoints,
    ApiKey.SHARE_ACKNOWLEDGE: _node_endpoints,
}
"""The rows of a response that have addresses, for the APIs that have any."""


_FIRST_VERSIONS: Final[dict[int, int]] = {ApiKey.PRODUCE: 10, ApiKey.FETCH: 16}
"""The first version of the API with addresses, if earlier ones have none."""
_ANY_VERSION: Final = 1 << 15


def response_contains_broker_addresses(api_key: int, version: int = _ANY_VERSION) -> bool:
    """Return whether responses of this API, in this version, contain addresses of brokers."""
    return api_key in _BROKER_ROWS_BY_API and version >= _FIRST_VERSIONS.get(api_key, 0)


def advertised_brokers(api_key: int, response: Any) -> Iterator[tuple[int, str, int]]:
    """Yield the brokers in a response: id, host and port of each."""
    for broker_row in _BROKER_ROWS_BY_API[api_key](response):
        yield _node_id_of_row(broker_row), broker_row.host, broker_row.port


def replace_broker_addresses(api_key: int, response: Any, address_of: AddressReplacement) -> bool:
    """Put the proxy's addresses into a response; return whether it had any addresses."""
    changed = False
    for broker_row in _BROKER_ROWS_BY_API[api_key](response):
        broker_row.host, broker_row.port = address_of(
            _node_id_of_row(broker_row), broker_row.host, broker_row.port
        )
        changed = True
    return changed


def _node_id_of_row(broker_row: Any) -> int:
    return int(broker_row.broker_id if hasattr(broker_row, "broker_id") else broker_row.node_id)
