"""shim.proxy in front of a broker over real sockets: what passes, what is told, what is kept."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from protocol.enums import ApiKey
from protocol.error_codes import ErrorCode
from protocol.messages.describe_acls_request import DescribeAclsRequest
from protocol.messages.describe_cluster_request import DescribeClusterRequest
from protocol.messages.metadata_request import MetadataRequest
from protocol.messages.sasl_authenticate_request import SaslAuthenticateRequest
from protocol.messages.sasl_handshake_request import SaslHandshakeRequest
from protocol.trace.entries import Request, Response
from shim.broker import Broker
from shim.clock import SystemClock
from shim.errors import ConfigError
from shim.proxy.proxy import Proxy
from shim.traces.passing_login import claimed_name
from shim.traces.recorder import Recorder
from tests.shim.traces.test_recorder import entries
from tests.shim.wire import Wire, serving

pytestmark = pytest.mark.asyncio

ANY_ACL = DescribeAclsRequest(
    resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1
)


def split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def first(broker: Broker, listener: str = "PLAINTEXT") -> tuple[str, int]:
    return split(broker.bootstrap_servers(listener).partition(",")[0])


@contextlib.asynccontextmanager
async def proxied(
    broker: Broker, folder: Path, listener: str = "PLAINTEXT"
) -> AsyncIterator[tuple[Proxy, str]]:
    recorder = Recorder(folder, SystemClock(), writer="proxy")
    proxy = Proxy(first(broker, listener), ("127.0.0.1", 0), recorder)
    address = await proxy.start()
    try:
        yield proxy, address
    finally:
        await proxy.stop()


@contextlib.asynccontextmanager
async def client(address: str) -> AsyncIterator[Wire]:
    reader, writer = await asyncio.open_connection(*split(address))
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def test_clients_are_told_addresses_of_the_proxy_that_work(tmp_path: Path) -> None:
    async with serving(brokers=2) as broker, proxied(broker, tmp_path) as (_, address):
        async with client(address) as wire:
            metadata = await wire.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
            cluster = await wire.ask(ApiKey.DESCRIBE_CLUSTER, 1, DescribeClusterRequest())
        real = {split(text) for name, text in broker.addresses() if name == "PLAINTEXT"}
        told = {(one.host, one.port) for one in metadata.brokers}
        assert told == {(one.host, one.port) for one in cluster.brokers}
        assert len(told) == 2
        assert not told & real
        assert split(address) in told
        for host, port in told:
            async with client(f"{host}:{port}") as wire:
                answer = await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
                assert answer.error_code == ErrorCode.NONE


async def test_the_principal_is_the_one_that_the_broker_let_in(tmp_path: Path) -> None:
    async with serving() as broker, proxied(broker, tmp_path, "SASL_PLAINTEXT") as (_, address):
        for password in ("wrong", "alice-secret"):
            async with client(address) as wire:
                handshake = SaslHandshakeRequest(mechanism="PLAIN")
                await wire.ask(ApiKey.SASL_HANDSHAKE, 1, handshake)
                request = SaslAuthenticateRequest(auth_bytes=f"\0alice\0{password}".encode())
                answer = await wire.ask(ApiKey.SASL_AUTHENTICATE, 2, request)
                if answer.error_code == ErrorCode.NONE:
                    await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
                else:
                    assert await wire.is_closed()
    found, damage = entries(tmp_path)
    assert damage == []
    requests = [who.principal for who, one in found if isinstance(one, Request)]
    anonymous = "User:ANONYMOUS"
    assert requests == [anonymous, anonymous, anonymous, anonymous, "User:alice"]
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"alice-secret" not in written
    assert b"wrong" not in written


async def test_the_trace_has_the_brokers_own_answers(tmp_path: Path) -> None:
    async with serving() as broker, proxied(broker, tmp_path) as (_, address):
        async with client(address) as wire:
            await wire.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
        port = split(broker.bootstrap_servers())[1]
    found, _ = entries(tmp_path)
    (response,) = [one for _, one in found if isinstance(one, Response)]
    assert port.to_bytes(4, "big") in response.frame


async def test_what_the_broker_closes_the_proxy_closes(tmp_path: Path) -> None:
    async with (
        serving() as broker,
        proxied(broker, tmp_path) as (_, address),
        client(address) as wire,
    ):
        await wire.send(b"\x00\x00\x00\x02\x00\x12")
        assert await wire.is_closed()


async def test_without_the_broker_a_client_is_closed(tmp_path: Path) -> None:
    async with serving() as broker, proxied(broker, tmp_path) as (_, address):
        await broker.stop()
        async with client(address) as wire:
            assert await wire.is_closed()


async def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    async with serving() as broker:
        taken = split(broker.bootstrap_servers())
        recorder = Recorder(tmp_path, SystemClock())
        proxy = Proxy(taken, taken, recorder)
        with pytest.raises(ConfigError, match="cannot listen"):
            await proxy.start()
        await proxy.stop()


@pytest.mark.parametrize(
    ("mechanism", "token", "name"),
    [
        ("PLAIN", b"\0alice\0pw", "alice"),
        ("PLAIN", b"nonsense", None),
        ("SCRAM-SHA-256", b"n,,n=a=2Cb=3Dc,r=abc", "a,b=c"),
        ("OAUTHBEARER", b"n,,\x01auth=Bearer x\x01\x01", None),
    ],
)
async def test_names_in_first_messages(mechanism: str, token: bytes, name: str | None) -> None:
    assert claimed_name(mechanism, token) == name
