"""A removed broker leaves no memory, timers or connections in the process."""

import asyncio
import gc
import json
import weakref
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from confluent_kafka import Consumer

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config, parse_listener
from kafka_shim.shim.control import broker_registry as module
from kafka_shim.shim.control.broker_bodies import NewBroker
from kafka_shim.shim.control.broker_registry import BrokerRegistry
from kafka_shim.shim.control.control_error import ControlError
from kafka_shim.shim.control.http_server import ControlServer
from kafka_shim.shim.system_clock import SystemClock
from tests.shim.wire import connections_of
from tests.support.commands import split

pytestmark = [pytest.mark.client, pytest.mark.asyncio]

API_VERSIONS = b"\x00\x00\x00\x0a\x00\x12\x00\x00\x00\x00\x00\x01\xff\xff"
"""An ApiVersions request in version 0, without a client id."""


def first() -> Broker:
    return Broker(Config(listeners=(parse_listener("PLAINTEXT://127.0.0.1:0"),)))


@pytest_asyncio.fixture
async def brokers() -> AsyncIterator[BrokerRegistry]:
    found = BrokerRegistry(first())
    yield found
    await found.remove_created_brokers()


def cluster_of(brokers: BrokerRegistry, row: dict[str, Any]) -> Any:
    return brokers._running_broker_or_404(row["id"]).broker.cluster


def consume(servers: str) -> Consumer:
    """Return a consumer that is a member of a group and waits for the response to a Fetch."""
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "g", "fetch.wait.max.ms": 60_000, "log_level": 0}
    )
    consumer.subscribe(["orders"])
    while not consumer.assignment():
        consumer.poll(0.05)
    consumer.poll(0.3)
    return consumer


async def test_memory_is_freed_even_with_waiting_clients(brokers: BrokerRegistry) -> None:
    made = await brokers.create_broker(NewBroker(topics=["orders"]))
    consumer = await asyncio.to_thread(consume, made["bootstrap_servers"]["PLAINTEXT"])
    cluster = weakref.ref(cluster_of(brokers, made))
    await brokers.remove_broker(made["id"])
    await asyncio.sleep(0)
    gc.collect()
    assert cluster() is None
    await asyncio.to_thread(consumer.close)


async def test_timers_of_a_removed_broker_never_fire(brokers: BrokerRegistry) -> None:
    made = await brokers.create_broker(NewBroker())
    fired: list[str] = []
    clock = cluster_of(brokers, made).clock
    clock.call_later(300, lambda: fired.append("before"))
    await brokers.remove_broker(made["id"])
    earlier = [*fired]  # on a busy machine, the removal can take longer than the timer
    clock.call_later(10, lambda: fired.append("after"))
    await asyncio.sleep(0.4)
    assert fired == earlier


async def test_fired_timers_are_forgotten_and_closing_cancels_the_others() -> None:
    clock = SystemClock()
    fired: list[int] = []
    for number in range(3):
        clock.call_later(1, lambda number=number: fired.append(number))  # type: ignore[misc]
    await asyncio.sleep(0.05)
    assert sorted(fired) == [0, 1, 2]
    assert len(clock._timers) == 0
    clock.call_later(1, lambda: fired.append(3))
    clock.close()
    await asyncio.sleep(0.05)
    assert 3 not in fired


async def test_a_client_that_reads_nothing_does_not_prevent_the_removal(
    brokers: BrokerRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ABORT_S", 0.2)
    made = await brokers.create_broker(NewBroker())
    _, writer = await asyncio.open_connection(
        *split(made["bootstrap_servers"]["PLAINTEXT"]), limit=1
    )
    broker = brokers._running_broker_or_404(made["id"]).broker
    flood = asyncio.create_task(_flood(writer))
    await _until(lambda: flood.done() or _is_stuck(broker))
    await brokers.remove_broker(made["id"])
    flood.cancel()
    await _until(lambda: broker.connection_count == 0)
    writer.transport.abort()


async def _flood(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(API_VERSIONS * 1000)
        await writer.drain()


def _is_stuck(broker: Broker) -> bool:
    return any(not connection._is_writable for connection in connections_of(broker))


async def _until(holds: Callable[[], bool]) -> None:
    for _ in range(2000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the condition did not become true")


async def test_the_number_of_created_brokers_is_limited(
    brokers: BrokerRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CREATED_MAX", 2)
    [made, _] = [await brokers.create_broker(NewBroker()) for _ in range(2)]
    with pytest.raises(ControlError, match="there are 2 created brokers already") as refused:
        await brokers.create_broker(NewBroker())
    assert refused.value.status == 409
    await brokers.remove_broker(made["id"])
    await brokers.create_broker(NewBroker())


async def test_closing_the_control_port_stops_all_created_brokers() -> None:
    control = ControlServer(first(), "127.0.0.1:0")
    await control.start()
    response = await _post(control.address, "/brokers", {})
    address = response["bootstrap_servers"]["PLAINTEXT"]
    host, _, port = address.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    await control.stop()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(host, int(port))
    writer.close()


async def _post(address: str, path: str, body: Any) -> Any:
    reader, writer = await asyncio.open_connection(*split(address))
    payload = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n"
    writer.write(f"{head}Content-Length: {len(payload)}\r\n\r\n".encode() + payload)
    response = await reader.read()
    writer.close()
    await writer.wait_closed()
    return json.loads(response.partition(b"\r\n\r\n")[2])
