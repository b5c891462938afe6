"""Plan the accesses that a request needs, from the request alone: a pure function over the table.

The broker's checks also depend on its state: topic ids, fetch sessions, existing topics, groups in
a list. Names of topic ids can be given; the plan lists the requirements with other unknown names.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from kafka_shim.authorizer.model import WILDCARD, Action
from kafka_shim.authorizer.requirement import BoundRequirement, NeedAlternative
from kafka_shim.authorizer.requirements import FETCH_FOLLOWER, TABLE, bound_requirements
from kafka_shim.protocol.enums import CLUSTER_NAME, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.facts import facts_of_release

_NO_ID: Final = bytes(16)
_TOPIC, _GROUP = 2, 32
"""Types of config resources; all others are the cluster's."""

_MAGIC_AT, _ATTRIBUTES_AT, _PRODUCER_ID_AT = 16, 21, 43
_TRANSACTIONAL = 0x10


class AlternativeActions(msgspec.Struct, frozen=True):
    """A requirement as alternative accesses, one of which is enough, in the order of the checks.

    An action on `*` whose position in `is_any_name` is true is about any resource of the type
    (KIP-679). `requirement_id` is the row's id, such as `Fetch.topic`.
    """

    requirement_id: str
    actions: tuple[Action, ...]
    is_any_name: tuple[bool, ...]

    @property
    def last_named_action(self) -> Action:
        """Return the last action with a resource name, or else the last action."""
        named = [
            way for way, is_any in zip(self.actions, self.is_any_name, strict=True) if not is_any
        ]
        return (named or self.actions)[-1]


class RequestAccessNeeds(msgspec.Struct, frozen=True):
    """The needs of a request; `possible_needs` depend on the broker's state.

    `requirements_with_unknown_names` are the ids of rows that may check names which are not in the
    request. Of these, `requirements_on_response_names` certainly check the names in the response.
    """

    needs: tuple[AlternativeActions, ...]
    possible_needs: tuple[AlternativeActions, ...]
    requirements_with_unknown_names: tuple[str, ...]
    requirements_on_response_names: tuple[str, ...] = ()


def access_plan(
    api_key: int,
    version: int,
    request: Any,
    release: str,
    topic_names: Mapping[bytes, str] | None = None,
) -> RequestAccessNeeds:
    """Return the accesses that a broker of this release checks for a decoded request.

    `topic_names` are by id (16 bytes). Requests that continue a fetch session do not repeat
    its topics, so the accesses to them are planned only for the request that names them.
    """
    bound_rows = bound_requirements(release)
    needs: dict[AlternativeActions, None] = {}
    possible: dict[AlternativeActions, None] = {}
    unknown: list[str] = []
    listed: list[str] = []
    for row in TABLE:
        bound = bound_rows[row]
        if row.api != api_key or not bound.is_checked_in_version(version):
            continue
        applies = _is_condition_met(bound, request, version)
        if applies is False and row.id == "Fetch.topic":  # 0.11 and 1.0 check it for replicas, too
            applies = bound_rows[FETCH_FOLLOWER].error is ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        if applies is False:
            continue
        resource_names = _resource_names_in_request(bound, request, topic_names or {})
        if row.id == _NOT_INTERNAL:
            internal = facts_of_release(release).topics.internal_topics
            resource_names = [name for name in resource_names if name not in internal]
        is_in_response = _has_names_in_response(bound)
        if None in resource_names or is_in_response:
            unknown.append(row.id)
        if is_in_response and applies:
            listed.append(row.id)
        goal = possible if applies is None else needs
        goal.update(
            (alternative_actions_for_name(bound, name), None)
            for name in resource_names
            if name is not None
        )
    return RequestAccessNeeds(tuple(needs), tuple(possible), tuple(unknown), tuple(listed))


def alternative_actions_for_name(bound: BoundRequirement, name: str) -> AlternativeActions:
    """Return the requirement of a row for one resource name."""
    ways = dict.fromkeys(_needed_action(need, name) for need in bound.needs)
    return AlternativeActions(
        bound.requirement.id, tuple(way[0] for way in ways), tuple(way[1] for way in ways)
    )


