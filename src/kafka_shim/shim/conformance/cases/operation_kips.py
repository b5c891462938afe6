"""KIP-430 (authorized operations) and KIP-163 (OffsetFetch)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from kafka_shim.authorizer.requirements import OFFSET_FETCH_GROUP
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import CaseContext, UnmetError
from kafka_shim.shim.conformance.denial import requires_permission, supports_api

_KIPS = Family("kips")
_NOT_ASKED = -(2**31)
TOPIC, GROUP = "orders", "workers"


class Described(msgspec.Struct, frozen=True):
    """A kind of resource whose authorized operations a command returns.

    Depending on its version, a client sends any of `apis`.
    """

    name: str
    command: str
    fields: Mapping[str, Any]
    apis: Mapping[ApiKey, tuple[str, str]]
    """By API: the field of the response, and the request's flag that asks for it."""
    api: ApiKey
    version: int
    """The first version of `api` with authorized operations."""
    granted: tuple[str, ...]
    reported: frozenset[str]
    rule: Mapping[str, Any]


_FLAG = "includeAuthorizedOperations"
_OF_TOPIC = ("topics.*.topic_authorized_operations", "includeTopicAuthorizedOperations")
_OF_CLUSTER = ("cluster_authorized_operations", "includeClusterAuthorizedOperations")
ROWS = (
    Described(
        "topic",
        "describe_topics",
        {"names": [TOPIC]},
        {
            ApiKey.METADATA: _OF_TOPIC,
            ApiKey.DESCRIBE_TOPIC_PARTITIONS: ("topics.*.topic_authorized_operations", ""),
        },
        ApiKey.METADATA,
        8,
        ("Read", "AlterConfigs"),
        frozenset({"READ", "DESCRIBE", "ALTER_CONFIGS", "DESCRIBE_CONFIGS"}),
        {"topic": TOPIC},
    ),
    Described(
        "group",
        "describe_groups",
        {"names": [GROUP]},
        {
            ApiKey.DESCRIBE_GROUPS: ("groups.*.authorized_operations", _FLAG),
            ApiKey.CONSUMER_GROUP_DESCRIBE: ("groups.*.authorized_operations", _FLAG),
        },
        ApiKey.DESCRIBE_GROUPS,
        3,
        ("Delete",),
        frozenset({"DELETE", "DESCRIBE"}),
        {"group": GROUP},
    ),
    Described(
        "cluster",
        "describe_cluster",
        {},
        {
            ApiKey.METADATA: _OF_CLUSTER,
            ApiKey.DESCRIBE_CLUSTER: (_OF_CLUSTER[0], "includeClusterAuthorizedOperations"),
        },
        ApiKey.METADATA,
        8,
        ("Describe", "AlterConfigs"),
        frozenset({"DESCRIBE", "ALTER_CONFIGS", "DESCRIBE_CONFIGS"}),
        {"cluster": None},
    ),
)


async def _prepare(row: Described, context: CaseContext) -> None:
    await context.topic(TOPIC)
    await context.group(GROUP, topic=TOPIC)
    await context.grant({"allow": ["Describe"], "cluster": None})
    await context.grant({"allow": list(row.granted), **row.rule})
    await context.open()


async def _reported_operations(
    row: Described, context: CaseContext, *, asked: bool = True
) -> list[str] | None:
    found = await context.done(row.command, **row.fields, operations=asked)
    if "items" in found:
        raise UnmetError("one result, for the only name", f"there are {found}")
    reported: list[str] | None = found["operations"]
    return reported


def _set(row: Described, context: CaseContext, bits: int) -> None:
    """Put these bits into every response."""
    context.broker.faults.clear()
    for api, (field, _) in row.apis.items():
        context.inject_error(api.wire_name, set={field: bits}, times=0)


def _flags(row: Described, context: CaseContext) -> list[bool]:
    found = []
    for api, (_, flag) in row.apis.items():
        for seen in context.requests(api):
            request = seen.row()["request"] or {}
            if flag in request:
                found.append(request[flag])
    return found


async def exact(row: Described, context: CaseContext) -> None:
    await _prepare(row, context)
    reported = await _reported_operations(row, context)
    if reported is None or set(reported) != row.reported:
        raise UnmetError(f"{sorted(row.reported)}", f"the client reported {reported}")


async def not_asked(row: Described, context: CaseContext) -> None:
    await _prepare(row, context)
    reported = await _reported_operations(row, context, asked=False)
    if reported:
        raise UnmetError(
            "no operations, as they were not asked for", f"the client reported {reported}"
        )
    if any(_flags(row, context)):
        raise UnmetError("a request without the flag", "the flag was set")


