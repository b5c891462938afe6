"""The table of a connection's states holds, whatever order events come in."""

import asyncio
import random
from typing import Any

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config
from kafka_shim.shim.network import connection_states
from kafka_shim.shim.network.connection import Connection
from kafka_shim.shim.network.connection_states import (
    TRANSITIONS,
    ConnectionEvent,
    ConnectionState,
    next_state,
)
from tests.shim.wire import PLAIN, SASL, USERS
from tests.support.record_requests import fetch_request

S, E = ConnectionState, ConnectionEvent
WAIT_MS = 500
DELAY_MS = 100
LONGEST_PAUSE_MS = 60_000
PAUSING = "PAUSING"
"""A client id whose requests are above its quota."""


class Transport:
    """A transport of which the test decides when its peer reads."""

    def __init__(self) -> None:
        self.sent = b""
        self.is_closed = False
        self.connection: Connection | None = None
        self.loop = asyncio.get_running_loop()

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else None

    def set_write_buffer_limits(self, high: int) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.is_closed

    def can_write_eof(self) -> bool:
        return False

    def write(self, content: bytes | memoryview) -> None:
        assert not self.is_closed
        self.sent += bytes(content)

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            assert self.connection is not None
            self.loop.call_soon(self.connection.connection_lost, None)

    def correlation_ids(self) -> list[int]:
        """Return those of the complete responses that were sent."""
        ids, rest = [], self.sent
        while rest:
            size = int.from_bytes(rest[:4], "big")
            ids.append(int.from_bytes(rest[4:8], "big"))
            rest = rest[4 + size :]
        return ids


class Script:
    """A connection with a peer that sends requests and reads responses at random times."""

    def __init__(self, broker: Broker, clock: ManualClock, seed: int) -> None:
        self.broker, self.clock, self.rng = broker, clock, random.Random(seed)
        self.errors: list[dict[str, Any]] = []
        self.states: set[ConnectionState] = set()
        self.transport = Transport()
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: self.errors.append(context)
        )
        listener = broker.cluster.config.listeners[0]
        self.connection = Connection(broker._server, listener, 1)
        self.transport.connection = self.connection
        self.connection.connection_made(self.transport)  # type: ignore[arg-type]
        self.requested = 0

    def receive(self, *requests: tuple[ApiKey, int, Any], client_id: str = "peer") -> None:
        """Let the connection receive several requests together."""
        frames = b""
        for api, version, message in requests:
            self.requested += 1
            payload = write_request_header(RequestHeader(api, version, self.requested, client_id))
            payload += codecs.write_request(message, version)
            frames += len(payload).to_bytes(4, "big") + payload
        while frames and not self.transport.is_closed:
            buffer = self.connection.get_buffer(-1)
            part = frames[: len(buffer)]
            buffer[: len(part)] = part
            self.connection.buffer_updated(len(part))
            frames = frames[len(part) :]
        self.note_state()

    def note_state(self) -> None:
        self.states.add(self.state())

    async def settle(self) -> None:
        """Let all timers end, and the peer read everything."""
        self.connection.resume_writing()
        for _ in range(9 + self.requested):
            self.clock.advance(LONGEST_PAUSE_MS)
            await asyncio.sleep(0)
        self.note_state()

    def state(self) -> ConnectionState:
        return self.connection._state


def _request(rng: random.Random) -> tuple[ApiKey, int, Any]:
    wait = fetch_request("t", max_wait_ms=rng.choice([0, WAIT_MS]), min_bytes=1)
    return rng.choice(
        [
            (ApiKey.API_VERSIONS, 3, ApiVersionsRequest("test", "1")),
            (ApiKey.METADATA, 9, MetadataRequest(topics=[])),
            (ApiKey.FETCH, 11, wait),
        ]
    )


async def _act(script: Script) -> None:
    rng, connection = script.rng, script.connection
    client_id = rng.choice(["peer", PAUSING])
    match rng.randrange(6):
        case 0 | 1:
            requests = [_request(rng) for _ in range(rng.choice([1, 3, 40]))]
            script.receive(*requests, client_id=client_id)
        case 2:
            connection.pause_writing()
        case 3:
            connection.resume_writing()
        case 4:
            script.clock.advance(rng.choice([1, 50, WAIT_MS]))
        case _:
            await asyncio.sleep(0)
    script.note_state()


