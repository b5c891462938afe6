"""A leader moves: the new one is in the error response (KIP-951), only in Metadata, or has a new
port.
"""

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import CaseContext, UnmetError
from kafka_shim.shim.conformance.cases.moves import (
    CONSUME,
    PRODUCE,
    READER,
    TOPIC,
    prepare,
    soon,
    write,
)
from kafka_shim.shim.conformance.denial import supports_api
from kafka_shim.shim.conformance.fixtures import Setup

_TROUBLE = Family("trouble")
_TWO = Setup(brokers=2)
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


async def _still_succeeds(command: str, context: CaseContext) -> None:
    if command == "produce":
        await context.done("produce", **PRODUCE)
        return
    await write(context)
    found = await context.done("consume", **CONSUME)
    if not found["values"]:
        raise UnmetError("the value that was written", "the client reported none")


async def without_hints(command: str, api: str, context: CaseContext) -> None:
    await prepare(context, READER)
    context.inject_error(api, set=_HINTS[api], times=0)
    for _ in range(3):
        await _still_succeeds(command, context)
        await context.cluster_control.move_leader(TOPIC)
    await _still_succeeds(command, context)


async def by_hints(command: str, context: CaseContext) -> None:
    await prepare(context, {**READER, **_SLOW})
    await _still_succeeds(command, context)
    if context.is_shim:
        _hold_back_metadata(context)
    await context.cluster_control.move_leader(TOPIC)
    await _still_succeeds(command, context)


def _hold_back_metadata(context: CaseContext) -> None:
    """Have Metadata name the old leader to the client, like a broker with outdated metadata."""
    partition = context.broker.cluster.topics.partition(TOPIC, 0)
    assert partition is not None
    stale = {"leader_id": partition.leader_id, "leader_epoch": partition.leader_epoch}
    fields = {f"topics.*.partitions.*.{name}": value for name, value in stale.items()}
    context.inject_error("Metadata", set=fields, times=0, match={"principal": "User:alice"})


for _command, _api, _version in (("produce", "Produce", 10), ("consume", "Fetch", 16)):
    _key = next(each for each in ApiKey if each.wire_name == _api)
    _capability = "classic-groups" if _command == "consume" else ""
    _TROUBLE.add(
        f"leader-moved.{_command}-without-hint",
        f"{_command} finds the new leader if the {_api} response does not name it",
        partial(without_hints, _command, _api),
        origin="KIP-951",
        response="ok",
        wire=f"Metadata, and {_api} at the other broker",
        commands=f"produce {_command}",
        capabilities=_capability,
        setup=_TWO,
        possible=supports_api(_key, _version),
    )
    _TROUBLE.add(
        f"leader-moved.{_command}-by-hint",
        f"{_command} uses the leader in the {_api} response while Metadata names the old one",
        partial(by_hints, _command),
        origin="KIP-951",
        response="ok",
        wire=f"{_api} v{_version} or later, and then at the other broker",
        commands=f"produce {_command}",
        capabilities=_capability,
        setup=_TWO,
        possible=supports_api(_key, _version),
        level=Level.SHOULD,
        is_real=True,
        is_own=True,
    )


async def other_port(command: str, context: CaseContext) -> None:
    await prepare(context, READER)
    await _still_succeeds(command, context)
    gone = await context.cluster_control.leader(TOPIC)
    await context.cluster_control.stop(gone)
    await context.cluster_control.start(gone, is_moved=True)
    if await context.cluster_control.leader(TOPIC) != gone:
        await context.cluster_control.move_leader(TOPIC)
    if command == "produce":
        await soon(command, PRODUCE, context)
    else:
        await write(context)
        await _reads_soon(context)


async def _reads_soon(context: CaseContext) -> None:
    """Check that a value is read in time; reports of broken connections before it are accepted."""
    ends = time.monotonic() + CONSUME["seconds"]
    said: list[str] = []
    while (left := ends - time.monotonic()) > 0:
        response = await context.ask("consume", **{**CONSUME, "seconds": left})
        if response.ok is not None and response.ok["values"]:
            return
        said.append(str(response))
        await asyncio.sleep(_PAUSE_S)
    raise UnmetError("the value that was written", f"the client reported {'; '.join(said[-3:])}")


for _command in ("produce", "consume"):
    _TROUBLE.add(
        f"broker-gone.other-port-{_command}",
        f"{_command} continues when the leader restarts on another port",
        partial(other_port, _command),
        origin="brokers",
        response="ok, maybe after an error that passes",
        wire="requests to the new port, which Metadata contains",
        commands=f"produce {_command}",
        capabilities="classic-groups" if _command == "consume" else "",
        setup=_TWO,
        is_real=True,
        is_own=True,
    )


CASES = _TROUBLE.cases
