"""Connections over real sockets: order, authentication, invalid input, limits and shutdown."""

import asyncio
import contextlib
import socket
import time
from typing import Any

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.shim.wire import PLAIN, SASL, SMALL, Wire, connected, serving, wired
from tests.support.acl_filters import ANY_ACL
from tests.support.commands import split
from tests.support.frames import sized

pytestmark = pytest.mark.asyncio


async def log_in(wire: Wire, user: str, password: str, authorization_id: str = "") -> Any:
    handshake = await wire.ask(ApiKey.SASL_HANDSHAKE, 1, SaslHandshakeRequest(mechanism="PLAIN"))
    assert handshake.error_code == ErrorCode.NONE
    token = f"{authorization_id}\0{user}\0{password}".encode()
    request = SaslAuthenticateRequest(auth_bytes=token)
    return await wire.ask(ApiKey.SASL_AUTHENTICATE, 2, request)


async def test_pipelined_requests_are_answered_in_order() -> None:
    async with serving() as broker, connected(broker) as wire:
        frames = [wire.request(ApiKey.API_VERSIONS, 0, ApiVersionsRequest()) for _ in range(200)]
        await wire.send(b"".join(frames))
        ids = [int.from_bytes((await wire.frame())[:4], "big") for _ in frames]
        assert ids == list(range(1, 201))


async def test_a_request_cut_into_single_bytes_is_answered() -> None:
    async with serving() as broker, connected(broker) as wire:
        for byte in wire.request(ApiKey.API_VERSIONS, 0, ApiVersionsRequest()):
            await wire.send(bytes([byte]))
        assert (await wire.response(ApiKey.API_VERSIONS, 0)).error_code == ErrorCode.NONE


async def test_an_unknown_version_of_api_versions_is_unsupported_version_in_layout_0() -> None:
    async with serving() as broker, connected(broker) as wire:
        header = b"\x00\x12\x00\x63\x00\x00\x00\x07\xff\xff\x00"
        await wire.send(sized(header))
        frame = await wire.frame()
        assert frame[:4] == b"\x00\x00\x00\x07"
        assert int.from_bytes(frame[4:6], "big") == ErrorCode.UNSUPPORTED_VERSION
        ask = ApiVersionsRequest(client_software_name="a", client_software_version="1")
        assert (await wire.ask(ApiKey.API_VERSIONS, 3, ask)).error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    "frame",
    [
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x00",
        b"\x7f\xff\xff\xff",
        b"\x00\x00\x00\x02\x00\x12",
        b"\x00\x00\x00\x0a\x27\x10\x00\x00\x00\x00\x00\x01\xff\xff",
        b"\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff",
        b"\x00\x00\x00\x0b\x00\x1d\x00\x03\x00\x00\x00\x01\xff\xff\x00",
    ],
    ids=[
        "size -1",
        "size 0",
        "size over limit",
        "truncated header",
        "API key 10000",
        "Produce v0",
        "truncated request",
    ],
)
async def test_unparsable_input_closes_only_its_connection(frame: bytes) -> None:
    async with serving() as broker, connected(broker) as other, connected(broker) as wire:
        await wire.send(frame)
        assert await wire.is_closed()
        assert broker.cluster.counters.closed == 1
        response = await other.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
        assert response.error_code == ErrorCode.NONE
        assert response.resources == []


@pytest.mark.parametrize("api", [ApiKey.DESCRIBE_ACLS, ApiKey.DESCRIBE_CLUSTER])
async def test_requests_before_authentication_close_the_connection(api: ApiKey) -> None:
    message = ANY_ACL if api is ApiKey.DESCRIBE_ACLS else DescribeClusterRequest()
    async with serving() as broker, connected(broker, "SASL_PLAINTEXT") as wire:
        await wire.send(wire.request(api, 1, message))
        assert await wire.is_closed()


@pytest.mark.parametrize(("release", "told"), [("2.3", []), ("2.4", [(18, 0, 3)])])
async def test_an_unknown_version_of_api_versions_returns_the_supported_ones_since_2_4(
    release: str, told: list[tuple[int, int, int]]
) -> None:
    """Recorded from 2.3.1, 2.4.1 and 4.3.1; the response has the layout of version 0."""
    async with serving(release=release) as broker, connected(broker) as wire:
        await wire.send(bytes.fromhex("00000008 0012 0063 00000001"))
        frame = await wire.frame()
        response = codecs.read_response(ApiKey.API_VERSIONS, 0, frame, 4)
        assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
        rows = [(row.api_key, row.min_version, row.max_version) for row in response.api_keys]
        assert rows == told


