"""Settings of clients, with the names of each library."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_shim.testing.unknown_name import unknown_name_message

Login = tuple[str, str, str]
"""Mechanism, user, password."""


@dataclass(frozen=True)
class CertificateFiles:
    """PEM files: the authority to trust, and the client's key with its certificate, if any."""

    authority: Path
    identity: Path | None


@dataclass(frozen=True)
class ClientSecurity:
    """The security settings of a client; without certificates it trusts those of its library."""

    protocol: str
    login: Login | None
    certificates: CertificateFiles | None


def client_config(style: str, servers: str, security: ClientSecurity) -> dict[str, Any]:
    """Return the configuration, ready to pass. Raise ValueError for an unknown library."""
    if style not in _STYLES:
        raise ValueError(unknown_name_message("client", style, _STYLES))
    return _STYLES[style](servers, security)


def _librdkafka_config(servers: str, security: ClientSecurity) -> dict[str, Any]:
    config = _dotted_config(servers, security)
    if security.login is not None:
        mechanism, user, password = security.login
        config |= {"sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password}
    if security.certificates is not None:
        config["ssl.ca.location"] = str(security.certificates.authority)
        if security.certificates.identity is not None:
            identity = str(security.certificates.identity)
            config |= {"ssl.certificate.location": identity, "ssl.key.location": identity}
    return config


def _java_config(servers: str, security: ClientSecurity) -> dict[str, Any]:
    config = _dotted_config(servers, security)
    if security.login is not None:
        mechanism, user, password = security.login
        module = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
        config |= {
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": (
                f"org.apache.kafka.common.security.{module}LoginModule required"
                f' username="{_quote_jaas_value(user)}"'
                f' password="{_quote_jaas_value(password)}";'
            ),
        }
    if security.certificates is not None:
        config |= _java_store_config("truststore", security.certificates.authority)
        if security.certificates.identity is not None:
            config |= _java_store_config("keystore", security.certificates.identity)
    return config


def _dotted_config(servers: str, security: ClientSecurity) -> dict[str, Any]:
    config = {"bootstrap.servers": servers}
    if security.protocol != "PLAINTEXT":
        config["security.protocol"] = security.protocol
    return config


def _java_store_config(kind: str, path: Path) -> dict[str, Any]:
    return {f"ssl.{kind}.type": "PEM", f"ssl.{kind}.location": str(path)}


def _quote_jaas_value(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _kafka_python_config(servers: str, security: ClientSecurity) -> dict[str, Any]:
    config = _underscored_config(servers, security)
    if security.certificates is not None:
        config["ssl_cafile"] = str(security.certificates.authority)
        if security.certificates.identity is not None:
            identity = str(security.certificates.identity)
            config |= {"ssl_certfile": identity, "ssl_keyfile": identity}
    return config


def _aiokafka_config(servers: str, security: ClientSecurity) -> dict[str, Any]:
    config = _underscored_config(servers, security)
    if not security.protocol.endswith("SSL"):
        return config
    import ssl  # noqa: PLC0415 - only this library takes a context

    context = ssl.create_default_context()
    if security.certificates is not None:
        context = ssl.create_default_context(cafile=security.certificates.authority)
        if security.certificates.identity is not None:
            context.load_cert_chain(security.certificates.identity)
    return config | {"ssl_context": context}


def _underscored_config(servers: str, security: ClientSecurity) -> dict[str, Any]:
    config = {"bootstrap_servers": servers}
    if security.protocol != "PLAINTEXT":
        config["security_protocol"] = security.protocol
    if security.login is not None:
        mechanism, user, password = security.login
        config |= {
            "sasl_mechanism": mechanism,
            "sasl_plain_username": user,
            "sasl_plain_password": password,
        }
    return config


_STYLES: dict[str, Callable[[str, ClientSecurity], dict[str, Any]]] = {
    "confluent-kafka": _librdkafka_config,
    "kafka-python": _kafka_python_config,
    "aiokafka": _aiokafka_config,
    "java": _java_config,
}
