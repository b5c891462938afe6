"""The rights matrix: principals of every kind send requests of every API, also with odd values.

`python -m tests.oracle RELEASE --rights` compares the responses of a real broker and the shim. A
seed is a principal and a set of bodies: principals have no rights, all, one alone, all but one, one
denied, some by prefixes or wildcards, or a random mixture. A body is a random request whose lists
and names are now and then empty, doubled, missing, null or invalid. All principals of a set of
bodies send the same ones.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final

import msgspec

from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.enums import (
    CLUSTER_NAME,
    ApiKey,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from tests.recordings.conformance.draw import OPERATIONS, Draw
from tests.recordings.conformance.generate import TEMPLATES, is_writable, pairs_of, plain
from tests.recordings.conformance.play import INDEPENDENT
from tests.recordings.conformance.scenario import ONE_SEGMENT, Scenario, Step

USER: Final = "bob"
MIXTURES: Final = 40
READING_BODIES: Final = 5
OTHER_BODIES: Final = 2
"""The number of bodies for each version of an API."""

ODD_SHARE: Final = 0.7
"""The share of bodies with an odd value."""

UNCHANGED: Final = frozenset(
    {
        *(ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA),
        *(ApiKey.CONTROLLED_SHUTDOWN, ApiKey.UNREGISTER_BROKER, ApiKey.UNREGISTER_CONTROLLER),
    }
)
"""APIs that a real broker obeys, or on whose odd values it crashes."""

LAST: Final = (
    *(ApiKey.LIST_GROUPS, ApiKey.DESCRIBE_GROUPS, ApiKey.CONSUMER_GROUP_DESCRIBE),
    *(ApiKey.SHARE_GROUP_DESCRIBE, ApiKey.STREAMS_GROUP_DESCRIBE),
    *(ApiKey.ALTER_CLIENT_QUOTAS, ApiKey.CREATE_TOPICS, ApiKey.CREATE_PARTITIONS),
    *(ApiKey.DELETE_TOPICS, ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS),
)
"""APIs whose requests come last, in this order: those that show the groups of others, and those
that change what others depend on.
"""

TIMES: Final = ("timeout", "wait", "time_ms", "period", "retention", "max_bytes", "min_bytes")
"""Parts of names of fields that keep their values, since the outcome would depend on time."""

UNDOUBLED: Final = frozenset({"partition_data"})
"""Lists without doubles: up to 2.8, null and other records of a partition are answered twice."""

ODD_NUMBERS: Final = (-1, 0, 1, 7)
ODD_NAMES: Final = ("", ".", "a/b", "*", "x" * 250)
ODD_GROUP_NAMES: Final = ("",)
"""Only names of the principal's own groups are odd, since members of groups affect each other."""
OWN_NAMES: Final = ("missing", "a/b", "*", "\U0001f600", "x" * 250)
"""Odd names that begin with the principal's prefix."""

UNANSWERED: Final[dict[ApiKey, Callable[[Any], bool]]] = {
    ApiKey.ADD_PARTITIONS_TO_TXN: lambda asked: (
        not asked.transactions and not asked.v3_and_below_topics
    ),
    ApiKey.ALTER_CONFIGS: lambda asked: _has_doubles(asked.resources),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: lambda asked: _has_doubles(asked.resources),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: lambda asked: not asked.users,
    ApiKey.OFFSET_FETCH: lambda asked: not asked.groups and not asked.group_id,
    ApiKey.PRODUCE: lambda asked: any(
        part.records is None for topic in asked.topic_data for part in topic.partition_data
    ),
    ApiKey.JOIN_GROUP: lambda asked: (
        len({row.name for row in asked.protocols}) < len(asked.protocols)
    ),
    ApiKey.WRITE_TXN_MARKERS: lambda asked: len(asked.markers) > 1 or _has_repeated_markers(asked),
}
"""Requests that a broker may never answer, which would take time; other tests send them."""


def _has_repeated_markers(asked: Any) -> bool:
    places = [
        (topic.name, index)
        for marker in asked.markers
        for topic in marker.topics
        for index in topic.partition_indexes
    ]
    return len(set(places)) < len(places)


def _has_doubles(resources: Sequence[Any]) -> bool:
    names = [(resource.resource_type, resource.resource_name) for resource in resources]
    return len(set(names)) < len(names)


Right = tuple[ResourceType, Operation]


def scenario(release: str, seed: int) -> Scenario:
    """Return the scenario of a principal, with a set of bodies."""
    sets, number = divmod(seed, principal_count(release))
    draw = Draw(release, sets, prefix=f"r{seed}")
    acls = list(_principals(release)[number](draw))
    draw.random.seed(f"bodies {sets}")
    return Scenario(draw.prefix, draw.topics, draw.groups, acls, list(_steps(draw)), ONE_SEGMENT)


def principal_count(release: str) -> int:
    return len(_principals(release))


# --- principals

Acls = Callable[[Draw], Iterator[dict[str, Any]]]


@cache
def _principals(release: str) -> Sequence[Acls]:
    """Return functions that make the ACLs of each principal."""
    rights = _rights(release)
    found: list[Acls] = [_of(), _of(rights)]
    for right in rights:
        others = [other for other in rights if other is not right]
        found += [_of([right]), _of([right], PatternType.PREFIXED), _of([right], everywhere=True)]
        found += [_of(others), _of(rights, denied=[right]), _of(denied=[right])]
    found += [_of(rights, PatternType.PREFIXED), _of(rights, everywhere=True)]
    return [*found, *(_mixture(number) for number in range(MIXTURES))]


