"""Secrets that must not reach a trace: SASL messages, salted passwords, HMACs, secret settings.

A frame with secrets is read, blanked and written anew; one that cannot be read is not kept at all.
"""

from collections.abc import Callable
from typing import Any

from protocol import codecs
from protocol.enums import ApiKey
from protocol.errors import ProtocolError
from protocol.headers import read_request_header, read_response_header, write_request_header

SECRET_SETTING_PARTS = ("password", "secret", "jaas", "credential", "keystore.key")
BLANK = "[hidden]"


def _sasl(message: Any) -> None:
    message.auth_bytes = b""


def _scram(message: Any) -> None:
    for one in message.upsertions:
        one.salt = b""
        one.salted_password = b""


def _hmac(message: Any) -> None:
    message.hmac = b""


def _token_hmacs(message: Any) -> None:
    for token in message.tokens:
        token.hmac = b""


def _settings(message: Any) -> None:
    for resource in message.resources:
        for setting in resource.configs:
            if any(part in setting.name.lower() for part in SECRET_SETTING_PARTS):
                setting.value = None if setting.value is None else BLANK


_REQUESTS: dict[int, Callable[[Any], None]] = {
    ApiKey.SASL_AUTHENTICATE: _sasl,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _scram,
    ApiKey.RENEW_DELEGATION_TOKEN: _hmac,
    ApiKey.EXPIRE_DELEGATION_TOKEN: _hmac,
    ApiKey.ALTER_CONFIGS: _settings,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _settings,
}
_RESPONSES: dict[int, Callable[[Any], None]] = {
    ApiKey.SASL_AUTHENTICATE: _sasl,
    ApiKey.CREATE_DELEGATION_TOKEN: _hmac,
    ApiKey.DESCRIBE_DELEGATION_TOKEN: _token_hmacs,
}
SECRET_REQUESTS = frozenset(_REQUESTS)
SECRET_ANSWERS = frozenset(_RESPONSES)
"""API keys of what may hold secrets; all else may be kept as it is."""


def without_secrets(frame: bytes, api_key: int) -> tuple[bytes, bool]:
    """A request's frame as it may be kept, and whether it had to be changed."""
    blank = _REQUESTS.get(api_key)
    if blank is None:
        return frame, False
    try:
        header, at = read_request_header(frame)
        message = codecs.read_request(api_key, header.api_version, frame, at)
        blank(message)
        body = codecs.write_request(message, header.api_version)
        return write_request_header(header) + body, True
    except ProtocolError:
        return frame[:8], True


def answer_without_secrets(frame: bytes, api_key: int, version: int) -> tuple[bytes, bool]:
    """A response's frame as it may be kept, and whether it had to be changed."""
    blank = _RESPONSES.get(api_key)
    if blank is None:
        return frame, False
    try:
        _, at = read_response_header(api_key, version, frame)
        message = codecs.read_response(api_key, version, frame, at)
        blank(message)
        return frame[:at] + codecs.write_response(api_key, version, message), True
    except ProtocolError:
        return frame[:4], True
