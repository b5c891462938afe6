"""A whole authentication as frames (SaslHandshake 1, SaslAuthenticate), whatever carries them."""

from collections.abc import Generator
from typing import Any, NamedTuple

import msgspec

from kafka_shim.client.config import Login
from kafka_shim.client.login import InvalidLoginResponseError, sasl_messages
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.protocol.response_frames import read_response_with_version

CLIENT_ID = "kafka-shim"


class LoginResult(NamedTuple):
    """The error code, 0 for success, and after how long to authenticate again (0: never)."""

    error_code: int
    session_lifetime_ms: int = 0


Frames = Generator[bytes, bytes, LoginResult]
"""Requests without their sizes; the frame of each answer is sent in. Ends with the result."""


def login_frames(login: Login, version: int = 0) -> Frames:
    """Yield the frames of an authentication with this version of SaslAuthenticate.

    Before version 1, brokers do not return the lifetime. Raise InvalidLoginResponseError if a
    response is invalid.
    """
    handshake = yield from _exchange_request(
        ApiKey.SASL_HANDSHAKE, 1, SaslHandshakeRequest(login.mechanism)
    )
    if handshake.error_code:
        return LoginResult(handshake.error_code)
    exchange, lifetime_ms = sasl_messages(login), 0
    try:
        message = next(exchange)
        while True:
            request = SaslAuthenticateRequest(message)
            response = yield from _exchange_request(ApiKey.SASL_AUTHENTICATE, version, request)
            if response.error_code:
                return LoginResult(response.error_code)
            lifetime_ms = response.session_lifetime_ms
            message = exchange.send(response.auth_bytes)
    except StopIteration:
        return LoginResult(0, lifetime_ms)


def _exchange_request(
    api: ApiKey, version: int, request: msgspec.Struct
) -> Generator[bytes, bytes, Any]:
    head = write_request_header(RequestHeader(api, version, 0, CLIENT_ID))
    frame = yield head + codecs.write_request(request, version)
    try:
        return read_response_with_version(api, version, frame)[0]
    except ProtocolError as error:
        raise InvalidLoginResponseError(str(error)) from error
