"""Leaders, coordinators and brokers that move, and topics that are made again."""

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    DEADLINE_S,
    EVERYTHING,
    IDEMPOTENT_PRODUCER,
    TRANSACTIONAL_PRODUCER,
    CaseContext,
    UnmetExpectationError,
)
from kafka_shim.conformance.fixtures import ClusterSetup
from kafka_shim.shim.state.coordinators import KeyType

_TROUBLE = CaseFamily("trouble")
TOPIC, GROUP = "orders", "workers"
_TWO = ClusterSetup(brokers=2)
_PAUSE_S, _RESTED_S = 0.2, 2.0
"""Between two attempts, and between a broker's return and the next stop."""
PRODUCE: Mapping[str, Any] = {"topic": TOPIC, "values": ["a"]}
CONSUME: Mapping[str, Any] = {"topics": [TOPIC], "count": 1, "seconds": 10}
READER = {"group_id": GROUP, "session_timeout_ms": "6000", "heartbeat_interval_ms": "500"}


async def open_topic_client(context: CaseContext, settings: Mapping[str, str] = {}) -> None:
    """A topic, and a client that may do everything."""
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.open_client(settings)


async def write_record_without_driver(context: CaseContext) -> None:
    """Write a record without the driver, so that only the client's consumer is judged."""
    await context.write_record(TOPIC, b"a")


async def expect_producer_follows_moved_leader(
    settings: Mapping[str, str], context: CaseContext
) -> None:
    await open_topic_client(context, settings)
    for _ in range(2):
        await context.run_successfully("produce", **PRODUCE)
        await context.cluster_control.move_leader(TOPIC)
    await context.run_successfully("produce", **PRODUCE)


for _name, _settings in (("producer", {}), ("idempotent-producer", IDEMPOTENT_PRODUCER)):
    _TROUBLE.add_case(
        f"leader-moved.{_name}",
        "a producer continues at the new leader",
        partial(expect_producer_follows_moved_leader, _settings),
        origin="KIP-951",
        expected_requests="Produce at the other broker",
        commands="produce",
        capabilities="idempotence" if _settings else "",
        setup=_TWO,
        needs_cluster_control=True,
    )


@_TROUBLE.case(
    "leader-moved.consumer",
    "a consumer continues at the new leader",
    origin="KIP-951",
    expected_response="the values that were written",
    expected_requests="Fetch at the other broker",
    commands="produce consume",
    setup=_TWO,
    needs_cluster_control=True,
)
async def expect_consumer_follows_moved_leader(context: CaseContext) -> None:
    await open_topic_client(context, READER)
    for _ in range(2):
        await write_record_without_driver(context)
        await context.run_successfully("consume", **CONSUME)
        await context.cluster_control.move_leader(TOPIC)
    await write_record_without_driver(context)
    consumed = await context.run_successfully("consume", **CONSUME)
    if consumed["values"] != ["a"]:
        raise UnmetExpectationError(
            "the value written after the move", f"the client reported {consumed}"
        )


@_TROUBLE.case(
    "leader-moved.list-offsets",
    "list_offsets continues at the new leader",
    origin="KIP-396",
    commands="list_offsets produce",
    setup=_TWO,
    needs_cluster_control=True,
    level=RequirementLevel.SHOULD,
)
async def expect_list_offsets_follows_moved_leader(context: CaseContext) -> None:
    await open_topic_client(context)
    await context.run_successfully("list_offsets", partitions=[f"{TOPIC}-0"])
    await context.cluster_control.move_leader(TOPIC)
    await context.run_successfully("list_offsets", partitions=[f"{TOPIC}-0"])


@_TROUBLE.case(
    "coordinator-moved.commit",
    "a consumer commits at the new coordinator",
    origin="coordinators",
    expected_requests="FindCoordinator, and OffsetCommit at the other broker",
    commands="produce consume commit_offsets",
    setup=_TWO,
    needs_cluster_control=True,
)
async def expect_commit_at_moved_coordinator(context: CaseContext) -> None:
    await open_topic_client(context, READER)
    await write_record_without_driver(context)
    await context.consume_values(**CONSUME)
    await context.cluster_control.move_coordinator(KeyType.GROUP, GROUP)
    response = await context.run_command("commit_offsets")
    if response.ok is None:  # the member may have to join again first
        await write_record_without_driver(context)
        await context.run_successfully("consume", **CONSUME)
        await context.run_successfully("commit_offsets")


