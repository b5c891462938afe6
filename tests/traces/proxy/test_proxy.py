"""A proxy in front of a broker, over real sockets: addresses, credentials, TLS and the trace."""

import asyncio
import contextlib
import socket
import ssl
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.model import Acl, Actor
from kafka_shim.client.config import ClientConfig, Login, Trust
from kafka_shim.pipeline.rows.batches import plan_splits, table_batches
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import SecurityProtocol
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.shim.tls.context import build_server_context
from kafka_shim.trace_format.entries import DERIVED, Request, Response
from kafka_shim.traces.connection_observer import user_in_first_sasl_message
from kafka_shim.traces.proxy.proxy import Proxy
from kafka_shim.traces.proxy.upstream import UpstreamConnector
from tests.shim.observing.test_recorder import entries
from tests.shim.tls.test_tls_listeners import TLS
from tests.shim.wire import Wire, serving, wired
from tests.support.acl_filters import ANY_ACL
from tests.support.commands import split
from tests.support.frames import sized

HAS_IPV6 = socket.has_ipv6 and Path("/proc/net/if_inet6").exists()

pytestmark = pytest.mark.asyncio


def first(broker: Broker, listener: str = "PLAINTEXT") -> tuple[str, int]:
    return split(broker.bootstrap_servers(listener).partition(",")[0])


@contextlib.asynccontextmanager
async def proxied(
    broker: Broker, folder: Path, listener: str = "PLAINTEXT", **more: Any
) -> AsyncIterator[tuple[Proxy, str]]:
    recorder = TraceRecorder(folder, SystemClock(), writer="proxy", accesses_source=DERIVED)
    proxy = Proxy(first(broker, listener), ("127.0.0.1", 0), recorder, **more)
    try:
        yield proxy, await proxy.start()
    finally:
        await proxy.stop()


async def test_clients_get_working_addresses_of_the_proxy(tmp_path: Path) -> None:
    async with serving(brokers=2) as broker, proxied(broker, tmp_path) as (_, address):
        async with wired(address) as wire:
            metadata = await wire.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
            cluster = await wire.ask(ApiKey.DESCRIBE_CLUSTER, 1, DescribeClusterRequest())
        real = {split(text) for name, text in broker.listener_addresses() if name == "PLAINTEXT"}
        told = {(broker.host, broker.port) for broker in metadata.brokers}
        assert told == {(broker.host, broker.port) for broker in cluster.brokers}
        assert len(told) == 2
        assert not told & real
        assert split(address) in told
        for host, port in told:
            async with wired(f"{host}:{port}") as wire:
                response = await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
                assert response.error_code == ErrorCode.NONE


async def test_the_principal_is_recorded_once_the_broker_accepted_the_log_in(
    tmp_path: Path,
) -> None:
    async with serving() as broker, proxied(broker, tmp_path, "SASL_PLAINTEXT") as (_, address):
        for password in ("wrong", "alice-secret"):
            async with wired(address) as wire:
                handshake = SaslHandshakeRequest(mechanism="PLAIN")
                await wire.ask(ApiKey.SASL_HANDSHAKE, 1, handshake)
                request = SaslAuthenticateRequest(auth_bytes=f"\0alice\0{password}".encode())
                response = await wire.ask(ApiKey.SASL_AUTHENTICATE, 2, request)
                if response.error_code == ErrorCode.NONE:
                    await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
                else:
                    assert await wire.is_closed()
    found, damage = entries(tmp_path)
    assert damage == []
    requests = [who.principal for who, entry in found if isinstance(entry, Request)]
    anonymous = "User:ANONYMOUS"
    assert requests == [anonymous, anonymous, anonymous, anonymous, "User:alice"]
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"alice-secret" not in written
    assert b"wrong" not in written


