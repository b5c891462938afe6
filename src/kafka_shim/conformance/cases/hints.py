"""A leader moves: the new one is in the error response (KIP-951), only in Metadata, or has a new
port.
"""

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import CaseContext, UnmetExpectationError
from kafka_shim.conformance.cases.moves import (
    CONSUME,
    PRODUCE,
    READER,
    TOPIC,
    await_command_success,
    open_topic_client,
    write_record_without_driver,
)
from kafka_shim.conformance.denied_command import supports_api
from kafka_shim.conformance.fixtures import ClusterSetup
from kafka_shim.protocol.enums import ApiKey

_TROUBLE = CaseFamily("trouble")
_TWO = ClusterSetup(brokers=2)
_NO_LEADER = {"leader_id": -1, "leader_epoch": -1}
_HINTS: Mapping[str, Mapping[str, Any]] = {
    "Produce": {
        "responses.*.partition_responses.*.current_leader": _NO_LEADER,
        "node_endpoints": [],
    },
    "Fetch": {"responses.*.partitions.*.current_leader": _NO_LEADER, "node_endpoints": []},
}
_PAUSE_S = 0.2
_SLOW = {"metadata_max_age_ms": "300000"}


async def _expect_command_works(command: str, context: CaseContext) -> None:
    if command == "produce":
        await context.run_successfully("produce", **PRODUCE)
        return
    await write_record_without_driver(context)
    consumed = await context.run_successfully("consume", **CONSUME)
    if not consumed["values"]:
        raise UnmetExpectationError("the value that was written", "the client reported no value")


async def expect_new_leader_found_by_metadata(command: str, api: str, context: CaseContext) -> None:
    await open_topic_client(context, READER)
    context.inject_fault(api, set=_HINTS[api], times=0)
    for _ in range(3):
        await _expect_command_works(command, context)
        await context.cluster_control.move_leader(TOPIC)
    await _expect_command_works(command, context)


async def expect_new_leader_found_by_response(command: str, context: CaseContext) -> None:
    await open_topic_client(context, {**READER, **_SLOW})
    await _expect_command_works(command, context)
    if context.runs_on_shim:
        _inject_stale_leader(context)
    await context.cluster_control.move_leader(TOPIC)
    await _expect_command_works(command, context)
    if command == "produce":
        context.require_request_version(ApiKey.PRODUCE, 10)
    else:
        context.require_request_version(ApiKey.FETCH, 16)


def _inject_stale_leader(context: CaseContext) -> None:
    """Have Metadata name the old leader to the client, like a broker with outdated metadata."""
    partition = context.shim_broker.cluster.topics.led_partition(TOPIC, 0)
    assert partition is not None
    stale = {"leader_id": partition.leader_id, "leader_epoch": partition.leader_epoch}
    fields = {f"topics.*.partitions.*.{name}": value for name, value in stale.items()}
    context.inject_fault("Metadata", set=fields, times=0, match={"principal": "User:alice"})


for _command, _api, _version in (("produce", "Produce", 10), ("consume", "Fetch", 16)):
    _key = next(each for each in ApiKey if each.wire_name == _api)
    _capability = "classic-groups" if _command == "consume" else ""
    _TROUBLE.add_case(
        f"leader-moved.{_command}-without-hint",
        f"{_command} finds the new leader if the {_api} response does not name it",
        partial(expect_new_leader_found_by_metadata, _command, _api),
        origin="KIP-951",
        expected_requests=f"Metadata, and {_api} at the other broker",
        commands=f"produce {_command}",
        capabilities=_capability,
        setup=_TWO,
        supports_release=supports_api(_key, _version),
    )
    _TROUBLE.add_case(
        f"leader-moved.{_command}-by-hint",
        f"{_command} uses the leader in the {_api} response while Metadata names the old one",
        partial(expect_new_leader_found_by_response, _command),
        origin="KIP-951",
        expected_requests=f"{_api} v{_version} or later, and then at the other broker",
        commands=f"produce {_command}",
        capabilities=_capability,
        setup=_TWO,
        supports_release=supports_api(_key, _version),
        level=RequirementLevel.SHOULD,
        needs_cluster_control=True,
    )


async def expect_new_port_found(command: str, context: CaseContext) -> None:
    await open_topic_client(context, READER)
    await _expect_command_works(command, context)
    stopped_node_id = await context.cluster_control.leader_id(TOPIC)
    await context.cluster_control.stop_broker(stopped_node_id)
    await context.cluster_control.restart_broker(stopped_node_id, on_new_port=True)
    if await context.cluster_control.leader_id(TOPIC) != stopped_node_id:
        await context.cluster_control.move_leader(TOPIC)
    if command == "produce":
        await await_command_success(command, PRODUCE, context)
    else:
        await write_record_without_driver(context)
        await _expect_value_consumed_before_deadline(context)


async def _expect_value_consumed_before_deadline(context: CaseContext) -> None:
    """Check that a value is read in time; reports of broken connections before it are accepted."""
    deadline = time.monotonic() + CONSUME["seconds"]
    responses: list[str] = []
    while (remaining_s := deadline - time.monotonic()) > 0:
        response = await context.run_command("consume", **{**CONSUME, "seconds": remaining_s})
        if response.ok is not None and response.ok["values"]:
            return
        responses.append(str(response))
        await asyncio.sleep(_PAUSE_S)
    raise UnmetExpectationError(
        "the value that was written", f"the client reported {'; '.join(responses[-3:])}"
    )


for _command in ("produce", "consume"):
    _TROUBLE.add_case(
        f"broker-gone.other-port-{_command}",
        f"{_command} continues when the leader restarts on another port",
        partial(expect_new_port_found, _command),
        origin="brokers",
        expected_response="ok, maybe after an error that passes",
        expected_requests="requests to the new port, which Metadata contains",
        commands=f"produce {_command}",
        capabilities="classic-groups" if _command == "consume" else "",
        setup=_TWO,
        needs_cluster_control=True,
    )


CASES = _TROUBLE.cases
