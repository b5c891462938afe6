"""Fenced producers and members, lost sequences, and transactions that must be aborted."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import CaseContext, UnmetError, expect_error
from kafka_shim.shim.conformance.cases.moves import (
    CONSUME,
    IDEMPOTENT,
    PRODUCE,
    READER,
    TX,
    prepare,
    write,
)
from kafka_shim.shim.conformance.denial import has_protocol, supports_api
from kafka_shim.shim.conformance.driver import Response
from kafka_shim.shim.conformance.error_versions import SINCE, inject_error

_TROUBLE = Family("trouble")
_OF_CLIENT = {"principal": "User:alice"}
FENCES = frozenset({47, 82, 90})
"""Errors after which a producer or member cannot continue."""
_FENCE_NAMES = tuple(ErrorCode(code).name.lower().replace("_", "") for code in sorted(FENCES))
OWN_WORDS = frozenset({22, 25, 45})
"""Errors that Kafka's own client retries, or reports by exceptions that have no code."""
_NEXT_GEN = {"group_id": "workers", "group_protocol": "consumer"}


def _reports_one_of(response: Response, *codes: int) -> bool:
    """Whether the answer is an error with one of these codes.

    For the codes in FENCES, an error without a code is enough if it is fatal or named after a
    fence.
    """
    error = response.error
    if error is None or error.code in codes:
        return error is not None
    if error.code is not None or FENCES.isdisjoint(codes):
        return False
    named = error.name.lower()
    return bool(error.fatal) or any(name in named for name in _FENCE_NAMES)


@_TROUBLE.case(
    "fenced.producer",
    "a producer reports an error after another one has taken its transactional id",
    origin="KIP-588",
    response="INVALID_PRODUCER_EPOCH (47) or PRODUCER_FENCED (90)",
    wire="InitProducerId of the other raises the epoch",
    commands="begin produce commit",
    capabilities="transactions",
    is_real=True,
)
async def fenced_producer(context: CaseContext) -> None:
    await prepare(context, TX)
    await context.done("begin")
    await context.open(TX, client="other")
    await context.done("begin", client="other")
    response = await context.ask("produce", **PRODUCE)
    if response.ok is not None:
        response = await context.ask("commit")
    expect_error(response)
    if not _reports_one_of(response, 47, 90):
        response = await context.ask("commit")
    if not _reports_one_of(response, 47, 90):
        raise UnmetError(
            "INVALID_PRODUCER_EPOCH (47) or PRODUCER_FENCED (90)", f"it reported {response}"
        )


async def reports_final_error(
    api: str,
    error: int,
    settings: Mapping[str, str],
    commands: tuple[tuple[str, Mapping[str, Any]], ...],
    context: CaseContext,
) -> None:
    """Run the commands until one reports the error, which every request of the API gets."""
    await prepare(context, settings)
    if "group_id" in settings:
        await write(context)
    injected_errors = inject_error(context, api, error, times=0, match=_OF_CLIENT)
    said: list[Response] = []
    for command, fields in commands:
        said.append(await context.ask(command, **fields))
        is_any = error in OWN_WORDS and said[-1].error is not None
        if is_any or _reports_one_of(said[-1], *injected_errors.codes()):
            return
    if not injected_errors.codes():
        raise UnmetError(f"a {api} request", "the client sent none")
    expected = " or ".join(error_name_with_code(code) for code in sorted(injected_errors.codes()))
    raise UnmetError(expected, f"the client reported {'; '.join(map(str, said))}")


def _by_version(api: str, error: int) -> str:
    """Return the expected error, with the one that older versions of the request get."""
    first, older = SINCE.get((api, ErrorCode(error)), (0, None))
    before = f", {error_name_with_code(older)} before {api} v{first}" if older is not None else ""
    return f"{error_name_with_code(error)}{before}"


_WRITE = ("produce", PRODUCE)
_IN_TX: tuple[tuple[str, Mapping[str, Any]], ...] = (("begin", {}), _WRITE, ("commit", {}))
_READ: tuple[tuple[str, Mapping[str, Any]], ...] = (("consume", CONSUME), ("commit_offsets", {}))
_SHORT: Mapping[str, Any] = {**CONSUME, "seconds": 4}
for _name, _api, _error, _settings, _commands, _capability, _level in (
    ("out-of-order", "Produce", 45, IDEMPOTENT, (_WRITE,), "idempotence", Level.MUST),
    ("invalid-epoch", "Produce", 47, TX, _IN_TX, "transactions", Level.SHOULD),
    ("abortable", "EndTxn", 120, TX, _IN_TX, "transactions", Level.SHOULD),
    ("fenced-at-end", "EndTxn", 90, TX, _IN_TX, "transactions", Level.MUST),
    ("fenced-at-begin", "InitProducerId", 90, TX, (("begin", {}),), "transactions", Level.MUST),
    ("id-mapping", "EndTxn", 49, TX, _IN_TX, "transactions", Level.SHOULD),
    ("generation", "OffsetCommit", 22, READER, _READ, "classic-groups", Level.MUST),
    ("unknown-member", "OffsetCommit", 25, READER, _READ, "classic-groups", Level.MUST),
    ("too-large-metadata", "OffsetCommit", 12, READER, _READ, "classic-groups", Level.MUST),
    (
        "fenced-instance",
        "JoinGroup",
        82,
        {**READER, "group_instance_id": "i"},
        (("consume", _SHORT),),
        "static-members",
        Level.MUST,
    ),
    ("group-full", "JoinGroup", 81, READER, (("consume", _SHORT),), "classic-groups", Level.MUST),
    (
        "inconsistent-protocol",
        "JoinGroup",
        23,
        READER,
        (("consume", _SHORT),),
        "classic-groups",
        Level.MUST,
    ),
):
    _TROUBLE.add(
        f"reports-final-error.{_name}",
        f"the client reports {error_name_with_code(_error)} from {_api} to its caller",
        partial(reports_final_error, _api, _error, _settings, _commands),
        origin=_api,
        response="an error" if _error in OWN_WORDS else _by_version(_api, _error),
        wire=f"{_api} is answered with {error_name_with_code(_error)}",
        commands=" ".join(command for command, _ in _commands) + " produce",
        capabilities=_capability,
        level=_level,
    )