async def test_requests_after_raw_sasl_messages_are_recorded_with_their_user(
    tmp_path: Path,
) -> None:
    async with (
        serving() as broker,
        proxied(broker, tmp_path, "SASL_PLAINTEXT") as (_, address),
        wired(address) as wire,
    ):
        await wire.ask(ApiKey.SASL_HANDSHAKE, 0, SaslHandshakeRequest(mechanism="PLAIN"))
        await wire.send(sized(b"\0alice\0alice-secret"))
        assert await wire.frame() == b""
        await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
    requests = [
        (who.principal, ApiKey(entry.api_key))
        for who, entry in entries(tmp_path)[0]
        if isinstance(entry, Request)
    ]
    assert requests[-1] == ("User:alice", ApiKey.DESCRIBE_ACLS)
    assert len(requests) == 2
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"alice-secret" not in written


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second loopback address")
async def test_acls_with_hosts_are_decided_by_the_address_that_the_broker_saw(
    tmp_path: Path,
) -> None:
    """The broker decides, and its response shows that it saw the proxy's address."""
    async with serving(super_users=("User:admin",)) as broker:
        for name, host in (("of-the-proxy", "127.0.0.1"), ("of-the-client", "127.0.0.2")):
            place = (ResourceType.TOPIC, name, PatternType.LITERAL, "User:ANONYMOUS", host)
            acl = Acl(*place, Operation.DESCRIBE, Permission.ALLOW)
            assert broker.cluster.policy.authorizer is not None
            broker.cluster.policy.authorizer.create_acls(Actor("User:admin", "h"), [acl])
        async with proxied(broker, tmp_path) as (_, address):
            reader, writer = await asyncio.open_connection(
                *split(address), local_addr=("127.0.0.2", 0)
            )
            topics = [MetadataRequestTopic(name=f"of-the-{who}") for who in ("proxy", "client")]
            asked = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
            response = await Wire(reader, writer).ask(ApiKey.METADATA, 12, asked)
            writer.close()
    told = {topic.name: topic.error_code for topic in response.topics}
    assert told == {"of-the-proxy": 3, "of-the-client": 29}
    found, _ = entries(tmp_path)
    assert {(who.host, who.observed_host) for who, _ in found} == {("127.0.0.2", "127.0.0.1")}
    (split_,) = plan_splits([str(tmp_path)])
    (batch,) = table_batches("observed", split_, Selection())
    rows = {(row["resource_name"], row["host"], row["allowed"]) for row in batch.to_pylist()}
    assert rows == {("of-the-proxy", "127.0.0.1", True), ("of-the-client", "127.0.0.1", False)}


async def test_the_trace_has_the_original_responses_of_the_broker(tmp_path: Path) -> None:
    async with serving() as broker, proxied(broker, tmp_path) as (_, address):
        async with wired(address) as wire:
            await wire.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
        port = split(broker.bootstrap_servers())[1]
    found, _ = entries(tmp_path)
    (response,) = [entry for _, entry in found if isinstance(entry, Response)]
    assert port.to_bytes(4, "big") in response.frame


async def test_a_connection_that_the_broker_closes_is_closed_by_the_proxy(tmp_path: Path) -> None:
    async with (
        serving() as broker,
        proxied(broker, tmp_path) as (_, address),
        wired(address) as wire,
    ):
        await wire.send(b"\x00\x00\x00\x02\x00\x12")
        assert await wire.is_closed()


async def test_without_a_broker_connections_of_clients_are_closed(tmp_path: Path) -> None:
    async with serving() as broker, proxied(broker, tmp_path) as (_, address):
        await broker.stop()
        async with wired(address) as wire:
            assert await wire.is_closed()


async def test_a_port_in_use_is_reported(tmp_path: Path) -> None:
    async with serving() as broker:
        taken = split(broker.bootstrap_servers())
        recorder = TraceRecorder(tmp_path, SystemClock())
        proxy = Proxy(taken, taken, recorder)
        with pytest.raises(ConfigError, match=r"cannot listen on \S+: Address already in use$"):
            await proxy.start()
        await proxy.stop()


