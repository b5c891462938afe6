"""Advertised addresses in answers: each broker of the cluster gets an address of the proxy's own.

Without this a client would learn the brokers' real addresses and go around the proxy.
"""

from collections.abc import Callable, Iterator
from typing import Any

from kafka_shim.protocol.enums import ApiKey

Rewrite = Callable[[int, str, int], tuple[str, int]]
"""From a broker's id, host and port to the address that clients get."""


def _listed(answer: Any) -> Iterator[Any]:
    yield from answer.brokers


def _coordinators(answer: Any) -> Iterator[Any]:
    """One on top before version 4, a list since; a denied or missing one has no address."""
    yield from (coordinator for coordinator in answer.coordinators if coordinator.port >= 0)
    if answer.port > 0:
        yield answer


def _leader_hints(answer: Any) -> Iterator[Any]:
    yield from answer.node_endpoints


_PLACES: dict[int, Callable[[Any], Iterator[Any]]] = {
    ApiKey.METADATA: _listed,
    ApiKey.DESCRIBE_CLUSTER: _listed,
    ApiKey.FIND_COORDINATOR: _coordinators,
    ApiKey.PRODUCE: _leader_hints,
    ApiKey.FETCH: _leader_hints,
    ApiKey.SHARE_FETCH: _leader_hints,
    ApiKey.SHARE_ACKNOWLEDGE: _leader_hints,
}
"""Where the addresses are in an answer; the APIs that have any."""


def has_addresses(api_key: int) -> bool:
    """Whether answers of this API tell where brokers are."""
    return api_key in _PLACES


def advertised(api_key: int, answer: Any) -> Iterator[tuple[int, str, int]]:
    """Yield the brokers in an answer: id, host and port of each."""
    for place in _PLACES[api_key](answer):
        yield _node_id(place), place.host, place.port


def rewrite(api_key: int, answer: Any, address_of: Rewrite) -> bool:
    """Put the proxy's addresses into an answer; whether there was anything to do."""
    changed = False
    for place in _PLACES[api_key](answer):
        place.host, place.port = address_of(_node_id(place), place.host, place.port)
        changed = True
    return changed


def _node_id(place: Any) -> int:
    return int(place.broker_id if hasattr(place, "broker_id") else place.node_id)
