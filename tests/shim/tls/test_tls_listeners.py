"""TLS and mutual TLS over real sockets, with self-made, PEM and PKCS12 certificates."""

import asyncio
import datetime as dt
import ssl
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trustme
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import (
    CertificateBuilder,
    Name,
    NameAttribute,
    load_pem_x509_certificate,
    random_serial_number,
)
from cryptography.x509.oid import NameOID

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import ListenerConfig, SecurityProtocol
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.tls.context import build_server_context
from tests.shim.wire import Wire, serving

pytestmark = pytest.mark.asyncio

TLS = ListenerConfig("SSL", SecurityProtocol.SSL, "127.0.0.1", 0)
ACL = CreateAclsRequest(
    creations=[
        AclCreation(
            resource_type=2,
            resource_name="t",
            principal="User:a",
            host="*",
            operation=3,
            permission_type=3,
        )
    ]
)


async def open_tls(address: str, context: ssl.SSLContext) -> Wire:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(
        host, int(port), ssl=context, server_hostname="localhost"
    )
    return Wire(reader, writer)


async def close(wire: Wire) -> None:
    wire.writer.close()
    await asyncio.sleep(0)


async def outcome(settings: dict[str, str], context: ssl.SSLContext, **more: Any) -> int:
    """Return the error code of a CreateAcls request over a TLS listener."""
    async with serving(listeners=(TLS,), properties=settings, **more) as broker:
        wire = await open_tls(broker.bootstrap_servers(), context)
        try:
            response = await wire.ask(ApiKey.CREATE_ACLS, 3, ACL)
            return int(response.results[0].error_code)
        finally:
            await close(wire)


def trusting(authority: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority))


async def test_self_made_certificates_with_a_client_certificate(tmp_path: Path) -> None:
    settings = {
        "shim.tls.directory": str(tmp_path),
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*?),.*$/$1/,DEFAULT",
    }
    async with serving(
        listeners=(TLS,), properties=settings, super_users=("User:client",)
    ) as broker:
        context = trusting(tmp_path / "ca.pem")
        context.load_cert_chain(tmp_path / "client.pem")
        wire = await open_tls(broker.bootstrap_servers(), context)
        response = await wire.ask(ApiKey.CREATE_ACLS, 3, ACL)
        assert response.results[0].error_code == ErrorCode.NONE
        await close(wire)


@pytest.mark.parametrize(("name", "is_in"), [("kafka.internal", True), ("kafka_1", False)])
async def test_a_self_made_certificate_is_for_the_advertised_host(
    tmp_path: Path, name: str, *, is_in: bool
) -> None:
    listener = msgspec.structs.replace(TLS, advertised=(name, 9093))
    async with serving(
        listeners=(listener,), properties={"shim.tls.directory": str(tmp_path)}
    ) as broker:
        port = next(iter(broker.cluster.nodes.values())).bound[listener.name][1]
        context = trusting(tmp_path / "ca.pem")
        opened = asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
        if is_in:
            _, writer = await opened
            writer.close()
        else:
            with pytest.raises(ssl.SSLError):
                await opened


async def test_a_host_with_an_underscore_does_not_prevent_a_certificate(tmp_path: Path) -> None:
    context = build_server_context({"shim.tls.directory": str(tmp_path)}, "SSL", "a_b", "a_b")
    assert context.get_ca_certs()


async def test_a_client_without_a_required_certificate_is_rejected(tmp_path: Path) -> None:
    settings = {"shim.tls.directory": str(tmp_path), "ssl.client.auth": "required"}
    async with serving(listeners=(TLS,), properties=settings) as broker:
        context = trusting(tmp_path / "ca.pem")

        async def ask() -> None:
            wire = await open_tls(broker.bootstrap_servers(), context)
            try:
                await wire.ask(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
            finally:
                await close(wire)

        with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
            await ask()


async def test_an_unauthenticated_tls_client_is_anonymous(tmp_path: Path) -> None:
    async with serving(
        listeners=(TLS,), properties={"shim.tls.directory": str(tmp_path)}, super_users=()
    ) as broker:
        wire = await open_tls(broker.bootstrap_servers(), trusting(tmp_path / "ca.pem"))
        response = await wire.ask(ApiKey.CREATE_ACLS, 3, ACL)
        assert response.results[0].error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        await close(wire)


async def test_a_pem_keystore_is_read(tmp_path: Path) -> None:
    authority = trustme.CA()
    identity = authority.issue_cert("localhost")
    identity.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "server.pem"))
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(tmp_path / "server.pem"),
    }
    assert await outcome(settings, trusting(tmp_path / "ca.pem")) == ErrorCode.NONE


