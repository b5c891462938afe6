"""A large request of one client does not block others."""

import asyncio
import gc
from contextlib import AsyncExitStack

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.network import large_requests
from kafka_shim.shim.network.large_requests import AT_ONCE
from kafka_shim.shim.request import time_slices
from tests.shim.wire import Wire, connected, serving, until

pytestmark = pytest.mark.asyncio

NAMES = 6_000


@pytest.fixture(autouse=True)
def every_name_ends_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_slices, "SLICE_S", -1.0)


def large(wire: Wire, names: int = NAMES) -> bytes:
    topics = [MetadataRequestTopic(name=f"t{number:08}") for number in range(names)]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    return wire.request(ApiKey.METADATA, 9, request)


async def test_other_clients_are_answered_meanwhile_and_the_response_is_the_same() -> None:
    async with serving() as broker, connected(broker) as busy, connected(broker) as other:
        await busy.send(large(busy))
        await until(lambda: broker._server.large_requests.at_work == 1)
        for _ in range(3):
            await other.send(other.request(ApiKey.API_VERSIONS, 0, ApiVersionsRequest()))
            await other.frame()
        assert broker._server.large_requests.at_work == 1
        time_sliced = await busy.frame()
        loop = asyncio.get_running_loop()
        loop.set_debug(True)  # in debug mode requests are not handled in turns
        try:
            await busy.send(large(busy))
            disable_time_slices = await busy.frame()
        finally:
            loop.set_debug(False)
        assert time_sliced[4:] == disable_time_slices[4:]
        assert len(time_sliced) > 10 * NAMES


async def test_work_ends_when_the_client_disconnects() -> None:
    async with serving() as broker, connected(broker) as busy, connected(broker) as other:
        await busy.send(large(busy))
        await until(lambda: broker._server.large_requests.at_work == 1)
        busy.writer.transport.abort()
        await until(lambda: broker.connection_count == 1)
        await until(lambda: broker._server.large_requests.at_work == 0)
        await other.send(large(other, 3000))
        assert len(await other.frame()) > 3000


async def test_few_large_requests_are_handled_at_a_time_and_all_are_answered() -> None:
    async with serving() as broker, AsyncExitStack() as clients:
        wires = [await clients.enter_async_context(connected(broker)) for _ in range(AT_ONCE + 2)]
        for wire in wires:
            await wire.send(large(wire, 3000))
        await until(lambda: broker._server.large_requests.at_work == AT_ONCE)
        for wire in wires:
            assert len(await wire.frame()) > 3000
        assert broker._server.large_requests.at_work == 0


async def test_no_request_is_handled_in_turns_while_a_trace_is_recorded() -> None:
    async with serving() as broker:
        assert broker._server.large_requests.can_slice_unless_trace_or_custom_authorizer()
        broker.dispatcher.set_recorder(object())  # type: ignore[arg-type]
        assert not broker._server.large_requests.can_slice_unless_trace_or_custom_authorizer()
        broker.dispatcher.set_recorder(None)


async def test_garbage_is_collected_after_many_large_requests_without_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(large_requests, "WITHOUT_PAUSE", 3)
    at_work: list[int] = []
    async with serving() as broker, AsyncExitStack() as clients:
        requests = broker._server.large_requests
        monkeypatch.setattr(gc, "collect", lambda: at_work.append(requests.at_work))
        wires = [await clients.enter_async_context(connected(broker)) for _ in range(7)]
        for wire in wires:
            await wire.send(large(wire, 3000))
        for wire in wires:
            assert len(await wire.frame()) > 3000
        await until(lambda: requests.at_work == 0)
    assert at_work == [0, 0]
