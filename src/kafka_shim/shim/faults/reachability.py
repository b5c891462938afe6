"""Find faults that no request can reach: a topic on Heartbeat, a version that is not served."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kafka_shim.protocol.api_versions import served_versions
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.codec.resource_names import names_in_requests
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.partitions import can_name_partitions
from kafka_shim.shim.faults.fault import Fault, parse_fault_spec
from kafka_shim.shim.faults.spec import FaultError, FaultSpec, Match
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.known_principals import known_principals
from kafka_shim.text.misspelling import suggest_name

_LISTS_BY_CONDITION = {
    "topic": {"topics", "topic_ids", "config_resources"},
    "group": {"groups"},
    "transactional_id": {"transactional_ids"},
}
Request = tuple[ApiKey, int]


def require_reachable(fields: Mapping[str, Any], cluster: Cluster) -> None:
    """Raise FaultError if a fault is invalid, or no request to this cluster can reach it, or change
    by it.

    A name that looks misspelt is an error too, unless the fault must fire: then its test fails
    later, if it was indeed misspelt.
    """
    fault = Fault(0, parse_fault_spec(fields))
    spec, api = fault.spec, fault.api
    match = spec.match
    requests = list(_served_requests(api, match.version, cluster.release))
    _require_served(requests, match, cluster.release)
    for condition, is_possible in _field_conditions(match):
        if not any(is_possible(*request) for request in requests):
            of_version = "" if match.version is None else f" v{match.version}"
            raise FaultError(
                f"match.{condition}: the fault cannot fire, since no request {match.api or ''}"
                f"{of_version} names a {condition.replace('_', ' ')}"
            )
    if match.node_id is not None and match.node_id not in cluster.nodes:
        known = ", ".join(str(node_id) for node_id in cluster.nodes)
        raise FaultError(f"match.node_id: unknown broker {match.node_id}; expected {known}")
    if spec.trigger.with_probability == 0:
        raise FaultError("trigger.with_probability is 0, so the fault cannot fire")
    _require_effect(spec, api, requests)
    if not spec.must_fire:
        _require_known_names(match, cluster)


def _served_requests(api: ApiKey | None, version: int | None, release: str) -> Iterator[Request]:
    """Yield the requests that the broker serves, of one API and version if they are given."""
    for key, (low, high) in served_versions(release).items():
        if api in (None, key):
            for each in range(low, high + 1):
                if version in (None, each):
                    yield key, each


def _require_served(requests: list[Request], match: Match, release: str) -> None:
    if requests:
        return
    name = match.api or "request"
    if match.version is None:
        raise FaultError(f"match.api: the fault cannot fire, since Kafka {release} has no {name}")
    raise FaultError(
        f"match.version: the fault cannot fire, since Kafka {release} has no {name}"
        f" v{match.version}"
    )


def _field_conditions(match: Match) -> Iterator[tuple[str, Callable[[ApiKey, int], bool]]]:
    """Yield each condition about names in a request, with whether requests can have such names."""
    for condition, lists in _LISTS_BY_CONDITION.items():
        if getattr(match, condition) is not None:
            yield condition, _naming_predicate(lists)
    if match.partition is not None:
        yield "partition", can_name_partitions


def _naming_predicate(lists: set[str]) -> Callable[[ApiKey, int], bool]:
    return lambda key, version: bool(lists & names_in_requests(key, version))


def _require_effect(spec: FaultSpec, api: ApiKey | None, requests: Iterable[Request]) -> None:
    """Raise FaultError for an effect that responses of the API have no room for."""
    effect = spec.action
    if effect.api_versions is not None and api not in (None, ApiKey.API_VERSIONS):
        raise FaultError(f"action.api_versions changes ApiVersions, and not {spec.match.api}")
    if effect.throttle_time_ms is not None and not any(
        _has_throttle_time(*request) for request in requests
    ):
        raise FaultError(f"action.throttle_time_ms: {spec.match.api} has no throttle time")


def _has_throttle_time(api: ApiKey, version: int) -> bool:
    fields = load_message_spec(f"{api.wire_name}Response").top_level_struct.fields
    return any(field.name == "ThrottleTimeMs" and field.versions.has(version) for field in fields)


def _require_known_names(match: Match, cluster: Cluster) -> None:
    """Raise FaultError for a topic, partition or principal that looks like a mistake."""
    if match.topic is not None:
        topic = cluster.topics.get(match.topic)
        meant = suggest_name(match.topic, (each.name for each in cluster.topics))
        if meant is not None:
            raise _misspelling_error("topic", match.topic, meant)
        if topic is not None and (match.partition or 0) >= len(topic.partitions):
            raise FaultError(
                f"match.partition: topic `{match.topic}` has no partition {match.partition}, only"
                f" {len(topic.partitions)}; set must_fire if clients name it nevertheless"
            )
    if match.principal is not None:
        meant = suggest_name(match.principal, known_principals(cluster))
        if meant is not None:
            raise _misspelling_error("principal", match.principal, meant)


def _misspelling_error(condition: str, name: str, meant: str) -> FaultError:
    return FaultError(
        f"match.{condition}: unknown {condition} `{name}`; did you mean `{meant}`? Otherwise create"
        " it first, or set must_fire"
    )
