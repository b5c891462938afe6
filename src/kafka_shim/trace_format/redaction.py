"""Removes secrets from frames: SASL messages, salted passwords, HMACs, secret settings.

A frame with secrets is decoded, blanked and encoded again; if that fails, its header is kept.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.catalogue import has_version
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import (
    read_request_header,
    read_response_header,
    write_request_header,
)

SECRET_SETTING_PARTS = (
    "password",
    "passphrase",
    "secret",
    "jaas",
    "credential",
    "certificate",
    "private.key",
    "access.key",
    "api.key",
    "master.key",
    "keystore.key",
)
BLANK = "[hidden]"


class RedactedFrame(NamedTuple):
    """A frame without secrets."""

    frame: bytes
    is_changed: bool


def is_secret_setting(name: str) -> bool:
    """Return whether a setting may contain a secret; also for names unknown to Kafka."""
    lower = name.lower()
    return any(part in lower for part in SECRET_SETTING_PARTS)


def _blank_sasl_bytes(message: Any) -> None:
    message.auth_bytes = b""


def _blank_salted_passwords(message: Any) -> None:
    for upsertion in message.upsertions:
        upsertion.salt = b""
        upsertion.salted_password = b""


def _blank_hmac(message: Any) -> None:
    message.hmac = b""


def _blank_token_hmacs(message: Any) -> None:
    for token in message.tokens:
        token.hmac = b""


def _blank_sensitive_altered_settings(message: Any) -> None:
    for resource in message.resources:
        _blank_sensitive_settings(resource.configs)


def _blank_sensitive_created_topic_settings(message: Any) -> None:
    for topic in message.topics:
        _blank_sensitive_settings(topic.configs)


def _blank_sensitive_described_settings(message: Any) -> None:
    for result in message.results:
        _blank_sensitive_settings(result.configs)
        for setting in result.configs:
            _blank_sensitive_settings(setting.synonyms)


def _blank_sensitive_settings(settings: Iterable[Any]) -> None:
    for setting in settings:
        if setting.value is not None and (
            getattr(setting, "is_sensitive", False) or is_secret_setting(setting.name)
        ):
            setting.value = BLANK


def _blank_enveloped_request(message: Any) -> None:
    message.request_data = b""


def _blank_enveloped_response(message: Any) -> None:
    message.response_data = None


_REQUESTS: dict[int, Callable[[Any], None]] = {
    ApiKey.SASL_AUTHENTICATE: _blank_sasl_bytes,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _blank_salted_passwords,
    ApiKey.RENEW_DELEGATION_TOKEN: _blank_hmac,
    ApiKey.EXPIRE_DELEGATION_TOKEN: _blank_hmac,
    ApiKey.ALTER_CONFIGS: _blank_sensitive_altered_settings,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _blank_sensitive_altered_settings,
    ApiKey.CREATE_TOPICS: _blank_sensitive_created_topic_settings,
    ApiKey.ENVELOPE: _blank_enveloped_request,
}
_RESPONSES: dict[int, Callable[[Any], None]] = {
    ApiKey.SASL_AUTHENTICATE: _blank_sasl_bytes,
    ApiKey.CREATE_DELEGATION_TOKEN: _blank_hmac,
    ApiKey.DESCRIBE_DELEGATION_TOKEN: _blank_token_hmacs,
    ApiKey.DESCRIBE_CONFIGS: _blank_sensitive_described_settings,
    ApiKey.ENVELOPE: _blank_enveloped_response,
}
SECRET_REQUESTS = frozenset(_REQUESTS)
SECRET_RESPONSES = frozenset(_RESPONSES)
"""API keys of messages that may contain secrets."""


def redact_request(frame: bytes, api_key: int) -> RedactedFrame:
    """Return a request's frame without secrets; only its header if it cannot be read."""
    blank = _REQUESTS.get(api_key)
    if blank is None:
        return RedactedFrame(frame, is_changed=False)
    readable = 8
    try:
        header, at = read_request_header(frame)
        readable = at if has_version(api_key, header.api_version) else readable
        message = codecs.read_request(api_key, header.api_version, frame, at)
        blank(message)
        redacted = write_request_header(header) + codecs.write_request(message, header.api_version)
    except ProtocolError:
        redacted = frame[:readable]
    return RedactedFrame(redacted, is_changed=redacted != frame)


def redact_response(frame: bytes, api_key: int, version: int) -> RedactedFrame:
    """Return a response's frame without secrets; only 4 bytes if it cannot be read."""
    blank = _RESPONSES.get(api_key)
    if blank is None:
        return RedactedFrame(frame, is_changed=False)
    try:
        _, at = read_response_header(api_key, version, frame)
        message = codecs.read_response(api_key, version, frame, at)
        blank(message)
        redacted = frame[:at] + codecs.write_response(api_key, version, message)
    except ProtocolError:
        redacted = frame[:4]
    return RedactedFrame(redacted, is_changed=redacted != frame)