def _needed_action(need: NeedAlternative, name_in_request: str) -> tuple[Action, bool]:
    if need.resource_type is ResourceType.CLUSTER:
        name_in_request = CLUSTER_NAME
    elif need.any_name:
        name_in_request = WILDCARD
    return Action(need.operation, need.resource_type, name_in_request), need.any_name


def _has_names_in_response(bound: BoundRequirement) -> bool:
    return any(path.startswith("response.") for path in bound.requirement.names)


def checked_names_in_response(bound: BoundRequirement, response: Any) -> list[str]:
    """Return the names at the row's paths in a decoded response."""
    names = []
    for path in bound.requirement.names:
        head, _, rest = path.partition("response.")
        if not head:
            names += [value for value in _values_at_path(response, rest) if isinstance(value, str)]
    return names


def _is_condition_met(bound: BoundRequirement, request: Any, version: int) -> bool | None:
    """Return whether the row's condition holds; None if the request does not show it."""
    if not bound.requirement.when:
        return True
    condition = _CONDITIONS.get(bound.requirement.id)
    return None if condition is None else condition(request, version)


def _resource_names_in_request(
    bound: BoundRequirement, request: Any, topic_names_by_id: Mapping[bytes, str]
) -> list[str | None]:
    """Return the distinct names at the row's paths; None for an id without a name."""
    row = bound.requirement
    if row.names == (CLUSTER_NAME,):
        return [CLUSTER_NAME]
    of_type = _CONFIG_TYPES.get(row.id)
    if of_type is not None:
        values: list[Any] = [
            r.resource_name for r in request.resources if r.resource_type == of_type
        ]
        return list(dict.fromkeys(values))
    values = []
    for path in row.names:
        if not path.startswith("response."):
            values += [value for value in _values_at_path(request, path) if value is not None]
    if len(row.names) > 1:  # fields of other versions are empty
        values = [value for value in values if value != ""]
    texts = [
        topic_names_by_id.get(value) if isinstance(value, bytes) else value
        for value in values
        if value != _NO_ID
    ]
    return list(dict.fromkeys(texts))


