"""KIP-430 (authorized operations) and KIP-163 (OffsetFetch)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from kafka_shim.authorizer.requirements import OFFSET_FETCH_GROUP
from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import CaseContext, UnmetExpectationError
from kafka_shim.conformance.denied_command import requires_permission, supports_api
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType

_KIPS = CaseFamily("kips")
_NOT_ASKED = -(2**31)
TOPIC, GROUP = "orders", "workers"


class ResourceWithAuthorizedOperations(msgspec.Struct, frozen=True):
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
    granted_operations: tuple[str, ...]
    reported_operations: frozenset[str]
    resource_rule: Mapping[str, Any]


_FLAG = "includeAuthorizedOperations"
_OF_TOPIC = ("topics.*.topic_authorized_operations", "includeTopicAuthorizedOperations")
_OF_CLUSTER = ("cluster_authorized_operations", "includeClusterAuthorizedOperations")
ROWS = (
    ResourceWithAuthorizedOperations(
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
    ResourceWithAuthorizedOperations(
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
    ResourceWithAuthorizedOperations(
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


async def _open_client_with_operations(
    row: ResourceWithAuthorizedOperations, context: CaseContext
) -> None:
    await context.create_topics(TOPIC)
    await context.create_empty_groups(GROUP, topic=TOPIC)
    await context.grant_to_user({"allow": ["Describe"], "cluster": None})
    await context.grant_to_user({"allow": list(row.granted_operations), **row.resource_rule})
    await context.open_client()


async def _reported_operations(
    row: ResourceWithAuthorizedOperations, context: CaseContext, *, request_operations: bool = True
) -> list[str] | None:
    flags = await context.run_successfully(row.command, **row.fields, operations=request_operations)
    if "items" in flags:
        raise UnmetExpectationError("one result, for the only name", f"there are {flags}")
    reported_operations: list[str] | None = flags["operations"]
    return reported_operations


def _inject_operation_bits(
    row: ResourceWithAuthorizedOperations, context: CaseContext, bits: int
) -> None:
    """Put these bits into every response."""
    context.shim_broker.faults.remove_all()
    for api, (field, _) in row.apis.items():
        context.inject_fault(api.wire_name, set={field: bits}, times=0)


def _sent_operation_flags(
    row: ResourceWithAuthorizedOperations, context: CaseContext
) -> list[bool]:
    flags = []
    for api, (_, flag) in row.apis.items():
        for seen in context.client_requests(api):
            request = seen.request_row()["request"] or {}
            if flag in request:
                flags.append(request[flag])
    return flags


async def expect_exactly_granted_operations(
    row: ResourceWithAuthorizedOperations, context: CaseContext
) -> None:
    await _open_client_with_operations(row, context)
    reported_operations = await _reported_operations(row, context)
    if reported_operations is None or set(reported_operations) != row.reported_operations:
        raise UnmetExpectationError(
            f"{sorted(row.reported_operations)}", f"the client reported {reported_operations}"
        )


async def expect_no_operations_without_request_flag(
    row: ResourceWithAuthorizedOperations, context: CaseContext
) -> None:
    await _open_client_with_operations(row, context)
    reported_operations = await _reported_operations(row, context, request_operations=False)
    if reported_operations:
        raise UnmetExpectationError(
            "no operations, as they were not asked for",
            f"the client reported {reported_operations}",
        )
    if any(_sent_operation_flags(row, context)):
        raise UnmetExpectationError("a request without the flag", "the flag was set")


async def expect_each_operation_bit_decoded(
    row: ResourceWithAuthorizedOperations, context: CaseContext
) -> None:
    await _open_client_with_operations(row, context)
    for operation in Operation:
        if operation in (Operation.UNKNOWN, Operation.ANY, Operation.ALL):
            continue
        if operation > Operation.IDEMPOTENT_WRITE:
            continue  # newer than the KIP
        _inject_operation_bits(row, context, 1 << operation)
        reported_operations = await _reported_operations(row, context)
        if reported_operations != [operation.name]:
            raise UnmetExpectationError(
                f"{operation.name} for bit {int(operation)}",
                f"the client reported {reported_operations}",
            )


async def expect_int32_min_means_no_operations(
    row: ResourceWithAuthorizedOperations, context: CaseContext
) -> None:
    await _open_client_with_operations(row, context)
    _inject_operation_bits(row, context, _NOT_ASKED)
    reported_operations = await _reported_operations(row, context)
    if reported_operations is not None:
        raise UnmetExpectationError(
            "null, since Int32.MIN means that the operations are unknown",
            f"the client reported {reported_operations}",
        )


async def expect_unknown_operation_bit_ignored(
    row: ResourceWithAuthorizedOperations, context: CaseContext
) -> None:
    await _open_client_with_operations(row, context)
    _inject_operation_bits(row, context, 1 << Operation.DESCRIBE | 1 << 29)
    reported_operations = await _reported_operations(row, context)
    if reported_operations is None or set(reported_operations) - {"UNKNOWN"} != {"DESCRIBE"}:
        raise UnmetExpectationError(
            "DESCRIBE, without the unknown bit", f"the client reported {reported_operations}"
        )


async def expect_empty_operations_are_not_null(
    row: ResourceWithAuthorizedOperations, context: CaseContext
) -> None:
    await _open_client_with_operations(row, context)
    _inject_operation_bits(row, context, 0)
    reported_operations = await _reported_operations(row, context)
    if reported_operations != []:
        raise UnmetExpectationError(
            "an empty list, which is not null", f"the client reported {reported_operations}"
        )


async def expect_no_operations_from_old_broker(
    row: ResourceWithAuthorizedOperations, context: CaseContext
) -> None:
    await _open_client_with_operations(row, context)
    response = (
        await context.run_command(row.command, **row.fields, operations=True)
    ).first_item_response()
    if response.ok is not None and response.ok["operations"]:
        raise UnmetExpectationError("an error, or no operations", f"the client reported {response}")


def _request_flag_names(row: ResourceWithAuthorizedOperations) -> str:
    return " and ".join(dict.fromkeys(flag for _, flag in row.apis.values() if flag))


_BODIES = (
    (
        "exact",
        expect_exactly_granted_operations,
        "returns exactly the operations that are allowed",
        RequirementLevel.MUST,
    ),
    (
        "not-asked",
        expect_no_operations_without_request_flag,
        "requests operations only if its caller asks for them",
        RequirementLevel.SHOULD,
    ),
    (
        "bit-by-bit",
        expect_each_operation_bit_decoded,
        "reads every bit of the operations",
        RequirementLevel.MUST,
    ),
    (
        "minimum",
        expect_int32_min_means_no_operations,
        "treats Int32.MIN as `operations unknown`",
        RequirementLevel.MUST,
    ),
    (
        "unknown-bits",
        expect_unknown_operation_bit_ignored,
        "ignores unknown bits",
        RequirementLevel.MUST,
    ),
    (
        "none",
        expect_empty_operations_are_not_null,
        "returns an empty list if no operation is allowed",
        RequirementLevel.SHOULD,
    ),
)
for _row in ROWS:
    for _name, _body, _what, _level in _BODIES:
        _KIPS.add_case(
            f"operations.{_row.name}-{_name}",
            f"{_row.command} {_what}",
            partial(_body, _row),
            origin="KIP-430",
            expected_response=", ".join(sorted(_row.reported_operations))
            if _body is expect_exactly_granted_operations
            else "the operations in the response",
            expected_requests=f"{_request_flag_names(_row)} as the command asks",
            commands=_row.command,
            capabilities="authorized-operations",
            level=_level,
            supports_release=supports_api(_row.api, _row.version),
            runs_on_real_cluster=_body
            in (expect_exactly_granted_operations, expect_no_operations_without_request_flag),
        )
    _KIPS.add_case(
        f"operations.{_row.name}-old-broker",
        f"{_row.command} returns no operations for a broker that does not send them",
        partial(expect_no_operations_from_old_broker, _row),
        origin="KIP-430",
        expected_response="an error, or no operations",
        commands=_row.command,
        capabilities="authorized-operations",
        supports_release=lambda release, row=_row: not supports_api(row.api, row.version)(release),
        runs_on_real_cluster=True,
    )


async def expect_describe_suffices_for_offset_fetch(
    command: str, fields: Mapping[str, Any], context: CaseContext
) -> None:
    await context.create_topics(TOPIC)
    await context.create_empty_groups(GROUP, topic=TOPIC)
    await context.grant_to_user(
        {"allow": ["Describe"], "group": GROUP}, {"allow": ["Describe"], "topic": TOPIC}
    )
    await context.open_client({"group_id": GROUP})
    flags = await context.run_successfully(command, **fields, partitions=[f"{TOPIC}-0"])
    if flags.get("offset") != 0:
        raise UnmetExpectationError("offset 0", f"the client reported {flags}")


for _command, _fields in (("group_offsets", {"group": GROUP}), ("committed", {})):
    _KIPS.add_case(
        f"offset-fetch.{_command.replace('_', '-')}",
        f"{_command} needs Describe on the group and the topic, and no more",
        partial(expect_describe_suffices_for_offset_fetch, _command, _fields),
        origin="KIP-163",
        expected_response="the offset",
        commands=_command,
        supports_release=requires_permission(
            OFFSET_FETCH_GROUP, Operation.DESCRIBE, ResourceType.GROUP
        ),
        runs_on_real_cluster=True,
    )

CASES = _KIPS.cases
