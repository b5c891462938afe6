"""A large request of one client does not hold up the others."""

import asyncio
import gc
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.api_versions_request import ApiVersionsRequest
from kafka_shim.protocol.messages.delete_acls_request import DeleteAclsRequest
from kafka_shim.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.network import large_requests
from kafka_shim.shim.network.large_requests import AT_ONCE
from kafka_shim.shim.request import turns
from tests.acl_filters import ANY_ACL, deleted_acls
from tests.shim.wire import Wire, connected, serving

pytestmark = pytest.mark.asyncio

NAMES = 6_000


@pytest.fixture(autouse=True)
def every_name_ends_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURN_S", -1.0)


async def until(happened: Callable[[], bool]) -> None:
    for _ in range(1_000_000):
        if happened():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not happen")


def large(wire: Wire, names: int = NAMES) -> bytes:
    topics = [MetadataRequestTopic(name=f"t{number:08}") for number in range(names)]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    return wire.request(ApiKey.METADATA, 9, request)


async def test_others_are_answered_meanwhile_and_it_is_answered_as_in_one_turn() -> None:
    async with serving() as broker, connected(broker) as busy, connected(broker) as other:
        await busy.send(large(busy))
        await until(lambda: broker._server.large_requests.at_work == 1)
        for _ in range(3):
            await other.send(other.request(ApiKey.API_VERSIONS, 0, ApiVersionsRequest()))
            await other.frame()
        assert broker._server.large_requests.at_work == 1
        in_turns = await busy.frame()
        loop = asyncio.get_running_loop()
        loop.set_debug(True)  # where everything is called from one thread
        try:
            await busy.send(large(busy))
            in_one_turn = await busy.frame()
        finally:
            loop.set_debug(False)
        assert in_turns[4:] == in_one_turn[4:]
        assert len(in_turns) > 10 * NAMES


@pytest.mark.parametrize(
    ("api", "version", "request_of_all"),
    [
        (ApiKey.METADATA, 9, MetadataRequest(topics=None)),
        (ApiKey.DESCRIBE_ACLS, 2, ANY_ACL),
        (ApiKey.DELETE_ACLS, 2, DeleteAclsRequest([deleted_acls()])),
    ],
)
async def test_small_requests_of_very_much_take_turns_too(
    api: ApiKey, version: int, request_of_all: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving() as broker, connected(broker) as busy, connected(broker) as other:
        fill(broker, 300)
        await busy.send(busy.request(api, version, request_of_all))
        in_one_turn = await busy.frame()
        monkeypatch.setattr(large_requests, "MANY", 200)
        fill(broker, 300)
        await busy.send(busy.request(api, version, request_of_all))
        await until(lambda: broker._server.large_requests.at_work == 1)
        await other.send(other.request(ApiKey.API_VERSIONS, 0, ApiVersionsRequest()))
        await other.frame()
        assert broker._server.large_requests.at_work == 1
        assert (await busy.frame())[4:] == in_one_turn[4:]


def fill(broker: Broker, count: int) -> None:
    """So many topics and ACLs, unless they are there."""
    authorizer = broker.cluster.policy.authorizer
    assert isinstance(authorizer, StandardAuthorizer)
    for number in range(count):
        name = f"t{number:04}"
        if name not in broker.cluster.topics:
            broker.cluster.topics.create(name, [[1]], {})
        literal, read, allow = PatternType.LITERAL, Operation.READ, Permission.ALLOW
        authorizer.store.add(Acl(ResourceType.TOPIC, name, literal, "User:a", "*", read, allow))


async def test_work_ends_when_the_client_is_gone() -> None:
    async with serving() as broker, connected(broker) as busy, connected(broker) as other:
        await busy.send(large(busy))
        await until(lambda: broker._server.large_requests.at_work == 1)
        busy.writer.transport.abort()
        await until(lambda: broker.connections == 1)
        await until(lambda: broker._server.large_requests.at_work == 0)
        await other.send(large(other, 3000))
        assert len(await other.frame()) > 3000


async def test_few_are_worked_on_at_a_time_and_all_are_answered() -> None:
    async with serving() as broker, AsyncExitStack() as clients:
        wires = [await clients.enter_async_context(connected(broker)) for _ in range(AT_ONCE + 2)]
        for wire in wires:
            await wire.send(large(wire, 3000))
        await until(lambda: broker._server.large_requests.at_work == AT_ONCE)
        for wire in wires:
            assert len(await wire.frame()) > 3000
        assert broker._server.large_requests.at_work == 0


async def test_none_is_worked_on_in_turns_while_a_trace_is_recorded() -> None:
    async with serving() as broker:
        assert broker._server.large_requests.may_take()
        broker.dispatcher.recorder = object()  # type: ignore[assignment]
        assert not broker._server.large_requests.may_take()
        broker.dispatcher.recorder = None


async def test_garbage_is_looked_for_after_many_without_a_pause(
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