async def bit_by_bit(row: Described, context: CaseContext) -> None:
    await _prepare(row, context)
    for operation in Operation:
        if operation in (Operation.UNKNOWN, Operation.ANY, Operation.ALL):
            continue
        if operation > Operation.IDEMPOTENT_WRITE:
            continue  # newer than the KIP
        _set(row, context, 1 << operation)
        reported = await _reported_operations(row, context)
        if reported != [operation.name]:
            raise UnmetError(
                f"{operation.name} for bit {int(operation)}", f"the client reported {reported}"
            )


async def minimum(row: Described, context: CaseContext) -> None:
    await _prepare(row, context)
    _set(row, context, _NOT_ASKED)
    reported = await _reported_operations(row, context)
    if reported:
        raise UnmetError(
            "no operations: Int32.MIN means unknown", f"the client reported {reported}"
        )


async def unknown_bits(row: Described, context: CaseContext) -> None:
    await _prepare(row, context)
    _set(row, context, 1 << Operation.DESCRIBE | 1 << 29)
    reported = await _reported_operations(row, context)
    if reported is None or set(reported) - {"UNKNOWN"} != {"DESCRIBE"}:
        raise UnmetError("DESCRIBE, without the unknown bit", f"the client reported {reported}")


async def none(row: Described, context: CaseContext) -> None:
    await _prepare(row, context)
    _set(row, context, 0)
    reported = await _reported_operations(row, context)
    if reported != []:
        raise UnmetError("an empty list, which is not null", f"the client reported {reported}")


async def old(row: Described, context: CaseContext) -> None:
    await _prepare(row, context)
    response = (await context.ask(row.command, **row.fields, operations=True)).first()
    if response.ok is not None and response.ok["operations"]:
        raise UnmetError("an error, or no operations", f"the client reported {response}")


def _flag_of(row: Described) -> str:
    return " and ".join(dict.fromkeys(flag for _, flag in row.apis.values() if flag))


_BODIES = (
    ("exact", exact, "returns exactly the operations that are allowed", Level.MUST),
    ("not-asked", not_asked, "requests operations only if its caller asks for them", Level.SHOULD),
    ("bit-by-bit", bit_by_bit, "reads every bit of the operations", Level.MUST),
    ("minimum", minimum, "treats Int32.MIN as `operations unknown`", Level.MUST),
    ("unknown-bits", unknown_bits, "ignores unknown bits", Level.MUST),
    ("none", none, "returns an empty list if no operation is allowed", Level.SHOULD),
)
for _row in ROWS:
    for _name, _body, _what, _level in _BODIES:
        _KIPS.add(
            f"operations.{_row.name}-{_name}",
            f"{_row.command} {_what}",
            partial(_body, _row),
            origin="KIP-430",
            response=", ".join(sorted(_row.reported))
            if _body is exact
            else "the operations in the response",
            wire=f"{_flag_of(_row)} as the command asks",
            commands=_row.command,
            capabilities="authorized-operations",
            level=_level,
            possible=supports_api(_row.api, _row.version),
            is_real=_body in (exact, not_asked),
        )
    _KIPS.add(
        f"operations.{_row.name}-old-broker",
        f"{_row.command} returns no operations for a broker that does not send them",
        partial(old, _row),
        origin="KIP-430",
        response="an error, or no operations",
        commands=_row.command,
        capabilities="authorized-operations",
        possible=lambda release, row=_row: not supports_api(row.api, row.version)(release),
        is_real=True,
    )


async def fetches(command: str, fields: Mapping[str, Any], context: CaseContext) -> None:
    await context.topic(TOPIC)
    await context.group(GROUP, topic=TOPIC)
    await context.grant(
        {"allow": ["Describe"], "group": GROUP}, {"allow": ["Describe"], "topic": TOPIC}
    )
    await context.open({"group_id": GROUP})
    found = await context.done(command, **fields, partitions=[f"{TOPIC}-0"])
    if found.get("offset") != 0:
        raise UnmetError("offset 0", f"the client reported {found}")


for _command, _fields in (("group_offsets", {"group": GROUP}), ("committed", {})):
    _KIPS.add(
        f"offset-fetch.{_command.replace('_', '-')}",
        f"{_command} needs Describe on the group and the topic, and no more",
        partial(fetches, _command, _fields),
        origin="KIP-163",
        response="the offset",
        commands=_command,
        possible=requires_permission(OFFSET_FETCH_GROUP, Operation.DESCRIBE, ResourceType.GROUP),
        is_real=True,
    )

CASES = _KIPS.cases