@pytest.mark.parametrize("delay_ms", [0, 300])
async def test_a_failed_log_in_is_answered_after_the_delay_and_closes_the_connection(
    delay_ms: int,
) -> None:
    settings = {"connection.failed.authentication.delay.ms": str(delay_ms)}
    async with (
        serving(properties=settings) as broker,
        connected(broker, "SASL_PLAINTEXT") as wire,
        connected(broker) as other,
    ):
        began = time.monotonic()
        refused = asyncio.create_task(log_in(wire, "alice", "wrong"))
        await other.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)  # other clients do not wait
        response: Any = await refused
        took_ms = (time.monotonic() - began) * 1000
        assert response.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert took_ms >= delay_ms
        assert await wire.is_closed()


async def test_a_plain_log_in_sets_the_principal() -> None:
    async with serving() as broker, connected(broker, "SASL_PLAINTEXT") as wire:
        versions = await wire.ask(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
        assert versions.error_code == ErrorCode.NONE
        assert (await log_in(wire, "alice", "alice-secret")).error_code == ErrorCode.NONE
        denied = await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
        assert denied.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize(
    ("user", "password", "authorization_id"),
    [
        ("alice", "wrong", ""),
        ("nobody", "alice-secret", ""),
        ("alice", "", ""),
        ("alice", "alice-secret", "admin"),
    ],
)
async def test_wrong_credentials_fail_with_a_message_and_close_the_connection(
    user: str, password: str, authorization_id: str
) -> None:
    async with serving() as broker, connected(broker, "SASL_PLAINTEXT") as wire:
        response = await log_in(wire, user, password, authorization_id)
        assert response.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert "authentication failed" in response.error_message.lower()
        assert "secret" not in response.error_message
        assert await wire.is_closed()
        assert broker.cluster.counters.failed_logins == 1


async def test_after_a_failed_authentication_the_stream_ends_without_a_reset() -> None:
    """Recorded from 4.4.0: also if the client goes on sending."""
    async with serving() as broker, connected(broker, "SASL_PLAINTEXT") as wire:
        assert (await log_in(wire, "alice", "wrong")).error_code == 58
        for _ in range(3):
            wire.writer.write(bytes(100_000))
            await wire.writer.drain()
            await asyncio.sleep(0.05)
        assert await wire.reader.read() == b""


async def test_an_unsupported_mechanism_returns_the_list_of_mechanisms() -> None:
    async with serving() as broker, connected(broker, "SASL_PLAINTEXT") as wire:
        ask = SaslHandshakeRequest(mechanism="GSSAPI")
        response = await wire.ask(ApiKey.SASL_HANDSHAKE, 1, ask)
        assert response.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
        assert response.mechanisms == ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


async def test_a_handshake_on_a_listener_without_sasl_is_an_illegal_sasl_state() -> None:
    async with serving() as broker, connected(broker) as wire:
        ask = SaslHandshakeRequest(mechanism="PLAIN")
        response = await wire.ask(ApiKey.SASL_HANDSHAKE, 1, ask)
        assert response.error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert response.mechanisms == []


@pytest.mark.parametrize("api", [ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.LIST_GROUPS])
async def test_another_request_during_the_log_in_closes_the_connection(api: ApiKey) -> None:
    """Recorded from 4.3.1."""
    requests = {
        ApiKey.API_VERSIONS: ApiVersionsRequest(),
        ApiKey.SASL_HANDSHAKE: SaslHandshakeRequest(mechanism="PLAIN"),
        ApiKey.LIST_GROUPS: ListGroupsRequest(),
    }
    async with serving() as broker, connected(broker, "SASL_PLAINTEXT") as wire:
        await wire.ask(ApiKey.SASL_HANDSHAKE, 1, SaslHandshakeRequest(mechanism="PLAIN"))
        response = await wire.ask(api, 1, requests[api])
        assert response.error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert await wire.is_closed()


async def test_after_handshake_version_0_tokens_are_sent_without_a_header() -> None:
    async with serving() as broker, connected(broker, "SASL_PLAINTEXT") as wire:
        await wire.ask(ApiKey.SASL_HANDSHAKE, 0, SaslHandshakeRequest(mechanism="PLAIN"))
        token = b"\0admin\0admin-secret"
        await wire.send(sized(token))
        assert await wire.frame() == b""
        assert (await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)).error_code == ErrorCode.NONE


async def test_after_handshake_version_0_a_wrong_token_closes_the_connection() -> None:
    async with serving() as broker, connected(broker, "SASL_PLAINTEXT") as wire:
        await wire.ask(ApiKey.SASL_HANDSHAKE, 0, SaslHandshakeRequest(mechanism="PLAIN"))
        token = b"\0admin\0wrong"
        await wire.send(sized(token))
        assert await wire.is_closed()