@_TROUBLE.case(
    "aborted.recovers",
    "a transaction that has to be aborted is aborted, and the next one commits",
    origin="KIP-890",
    response="an error, then ok",
    wire="AddPartitionsToTxn or Produce is answered with TRANSACTION_ABORTABLE (120) or"
    " TOPIC_AUTHORIZATION_FAILED (29)",
    commands="begin produce abort commit",
    capabilities="transactions",
    is_real=True,
)
async def aborted(context: CaseContext) -> None:
    await prepare(context, TX)
    denied = {"deny": ["Write"], "topic": PRODUCE["topic"]}
    await context.grant(denied)
    await context.done("begin")
    response = await context.ask("produce", **PRODUCE)
    expect_error(response)
    await context.done("abort")
    await context.revoke(denied)
    for command, fields in _IN_TX:
        await context.done(command, **fields)


async def recovers(api: str, error: int, settings: Mapping[str, str], context: CaseContext) -> None:
    await prepare(context, settings)
    await write(context)
    await context.done("consume", **CONSUME)
    injected_errors = inject_error(context, api, error, match=_OF_CLIENT)
    for _ in range(3):
        await write(context)
        await context.done("consume", **CONSUME)
        if injected_errors.codes():
            break
    await write(context)
    found = await context.done("consume", **CONSUME)
    if not found["values"]:
        raise UnmetError("values written after the error", "the client reported none")


_CLASSIC = "classic-groups"
for _name, _api, _error, _settings, _capability, _key in (
    ("fetch-not-leader", "Fetch", 6, READER, _CLASSIC, ApiKey.FETCH),
    ("fetch-fenced-epoch", "Fetch", 74, READER, _CLASSIC, ApiKey.OFFSET_FOR_LEADER_EPOCH),
    ("fetch-unknown-epoch", "Fetch", 75, READER, _CLASSIC, ApiKey.OFFSET_FOR_LEADER_EPOCH),
    ("fetch-out-of-range", "Fetch", 1, READER, _CLASSIC, ApiKey.FETCH),
    ("fetch-storage-error", "Fetch", 56, READER, _CLASSIC, ApiKey.FETCH),
    ("fetch-unknown-topic-id", "Fetch", 100, READER, _CLASSIC, ApiKey.DESCRIBE_CLUSTER),
    ("fetch-unknown-session", "Fetch", 70, READER, _CLASSIC, ApiKey.DELETE_GROUPS),
    ("heartbeat-rebalance", "Heartbeat", 27, READER, _CLASSIC, ApiKey.HEARTBEAT),
    ("heartbeat-unknown-member", "Heartbeat", 25, READER, _CLASSIC, ApiKey.HEARTBEAT),
    ("heartbeat-generation", "Heartbeat", 22, READER, _CLASSIC, ApiKey.HEARTBEAT),
    ("heartbeat-not-coordinator", "Heartbeat", 16, READER, _CLASSIC, ApiKey.HEARTBEAT),
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
    _TROUBLE.add(
        f"recovers.{_name}",
        f"a consumer continues after {error_name_with_code(_error)} from {_api}",
        partial(recovers, _api, _error, _settings),
        origin=_api,
        response="the values that were written",
        wire=f"{_api} is answered once with {error_name_with_code(_error)}",
        commands="produce consume",
        capabilities=_capability,
        possible=has_protocol("consumer") if _settings is _NEXT_GEN else supports_api(_key),
    )


@_TROUBLE.case(
    "rebalance.in-commit",
    "a commit during a rebalance fails with an error, or is made after it",
    origin="REBALANCE_IN_PROGRESS",
    response="ok, or REBALANCE_IN_PROGRESS (27)",
    commands="produce consume commit_offsets",
    capabilities="classic-groups",
)
async def rebalance_in_commit(context: CaseContext) -> None:
    await prepare(context, READER)
    await write(context)
    await context.done("consume", **CONSUME)
    context.inject_error("OffsetCommit", error=27, match=_OF_CLIENT)
    response = await context.ask("commit_offsets")
    if response.error is not None and response.error.code not in (27, None):
        raise UnmetError("ok, or REBALANCE_IN_PROGRESS (27)", f"the client reported {response}")


@_TROUBLE.case(
    "fenced.static-member",
    "a static member reports an error after another one has taken its instance id",
    origin="KIP-345",
    response="FENCED_INSTANCE_ID (82)",
    commands="produce consume commit_offsets",
    capabilities="static-members classic-groups",
    possible=supports_api(ApiKey.JOIN_GROUP, 5),
    is_real=True,
)
async def static_member(context: CaseContext) -> None:
    settings = {**READER, "group_instance_id": "i"}
    await prepare(context, settings)
    await write(context)
    await context.done("consume", **CONSUME)
    await context.open(settings, client="other")
    await context.done("consume", client="other", **CONSUME)
    response = await context.ask("commit_offsets")
    if not _reports_one_of(response, 82, 25):  # a heartbeat may have been answered with it before
        response = await context.ask("consume", **_SHORT)
    if not _reports_one_of(response, 82, 25):
        raise UnmetError("FENCED_INSTANCE_ID (82)", f"the client reported {response}")


CASES = _TROUBLE.cases
