"""Alerts of rejected handshakes, as Java's `SSLServerSocket` sends them; protocols and suites.

A client that gets an alert reports a failed authentication; without one it would retry for ever.
"""

import asyncio
import datetime as dt
import socket
import ssl
from collections.abc import Mapping
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509 import CertificateBuilder, load_pem_x509_certificate, random_serial_number

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import ListenerConfig, SecurityProtocol
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.tls.context import build_server_context
from tests.shim.wire import serving

pytestmark = pytest.mark.asyncio

TLS = ListenerConfig("SSL", SecurityProtocol.SSL, "127.0.0.1", 0)
V1_2, V1_3 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
LONG_AGO = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
BAD_CERTIFICATE = "SSLV3_ALERT_BAD_CERTIFICATE"
"""Alert 42: Java's for a missing certificate."""
CERTIFICATE_UNKNOWN = "SSLV3_ALERT_CERTIFICATE_UNKNOWN"
"""Alert 46: Java's for a rejected certificate."""


def client_context(folder: Path, version: ssl.TLSVersion) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    context.minimum_version = context.maximum_version = version
    return context


def identities(folder: Path) -> dict[str, trustme.LeafCert | None]:
    pem = (folder / "authority.pem").read_bytes()
    own = trustme.CA.from_pem(cert_bytes=pem, private_key_bytes=pem)
    return {
        "none": None,
        "expired": own.issue_cert(common_name="old", not_after=LONG_AGO, not_before=LONG_AGO),
        "unknown authority": trustme.CA(organization_name="x").issue_cert(common_name="eve"),
    }


def certificate_named_as_its_issuer(folder: Path) -> Path:
    pem = (folder / "authority.pem").read_bytes()
    issuer, key = load_pem_x509_certificate(pem), load_pem_private_key(pem, None)
    assert isinstance(key, EllipticCurvePrivateKey)
    own, now = generate_private_key(SECP256R1()), dt.datetime.now(dt.UTC)
    builder = CertificateBuilder(
        issuer.subject, issuer.subject, own.public_key(), random_serial_number()
    )
    certificate = (
        builder.not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, SHA256())
    )
    path = folder / "same.pem"
    path.write_bytes(
        own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + certificate.public_bytes(Encoding.PEM)
    )
    return path


async def outcome(broker: Broker, context: ssl.SSLContext) -> str:
    """Return the reason of the error, or the version of TLS."""
    host, _, port = broker.bootstrap_servers("SSL").rpartition(":")

    def connect() -> str:
        with socket.create_connection((host, int(port)), 10) as plain:
            try:
                with context.wrap_socket(plain, server_hostname="localhost") as tls:
                    tls.settimeout(0.5)
                    try:
                        tls.recv(1)
                    except TimeoutError:
                        return str(tls.version())
                    return "closed"
            except ssl.SSLError as error:
                return str(error.reason)

    return await asyncio.get_running_loop().run_in_executor(None, connect)


@pytest.mark.parametrize(
    ("version", "alerts"),
    [
        (V1_2, (BAD_CERTIFICATE, CERTIFICATE_UNKNOWN, CERTIFICATE_UNKNOWN)),
        (
            V1_3,
            (
                "TLSV13_ALERT_CERTIFICATE_REQUIRED",
                "SSLV3_ALERT_CERTIFICATE_EXPIRED",
                "TLSV1_ALERT_UNKNOWN_CA",
            ),
        ),
    ],
)
async def test_a_rejected_certificate_is_answered_by_an_alert(
    tmp_path: Path,
    version: ssl.TLSVersion,
    alerts: tuple[str, ...],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "shim.connection")
    settings = {"shim.tls.directory": str(tmp_path), "ssl.client.auth": "required"}
    async with serving(listeners=(TLS,), properties=settings) as broker:
        for (kind, identity), alert in zip(identities(tmp_path).items(), alerts, strict=True):
            context = client_context(tmp_path, version)
            if identity is not None:
                identity.configure_cert(context)
            assert (kind, await outcome(broker, context)) == (kind, alert)
    assert "certificate has expired; the certificate's subject is `CN=old,OU=" in caplog.text
    assert "the certificate's subject is `CN=eve,OU=" in caplog.text
    assert "peer did not return a certificate" in caplog.text