async def test_the_proxy_has_tls_connections_to_clients_and_brokers(tmp_path: Path) -> None:
    """Clients trust the proxy's CA, the proxy trusts the brokers' CA; the trace is unencrypted."""
    certificates = {"shim.tls.directory": str(tmp_path / "broker")}
    own = build_server_context(
        {"shim.tls.directory": str(tmp_path / "proxy")}, "PROXY", "127.0.0.1"
    )
    async with serving(brokers=2, listeners=(TLS,), properties=certificates) as broker:
        trust = Trust(location=str(tmp_path / "broker/ca.pem"))
        upstream = UpstreamConnector(ClientConfig(SecurityProtocol.SSL, trust=trust))
        trace = tmp_path / "trace"
        async with proxied(broker, trace, "SSL", brokers=upstream, tls=own) as (_, address):
            context = ssl.create_default_context(cafile=str(tmp_path / "proxy/ca.pem"))
            async with wired(address, context) as wire:
                told = await wire.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
            for node in told.brokers:
                async with wired(f"{node.host}:{node.port}", context) as wire:
                    response = await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
                    assert response.error_code == ErrorCode.NONE
    requests = [who for who, entry in entries(trace)[0] if isinstance(entry, Request)]
    assert len(requests) == 3


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_the_proxy_may_log_in_for_its_clients(mechanism: str, tmp_path: Path) -> None:
    login = Login(mechanism, "alice", "alice-secret")
    upstream = UpstreamConnector(ClientConfig(SecurityProtocol.SASL_PLAINTEXT, login))
    async with (
        serving() as broker,
        proxied(broker, tmp_path, "SASL_PLAINTEXT", brokers=upstream) as (_, address),
        wired(address) as wire,
    ):
        response = await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
        assert response.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    found, _ = entries(tmp_path)
    (who,) = [who for who, entry in found if isinstance(entry, Request)]
    assert (who.principal, who.mechanism) == ("User:alice", mechanism)


async def test_a_rejected_log_in_of_the_proxy_closes_the_clients_connection(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    login = Login("PLAIN", "alice", "wrong")
    upstream = UpstreamConnector(ClientConfig(SecurityProtocol.SASL_PLAINTEXT, login))
    async with (
        serving() as broker,
        proxied(broker, tmp_path, "SASL_PLAINTEXT", brokers=upstream) as (_, address),
        wired(address) as wire,
    ):
        assert await wire.is_closed()
    assert "rejected the authentication of alice: SASL_AUTHENTICATION_FAILED (58)" in caplog.text


@pytest.mark.skipif(not HAS_IPV6, reason="this machine has no IPv6")
async def test_a_proxy_can_listen_on_ipv6(tmp_path: Path) -> None:
    async with serving() as broker:
        recorder = TraceRecorder(tmp_path, SystemClock())
        proxy = Proxy(first(broker), ("::1", 0), recorder)
        address = await proxy.start()
        assert address.startswith("[::1]:")
        async with wired(f"::1:{address.rpartition(':')[2]}") as wire:
            metadata = await wire.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
        assert {broker.host for broker in metadata.brokers} == {"::1"}
        await proxy.stop()


async def test_clients_of_all_interfaces_get_the_address_that_they_reached(tmp_path: Path) -> None:
    async with serving(brokers=2) as broker:
        proxy = Proxy(first(broker), ("0.0.0.0", 0), TraceRecorder(tmp_path, SystemClock()))
        port = (await proxy.start()).rpartition(":")[2]
        async with wired(f"127.0.0.1:{port}") as wire:
            metadata = await wire.ask(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
        assert [broker.host for broker in metadata.brokers] == ["127.0.0.1"] * 2
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
async def test_user_names_are_read_from_first_sasl_messages(
    mechanism: str, token: bytes, name: str | None
) -> None:
    assert user_in_first_sasl_message(mechanism, token) == name
