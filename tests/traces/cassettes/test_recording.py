"""Cassettes are recorded through proxies, extended, folded and masked."""

import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_shim.client.config import PLAINTEXT
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.records.batches import Record, iterate_batches
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config, ListenerConfig, SecurityProtocol
from kafka_shim.shim.errors import ConfigError
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.cassettes.cassette_recording import (
    CassetteRecording,
    Upstream,
    write_cassette,
)
from kafka_shim.traces.cassettes.new_episodes import NewEpisodes
from kafka_shim.traces.cassettes.playback_broker import PlaybackBroker
from kafka_shim.traces.cassettes.playback_state import PlaybackOptions, PlaybackState
from kafka_shim.traces.cassettes.trace_index import TraceIndex
from kafka_shim.traces.record_masks import (
    RecordMasks,
    parse_mask,
    record_masks_named_in_trace,
)
from kafka_shim.traces.replay.events import TraceEvents
from kafka_shim.traces.trace_writer import TraceWriter
from tests.shim.wire import Wire, connected, serving, wired
from tests.support.commands import split
from tests.traces.cassettes.kit import fetch, metadata, new_topic, records

pytestmark = pytest.mark.asyncio

LISTENER = ListenerConfig("PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 0)
CONFIG = Config(listeners=(LISTENER,))
A, B, C = (b"k", b"a"), (b"k", b"b"), (b"k", b"c")


def upstream(broker: Broker) -> Upstream:
    return Upstream(split(broker.bootstrap_servers("PLAINTEXT")), {}, PLAINTEXT)


@contextlib.asynccontextmanager
async def recording(broker: Broker, cassette: Path, *masks: str) -> AsyncIterator[Wire]:
    """Yield a connection through which a cassette is recorded."""
    recorded = CassetteRecording(cassette, CONFIG, upstream(broker), RecordMasks(masks))
    await recorded.start()
    async with wired(recorded.bootstrap_servers("PLAINTEXT")) as wire:
        yield wire
    await recorded.stop()


@contextlib.asynccontextmanager
async def playing(
    cassette: Path, broker: Broker | None = None, **options: Any
) -> AsyncIterator[tuple[Wire, PlaybackState]]:
    """Yield a connection to a playback; a broker answers what is missing and extends it."""
    masks = RecordMasks(record_masks_named_in_trace(cassette))
    state = PlaybackState(TraceIndex(cassette), PlaybackOptions(masks=masks, **options))
    episodes = None
    if broker is not None:
        episodes = NewEpisodes(cassette, upstream(broker), state)
    server = PlaybackBroker(state, CONFIG, episodes)
    await server.start()
    async with wired(server.bootstrap_servers("PLAINTEXT")) as wire:
        yield wire, state
    await server.stop()
    if episodes is not None:
        episodes.finish()


async def produce(wire: Wire, *pairs: tuple[bytes, bytes]) -> tuple[int, int]:
    response = await wire.ask(ApiKey.PRODUCE, 9, records("orders", *pairs))
    (row,) = response.responses[0].partition_responses
    return row.error_code, row.base_offset


async def consumed(wire: Wire, offset: int = 0) -> list[Record]:
    response = await wire.ask(ApiKey.FETCH, 12, fetch("orders", offset))
    batches = iterate_batches(response.responses[0].partitions[0].records or b"")
    return [record for batch in batches for record in batch.records()]


async def values(wire: Wire) -> list[bytes | None]:
    """Return all values, in as many responses as it takes."""
    found: list[bytes | None] = []
    while more := await consumed(wire, len(found)):
        found += (record.value for record in more)
    return found


async def test_a_recorded_cassette_is_one_file_that_plays_without_the_broker(
    tmp_path: Path,
) -> None:
    cassette = tmp_path / "orders.ktrace"
    async with serving() as broker, recording(broker, cassette) as wire:
        await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
        assert await produce(wire, A, B) == (0, 0)
        assert await values(wire) == [b"a", b"b"]
    assert [path.name for path in tmp_path.iterdir()] == ["orders.ktrace"]
    async with playing(cassette) as (wire, state):
        await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
        assert await produce(wire, A, B) == (0, 0)
        assert await values(wire) == [b"a", b"b"]
        assert not state.finished_report().unsent


async def test_repeated_polls_and_heartbeats_are_folded(tmp_path: Path) -> None:
    cassette = tmp_path / "orders.ktrace"
    heartbeat = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    async with serving() as broker, recording(broker, cassette) as wire:
        await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
        for _ in range(5):
            assert await consumed(wire) == []
            await wire.ask(ApiKey.HEARTBEAT, 4, heartbeat)
        await produce(wire, A)
        await produce(wire, A)
    entries = [event.entry for event in TraceEvents(cassette)]
    assert [ApiKey(each.api_key) for each in entries if isinstance(each, Request)] == [
        *(ApiKey.CREATE_TOPICS, ApiKey.FETCH, ApiKey.HEARTBEAT, ApiKey.PRODUCE, ApiKey.PRODUCE)
    ]


async def test_new_episodes_are_answered_by_the_broker_and_added(tmp_path: Path) -> None:
    cassette = tmp_path / "orders.ktrace"
    async with serving() as broker:
        async with recording(broker, cassette) as wire:
            await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
            await produce(wire, A, B)
            await values(wire)
        async with playing(cassette, broker) as (wire, state):
            await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
            assert await produce(wire, A, B, C) == (0, 0)
            assert await values(wire) == [b"a", b"b", b"c"]
            unknown = await wire.ask(ApiKey.METADATA, 12, metadata("others"))
            assert unknown.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            assert state.report.recorded_anew == 4
        async with connected(broker) as wire:
            assert await values(wire) == [b"a", b"b", b"c"], "recorded records were sent again"
    async with playing(cassette) as (wire, state):
        await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
        assert await produce(wire, A, B, C) == (0, 0)
        assert await values(wire) == [b"a", b"b", b"c"]
        await wire.ask(ApiKey.METADATA, 12, metadata("others"))
        report = state.finished_report()
        assert (report.mismatch_count, report.unsent) == (0, [])


async def test_masked_records_are_not_in_the_cassette_and_match_themselves(
    tmp_path: Path,
) -> None:
    cassette = tmp_path / "orders.ktrace"
    sent = (b"key-secret", b'{"name":"value-secret","id":1}')
    async with (
        serving() as broker,
        recording(broker, cassette, "key", "orders:value:name") as wire,
    ):
        await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
        await produce(wire, sent)
        assert [(each.key, each.value) for each in await consumed(wire)] == [sent]
    frames = b"".join(getattr(event.entry, "frame", b"") for event in TraceEvents(cassette))
    assert b"secret" not in frames
    assert record_masks_named_in_trace(cassette) == ["key", "orders:value:name"]
    async with playing(cassette) as (wire, state):
        await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
        assert await produce(wire, (b"another", b'{"name":"x","id":1}')) == (0, 0)
        masked = [(each.key, each.value) for each in await consumed(wire)]
        assert masked == [(b"[masked]", b'{"name":"[masked]","id":1}')]
        assert state.report.mismatch_count == 0


async def test_a_mismatch_is_an_error_of_choice_with_the_reason(tmp_path: Path) -> None:
    cassette = tmp_path / "orders.ktrace"
    async with serving() as broker, recording(broker, cassette) as wire:
        await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    async with playing(cassette, error_for_mismatches=ErrorCode.INVALID_REQUEST) as (wire, state):
        response = await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("order"))
        assert response.topics[0].error_code == ErrorCode.INVALID_REQUEST
        assert "recorded 'orders', sent 'order'" in response.topics[0].error_message
        for _ in range(4):
            response = await wire.ask(ApiKey.METADATA, 12, metadata("order"))
            assert response.topics[0].error_code == ErrorCode.INVALID_REQUEST
        assert state.finished_report().mismatch_count == 5
    async with playing(cassette) as (wire, _):
        await wire.send(wire.request(ApiKey.CREATE_TOPICS, 7, new_topic("order")))
        assert await wire.is_closed()


