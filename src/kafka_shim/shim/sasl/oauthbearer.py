"""OAUTHBEARER (RFC 7628, KIP-255): a token instead of a password.

A refused token gets a JSON status, upon which the client sends one more byte and the
authentication fails. Who checks tokens, and how, is in `bearer_token.py` and `signed_token.py`.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.sasl.bearer_token import TokenRejectedError, TokenValidator
from kafka_shim.shim.sasl.mechanism import BEARER_REFUSAL, SaslFailure, SaslReply

_FIRST = re.compile(
    r"n,(?:a=(?P<id>(?:[^\x00=,\x80-\U0010ffff]|=2C|=3D)+))?,"
    r"\x01(?P<pairs>(?:[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01)*)\x01"
)
_AUTH = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_.a-zA-Z0-9]+)", re.ASCII)


class BearerExchange:
    """One authentication with a token."""

    def __init__(self, validator: TokenValidator, now_ms: Callable[[], int]) -> None:
        self._validator = validator
        self._now_ms = now_ms
        self._rejection_reason: str | None = None

    def respond(self, message: bytes) -> SaslReply:
        """Validate the token of a message. Raise SaslFailure after the reply to a rejected one."""
        if self._rejection_reason is not None:
            raise SaslFailure(BEARER_REFUSAL, self._rejection_reason)
        authorization_id, encoded = _parse_client_message(message)
        try:
            token = self._validator.validate(encoded, self._now_ms())
        except TokenRejectedError as error:
            self._rejection_reason = f"the token is refused: {error}"
            return SaslReply(BEARER_REFUSAL.encode(), rejection_reason=self._rejection_reason)
        if authorization_id not in ("", token.subject):
            raise SaslFailure("authentication failed: authorization id differs from the token's")
        return SaslReply(b"", f"User:{token.subject}", expires_at_ms=token.expires_ms)


class _ClientMessage(NamedTuple):
    authorization_id: str
    token: str


def _parse_client_message(message: bytes) -> _ClientMessage:
    """Parse `n,a=ID,^Aauth=Bearer TOKEN^A^A`; the last of equal names counts, other names are
    ignored extensions (KIP-342).
    """
    try:
        first = _FIRST.fullmatch(message.decode())
    except UnicodeDecodeError:
        first = None
    if first is None:
        raise SaslFailure("authentication failed: the OAUTHBEARER message is malformed")
    pairs = dict(pair.split("=", 1) for pair in first["pairs"].split("\x01") if pair)
    auth = _AUTH.fullmatch(pairs.get("auth", ""))
    if auth is None:
        raise SaslFailure("authentication failed: the OAUTHBEARER message carries no token")
    if auth["scheme"].lower() != "bearer":  # a real broker fails at its own error text
        raise CloseConnection(f"OAUTHBEARER scheme {auth['scheme']}")
    authorization_id = (first["id"] or "").replace("=2C", ",").replace("=3D", "=")
    return _ClientMessage(authorization_id, auth["token"])