@_TROUBLE.case(
    "coordinator-moved.transaction",
    "a transaction ends at the new coordinator",
    origin="KIP-98",
    expected_requests="EndTxn at the other broker",
    commands="produce begin commit",
    capabilities="transactions",
    setup=_TWO,
    needs_cluster_control=True,
)
async def expect_transaction_ends_at_moved_coordinator(context: CaseContext) -> None:
    await open_topic_client(context, TRANSACTIONAL_PRODUCER)
    await context.run_successfully("begin")
    await context.run_successfully("produce", **PRODUCE)
    await context.cluster_control.move_coordinator(KeyType.TRANSACTION, "tx")
    await context.run_successfully("commit")


async def expect_broker_stops_survived(
    command: str, fields: Mapping[str, Any], context: CaseContext
) -> None:
    """Stop each broker once, since the client may be connected to either."""
    await open_topic_client(context)
    await context.run_successfully(command, **fields)
    for _ in range(2):
        stopped_node_id = await context.cluster_control.leader_id(TOPIC)
        await context.cluster_control.move_leader(TOPIC)
        await context.cluster_control.stop_broker(stopped_node_id)
        await await_command_success(command, fields, context)
        await context.cluster_control.restart_broker(stopped_node_id)
        await await_command_success(command, fields, context)
        await asyncio.sleep(_RESTED_S)


async def await_command_success(
    command: str, fields: Mapping[str, Any], context: CaseContext
) -> None:
    """Repeat a command until it succeeds, at most until the deadline."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        response = (await context.run_command(command, **fields)).first_item_response()
        if response.ok is not None:
            return
        if time.monotonic() > deadline:
            raise UnmetExpectationError(f"{command} succeeds", f"the client reported {response}")
        await asyncio.sleep(_PAUSE_S)


for _command, _fields in (
    ("produce", PRODUCE),
    ("list_topics", {}),
    ("describe_configs", {"type": "topic", "names": [TOPIC]}),
):
    _TROUBLE.add_case(
        f"broker-gone.{_command.replace('_', '-')}",
        f"{_command} works while either of two brokers is stopped, and after its restart",
        partial(expect_broker_stops_survived, _command, _fields),
        origin="brokers",
        expected_response="ok, maybe after errors that pass",
        expected_requests="requests to the running broker",
        commands=f"produce {_command}",
        setup=_TWO,
        needs_cluster_control=True,
    )


@_TROUBLE.case(
    "broker-gone.all",
    "a producer continues after a short stop of its only broker",
    origin="brokers",
    commands="produce",
    needs_cluster_control=True,
)
async def expect_producer_survives_restart_of_only_broker(context: CaseContext) -> None:
    await open_topic_client(context)
    await context.run_successfully("produce", **PRODUCE)
    await context.cluster_control.stop_broker(1)
    await context.cluster_control.restart_broker(1)
    await context.run_successfully("produce", **PRODUCE)


async def expect_success_with_recreated_topic(command: str, context: CaseContext) -> None:
    await open_topic_client(context, READER)
    await write_record_without_driver(context)
    if command == "consume":
        await context.run_successfully("consume", **CONSUME)
    else:
        await context.run_successfully("produce", **PRODUCE)
    await context.delete_topic(TOPIC)
    await context.create_topics(TOPIC)
    if command == "consume":
        for _ in range(3):
            await write_record_without_driver(context)
        consumed = await context.run_successfully("consume", **CONSUME)
        if not consumed["values"]:
            raise UnmetExpectationError("values of the new topic", "the client reported no value")
    else:
        await context.run_successfully("produce", **PRODUCE)


for _command in ("produce", "consume"):
    _TROUBLE.add_case(
        f"topic-recreated.{_command}",
        f"{_command} works with a topic that was deleted and created again",
        partial(expect_success_with_recreated_topic, _command),
        origin="KIP-516",
        expected_requests="the new topic's id",
        commands=f"produce {_command}",
        level=RequirementLevel.MUST if _command == "produce" else RequirementLevel.SHOULD,
        runs_on_real_cluster=True,
    )


CASES = _TROUBLE.cases
