"""The client's side of SASL: PLAIN (RFC 4616), SCRAM (RFC 5802) and OAUTHBEARER (RFC 7628).

A whole authentication is also there as frames (SaslHandshake 1, SaslAuthenticate).
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Generator
from typing import Any, NamedTuple

import msgspec

from kafka_shim.client.config import Login
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.text.whole_number import parse_whole_number

DIGESTS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}

ROUNDS_MIN = 4_096
"""Fewer make it cheap to guess the password from the proof; Kafka's clients reject them, too."""
ROUNDS_MAX = 1_000_000
"""A server that asks for more wants to keep the client busy: they would take seconds."""

Messages = Generator[bytes, bytes, None]
"""Messages of the client; the server's response to each is sent in."""


class InvalidLoginResponseError(Exception):
    """The server's part of the exchange is wrong: it does not know the password either."""


def sasl_messages(login: Login, nonce: str | None = None) -> Messages:
    """Return the client's messages; a nonce is passed only to repeat an exchange."""
    if login.mechanism in DIGESTS:
        return _scram_messages(login, nonce or secrets.token_urlsafe(24))
    if login.mechanism == "OAUTHBEARER":
        return _bearer_messages(login)
    return _plain_messages(login)


def _plain_messages(login: Login) -> Messages:
    yield f"\0{login.username}\0{login.password}".encode()


def _bearer_messages(login: Login) -> Messages:
    """Yield the message with the token, which is the password."""
    yield f"n,,\x01auth=Bearer {login.password}\x01\x01".encode()


def _scram_messages(login: Login, nonce: str) -> Messages:
    digest = DIGESTS[login.mechanism]
    name = login.username.replace("=", "=3D").replace(",", "=2C")
    first_bare = f"n={name},r={nonce}"
    server_first = (yield f"n,,{first_bare}".encode()).decode()
    fields = _parse_scram_attributes(server_first)
    server_nonce, rounds = fields.get("r", ""), parse_whole_number(fields.get("i", ""))
    is_usable = rounds is not None and rounds <= ROUNDS_MAX and "s" in fields
    if not server_nonce.startswith(nonce) or rounds is None or not is_usable:
        raise InvalidLoginResponseError(f"its SCRAM response is invalid: {server_first}")
    if rounds < ROUNDS_MIN:
        raise InvalidLoginResponseError(
            f"it asks for {rounds} SCRAM iterations: expected at least {ROUNDS_MIN}"
        )
    salt = base64.b64decode(fields["s"])
    salted_password = hashlib.pbkdf2_hmac(digest, login.password.encode(), salt, rounds)
    client_key = hmac.digest(salted_password, b"Client Key", digest)
    without_proof = f"c={base64.b64encode(b'n,,').decode()},r={server_nonce}"
    exchange = f"{first_bare},{server_first},{without_proof}".encode()
    signature = hmac.digest(hashlib.new(digest, client_key).digest(), exchange, digest)
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    last = yield f"{without_proof},p={base64.b64encode(proof).decode()}".encode()
    expected = hmac.digest(hmac.digest(salted_password, b"Server Key", digest), exchange, digest)
    if not hmac.compare_digest(last, b"v=" + base64.b64encode(expected)):
        raise InvalidLoginResponseError("it does not know the password itself")


def _parse_scram_attributes(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)


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
