"""Plan the accesses that a request needs, from the request alone: a pure function over the table.

The broker's checks also depend on its state: topic ids, fetch sessions, existing topics, groups in
a list. Names of topic ids can be given; everything else that is unknown is listed in `unknown`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from kafka_shim.authorizer.model import WILDCARD, Action
from kafka_shim.authorizer.requirement import BoundRequirement, Need
from kafka_shim.authorizer.requirements import FETCH_FOLLOWER, TABLE, bind
from kafka_shim.protocol.enums import CLUSTER_NAME, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.facts import facts_of_release

_NO_ID: Final = bytes(16)
_TOPIC, _GROUP = 2, 32
"""Types of config resources; all others are the cluster's."""

_MAGIC_AT, _ATTRIBUTES_AT, _PRODUCER_ID_AT = 16, 21, 43
_TRANSACTIONAL = 0x10


class AnyOf(msgspec.Struct, frozen=True):
    """A requirement as alternative accesses, one of which is enough, in the order of the checks.

    An action on `*` whose position in `any_name` is true is about any resource of the type
    (KIP-679). `requirement` is the row's id, such as `Fetch.topic`.
    """

    requirement: str
    actions: tuple[Action, ...]
    any_name: tuple[bool, ...]

    @property
    def narrowest(self) -> Action:
        """Return the last action with a resource name, or else the last action."""
        named = [way for way, is_any in zip(self.actions, self.any_name, strict=True) if not is_any]
        return (named or self.actions)[-1]


class Plan(msgspec.Struct, frozen=True):
    """The needs of a request; `possible` are those that depend on the broker's state.

    `unknown` are the ids of rows that may check names which are not in the request; of these,
    `listed` are the rows that certainly check the names in the response.
    """

    needs: tuple[AnyOf, ...]
    possible: tuple[AnyOf, ...]
    unknown: tuple[str, ...]
    listed: tuple[str, ...] = ()


def access_plan(
    api_key: int,
    version: int,
    request: Any,
    release: str,
    names: Mapping[bytes, str] | None = None,
) -> Plan:
    """Return the accesses that a broker of this release checks for a decoded request.

    `names` are topic names by id (16 bytes). Requests that continue a fetch session do not repeat
    its topics, so the accesses to them are planned only for the request that names them.
    """
    bound_rows = bind(release)
    needs: dict[AnyOf, None] = {}
    possible: dict[AnyOf, None] = {}
    unknown: list[str] = []
    listed: list[str] = []
    for row in TABLE:
        bound = bound_rows[row]
        if row.api != api_key or not bound.asks(version):
            continue
        applies = _applies(bound, request, version)
        if applies is False and row.id == "Fetch.topic":  # 0.11 and 1.0 check it for replicas, too
            applies = bound_rows[FETCH_FOLLOWER].error is ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        if applies is False:
            continue
        found = _names(bound, request, names or {})
        if row.id == _NOT_INTERNAL:
            internal = facts_of_release(release).topics.internal_topics
            found = [name for name in found if name not in internal]
        is_in_response = _is_in_response(bound)
        if None in found or is_in_response:
            unknown.append(row.id)
        if is_in_response and applies:
            listed.append(row.id)
        goal = possible if applies is None else needs
        goal.update((any_of(bound, name), None) for name in found if name is not None)
    return Plan(tuple(needs), tuple(possible), tuple(unknown), tuple(listed))


def any_of(bound: BoundRequirement, name: str) -> AnyOf:
    """Return the requirement of a row for one resource name."""
    ways = dict.fromkeys(_action(need, name) for need in bound.needs)
    return AnyOf(bound.row.id, tuple(way[0] for way in ways), tuple(way[1] for way in ways))


def _action(need: Need, name: str) -> tuple[Action, bool]:
    if need.resource_type is ResourceType.CLUSTER:
        name = CLUSTER_NAME
    elif need.any_name:
        name = WILDCARD
    return Action(need.operation, need.resource_type, name), need.any_name


def _is_in_response(bound: BoundRequirement) -> bool:
    return any(path.startswith("response.") for path in bound.row.names)


def names_in_response(bound: BoundRequirement, response: Any) -> list[str]:
    """Return the names at the row's paths in a decoded response."""
    found = []
    for path in bound.row.names:
        head, _, rest = path.partition("response.")
        if not head:
            found += [value for value in _values(response, rest) if isinstance(value, str)]
    return found


def _applies(bound: BoundRequirement, request: Any, version: int) -> bool | None:
    """Return whether the row's condition holds; None if the request does not show it."""
    if not bound.row.when:
        return True
    condition = _CONDITIONS.get(bound.row.id)
    return None if condition is None else condition(request, version)


def _names(bound: BoundRequirement, request: Any, topics: Mapping[bytes, str]) -> list[str | None]:
    """Return the distinct names at the row's paths; None for an id without a name."""
    row = bound.row
    if row.names == (CLUSTER_NAME,):
        return [CLUSTER_NAME]
    of_type = _CONFIG_TYPES.get(row.id)
    if of_type is not None:
        found: list[Any] = [
            r.resource_name for r in request.resources if r.resource_type == of_type
        ]
        return list(dict.fromkeys(found))
    found = []
    for path in row.names:
        if not path.startswith("response."):
            found += [value for value in _values(request, path) if value is not None]
    if len(row.names) > 1:  # fields of other versions are empty
        found = [value for value in found if value != ""]
    texts = [
        topics.get(value) if isinstance(value, bytes) else value
        for value in found
        if value != _NO_ID
    ]
    return list(dict.fromkeys(texts))


