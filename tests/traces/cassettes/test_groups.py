"""Members of a group are played in another order than recorded, and poll as often as they like."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from kafka_shim.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kafka_shim.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from kafka_shim.traces.cassettes.playback_broker import PlaybackBroker
from kafka_shim.traces.cassettes.playback_state import PlaybackOptions, PlaybackState
from kafka_shim.traces.cassettes.trace_index import TraceIndex
from tests.shim.wire import Wire, serving, wired
from tests.traces.cassettes.test_recording import CONFIG

pytestmark = pytest.mark.asyncio

NAMES = ("one", "two", "three", "four")
DELAY = {"group.initial.rebalance.delay.ms": "200"}
"""Members that join meanwhile are in one generation."""


class Member:
    """A member of a group, as a client of the classic protocol is one."""

    def __init__(self, name: str, wire: Wire) -> None:
        self.name = name
        self._wire = wire
        self.member_id = ""
        self._generation = -1

    async def join(self) -> bytes:
        """Join with all others; return the assignment, which the leader makes."""
        request = JoinGroupRequest("crowd", 10_000, 10_000, "", None, "consumer")
        request.protocols.append(JoinGroupRequestProtocol("range", self.name.encode()))
        rejected = await self._wire.ask(ApiKey.JOIN_GROUP, 9, request)
        assert rejected.error_code == ErrorCode.MEMBER_ID_REQUIRED
        self.member_id = request.member_id = rejected.member_id
        joined = await self._wire.ask(ApiKey.JOIN_GROUP, 9, request)
        self._generation = joined.generation_id
        assignments = [
            SyncGroupRequestAssignment(each.member_id, str(number).encode())
            for number, each in enumerate(joined.members)
        ]
        sync = SyncGroupRequest(
            "crowd", joined.generation_id, self.member_id, None, "consumer", "range", assignments
        )
        return bytes((await self._wire.ask(ApiKey.SYNC_GROUP, 5, sync)).assignment)

    async def heartbeat(self) -> ErrorCode:
        beat = HeartbeatRequest("crowd", self._generation, self.member_id)
        return ErrorCode((await self._wire.ask(ApiKey.HEARTBEAT, 4, beat)).error_code)

    async def leave(self) -> None:
        identity = MemberIdentity(self.member_id)
        await self._wire.ask(ApiKey.LEAVE_GROUP, 5, LeaveGroupRequest("crowd", members=[identity]))


@contextlib.asynccontextmanager
async def members(servers: str) -> AsyncIterator[list[Member]]:
    async with contextlib.AsyncExitStack() as stack:
        yield [Member(name, await stack.enter_async_context(wired(servers))) for name in NAMES]


async def rebalance(crowd: Sequence[Member], heartbeats: int) -> dict[str, bytes]:
    """Let all join, in this order, and the member "four" leave; return the assignments."""
    joining = {}
    for member in crowd:
        joining[member.name] = asyncio.ensure_future(member.join())
        await asyncio.sleep(0.01)
    await asyncio.gather(*joining.values())
    for _ in range(heartbeats):
        assert {await each.heartbeat() for each in crowd} == {ErrorCode.NONE}
    stays = {each.name: each for each in crowd}
    await stays.pop("four").leave()
    for _ in range(heartbeats):
        errors = {await each.heartbeat() for each in stays.values()}
        assert errors == {ErrorCode.REBALANCE_IN_PROGRESS}
    return {name: task.result() for name, task in joining.items()}


async def test_members_that_join_in_another_order_get_the_recorded_assignments(
    tmp_path: Path,
) -> None:
    trace = tmp_path / "trace"
    async with serving(properties=DELAY) as broker:
        broker.start_recording(trace)
        async with members(broker.bootstrap_servers("PLAINTEXT")) as crowd:
            recorded = await rebalance(crowd, heartbeats=1)
    assert {*recorded.values()} == {b"0", b"1", b"2", b"3"}
    state = PlaybackState(TraceIndex(trace), PlaybackOptions())
    server = PlaybackBroker(state, CONFIG)
    await server.start()
    async with members(server.bootstrap_servers("PLAINTEXT")) as crowd:
        assert await rebalance(crowd[::-1], heartbeats=3) == recorded
    await server.stop()
    report = state.finished_report()
    assert (report.mismatch_count, report.early, report.unsent) == (0, {}, [])
