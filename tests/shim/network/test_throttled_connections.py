"""No request is read from a client above its quota until the throttle time is over."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from confluent_kafka import Producer

from kafka_shim.client.client import connect
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.messages.produce import (
    ProduceRequest,
)
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.testing import start
from tests.recordings.records.batches import batch
from tests.shim.wire import connected, serving
from tests.support.record_requests import produce_request

METADATA = MetadataRequest(topics=[])
RATE = 1000.0


@contextlib.asynccontextmanager
async def _serving() -> AsyncIterator[tuple[Broker, ManualClock]]:
    clock = ManualClock()
    async with serving(clock=clock) as broker:
        broker.cluster.topics.create_topic("t", [[1]], {})
        yield broker, clock


def _limit(broker: Broker, limits: Mapping[str, float | None]) -> None:
    broker.cluster.quotas.alter_limits([({"client-id": "wire"}, limits)])


def _produce(size: int, acks: int = 1) -> ProduceRequest:
    return produce_request("t", batch([b"x" * size]), acks=acks)


@pytest.mark.asyncio
async def test_a_throttled_connection_is_muted_by_the_brokers_clock() -> None:
    async with _serving() as (broker, clock):
        _limit(broker, {"producer_byte_rate": RATE})
        async with connected(broker) as throttled, connected(broker) as other:
            response: Any = await throttled.ask(ApiKey.PRODUCE, 9, _produce(20_000))
            assert 9_900 < response.throttle_time_ms < 10_300
            again = asyncio.create_task(throttled.ask(ApiKey.METADATA, 9, METADATA))
            for _ in range(3):
                told = await other.ask(ApiKey.METADATA, 9, METADATA)
                assert told.throttle_time_ms == 0
            assert not again.done()
            clock.advance(response.throttle_time_ms)
            assert (await again).brokers


@pytest.mark.asyncio
async def test_a_connection_that_produces_with_acks_0_is_muted_too() -> None:
    async with _serving() as (broker, clock):
        _limit(broker, {"producer_byte_rate": RATE})
        async with connected(broker) as throttled, connected(broker) as other:
            await throttled.send(throttled.request(ApiKey.PRODUCE, 9, _produce(20_000, acks=0)))
            again = asyncio.create_task(throttled.ask(ApiKey.METADATA, 9, METADATA))
            while not broker.cluster.topics.find_existing({"t"})[0].partitions[0].log.batches:
                await other.ask(ApiKey.METADATA, 9, METADATA)
            await other.ask(ApiKey.METADATA, 9, METADATA)
            assert not again.done()
            clock.advance(11_000)
            assert (await again).brokers


@pytest.mark.asyncio
async def test_without_quotas_nothing_is_counted() -> None:
    async with _serving() as (broker, _):
        _limit(broker, {"producer_byte_rate": RATE})
        _limit(broker, {"producer_byte_rate": None})
        assert broker.cluster.throttles is None
        async with connected(broker) as wire:
            response: Any = await wire.ask(ApiKey.PRODUCE, 9, _produce(20_000))
            assert response.throttle_time_ms == 0


@pytest.mark.client
def test_librdkafka_sees_its_throttle_time() -> None:
    told: list[float] = []
    with start(topics=["t"], in_process=True) as broker:
        entity, limit = (
            RequestEntityData("client-id", "slow"),
            OpData("producer_byte_rate", 20_000.0),
        )
        with connect(broker.bootstrap_servers) as admin:
            request = AlterClientQuotasRequest([RequestEntryData([entity], [limit])])
            admin.send_request(ApiKey.ALTER_CLIENT_QUOTAS, request)
        producer = Producer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "client.id": "slow",
                "throttle_cb": lambda event: told.append(event.throttle_time),
            }
        )
        producer.produce("t", b"x" * 210_000)
        assert producer.flush(30) == 0
        while not told:
            producer.poll(1)
    assert 0.3 < told[0] < 1