async def test_frames_before_the_log_in_have_a_lower_size_limit() -> None:
    async with serving(limits=SMALL) as broker:
        async with connected(broker, "SASL_PLAINTEXT") as wire:
            await wire.send((501).to_bytes(4, "big"))
            assert await wire.is_closed()
        async with connected(broker, "SASL_PLAINTEXT") as wire:
            await log_in(wire, "admin", "admin-secret")
            await wire.send((501).to_bytes(4, "big") + b"\0")
            await asyncio.sleep(0.05)
            assert not wire.reader.at_eof()


async def test_connections_above_the_limit_are_closed() -> None:
    async with (
        serving(limits=SMALL) as broker,
        connected(broker),
        connected(broker),
        connected(broker) as third,
        connected(broker) as fourth,
    ):
        assert await fourth.is_closed()
        response = await third.ask(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
        assert response.error_code == ErrorCode.NONE


async def test_idle_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_shim.shim.network.server.IDLE_CHECK_MS", 20)
    limits = type(SMALL)(idle_ms_max=50)
    async with serving(limits=limits) as broker, connected(broker) as wire:
        assert await wire.is_closed()
        assert broker.cluster.counters.closed == 0


async def test_stop_closes_connections_and_frees_the_port() -> None:
    async with serving() as broker:
        address = broker.bootstrap_servers()
        async with connected(broker) as wire:
            await broker.stop()
            assert await wire.is_closed()
    port = int(address.rpartition(":")[2])
    listener = type(PLAIN)("PLAINTEXT", PLAIN.protocol, "127.0.0.1", port)
    async with serving(listeners=(listener, SASL)) as again:
        assert again.bootstrap_servers() == address


@pytest.mark.parametrize("slices", range(8))
async def test_stop_closes_connections_that_are_being_accepted(slices: int) -> None:
    """asyncio once lost sockets that were accepted at certain moments, and left them open."""
    async with serving() as broker:
        with socket.create_connection(split(broker.bootstrap_servers()), 5) as client:
            for _ in range(slices):
                await asyncio.sleep(0)
            await broker.stop()
            client.setblocking(False)
            with contextlib.suppress(ConnectionResetError):  # raised if it was not accepted
                assert client.recv(1) == b""


async def test_unauthenticated_clients_have_the_principal_of_the_listener() -> None:
    listener = type(PLAIN)("PLAINTEXT", PLAIN.protocol, "127.0.0.1", 0, "User:suite")
    async with serving(listeners=(listener,)) as broker, connected(broker) as wire:
        response = await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
        assert response.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize("is_moved", [False, True])
async def test_a_restarted_node_has_its_old_port_or_a_new_one(is_moved: bool) -> None:
    async with serving() as broker:
        before = broker.cluster.nodes[1].endpoints["PLAINTEXT"]
        await broker.stop_node(1)
        await broker.start_node(1, on_new_ports=is_moved)
        after = broker.cluster.nodes[1].endpoints["PLAINTEXT"]
        assert (after != before) is is_moved
        async with connected(broker) as wire:
            response = await wire.ask(ApiKey.LIST_GROUPS, 4, ListGroupsRequest())
            assert response.error_code == 0


async def test_a_stopping_node_does_not_serve_requests_without_its_state() -> None:
    """A request that arrived while the node stopped was once told that its session is unknown."""
    topics = [FetchTopic(topic="orders", partitions=[FetchPartition(partition=0)])]
    async with serving(brokers=2) as broker:
        address = dict(broker.listener_addresses_of_node(2))["PLAINTEXT"]
        async with wired(address) as wire:
            full = await wire.ask(ApiKey.FETCH, 12, FetchRequest(session_epoch=0, topics=topics))
            assert full.session_id
            incremental = FetchRequest(session_id=full.session_id, session_epoch=1)
            wire.writer.write(wire.request(ApiKey.FETCH, 12, incremental))
            await broker.stop_node(2)
            assert await wire.is_closed()


@pytest.mark.parametrize("includes_fenced", [False, True])
async def test_a_stopped_broker_is_described_as_fenced_if_requested(includes_fenced: bool) -> None:
    async with serving(brokers=2) as broker:
        address = dict(broker.listener_addresses_of_node(1))["PLAINTEXT"]
        await broker.stop_node(2)
        async with wired(address) as wire:
            request = DescribeClusterRequest(include_fenced_brokers=includes_fenced)
            response = await wire.ask(ApiKey.DESCRIBE_CLUSTER, 2, request)
        fenced = {row.broker_id: row.is_fenced for row in response.brokers}
        assert fenced == ({1: False, 2: True} if includes_fenced else {1: False})