async def test_a_keystore_that_a_client_sets_is_of_one_broker_until_a_reset(tmp_path: Path) -> None:
    """A wrong one is an error that names setting and file."""
    authority = trustme.CA()
    store, other = tmp_path / "server.pem", tmp_path / "other.pem"
    for path in (store, other):
        authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(path)
    context = ssl.create_default_context()
    authority.configure_trust(context)

    async def certificate(address: str) -> bytes:
        wire = await open_tls(address, context)
        served = wire.writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        await close(wire)
        assert isinstance(served, bytes)
        return served

    async def alter(broker: Broker, location: Path) -> tuple[int, str | None]:
        name = "listener.name.ssl.ssl.keystore.location"
        resource = AlterConfigsResource(4, "1", [AlterableConfig(name=name, value=str(location))])
        request = IncrementalAlterConfigsRequest(resources=[resource])
        wire = await open_tls(broker.bootstrap_servers().split(",")[0], context)
        [row] = (await wire.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)).responses
        await close(wire)
        return row.error_code, row.error_message

    settings = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(store)}
    allowed = settings | {"ssl.allow.dn.changes": "true"}
    async with serving(listeners=(TLS,), properties=allowed, brokers=2) as broker:
        first, second = broker.bootstrap_servers().split(",")
        original = await certificate(first)
        code, text = await alter(broker, tmp_path / "missing.pem")
        assert code == ErrorCode.INVALID_REQUEST
        assert text is not None
        assert "ssl.keystore.location" in text
        assert "missing.pem" in text
        assert await alter(broker, other) == (ErrorCode.NONE, None)
        assert await certificate(first) != original
        assert await certificate(second) == original
        broker.reset_to_initial_state()
        assert await certificate(first) == original
    async with serving(listeners=(TLS,), properties=settings) as broker:
        code, text = await alter(broker, other)
        assert code == ErrorCode.INVALID_REQUEST
        assert text is not None
        assert "must keep its names: its subject is `OU=Testing cert #" in text


async def test_an_altered_keystore_is_loaded_at_the_next_start_and_left_by_a_reset(
    tmp_path: Path,
) -> None:
    """The first certificate lacks a name of the second one, which only a running broker needs."""
    authority = trustme.CA()
    names = {"server.pem": ("localhost",), "wider.pem": ("localhost", "elsewhere")}
    for file, of_file in names.items():
        identity = authority.issue_cert(*of_file)
        identity.private_key_and_cert_chain_pem.write_to_path(tmp_path / file)
    context = ssl.create_default_context()
    authority.configure_trust(context)

    async def served_names(broker: Broker) -> list[str]:
        wire = await open_tls(broker.bootstrap_servers(), context)
        certificate = wire.writer.get_extra_info("ssl_object").getpeercert()
        await close(wire)
        return [name for _, name in certificate["subjectAltName"]]

    properties = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(tmp_path / "server.pem"),
        "ssl.allow.dn.changes": "true",
    }
    kept: dict[str, Any] = {"properties": properties, "data_dir": str(tmp_path / "data")}
    async with serving(listeners=(TLS,), **kept) as broker:
        name = "listener.name.ssl.ssl.keystore.location"
        config = AlterableConfig(name=name, value=str(tmp_path / "wider.pem"))
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(4, "1", [config])])
        wire = await open_tls(broker.bootstrap_servers(), context)
        response = await wire.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
        await close(wire)
        assert response.responses[0].error_code == ErrorCode.NONE
        assert await served_names(broker) == ["localhost", "elsewhere"]
    async with serving(listeners=(TLS,), **kept) as broker:
        assert await served_names(broker) == ["localhost", "elsewhere"]
        broker.reset_to_initial_state()
        assert await served_names(broker) == ["localhost"]


async def test_a_pkcs12_keystore_and_truststore_are_used_for_mutual_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    identity = authority.issue_cert("localhost")
    key = load_pem_private_key(identity.private_key_pem.bytes(), None)
    assert isinstance(key, EllipticCurvePrivateKey)
    certificate = load_pem_x509_certificate(identity.cert_chain_pems[0].bytes())
    root = load_pem_x509_certificate(authority.cert_pem.bytes())
    secret = BestAvailableEncryption(b"changeit")
    store = pkcs12.serialize_key_and_certificates(b"me", key, certificate, [root], secret)
    (tmp_path / "server.p12").write_bytes(store)
    trust = pkcs12.serialize_key_and_certificates(b"ca", None, None, [root], secret)
    (tmp_path / "trust.p12").write_bytes(trust)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    settings = {
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(tmp_path / "server.p12"),
        "ssl.keystore.password": "changeit",
        "ssl.truststore.type": "PKCS12",
        "ssl.truststore.location": str(tmp_path / "trust.p12"),
        "ssl.truststore.password": "changeit",
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^.*CN=([a-z]+).*$/$1/",
    }
    context = trusting(tmp_path / "ca.pem")
    authority.issue_cert(common_name="alice").configure_cert(context)
    error = await outcome(settings, context, super_users=("User:alice",))
    assert error == ErrorCode.NONE


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "--tls-dir"),
        ({"ssl.keystore.type": "PEM"}, "ssl.keystore.location"),
        ({"ssl.keystore.location": "/nowhere/x.pem"}, "`/nowhere/x.pem`: No such file"),
        ({"ssl.keystore.location": "/nowhere/x.jks"}, "location `/nowhere/x.jks`: No such file"),
        ({"ssl.keystore.location": __file__, "ssl.keystore.type": "PEM"}, "holds no PEM key"),
        ({"ssl.client.auth": "maybe", "shim.tls.directory": "x"}, "maybe"),
    ],
)
async def test_invalid_tls_settings_are_reported(settings: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        async with serving(listeners=(TLS,), properties=settings):
            pass


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xfe\xed\xfe\xed\0\0\0\2", "server.store`: a JKS store, .* -deststoretype PKCS12"),
        (b"-----BEGIN CERTIFICATE-----\n", "server.store`: a PEM file; .* ssl.keystore.type=PEM"),
    ],
)
async def test_a_store_in_another_format_is_named(
    tmp_path: Path, content: bytes, says: str
) -> None:
    store = tmp_path / "server.store"
    store.write_bytes(content)
    with pytest.raises(ConfigError, match=says):
        async with serving(listeners=(TLS,), properties={"ssl.keystore.location": str(store)}):
            pass


