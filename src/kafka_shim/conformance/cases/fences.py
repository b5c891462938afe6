"""Fenced producers and members, lost sequences, and transactions that must be aborted."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    IDEMPOTENT_PRODUCER,
    TRANSACTIONAL_PRODUCER,
    CaseContext,
    UnmetExpectationError,
    expect_client_error,
)
from kafka_shim.conformance.cases.moves import (
    CONSUME,
    PRODUCE,
    READER,
    open_topic_client,
    write_record_without_driver,
)
from kafka_shim.conformance.denied_command import enables_group_protocol, supports_api
from kafka_shim.conformance.driver import DriverResponse
from kafka_shim.conformance.error_scenarios import (
    SINCE,
    inject_versioned_error,
)
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode

_TROUBLE = CaseFamily("trouble")
_OF_CLIENT = {"principal": "User:alice"}
FENCES = frozenset({47, 82, 90})
"""Errors after which a producer or member cannot continue."""
_FENCE_NAMES = tuple(ErrorCode(code).name.lower().replace("_", "") for code in sorted(FENCES))
OWN_WORDS = frozenset({22, 25, 45})
"""Errors that Kafka's own client retries, or reports by exceptions that have no code."""
_NEXT_GEN = {"group_id": "workers", "group_protocol": "consumer"}
_HEARTBEAT_S, _ROUNDS = 0.5, 8
_BEATING = {**READER, "heartbeat_interval_ms": "300"}


def _is_fence_error(response: DriverResponse, *codes: int) -> bool:
    """Return whether the answer is an error with one of these codes.

    For the codes in FENCES, an error without a code is enough if it is fatal or named after a
    fence.
    """
    error = response.error
    if error is None or error.code in codes:
        return error is not None
    if error.code is not None or FENCES.isdisjoint(codes):
        return False
    error_name = error.name.lower()
    return bool(error.fatal) or any(name in error_name for name in _FENCE_NAMES)


@_TROUBLE.case(
    "fenced.producer",
    "a producer reports an error after another one has taken its transactional id",
    origin="KIP-588",
    expected_response="INVALID_PRODUCER_EPOCH (47) or PRODUCER_FENCED (90)",
    expected_requests="InitProducerId of the other raises the epoch",
    commands="begin produce commit",
    capabilities="transactions",
    runs_on_real_cluster=True,
)
async def expect_fenced_producer_reported(context: CaseContext) -> None:
    await open_topic_client(context, TRANSACTIONAL_PRODUCER)
    await context.run_successfully("begin")
    await context.open_client(TRANSACTIONAL_PRODUCER, client="other")
    await context.run_successfully("begin", client="other")
    response = await context.run_command("produce", **PRODUCE)
    if response.ok is not None:
        response = await context.run_command("commit")
    expect_client_error(response)
    if not _is_fence_error(response, 47, 90):
        response = await context.run_command("commit")
    if not _is_fence_error(response, 47, 90):
        raise UnmetExpectationError(
            "INVALID_PRODUCER_EPOCH (47) or PRODUCER_FENCED (90)", f"it reported {response}"
        )


async def expect_injected_final_error_reported(
    api: str,
    error: int,
    settings: Mapping[str, str],
    commands: tuple[tuple[str, Mapping[str, Any]], ...],
    context: CaseContext,
) -> None:
    """Run the commands until one reports the error, which every request of the API gets."""
    await open_topic_client(context, settings)
    if "group_id" in settings:
        await write_record_without_driver(context)
    injected_errors = inject_versioned_error(context, api, error, times=0, match=_OF_CLIENT)
    responses: list[DriverResponse] = []
    for command, fields in commands:
        responses.append(await context.run_command(command, **fields))
        is_any = error in OWN_WORDS and responses[-1].error is not None
        if is_any or _is_fence_error(responses[-1], *injected_errors.fired_error_codes()):
            return
        if command == "consume" and (responses[-1].ok or {}).get("values") == []:
            raise UnmetExpectationError("an error, or a record", "the client reported neither")
    if not injected_errors.fired_error_codes():
        raise UnmetExpectationError(f"a {api} request", "the client sent none")
    expected = " or ".join(
        error_name_with_code(code) for code in sorted(injected_errors.fired_error_codes())
    )
    raise UnmetExpectationError(expected, f"the client reported {'; '.join(map(str, responses))}")


def _expected_error_by_version(api: str, error: int) -> str:
    """Return the expected error, with the one that older versions of the request get."""
    first, older = SINCE.get((api, ErrorCode(error)), (0, None))
    before = f", {error_name_with_code(older)} before {api} v{first}" if older is not None else ""
    return f"{error_name_with_code(error)}{before}"


