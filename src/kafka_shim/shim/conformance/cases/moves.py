"""Leaders, coordinators and brokers that move, and topics that are made again."""

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import (
    DEADLINE_S,
    EVERYTHING,
    CaseContext,
    UnmetError,
)
from kafka_shim.shim.conformance.fixtures import Setup
from kafka_shim.shim.state.coordinators import KeyType

_TROUBLE = Family("trouble")
TOPIC, GROUP = "orders", "workers"
_TWO = Setup(brokers=2)
_PAUSE_S, _RESTED_S = 0.2, 2.0
"""Between two attempts, and between a broker's return and the next stop."""
PRODUCE: Mapping[str, Any] = {"topic": TOPIC, "values": ["a"]}
CONSUME: Mapping[str, Any] = {"topics": [TOPIC], "count": 1, "seconds": 10}
READER = {"group_id": GROUP, "session_timeout_ms": "6000", "heartbeat_interval_ms": "500"}
IDEMPOTENT = {"enable_idempotence": "true"}
TX = {"transactional_id": "tx", **IDEMPOTENT}


async def prepare(context: CaseContext, settings: Mapping[str, str] = {}) -> None:
    """A topic, and a client that may do everything."""
    await context.topic(TOPIC)
    await context.grant(*EVERYTHING)
    await context.open(settings)


async def write(context: CaseContext) -> None:
    """Write a record without the driver, so that only the client's consumer is judged."""
    await context.write(TOPIC, b"a")


async def produces(settings: Mapping[str, str], context: CaseContext) -> None:
    await prepare(context, settings)
    for _ in range(2):
        await context.done("produce", **PRODUCE)
        await context.cluster_control.move_leader(TOPIC)
    await context.done("produce", **PRODUCE)


for _name, _settings in (("producer", {}), ("idempotent-producer", IDEMPOTENT)):
    _TROUBLE.add(
        f"leader-moved.{_name}",
        "a producer continues at the new leader",
        partial(produces, _settings),
        origin="KIP-951",
        response="ok",
        wire="Produce at the other broker",
        commands="produce",
        capabilities="idempotence" if _settings else "",
        setup=_TWO,
        is_real=True,
        is_own=True,
    )


@_TROUBLE.case(
    "leader-moved.consumer",
    "a consumer continues at the new leader",
    origin="KIP-951",
    response="the values that were written",
    wire="Fetch at the other broker",
    commands="produce consume",
    setup=_TWO,
    is_real=True,
    is_own=True,
)
async def consumer_follows(context: CaseContext) -> None:
    await prepare(context, READER)
    for _ in range(2):
        await write(context)
        await context.done("consume", **CONSUME)
        await context.cluster_control.move_leader(TOPIC)
    await write(context)
    found = await context.done("consume", **CONSUME)
    if found["values"] != ["a"]:
        raise UnmetError("the value written after the move", f"the client reported {found}")


@_TROUBLE.case(
    "leader-moved.list-offsets",
    "list_offsets continues at the new leader",
    origin="KIP-396",
    response="ok",
    commands="list_offsets produce",
    setup=_TWO,
    is_real=True,
    is_own=True,
    level=Level.SHOULD,
)
async def offsets_follow(context: CaseContext) -> None:
    await prepare(context)
    await context.done("list_offsets", partitions=[f"{TOPIC}-0"])
    await context.cluster_control.move_leader(TOPIC)
    await context.done("list_offsets", partitions=[f"{TOPIC}-0"])


@_TROUBLE.case(
    "coordinator-moved.commit",
    "a consumer commits at the new coordinator",
    origin="coordinators",
    response="ok",
    wire="FindCoordinator, and OffsetCommit at the other broker",
    commands="produce consume commit_offsets",
    setup=_TWO,
    is_real=True,
    is_own=True,
)
async def commits_elsewhere(context: CaseContext) -> None:
    await prepare(context, READER)
    await write(context)
    await context.done("consume", **CONSUME)
    await context.cluster_control.move_coordinator(KeyType.GROUP, GROUP)
    response = await context.ask("commit_offsets")
    if response.ok is None:  # the member may have to join again first
        await write(context)
        await context.done("consume", **CONSUME)
        await context.done("commit_offsets")


