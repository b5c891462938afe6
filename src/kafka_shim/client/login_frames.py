"""A whole authentication as frames (SaslHandshake 1, SaslAuthenticate 0), whatever carries them."""

from collections.abc import Generator
from typing import Any

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

Frames = Generator[bytes, bytes, int]
"""Requests without their sizes; the frame of each answer is sent in. Ends with an error code."""


def login_frames_then_error_code(login: Login) -> Frames:
    """Yield the frames of an authentication; the error code is 0 for success.

    Raise InvalidLoginResponseError if a response is invalid.
    """
    handshake = yield from _call(ApiKey.SASL_HANDSHAKE, 1, SaslHandshakeRequest(login.mechanism))
    if handshake.error_code:
        return int(handshake.error_code)
    exchange = sasl_messages(login)
    try:
        message = next(exchange)
        while True:
            request = SaslAuthenticateRequest(message)
            response = yield from _call(ApiKey.SASL_AUTHENTICATE, 0, request)
            if response.error_code:
                return int(response.error_code)
            message = exchange.send(response.auth_bytes)
    except StopIteration:
        return 0


def _call(api: ApiKey, version: int, request: msgspec.Struct) -> Generator[bytes, bytes, Any]:
    head = write_request_header(RequestHeader(api, version, 0, CLIENT_ID))
    frame = yield head + codecs.write_request(request, version)
    try:
        return read_response_with_version(api, version, frame)[0]
    except ProtocolError as error:
        raise InvalidLoginResponseError(str(error)) from error