_WRITE = ("produce", PRODUCE)
_IN_TX: tuple[tuple[str, Mapping[str, Any]], ...] = (("begin", {}), _WRITE, ("commit", {}))
_TX, _IDEMPOTENT = TRANSACTIONAL_PRODUCER, IDEMPOTENT_PRODUCER
_READ: tuple[tuple[str, Mapping[str, Any]], ...] = (("consume", CONSUME), ("commit_offsets", {}))
_SHORT: Mapping[str, Any] = {**CONSUME, "seconds": 4}
for _name, _api, _error, _settings, _commands, _capability, _level in (
    ("out-of-order", "Produce", 45, _IDEMPOTENT, (_WRITE,), "idempotence", RequirementLevel.MUST),
    ("invalid-epoch", "Produce", 47, _TX, _IN_TX, "transactions", RequirementLevel.SHOULD),
    ("abortable", "EndTxn", 120, _TX, _IN_TX, "transactions", RequirementLevel.SHOULD),
    ("fenced-at-end", "EndTxn", 90, _TX, _IN_TX, "transactions", RequirementLevel.MUST),
    (
        "fenced-at-begin",
        "InitProducerId",
        90,
        _TX,
        (("begin", {}),),
        "transactions",
        RequirementLevel.MUST,
    ),
    ("id-mapping", "EndTxn", 49, _TX, _IN_TX, "transactions", RequirementLevel.SHOULD),
    ("generation", "OffsetCommit", 22, READER, _READ, "classic-groups", RequirementLevel.MUST),
    ("unknown-member", "OffsetCommit", 25, READER, _READ, "classic-groups", RequirementLevel.MUST),
    (
        "too-large-metadata",
        "OffsetCommit",
        12,
        READER,
        _READ,
        "classic-groups",
        RequirementLevel.MUST,
    ),
    (
        "fenced-instance",
        "JoinGroup",
        82,
        {**READER, "group_instance_id": "i"},
        (("consume", _SHORT),),
        "static-members",
        RequirementLevel.MUST,
    ),
    (
        "group-full",
        "JoinGroup",
        81,
        READER,
        (("consume", _SHORT),),
        "classic-groups",
        RequirementLevel.MUST,
    ),
    (
        "inconsistent-protocol",
        "JoinGroup",
        23,
        READER,
        (("consume", _SHORT),),
        "classic-groups",
        RequirementLevel.MUST,
    ),
):
    _TROUBLE.add_case(
        f"reports-final-error.{_name}",
        f"the client reports {error_name_with_code(_error)} from {_api} to its caller",
        partial(expect_injected_final_error_reported, _api, _error, _settings, _commands),
        origin=_api,
        expected_response="an error"
        if _error in OWN_WORDS
        else _expected_error_by_version(_api, _error),
        expected_requests=f"{_api} is answered with {error_name_with_code(_error)}",
        commands=" ".join(command for command, _ in _commands) + " produce",
        capabilities=_capability,
        level=_level,
    )


@_TROUBLE.case(
    "aborted.recovers",
    "a transaction that has to be aborted is aborted, and the next one commits",
    origin="KIP-890",
    expected_response="an error, then ok",
    expected_requests="AddPartitionsToTxn or Produce is answered with TRANSACTION_ABORTABLE (120)"
    " or TOPIC_AUTHORIZATION_FAILED (29)",
    commands="begin produce abort commit",
    capabilities="transactions",
    runs_on_real_cluster=True,
)
async def expect_abort_recovery(context: CaseContext) -> None:
    await open_topic_client(context, TRANSACTIONAL_PRODUCER)
    denied = {"deny": ["Write"], "topic": PRODUCE["topic"]}
    await context.grant_to_user(denied)
    await context.run_successfully("begin")
    response = await context.run_command("produce", **PRODUCE)
    expect_client_error(response)
    await context.run_successfully("abort")
    await context.revoke_from_user(denied)
    for command, fields in _IN_TX:
        await context.run_successfully(command, **fields)


async def expect_consumer_recovery(
    api: str, error: int, settings: Mapping[str, str], context: CaseContext
) -> None:
    await open_topic_client(context, settings)
    await write_record_without_driver(context)
    await context.consume_values(**CONSUME)
    injected_errors = inject_versioned_error(context, api, error, match=_OF_CLIENT)
    for _ in range(_ROUNDS):
        await write_record_without_driver(context)
        await context.run_successfully("consume", **CONSUME)
        if injected_errors.fired_error_codes():
            break
        await context.sleep_for_client(_HEARTBEAT_S)
    await write_record_without_driver(context)
    consumed = await context.run_successfully("consume", **CONSUME)
    if not consumed["values"]:
        raise UnmetExpectationError(
            "values written after the error", "the client reported no value"
        )