@pytest.mark.parametrize(
    ("settings", "accepted"),
    [
        ({}, {"TLSv1.2", "TLSv1.3"}),
        ({"ssl.enabled.protocols": "TLSv1.2"}, {"TLSv1.2"}),
        ({"ssl.enabled.protocols": "TLSv1.3, TLSv1.1"}, {"TLSv1.3"}),
        ({"listener.name.ssl.ssl.enabled.protocols": "TLSv1.3"}, {"TLSv1.3"}),
        ({"ssl.cipher.suites": "TLS_AES_256_GCM_SHA384"}, {"TLSv1.3"}),
        ({"ssl.cipher.suites": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"}, {"TLSv1.2"}),
    ],
)
async def test_only_enabled_protocols_are_accepted(
    tmp_path: Path, settings: Mapping[str, str], accepted: set[str]
) -> None:
    properties = {"shim.tls.directory": str(tmp_path), **settings}
    async with serving(listeners=(TLS,), properties=properties) as broker:
        outcomes = [await outcome(broker, client_context(tmp_path, v)) for v in (V1_2, V1_3)]
    rejected = {"TLSV1_ALERT_PROTOCOL_VERSION"} if len(accepted) < 2 else set()
    assert set(outcomes) == accepted | rejected


async def test_only_enabled_suites_are_accepted(tmp_path: Path) -> None:
    settings = {
        "shim.tls.directory": str(tmp_path),
        "ssl.cipher.suites": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,"
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    }
    async with serving(listeners=(TLS,), properties=settings) as broker:
        for suite, result in {
            "ECDHE-ECDSA-AES128-GCM-SHA256": "TLSv1.2",
            "ECDHE-ECDSA-CHACHA20-POLY1305": "TLSv1.2",
            "ECDHE-ECDSA-AES256-GCM-SHA384": "SSLV3_ALERT_HANDSHAKE_FAILURE",
        }.items():
            context = client_context(tmp_path, V1_2)
            context.set_ciphers(suite)
            assert (suite, await outcome(broker, context)) == (suite, result)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("ssl.enabled.protocols", "TLSv1.4", "unknown protocol `TLSv1.4`"),
        ("ssl.enabled.protocols", "TLSv1.1", "leave neither TLSv1.2 nor TLSv1.3"),
        ("ssl.cipher.suites", "TLS_AES_512_GCM_SHA384", "unknown suite `TLS_AES_512_GCM_SHA384`"),
        ("ssl.cipher.suites", "TLS_RSA_WITH_NULL", "unknown suite `TLS_RSA_WITH_NULL`"),
    ],
)
async def test_unknown_protocols_and_suites_are_errors(
    tmp_path: Path, name: str, value: str, complaint: str
) -> None:
    settings = {"shim.tls.directory": str(tmp_path), name: value}
    with pytest.raises(ConfigError, match=complaint):
        build_server_context(settings, "SSL", "127.0.0.1")


async def test_settings_without_effect_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"shim.tls.directory": str(tmp_path), "ssl.engine.factory.class": "a.B"}
    build_server_context(settings, "SSL", "127.0.0.1")
    assert "ssl.engine.factory.class" in caplog.text


async def test_a_client_certificate_whose_subject_equals_its_issuers_is_rejected(
    tmp_path: Path,
) -> None:
    """OpenSSL takes it for self-signed. It is accepted if it is in the truststore itself."""
    settings = {"shim.tls.directory": str(tmp_path), "ssl.client.auth": "required"}
    async with serving(listeners=(TLS,), properties=settings) as broker:
        identity = certificate_named_as_its_issuer(tmp_path)
        context = client_context(tmp_path, V1_2)
        context.load_cert_chain(identity)
        assert await outcome(broker, context) == CERTIFICATE_UNKNOWN
    pem = identity.read_text()
    settings["ssl.truststore.certificates"] = pem[pem.index("-----BEGIN CERTIFICATE") :]
    async with serving(listeners=(TLS,), properties=settings) as broker:
        assert await outcome(broker, context) == "TLSv1.2"


async def test_truststores_add_to_generated_certificates(tmp_path: Path) -> None:
    other = trustme.CA(organization_name="other")
    settings = {
        "shim.tls.directory": str(tmp_path),
        "ssl.client.auth": "required",
        "ssl.truststore.certificates": other.cert_pem.bytes().decode(),
    }
    async with serving(listeners=(TLS,), properties=settings) as broker:
        for identity in (None, other.issue_cert(common_name="eve")):
            context = client_context(tmp_path, V1_2)
            if identity is None:
                context.load_cert_chain(tmp_path / "client.pem")
            else:
                identity.configure_cert(context)
            assert await outcome(broker, context) == "TLSv1.2"
