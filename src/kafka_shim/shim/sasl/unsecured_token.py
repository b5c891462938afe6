"""Unsecured JSON web tokens, Kafka's default validator: anyone can issue one for any principal."""

import base64
from typing import Any

from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.sasl.bearer_token import (
    BearerToken,
    TokenRefusedError,
    json_object,
    seconds,
    subject_of,
)


class UnsecuredTokens:
    """Tokens with the algorithm `none`; `sub` and `exp` are needed, `nbf` is not looked at."""

    def validate(self, token: str, now_ms: int) -> BearerToken:
        """Check format, subject and times; anyone can create such a token (KIP-255)."""
        parts = token.split(".")
        if len(parts) != 3 or parts[2]:
            raise TokenRefusedError("it is not an unsecured JSON web token")
        header, claims = _json(parts[0]), _json(parts[1])
        if "alg" not in header:
            raise CloseConnection("its algorithm is missing")
        if header["alg"] != "none":
            raise TokenRefusedError("it is signed, but this listener accepts only unsecured tokens")
        subject = subject_of(claims)
        expires, issued = seconds(claims, "exp"), seconds(claims, "iat")
        if expires is None:
            raise TokenRefusedError("its claim exp (expires) is missing")
        if expires * 1000 <= now_ms:
            raise TokenRefusedError("it has expired")
        if issued is not None and (issued * 1000 > now_ms or expires <= issued):
            raise TokenRefusedError("it was issued in the future, or after it expired")
        return BearerToken(subject, int(expires * 1000))


def _json(part: str) -> dict[str, Any]:
    try:
        raw = base64.urlsafe_b64decode(f"{part}==")
    except ValueError as error:
        raise TokenRefusedError("its parts are not base64") from error
    return json_object(raw, names_are_unique=False)