_CLASSIC = "classic-groups"
for _name, _api, _error, _settings, _capability, _key in (
    ("fetch-not-leader", "Fetch", 6, READER, _CLASSIC, ApiKey.FETCH),
    ("fetch-fenced-epoch", "Fetch", 74, READER, _CLASSIC, ApiKey.OFFSET_FOR_LEADER_EPOCH),
    ("fetch-unknown-epoch", "Fetch", 75, READER, _CLASSIC, ApiKey.OFFSET_FOR_LEADER_EPOCH),
    ("fetch-out-of-range", "Fetch", 1, READER, _CLASSIC, ApiKey.FETCH),
    ("fetch-storage-error", "Fetch", 56, READER, _CLASSIC, ApiKey.FETCH),
    ("fetch-unknown-topic-id", "Fetch", 100, READER, _CLASSIC, ApiKey.DESCRIBE_CLUSTER),
    ("fetch-unknown-session", "Fetch", 70, READER, _CLASSIC, ApiKey.DELETE_GROUPS),
    ("heartbeat-rebalance", "Heartbeat", 27, _BEATING, _CLASSIC, ApiKey.HEARTBEAT),
    ("heartbeat-unknown-member", "Heartbeat", 25, _BEATING, _CLASSIC, ApiKey.HEARTBEAT),
    ("heartbeat-generation", "Heartbeat", 22, _BEATING, _CLASSIC, ApiKey.HEARTBEAT),
    ("heartbeat-not-coordinator", "Heartbeat", 16, _BEATING, _CLASSIC, ApiKey.HEARTBEAT),
    (
        "member-fenced",
        "ConsumerGroupHeartbeat",
        110,
        _NEXT_GEN,
        "consumer-groups",
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
    ),
    (
        "member-unknown",
        "ConsumerGroupHeartbeat",
        25,
        _NEXT_GEN,
        "consumer-groups",
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
    ),
):
    _TROUBLE.add_case(
        f"recovers.{_name}",
        f"a consumer continues after {error_name_with_code(_error)} from {_api}",
        partial(expect_consumer_recovery, _api, _error, _settings),
        origin=_api,
        expected_response="the values that were written",
        expected_requests=f"{_api} is answered once with {error_name_with_code(_error)}",
        commands="produce consume",
        capabilities=_capability,
        supports_release=enables_group_protocol("consumer")
        if _settings is _NEXT_GEN
        else supports_api(_key),
    )


@_TROUBLE.case(
    "rebalance.in-commit",
    "a commit during a rebalance fails with an error, or is made after it",
    origin="REBALANCE_IN_PROGRESS",
    expected_response="ok, or REBALANCE_IN_PROGRESS (27)",
    commands="produce consume commit_offsets",
    capabilities="classic-groups",
)
async def expect_commit_during_rebalance(context: CaseContext) -> None:
    await open_topic_client(context, READER)
    await write_record_without_driver(context)
    await context.consume_values(**CONSUME)
    context.inject_fault("OffsetCommit", error=27, match=_OF_CLIENT)
    response = await context.run_command("commit_offsets")
    if response.error is not None and response.error.code not in (27, None):
        raise UnmetExpectationError(
            "ok, or REBALANCE_IN_PROGRESS (27)", f"the client reported {response}"
        )


@_TROUBLE.case(
    "fenced.static-member",
    "a static member reports an error after another one has taken its instance id",
    origin="KIP-345",
    expected_response="FENCED_INSTANCE_ID (82)",
    commands="produce consume commit_offsets",
    capabilities="static-members classic-groups",
    supports_release=supports_api(ApiKey.JOIN_GROUP, 5),
    runs_on_real_cluster=True,
)
async def expect_fenced_static_member_reported(context: CaseContext) -> None:
    settings = {**READER, "group_instance_id": "i"}
    await open_topic_client(context, settings)
    await write_record_without_driver(context)
    await context.consume_values(**CONSUME)
    await context.open_client(settings, client="other")
    await context.run_successfully("consume", client="other", **CONSUME)
    response = await context.run_command("commit_offsets")
    if not _is_fence_error(response, 82, 25):  # a heartbeat may have been answered with it before
        response = await context.run_command("consume", **_SHORT)
    if not _is_fence_error(response, 82, 25):
        raise UnmetExpectationError("FENCED_INSTANCE_ID (82)", f"the client reported {response}")


CASES = _TROUBLE.cases