async def test_a_cassette_replaces_the_earlier_one(tmp_path: Path) -> None:
    cassette = tmp_path / "orders.ktrace"
    async with serving() as broker:
        for name in ("orders", "others"):
            async with recording(broker, cassette) as wire:
                await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic(name))
    assert TraceIndex(cassette).count == 1
    write_cassette([cassette, cassette], cassette)
    assert TraceIndex(cassette).count == 2


@pytest.mark.parametrize(
    ("recorded_s", "speed", "expected_s"), [(0.1, 1, 0.1), (5, 50, 0.1), (60, None, 0)]
)
async def test_responses_come_after_the_recorded_time_divided_by_the_speed(
    tmp_path: Path, recorded_s: float, speed: float | None, expected_s: float
) -> None:
    cassette, trace = tmp_path / "orders.ktrace", TraceWriter(tmp_path / "slow", "slow")
    async with serving() as broker, recording(broker, cassette) as wire:
        await wire.ask(ApiKey.METADATA, 12, metadata("orders"))
    for event in TraceEvents(cassette):
        assert event.connection is not None
        trace.connection_index_in_block(event.connection)
        is_response = isinstance(event.entry, Response)
        trace.add(msgspec.structs.replace(event.entry, time_us=int(recorded_s * 1e6) * is_response))
    trace.close()
    async with playing(tmp_path / "slow", speed=speed) as (wire, _):
        began_s = time.monotonic()
        await wire.ask(ApiKey.METADATA, 12, metadata("orders"))
        assert expected_s <= time.monotonic() - began_s < expected_s + 30


@pytest.mark.parametrize("text", ["", "orders", "orders:values", "orders:key:name"])
async def test_an_invalid_mask_is_rejected(text: str) -> None:
    with pytest.raises(ConfigError, match="--mask"):
        parse_mask(text)