async def test_a_missing_or_wrong_key_password_is_an_error_without_a_prompt(tmp_path: Path) -> None:
    made = trustme.CA().issue_cert("127.0.0.1")
    key = load_pem_private_key(made.private_key_pem.bytes(), None)
    locked = key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"changeit")
    )
    store = tmp_path / "server.pem"
    store.write_bytes(locked + made.cert_chain_pems[0].bytes())
    settings = {"ssl.keystore.location": str(store)}
    async with serving(listeners=(TLS,), properties={**settings, "ssl.key.password": "changeit"}):
        pass
    for words in {}, {"ssl.key.password": "wrong"}:
        with pytest.raises(ConfigError, match="the password is not the one of the key"):
            async with serving(listeners=(TLS,), properties=settings | words):
                pass


def self_signed(path: Path) -> str:
    """Write a key with its certificate to `path`; return the certificate."""
    key = generate_private_key(SECP256R1())
    name = Name([NameAttribute(NameOID.COMMON_NAME, "twin")])
    now = dt.datetime.now(dt.UTC)
    made = (
        CertificateBuilder(name, name, key.public_key(), random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, SHA256())
        .public_bytes(Encoding.PEM)
    )
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + made)
    return made.decode()


async def test_each_certificate_of_a_truststore_is_trusted(tmp_path: Path) -> None:
    """It has self-signed certificates, several of one name, and an intermediate authority."""
    authority = trustme.CA()
    server = authority.issue_cert("localhost")
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    child = authority.create_child_ca()
    child.issue_cert(common_name="twin").private_key_and_cert_chain_pem.write_to_path(
        str(tmp_path / "of_child.pem")
    )
    twins = [self_signed(tmp_path / f"twin{number}.pem") for number in (1, 2, 3)]
    self_signed(tmp_path / "stranger.pem")
    settings = {
        "ssl.keystore.certificate.chain": server.cert_chain_pems[0].bytes().decode(),
        "ssl.keystore.key": server.private_key_pem.bytes().decode(),
        "ssl.truststore.certificates": "".join([*twins, child.cert_pem.bytes().decode()]),
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^.*CN=([a-z]+).*$/$1/",
    }
    for client in ("twin1", "twin2", "twin3", "of_child"):
        context = trusting(tmp_path / "ca.pem")
        context.load_cert_chain(tmp_path / f"{client}.pem")
        assert await outcome(settings, context, super_users=("User:twin",)) == ErrorCode.NONE
    context = trusting(tmp_path / "ca.pem")
    context.load_cert_chain(tmp_path / "stranger.pem")
    with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
        await outcome(settings, context)


async def test_certificates_of_other_authorities_and_expired_ones_are_rejected(
    tmp_path: Path,
) -> None:
    """They are rejected at the handshake: no request of such a client is read."""
    settings = {"shim.tls.directory": str(tmp_path), "ssl.client.auth": "required"}
    async with serving(listeners=(TLS,), properties=settings) as broker:
        own = trustme.CA.from_pem(
            cert_bytes=(tmp_path / "authority.pem").read_bytes(),
            private_key_bytes=(tmp_path / "authority.pem").read_bytes(),
        )
        long_ago = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
        hostile = (
            trustme.CA().issue_cert(common_name="admin"),
            trustme.CA(organization_name="trustme v1").issue_cert(common_name="client"),
            own.issue_cert(common_name="admin", not_after=long_ago, not_before=long_ago),
        )
        for identity in (*hostile, own.issue_cert(common_name="good")):
            context = trusting(tmp_path / "ca.pem")
            identity.configure_cert(context)
            try:
                wire = await open_tls(broker.bootstrap_servers(), context)
                response = await wire.ask(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("kit", "1"))
            except (ssl.SSLError, ConnectionError, asyncio.IncompleteReadError):
                assert identity in hostile
            else:
                assert identity not in hostile
                assert response.error_code == 0
                await close(wire)
        assert broker.cluster.counters.requests == 1
