"""The sockets of a playback are those of a broker: large requests, raw tokens, several brokers."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.shim.config import Config
from kafka_shim.traces.cassettes.playback_broker import PlaybackBroker
from kafka_shim.traces.cassettes.playback_state import PlaybackOptions, PlaybackState
from kafka_shim.traces.cassettes.trace_index import TraceIndex
from tests.shim.wire import PLAIN, SASL, Wire, serving, wired
from tests.support.frames import sized
from tests.traces.cassettes.kit import Story, metadata, new_topic, record, records

pytestmark = pytest.mark.asyncio

LARGE = [(b"k%d" % number, bytes(4096)) for number in range(8)]


@contextlib.asynccontextmanager
async def playing(trace: Path, *, advertised: str = "") -> AsyncIterator[PlaybackBroker]:
    """Yield a playback with the listeners of the recorded broker."""
    plain = msgspec.structs.replace(PLAIN, advertised=(advertised, 0) if advertised else None)
    state = PlaybackState(TraceIndex(trace), PlaybackOptions())
    broker = PlaybackBroker(state, Config(listeners=(plain, SASL)))
    await broker.start()
    yield broker
    await broker.stop()
    assert state.finished_report().mismatches == {}


async def sent_in_both(folder: Path, story: Story) -> None:
    """Record a story, which then has to succeed against the playback, too."""
    trace = await record(folder, story)
    async with (
        playing(trace) as broker,
        wired(broker.bootstrap_servers("PLAINTEXT")) as wire,
        wired(broker.bootstrap_servers("SASL_PLAINTEXT")) as sasl,
    ):
        await story(wire, sasl)


async def large_requests(wire: Wire, _: Wire) -> None:
    topics = [MetadataRequestTopic(name=f"topic-{number}") for number in range(2048)]
    response = await wire.ask(ApiKey.METADATA, 12, MetadataRequest(topics=topics))
    assert len(response.topics) == len(topics)
    await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    produced = await wire.ask(ApiKey.PRODUCE, 9, records("orders", *LARGE))
    assert produced.responses[0].partition_responses[0].error_code == ErrorCode.NONE


async def test_large_requests_are_played(tmp_path: Path) -> None:
    await sent_in_both(tmp_path / "trace", large_requests)


async def raw_tokens(_: Wire, sasl: Wire) -> None:
    handshake = await sasl.ask(ApiKey.SASL_HANDSHAKE, 0, SaslHandshakeRequest("PLAIN"))
    assert handshake.error_code == ErrorCode.NONE
    await sasl.send(sized(b"\0alice\0alice-secret"))
    assert await sasl.frame() == b""
    await sasl.ask(ApiKey.METADATA, 12, metadata("orders"))


async def test_a_login_by_raw_tokens_is_played(tmp_path: Path) -> None:
    await sent_in_both(tmp_path / "trace", raw_tokens)


async def without_acknowledgement(wire: Wire, _: Wire) -> None:
    await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))
    request = msgspec.structs.replace(records("orders", (b"k", b"v")), acks=0)
    await wire.send(wire.request(ApiKey.PRODUCE, 9, request))
    await wire.ask(ApiKey.METADATA, 12, metadata("orders"))


async def test_a_produce_request_without_acknowledgement_gets_no_response(tmp_path: Path) -> None:
    await sent_in_both(tmp_path / "trace", without_acknowledgement)


async def pipelined(wire: Wire, _: Wire) -> None:
    requests = [wire.request(ApiKey.METADATA, 12, metadata("orders")) for _ in range(20)]
    await wire.send(b"".join(requests))
    for number in range(20):
        assert int.from_bytes((await wire.frame())[:4], "big") == number + 1


async def test_pipelined_requests_get_their_responses_in_order(tmp_path: Path) -> None:
    await sent_in_both(tmp_path / "trace", pipelined)


@pytest.mark.parametrize("advertised", ["", "localhost"])
async def test_each_recorded_broker_has_its_address(tmp_path: Path, advertised: str) -> None:
    trace = tmp_path / "trace"
    async with serving(brokers=3, first_broker_id=7) as recorded:
        recorded.start_recording(trace)
        async with wired(next(recorded.listener_addresses()).host_and_port) as wire:
            await wire.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
    async with playing(trace, advertised=advertised) as broker:
        addresses = broker.bootstrap_servers("PLAINTEXT").split(",")
        ports = {int(each.rpartition(":")[2]) for each in addresses}
        for port in ports:
            async with wired(f"127.0.0.1:{port}") as wire:
                response = await wire.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
            assert [each.node_id for each in response.brokers] == [7, 8, 9]
            assert {each.host for each in response.brokers} == {advertised or "127.0.0.1"}
            assert {each.port for each in response.brokers} == ports


async def unreadable(wire: Wire, _: Wire) -> None:
    await wire.send(sized(wire.request(ApiKey.METADATA, 12, metadata("orders"))[4:-1]))
    assert await wire.is_closed()


async def test_a_request_that_the_broker_could_not_read_closes_the_connection_again(
    tmp_path: Path,
) -> None:
    await sent_in_both(tmp_path / "trace", unreadable)


async def test_another_request_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    state = PlaybackState(
        TraceIndex(await record(tmp_path / "trace", unreadable)), PlaybackOptions()
    )
    broker = PlaybackBroker(state, Config(listeners=(PLAIN,)))
    await broker.start()
    async with wired(broker.bootstrap_servers("PLAINTEXT")) as wire:
        await wire.send(sized(wire.request(ApiKey.METADATA, 12, metadata("orders"))[4:-2]))
        assert await wire.is_closed()
    await broker.stop()
    [mismatch] = state.finished_report().mismatches
    assert (mismatch.kind, mismatch.request) == ("bytes", "an unreadable request")
    assert "MetadataRequest v12" in mismatch.reason
