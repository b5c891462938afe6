"""Unsecured JSON web tokens, Kafka's default validator: anyone can issue one for any principal."""

import base64
from typing import Any

from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.sasl.bearer_token import (
    TokenRejectedError,
    ValidatedToken,
    parse_json_object,
    required_subject,
    time_claim_s_or_none,
)


class UnsecuredTokenValidator:
    """Tokens with the algorithm `none`; claims `sub` and `exp` are needed, `nbf` is ignored."""

    def validate(self, token: str, now_ms: int) -> ValidatedToken:
        """Check format, subject and times; anyone can create such a token (KIP-255)."""
        parts = token.split(".")
        if len(parts) != 3 or parts[2]:
            raise TokenRejectedError("it is not an unsecured JSON web token")
        header, claims = decode_json_part(parts[0]), decode_json_part(parts[1])
        if "alg" not in header:
            raise CloseConnection("its algorithm is missing")
        if header["alg"] != "none":
            raise TokenRejectedError(
                "it is signed, but this listener accepts only unsecured tokens"
            )
        subject = required_subject(claims)
        expires, issued = (
            time_claim_s_or_none(claims, "exp"),
            time_claim_s_or_none(claims, "iat"),
        )
        if expires is None:
            raise TokenRejectedError("its claim exp (expires) is missing")
        if expires * 1000 <= now_ms:
            raise TokenRejectedError("it has expired")
        if issued is not None and (issued * 1000 > now_ms or expires <= issued):
            raise TokenRejectedError("it was issued in the future, or after it expired")
        return ValidatedToken(subject, int(expires * 1000))


def decode_json_part(part: str) -> dict[str, Any]:
    """Return a part of a token, such as its claims. Raise TokenRejectedError if it is invalid."""
    try:
        raw = base64.urlsafe_b64decode(f"{part}==")
    except ValueError as error:
        raise TokenRejectedError("its parts are not base64") from error
    return parse_json_object(raw, names_are_unique=False)