def _values(message: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path such as `topics[].name`; `a:b` joins two fields with a colon."""
    if ":" in path:
        types, names = (list(_values(message, part)) for part in path.split(":"))
        yield from (f"{kind}:{name}" for kind, name in zip(types, names, strict=False))
        return
    head, _, rest = path.partition(".")
    value = getattr(message, head.removesuffix("[]"))
    for item in (value or ()) if head.endswith("[]") else (value,):
        if not rest:
            yield item
        elif item is not None:
            yield from _values(item, rest)


def _batches(request: Any) -> Iterator[bytes]:
    for topic in request.topic_data:
        for partition in topic.partition_data:
            head = bytes((partition.records or b"")[: _PRODUCER_ID_AT + 8])
            if (
                len(head) == _PRODUCER_ID_AT + 8 and head[_MAGIC_AT] == 2
            ):  # older batches have no producer
                yield head


def _is_transactional(request: Any, _: int) -> bool | None:
    """Return whether a batch is transactional; None for a request log, which has no records."""
    if request.transactional_id is not None and not any(True for _ in _batches(request)):
        return None
    return any(batch[_ATTRIBUTES_AT + 1] & _TRANSACTIONAL for batch in _batches(request))


def _is_idempotent(request: Any, version: int) -> bool | None:
    if not any(True for _ in _batches(request)):
        return None
    has_producer = any(batch[_PRODUCER_ID_AT] < 0x80 for batch in _batches(request))
    return has_producer and not _is_transactional(request, version)


def _replica(request: Any) -> int:
    return int(max(request.replica_id, request.replica_state.replica_id))


def _lists_all(request: Any, version: int) -> bool:
    return request.topics is None or (version == 0 and not request.topics)


def _some_group(request: Any, *, is_all: bool) -> bool:
    """Return whether an OffsetFetch names topics, or requests all, for at least one group."""
    asked = [group.topics for group in request.groups] or [request.topics]
    return any((topics is None) == is_all for topics in asked)


def _of_type(code: int) -> Callable[[Any, int], bool]:
    return lambda request, _: any(resource.resource_type == code for resource in request.resources)


def _of_cluster(request: Any, _: int) -> bool:
    return any(resource.resource_type not in (_TOPIC, _GROUP) for resource in request.resources)


def _creates(request: Any, _: int) -> bool | None:
    """Return whether Metadata may create missing topics; older versions always may."""
    return None if request.allow_auto_topic_creation and request.topics else False


def _describes(request: Any, *, is_all: bool) -> bool:
    """Return whether topics are named, or all are requested, for at least one group."""
    return any((group.topics is None) == is_all for group in request.groups)


def _key_type(code: int) -> Callable[[Any, int], bool]:
    return lambda request, _: request.key_type == code


_NOT_INTERNAL: Final = "AddPartitionsToTxn.topic"
"""Nobody is asked about internal topics there: all are refused."""
_CONFIG_APIS = ("DescribeConfigs", "AlterConfigs", "IncrementalAlterConfigs")
_CONFIG_TYPES: Final = {
    f"{api}.{name}": code
    for api in _CONFIG_APIS
    for name, code in (("topic", _TOPIC), ("group", _GROUP))
}
_CONDITIONS: Final[dict[str, Callable[[Any, int], bool | None]]] = {
    "Produce.transactional_id": _is_transactional,
    "Produce.idempotent": _is_idempotent,
    "Fetch.follower": lambda request, _: _replica(request) >= 0,
    "Fetch.topic": lambda request, _: _replica(request) < 0,
    "Metadata.topic": lambda request, version: not _lists_all(request, version),
    "Metadata.all_topics": _lists_all,
    "Metadata.auto_create": _creates,
    "Metadata.cluster_operations": lambda r, _: bool(r.include_cluster_authorized_operations),
    "DescribeCluster.cluster_operations": (
        lambda r, _: bool(r.include_cluster_authorized_operations)
    ),
    "OffsetFetch.topic": lambda request, _: _some_group(request, is_all=False),
    "OffsetFetch.all_topics": lambda request, _: _some_group(request, is_all=True),
    "FindCoordinator.group": _key_type(0),
    "FindCoordinator.transaction": _key_type(1),
    "FindCoordinator.share": _key_type(2),
    "InitProducerId.transactional_id": lambda r, _: r.transactional_id is not None,
    "InitProducerId.idempotent": lambda r, _: r.transactional_id is None,
    "InitProducerId.two_phase_commit": lambda r, _: bool(r.enable2_pc),
    **{f"{api}.cluster": _of_cluster for api in _CONFIG_APIS},
    **{row: _of_type(code) for row, code in _CONFIG_TYPES.items()},
    _NOT_INTERNAL: lambda *_: True,
    "ConsumerGroupHeartbeat.topic": lambda r, _: bool(r.subscribed_topic_names),
    "ShareGroupHeartbeat.topic": lambda r, _: bool(r.subscribed_topic_names),
    "StreamsGroupHeartbeat.topic": lambda r, _: r.topology is not None,
    "DescribeShareGroupOffsets.topic": lambda r, _: _describes(r, is_all=False),
    "DescribeShareGroupOffsets.all_topics": lambda r, _: _describes(r, is_all=True),
    "DescribeTopicPartitions.topic": lambda r, _: bool(r.topics),
    "DescribeTopicPartitions.all_topics": lambda r, _: not r.topics,
}
"""Conditions that a request decides, or rules out (None: it does neither).

Rows with another `when` depend on the broker's state.
"""
