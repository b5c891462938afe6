"""OAUTHBEARER (RFC 7628, KIP-255): a token instead of a password.

A refused token gets a JSON status, upon which the client sends one more byte and the
authentication fails. Who checks tokens, and how, is in `unsecured_token.py` and `signed_token.py`.
"""

import re
from collections.abc import Callable

from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.sasl.bearer_token import TokenRejectedError, TokenValidator
from kafka_shim.shim.sasl.mechanism import BEARER_REFUSAL, SaslFailure, SaslStep

_FIRST = re.compile(
    r"n,(?:a=(?P<who>(?:[^\x00=,\x80-\U0010ffff]|=2C|=3D)+))?,"
    r"\x01(?P<pairs>(?:[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01)*)\x01"
)
_AUTH = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_.a-zA-Z0-9]+)", re.ASCII)


class BearerExchange:
    """One authentication with a token."""

    def __init__(self, validator: TokenValidator, now_ms: Callable[[], int]) -> None:
        self._validator = validator
        self._now_ms = now_ms
        self._is_rejected = False

    def step(self, message: bytes) -> SaslStep:
        if self._is_rejected:
            raise SaslFailure(BEARER_REFUSAL)
        who, text = _parse_client_message(message)
        try:
            token = self._validator.validate(text, self._now_ms())
        except TokenRejectedError as error:
            self._is_rejected = True
            return SaslStep(
                BEARER_REFUSAL.encode(), rejection_reason=f"the token is refused: {error}"
            )
        if who not in ("", token.subject):
            raise SaslFailure("authentication failed: authorization id differs from the token's")
        return SaslStep(b"", f"User:{token.subject}", expires_at_ms=token.expires_ms)


def _parse_client_message(message: bytes) -> tuple[str, str]:
    """Return authorization id and token of `n,a=ID,^Aauth=Bearer TOKEN^A^A`; the last of equal
    names counts, other names are ignored extensions (KIP-342).
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
    who = (first["who"] or "").replace("=2C", ",").replace("=3D", "=")
    return who, auth["token"]
