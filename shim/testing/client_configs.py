"""What clients are made with, in the names of each library."""

from collections.abc import Callable
from typing import Any

Login = tuple[str, str, str]
"""Mechanism, user, password."""


def client_config(style: str, servers: str, login: Login | None) -> dict[str, Any]:
    """Ready to pass; ValueError for a library that is not known."""
    if style not in _STYLES:
        raise ValueError(f"no client is named `{style}`; use one of {', '.join(_STYLES)}")
    return _STYLES[style](servers, login)


def _librdkafka(servers: str, login: Login | None) -> dict[str, Any]:
    if login is None:
        return {"bootstrap.servers": servers}
    mechanism, user, password = login
    return {
        "bootstrap.servers": servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
    }


def _python(servers: str, login: Login | None) -> dict[str, Any]:
    if login is None:
        return {"bootstrap_servers": servers}
    mechanism, user, password = login
    return {
        "bootstrap_servers": servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": password,
    }


def _java(servers: str, login: Login | None) -> dict[str, Any]:
    if login is None:
        return {"bootstrap.servers": servers}
    mechanism, user, password = login
    module = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
    return {
        "bootstrap.servers": servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": (
            f"org.apache.kafka.common.security.{module}LoginModule required"
            f' username="{_quoted(user)}" password="{_quoted(password)}";'
        ),
    }


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


_STYLES: dict[str, Callable[[str, Login | None], dict[str, Any]]] = {
    "confluent-kafka": _librdkafka,
    "kafka-python": _python,
    "aiokafka": _python,
    "java": _java,
}