def _values_at_path(message: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path such as `topics[].name`; `a:b` joins two fields with a colon."""
    if ":" in path:
        types, names = (list(_values_at_path(message, part)) for part in path.split(":"))
        yield from (f"{kind}:{name}" for kind, name in zip(types, names, strict=False))
        return
    head, _, rest = path.partition(".")
    value = getattr(message, head.removesuffix("[]"))
    for item in (value or ()) if head.endswith("[]") else (value,):
        if not rest:
            yield item
        elif item is not None:
            yield from _values_at_path(item, rest)


def _first_batch_headers(request: Any) -> Iterator[bytes]:
    for topic in request.topic_data:
        for partition in topic.partition_data:
            head = bytes((partition.records or b"")[: _PRODUCER_ID_AT + 8])
            if (
                len(head) == _PRODUCER_ID_AT + 8 and head[_MAGIC_AT] == 2
            ):  # older batches have no producer
                yield head


def _has_transactional_batch(request: Any, _: int) -> bool | None:
    """Return whether a batch is transactional; None for a request log, which has no records."""
    if request.transactional_id is not None and not any(
        True for _ in _first_batch_headers(request)
    ):
        return None
    return any(
        batch[_ATTRIBUTES_AT + 1] & _TRANSACTIONAL for batch in _first_batch_headers(request)
    )


def _has_only_idempotent_batches(request: Any, version: int) -> bool | None:
    """Return whether there are such batches; None without any, as in a request log."""
    if not any(True for _ in _first_batch_headers(request)):
        return None
    has_producer = any(batch[_PRODUCER_ID_AT] < 0x80 for batch in _first_batch_headers(request))
    return has_producer and not _has_transactional_batch(request, version)


def _replica_id_of_fetch(request: Any) -> int:
    return int(max(request.replica_id, request.replica_state.replica_id))


def _requests_all_topics(request: Any, version: int) -> bool:
    return request.topics is None or (version == 0 and not request.topics)


def _some_group_requests_topics(request: Any, *, all_topics: bool) -> bool:
    """Return whether an OffsetFetch names topics, or requests all, for at least one group."""
    asked = [group.topics for group in request.groups] or [request.topics]
    return any((topics is None) == all_topics for topics in asked)


def _has_config_resource_of_type(config_resource_type: int) -> Callable[[Any, int], bool]:
    return lambda request, _: any(
        resource.resource_type == config_resource_type for resource in request.resources
    )


def _has_broker_config_resource(request: Any, _: int) -> bool:
    return any(resource.resource_type not in (_TOPIC, _GROUP) for resource in request.resources)


def _may_create_missing_topics(request: Any, _: int) -> Literal[False] | None:
    """Return None if Metadata creates topics that are missing, which the request does not show."""
    return None if request.allow_auto_topic_creation and request.topics else False


def _some_share_group_requests_topics(request: Any, *, all_topics: bool) -> bool:
    """Return whether topics are named, or all are requested, for at least one group."""
    return any((group.topics is None) == all_topics for group in request.groups)


def _requests_coordinator_of_type(key_type: int) -> Callable[[Any, int], bool]:
    return lambda request, _: request.key_type == key_type


_NOT_INTERNAL: Final = "AddPartitionsToTxn.topic"
"""Nobody is asked about internal topics there: all are refused."""
_CONFIG_APIS = ("DescribeConfigs", "AlterConfigs", "IncrementalAlterConfigs")
_CONFIG_TYPES: Final = {
    f"{api}.{name}": code
    for api in _CONFIG_APIS
    for name, code in (("topic", _TOPIC), ("group", _GROUP))
}
_CONDITIONS: Final[dict[str, Callable[[Any, int], bool | None]]] = {
    "Produce.transactional_id": _has_transactional_batch,
    "Produce.idempotent": _has_only_idempotent_batches,
    "Fetch.follower": lambda request, _: _replica_id_of_fetch(request) >= 0,
    "Fetch.topic": lambda request, _: _replica_id_of_fetch(request) < 0,
    "Metadata.topic": lambda request, version: not _requests_all_topics(request, version),
    "Metadata.all_topics": _requests_all_topics,
    "Metadata.auto_create": _may_create_missing_topics,
    "Metadata.cluster_operations": lambda r, _: bool(r.include_cluster_authorized_operations),
    "DescribeCluster.cluster_operations": (
        lambda r, _: bool(r.include_cluster_authorized_operations)
    ),
    "OffsetFetch.topic": lambda request, _: _some_group_requests_topics(request, all_topics=False),
    "OffsetFetch.all_topics": lambda request, _: _some_group_requests_topics(
        request, all_topics=True
    ),
    "FindCoordinator.group": _requests_coordinator_of_type(0),
    "FindCoordinator.transaction": _requests_coordinator_of_type(1),
    "FindCoordinator.share": _requests_coordinator_of_type(2),
    "InitProducerId.transactional_id": lambda r, _: r.transactional_id is not None,
    "InitProducerId.idempotent": lambda r, _: r.transactional_id is None,
    "InitProducerId.two_phase_commit": lambda r, _: bool(r.enable2_pc),
    **{f"{api}.cluster": _has_broker_config_resource for api in _CONFIG_APIS},
    **{row: _has_config_resource_of_type(code) for row, code in _CONFIG_TYPES.items()},
    _NOT_INTERNAL: lambda *_: True,
    "ConsumerGroupHeartbeat.topic": lambda r, _: bool(r.subscribed_topic_names),
    "ShareGroupHeartbeat.topic": lambda r, _: bool(r.subscribed_topic_names),
    "StreamsGroupHeartbeat.topic": lambda r, _: r.topology is not None,
    "DescribeShareGroupOffsets.topic": lambda r, _: _some_share_group_requests_topics(
        r, all_topics=False
    ),
    "DescribeShareGroupOffsets.all_topics": lambda r, _: _some_share_group_requests_topics(
        r, all_topics=True
    ),
    "DescribeTopicPartitions.topic": lambda r, _: bool(r.topics),
    "DescribeTopicPartitions.all_topics": lambda r, _: not r.topics,
}
"""Conditions that a request decides, or rules out (None: it does neither).

Rows with another `when` depend on the broker's state.
"""