@_TROUBLE.case(
    "coordinator-moved.transaction",
    "a transaction ends at the new coordinator",
    origin="KIP-98",
    response="ok",
    wire="EndTxn at the other broker",
    commands="produce begin commit",
    capabilities="transactions",
    setup=_TWO,
    is_real=True,
    is_own=True,
)
async def ends_elsewhere(context: CaseContext) -> None:
    await prepare(context, TX)
    await context.done("begin")
    await context.done("produce", **PRODUCE)
    await context.cluster_control.move_coordinator(KeyType.TRANSACTION, "tx")
    await context.done("commit")


async def node_gone(command: str, fields: Mapping[str, Any], context: CaseContext) -> None:
    """Stop each broker once, since the client may be connected to either."""
    await prepare(context)
    await context.done(command, **fields)
    for _ in range(2):
        gone = await context.cluster_control.leader(TOPIC)
        await context.cluster_control.move_leader(TOPIC)
        await context.cluster_control.stop(gone)
        await soon(command, fields, context)
        await context.cluster_control.start(gone)
        await soon(command, fields, context)
        await asyncio.sleep(_RESTED_S)


async def soon(command: str, fields: Mapping[str, Any], context: CaseContext) -> None:
    """Repeat a command until it succeeds, at most until the deadline."""
    ends = time.monotonic() + DEADLINE_S
    while True:
        response = (await context.ask(command, **fields)).first()
        if response.ok is not None:
            return
        if time.monotonic() > ends:
            raise UnmetError(f"{command} succeeds", f"the client reported {response}")
        await asyncio.sleep(_PAUSE_S)


for _command, _fields in (
    ("produce", PRODUCE),
    ("list_topics", {}),
    ("describe_configs", {"type": "topic", "names": [TOPIC]}),
):
    _TROUBLE.add(
        f"broker-gone.{_command.replace('_', '-')}",
        f"{_command} works while either of two brokers is stopped, and after its restart",
        partial(node_gone, _command, _fields),
        origin="brokers",
        response="ok, maybe after errors that pass",
        wire="requests to the running broker",
        commands=f"produce {_command}",
        setup=_TWO,
        is_real=True,
        is_own=True,
    )


@_TROUBLE.case(
    "broker-gone.all",
    "a producer continues after a short stop of its only broker",
    origin="brokers",
    response="ok",
    commands="produce",
    is_real=True,
    is_own=True,
)
async def only_broker(context: CaseContext) -> None:
    await prepare(context)
    await context.done("produce", **PRODUCE)
    await context.cluster_control.stop(1)
    await context.cluster_control.start(1)
    await context.done("produce", **PRODUCE)


async def recreated(command: str, context: CaseContext) -> None:
    await prepare(context, READER)
    await write(context)
    if command == "consume":
        await context.done("consume", **CONSUME)
    else:
        await context.done("produce", **PRODUCE)
    await context.delete_topic_and_wait(TOPIC)
    await context.topic(TOPIC)
    if command == "consume":
        for _ in range(3):
            await write(context)
        found = await context.done("consume", **CONSUME)
        if not found["values"]:
            raise UnmetError("values of the new topic", "the client reported none")
    else:
        await context.done("produce", **PRODUCE)


for _command in ("produce", "consume"):
    _TROUBLE.add(
        f"topic-recreated.{_command}",
        f"{_command} works with a topic that was deleted and created again",
        partial(recreated, _command),
        origin="KIP-516",
        response="ok",
        wire="the new topic's id",
        commands=f"produce {_command}",
        level=Level.MUST if _command == "produce" else Level.SHOULD,
        is_real=True,
    )


CASES = _TROUBLE.cases
