"""OAUTHBEARER (RFC 7628, KIP-255): unsecured JSON web tokens, as Kafka's test validator has them.

The principal is the `sub` claim; `exp` must lie ahead. A refused token is answered with a JSON
status, upon which the client sends one more byte and the log-in fails.
"""

import base64
import binascii
from collections.abc import Callable

import msgspec

from shim.sasl.mechanism import SaslFailure, SaslStep

CLOCK_SKEW_MS = 0
_SEPARATOR = "\x01"


class _Header(msgspec.Struct):
    alg: str


class _Claims(msgspec.Struct):
    sub: str = ""
    exp: float | None = None
    iat: float | None = None


class BearerExchange:
    """One log-in with a token."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._refused: str | None = None

    def step(self, message: bytes) -> SaslStep:
        if self._refused is not None:
            raise SaslFailure(f"authentication failed: {self._refused}")
        try:
            authorization_id, token = _token(message.decode())
            claims = _claims(token)
        except (ValueError, msgspec.MsgspecError) as error:
            raise SaslFailure(f"authentication failed: {error}") from None
        problem = self._problem(claims)
        if problem is not None:
            self._refused = problem
            return SaslStep(b'{"status":"invalid_token"}')
        if authorization_id not in ("", claims.sub):
            raise SaslFailure("authentication failed: authorization id differs from the token's")
        assert claims.exp is not None
        return SaslStep(b"", f"User:{claims.sub}", expires_at_ms=int(claims.exp * 1000))

    def _problem(self, claims: _Claims) -> str | None:
        if not claims.sub:
            return "the token names no subject"
        if claims.exp is None:
            return "the token does not say when it expires"
        now_ms = self._now_ms()
        if claims.exp * 1000 + CLOCK_SKEW_MS <= now_ms:
            return "the token has expired"
        if claims.iat is not None and claims.iat * 1000 - CLOCK_SKEW_MS > now_ms:
            return "the token was issued in the future"
        return None


def _token(message: str) -> tuple[str, str]:
    """Authorization id and token of `n,a=ID,^Aauth=Bearer TOKEN^A^A`; ValueError if malformed."""
    header, separator, rest = message.partition(_SEPARATOR)
    parts = header.split(",")
    if not separator or len(parts) < 2 or parts[0] != "n":
        raise ValueError("the OAUTHBEARER message is malformed")
    pairs = dict(part.split("=", 1) for part in rest.split(_SEPARATOR) if "=" in part)
    scheme, _, token = pairs.get("auth", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise ValueError("the OAUTHBEARER message carries no bearer token")
    return parts[1].removeprefix("a="), token.strip()


def _claims(token: str) -> _Claims:
    """The claims of an unsecured token (`alg` none, empty signature); ValueError if it is none."""
    parts = token.split(".")
    if len(parts) != 3 or parts[2]:
        raise ValueError("the token is not an unsecured JSON web token")
    try:
        header, body = (base64.urlsafe_b64decode(f"{part}==") for part in parts[:2])
    except (binascii.Error, ValueError):
        raise ValueError("the token is not base64") from None
    if msgspec.json.decode(header, type=_Header).alg != "none":
        raise ValueError("the token is signed, which this listener cannot check")
    return msgspec.json.decode(body, type=_Claims)