def _rights(release: str) -> list[Right]:
    rules = Draw(release, 0).rules
    lacking = {
        ResourceType.DELEGATION_TOKEN: not rules.has_delegation_token_resource,
        ResourceType.USER: not rules.has_user_resource,
    }
    return [
        (kind, operation)
        for kind, operations in OPERATIONS.items()
        if not lacking.get(kind)
        for operation in dict.fromkeys(operations)
        if operation is not Operation.ALL
    ]


def _of(
    allowed: Sequence[Right] = (),
    pattern: PatternType = PatternType.LITERAL,
    *,
    denied: Sequence[Right] = (),
    everywhere: bool = False,
) -> Acls:
    def acls(draw: Draw) -> Iterator[dict[str, Any]]:
        for rights, permission in ((allowed, Permission.ALLOW), (denied, Permission.DENY)):
            for kind, operation in rights:
                for name in ["*"] if everywhere else _names(draw, kind, pattern):
                    named = CLUSTER_NAME if kind is ResourceType.CLUSTER else name
                    literal = everywhere or kind is ResourceType.CLUSTER
                    shape = PatternType.LITERAL if literal else pattern
                    yield _acl(kind, named, shape, operation, permission)

    return acls


def _names(draw: Draw, kind: ResourceType, pattern: PatternType) -> list[str]:
    if pattern is PatternType.PREFIXED:
        return ["User:a"] if kind is ResourceType.USER else [f"{draw.prefix}-"]
    names = {
        ResourceType.TOPIC: [draw.topics[0], draw.topics[2], draw.ghosts[0]],
        ResourceType.GROUP: [draw.groups[0], draw.groups[2]],
        ResourceType.CLUSTER: [CLUSTER_NAME],
        ResourceType.TRANSACTIONAL_ID: draw.transactional_ids[:1],
        ResourceType.DELEGATION_TOKEN: ["*"],
        ResourceType.USER: ["User:alice"],
    }
    return names[kind]


def _mixture(number: int) -> Acls:
    def acls(draw: Draw) -> Iterator[dict[str, Any]]:
        draw.random.seed(f"mixture {number}")
        for acl in draw.acls():
            acl.principal = draw.pick(f"User:{USER}", f"User:{USER}", "User:*")
            yield plain(acl)

    return acls


def _acl(
    kind: ResourceType, name: str, pattern: PatternType, operation: Operation, permission: int
) -> dict[str, Any]:
    return {
        "resource_type": kind,
        "resource_name": name,
        "resource_pattern_type": pattern,
        "principal": f"User:{USER}",
        "host": "*",
        "operation": operation,
        "permission_type": permission,
    }


# --- bodies


def _steps(draw: Draw) -> Iterator[Step]:
    pairs = [pair for pair in pairs_of(draw) for _ in range(_body_count(pair[0]))]
    rank = {key: number for number, key in enumerate(LAST, 1)}
    for key, version in sorted(pairs, key=lambda pair: (rank.get(pair[0], 0), pair[0])):
        request = _body(draw, key, version)
        yield Step(USER, key.wire_name, version, plain(request))


def _body_count(key: ApiKey) -> int:
    return READING_BODIES if key in INDEPENDENT else OTHER_BODIES


def _body(draw: Draw, key: ApiKey, version: int) -> Any:
    for _ in range(100):
        request = TEMPLATES[key](draw, version).request
        if key not in UNCHANGED and draw.chance(ODD_SHARE):
            spec = load_message_spec(f"{key.wire_name}Request").top_level_struct
            _make_odd(request, spec, version, draw)
        unanswered = UNANSWERED.get(key, lambda asked: False)
        if not unanswered(request) and is_writable(
            reset_unsupported_fields(request, version), version
        ):
            return _with_own_group(request, key, draw)
    raise AssertionError(f"no request of {key.wire_name} can be written in version {version}")


def _with_own_group(request: Any, key: ApiKey, draw: Draw) -> Any:
    """Let further members join groups of their own, since others would have to rejoin first."""
    if key is ApiKey.JOIN_GROUP:
        joined = draw.__dict__.setdefault("joined", set[str]())
        if request.group_id in joined:
            request.group_id = draw.fresh("g")
        joined.add(request.group_id)
    return request


def _make_odd(request: Any, spec: StructSpec, version: int, draw: Draw) -> None:
    """Replace a value somewhere in a request."""
    places = list(_places(request, spec, version))
    if places:
        struct, field = draw.pick(*places)
        value = getattr(struct, field.attribute)
        setattr(struct, field.attribute, draw.pick(*_odd_values(value, field, version, draw)))


def _places(
    struct: Any, spec: StructSpec, version: int
) -> Iterator[tuple[msgspec.Struct, FieldSpec]]:
    """Yield the fields that can be odd, with the structs that contain them."""
    for field in spec.fields:
        if not field.versions.has(version) or any(part in field.attribute for part in TIMES):
            continue
        value = getattr(struct, field.attribute)
        if _can_be_odd(value, field):
            yield struct, field
        if field.struct is not None and value:
            for row in value if field.is_array else [value]:
                yield from _places(row, field.struct, version)


def _can_be_odd(value: Any, field: FieldSpec) -> bool:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return field.is_array or isinstance(value, str) or is_number


def _odd_values(value: Any, field: FieldSpec, version: int, draw: Draw) -> Iterator[Any]:
    if field.nullable_versions.has(version):
        yield None
    if field.is_array:
        yield []
        if value and field.attribute not in UNDOUBLED:
            yield [*value, msgspec.convert(msgspec.to_builtins(value[0]), type(value[0]))]
    elif isinstance(value, str):
        yield from ODD_GROUP_NAMES if field.entity_type == "groupId" else ODD_NAMES
        yield from (f"{draw.prefix}-{name}" for name in OWN_NAMES)
    else:
        yield from ODD_NUMBERS