def _broker(clock: ManualClock, listener: Any = PLAIN) -> Broker:
    properties = {"connection.failed.authentication.delay.ms": str(DELAY_MS)}
    config = Config(
        listeners=(listener,), super_users=("User:ANONYMOUS",), users=USERS, properties=properties
    )
    broker = Broker(config, clock)
    node = broker.cluster.nodes[1]
    node.bound[listener.name] = node.endpoints[listener.name] = ("127.0.0.1", 9092)
    broker.cluster.topics.create_topic("t", [[1]], {})
    broker.cluster.quotas.alter_limits([({"client-id": PAUSING}, {"consumer_byte_rate": 1.0})])
    return broker


def test_each_state_is_reached_and_ends_closed() -> None:
    assert TRANSITIONS.keys() == set(S)
    reached = {S.NOT_ADMITTED}
    while more := {new for state in reached for new in TRANSITIONS[state].values()} - reached:
        reached |= more
    assert reached == set(S)
    assert all(row[E.CLOSED] is S.CLOSED for row in TRANSITIONS.values())
    assert set(TRANSITIONS[S.CLOSED].values()) == {S.CLOSED}


def test_one_event_ends_each_state_in_which_no_frame_is_handled() -> None:
    lines = (connection_states.__doc__ or "").splitlines()
    rows = [line.split("|") for line in lines if line.startswith("| `")]
    table = {state.strip(" `"): event.strip(" `") for _, state, _, event, _ in rows}
    assert set(table) == {state.name for state in S}
    for state in S:
        to_ready = [event.name for event, new in TRANSITIONS[state].items() if new is S.READY]
        assert to_ready == ([table[state.name]] if table[state.name] else [])


def test_an_event_that_cannot_happen_is_an_error() -> None:
    with pytest.raises(KeyError):
        next_state(S.READY, E.RESPONDED)


@pytest.mark.asyncio
async def test_responses_are_sent_in_order_whatever_happens_meanwhile() -> None:
    states: set[ConnectionState] = set()
    for seed in range(12):
        clock = ManualClock()
        script = Script(_broker(clock), clock, seed)
        for _ in range(60):
            await _act(script)
        await script.settle()
        states |= script.states
        assert script.errors == [], seed
        assert script.state() is S.READY, seed
        assert script.transport.correlation_ids() == list(range(1, script.requested + 1)), seed
    assert states == {S.READY, S.YIELDED, S.AWAITING_RESPONSE, S.THROTTLED}


@pytest.mark.asyncio
async def test_a_connection_is_closed_in_every_state() -> None:
    states: set[ConnectionState] = set()
    for seed in range(60):
        clock = ManualClock()
        script = Script(_broker(clock), clock, seed)
        for _ in range(script.rng.randrange(12)):
            await _act(script)
        states.add(script.state())
        if script.rng.randrange(2):
            script.connection.cancel_requests_and_close()
        else:
            script.connection.close("for a test")
        sent = script.transport.sent
        assert script.state() is S.CLOSED
        await script.settle()
        assert script.errors == [], seed
        assert script.transport.sent == sent, seed
    assert states == {S.READY, S.YIELDED, S.AWAITING_RESPONSE, S.THROTTLED}


@pytest.mark.asyncio
@pytest.mark.parametrize("closes_early", [False, True])
async def test_a_failed_authentication_is_reported_after_its_delay(closes_early: bool) -> None:
    clock = ManualClock()
    script = Script(_broker(clock, SASL), clock, 0)
    script.receive((ApiKey.SASL_HANDSHAKE, 1, SaslHandshakeRequest("PLAIN")))
    script.receive((ApiKey.SASL_AUTHENTICATE, 1, SaslAuthenticateRequest(b"\0alice\0wrong")))
    assert script.state() is S.AUTHENTICATION_FAILED
    assert script.transport.correlation_ids() == [1]
    script.receive((ApiKey.API_VERSIONS, 3, ApiVersionsRequest("test", "1")))
    if closes_early:
        script.connection.cancel_requests_and_close()
    else:
        clock.advance(DELAY_MS)
    await script.settle()
    assert script.state() is S.CLOSED
    assert script.transport.correlation_ids() == ([1] if closes_early else [1, 2])
    assert script.errors == []
