"""Altering settings on KRaft 3.0 and 3.1, where brokers check nothing and controllers little.

Unknown resource types are rejected first, then duplicate resources, then denied ones. The topic or
broker need not exist, and a broker's setting can have any value: brokers ignore invalid ones.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Protocol, TypeVar

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.handlers.common import config_change
from kafka_shim.shim.handlers.common.config_access import require_config
from kafka_shim.shim.handlers.common.config_resources import (
    ResourceError,
    check_single,
    is_known_type,
    not_alterable,
)
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topic_names import name_error

NODE_ID_MAX = 2**31 - 1


class Resource(Protocol):
    """What both altering APIs name."""

    resource_type: int
    resource_name: str


Altered = TypeVar("Altered", bound=Resource)


def sift(
    resources: Sequence[Altered], requirements: Mapping[int, Requirement], context: RequestContext
) -> tuple[list[tuple[Altered, ResourceError | None]], list[Altered]]:
    """Return rejected resources with their errors, and resources that may be altered.

    Each occurs once, except that resources of an unknown type occur as often as in the request.
    """
    rows: list[tuple[Altered, ResourceError | None]] = []
    named: dict[tuple[int, str], Altered] = {}
    counts: Counter[tuple[int, str]] = Counter()
    for resource in context.time_sliced(resources):
        kind, name = resource.resource_type, resource.resource_name
        if is_known_type(kind, context):
            named[kind, name] = resource
            counts[kind, name] += 1
        else:
            message = f"resource type {kind} is unknown"
            rows.append((resource, ResourceError(ErrorCode.UNSUPPORTED_VERSION, message)))
    allowed = []
    for (kind, name), resource in context.time_sliced(named.items()):
        try:
            check_single(counts[kind, name])
            if kind == ConfigResourceType.BROKER_LOGGER:
                raise not_alterable(kind)
            require_config(context, requirements[kind], name)
        except ResourceError as failure:
            rows.append((resource, failure))
        else:
            allowed.append(resource)
    return rows, allowed


def each(
    allowed: Sequence[Altered], alter: Callable[[Altered], None], context: RequestContext
) -> Iterator[tuple[Altered, ResourceError | None]]:
    """Alter resources one after the other, and return their errors."""
    for resource in context.time_sliced(allowed):
        try:
            alter(resource)
        except ResourceError as failure:
            yield resource, failure
        else:
            yield resource, None


def held(kind: int, name: str, context: RequestContext) -> Mapping[str, str]:
    """Return the settings of a resource; ResourceError for an invalid name."""
    if kind == ConfigResourceType.TOPIC:
        message = name_error(name)
        if message is not None:
            raise ResourceError(ErrorCode.INVALID_REQUEST, message)
        topic = context.cluster.topics.get(name)
        prepared = context.cluster.topics.prepared.get(name, {})
        return prepared if topic is None else topic.configs
    configs = context.cluster.configs
    return configs.brokers.get(_node_id(name), {}) if name else configs.all_brokers


def check(kind: int, new: Mapping[str, str], context: RequestContext) -> None:
    """Raise ResourceError for settings that a topic cannot have, where that is looked at."""
    if kind == ConfigResourceType.TOPIC and context.facts.configs.topic_configs_are_validated:
        config_change.check_topic_settings(new, context)


def store(kind: int, name: str, new: Mapping[str, str], context: RequestContext) -> None:
    """Replace the settings of a resource; its topic may be created later."""
    if kind == ConfigResourceType.TOPIC and name not in context.cluster.topics:
        prepared = context.cluster.topics.prepared
        if new:
            prepared[name] = dict(new)
        else:
            prepared.pop(name, None)
        return
    if kind == ConfigResourceType.BROKER:
        new = _accepted(name, new, context)
    config_change.store(kind, name, new, context)


def _node_id(name: str) -> int:
    try:
        node_id = int(name)
    except ValueError:
        node_id = -1
    if not 0 <= node_id <= NODE_ID_MAX:
        message = f"`{name}` is not the id of a broker"
        raise ResourceError(ErrorCode.INVALID_REQUEST, message)
    return node_id


def _accepted(name: str, new: Mapping[str, str], context: RequestContext) -> dict[str, str]:
    """Return the settings that a broker accepts."""
    accepted = {}
    for key, value in new.items():
        with suppress(ResourceError):
            config_change.check_broker(name, {key: value}, context)
            accepted[key] = value
    return accepted
