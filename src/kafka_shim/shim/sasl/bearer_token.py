"""The content of a bearer token, for all validators, and Kafka's default validator.

That is for unsecured JSON web tokens: anyone can issue one for any principal.
"""

import base64
import json
from collections.abc import Mapping
from math import isnan
from typing import Any, NamedTuple, NoReturn, Protocol

from kafka_shim.shim.errors import CloseConnection
from kafka_shim.text.input_files import is_utf8

_FAR_S = 2**53 // 1000
_LONG_MAX = 2**63 - 1


class TokenRejectedError(Exception):
    """The token is invalid. The text is for the log; the client gets only the error."""


class ValidatedToken(NamedTuple):
    """The user and the expiry of a valid token."""

    subject: str
    expires_ms: int


class TokenValidator(Protocol):
    """Checks the tokens of a listener."""

    def validate(self, token: str, now_ms: int) -> ValidatedToken:
        """Return a token's subject and expiry.

        Raise TokenRejectedError if it is invalid, CloseConnection where Kafka fails.
        """
        ...


def parse_json_object(raw: bytes | str, *, names_are_unique: bool) -> dict[str, Any]:
    """Parse a part of a token. Raise TokenRejectedError if it is not a JSON object.

    `names_are_unique`: a repeated name is rejected, as by jose4j; otherwise the last one counts, as
    in Jackson. Both reject NaN and Infinity.
    """

    def reject_duplicate_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            raise ValueError("a name is repeated")
        return content

    try:
        content = json.loads(
            raw,
            parse_constant=_reject_special_number,
            object_pairs_hook=reject_duplicate_names if names_are_unique else dict,
        )
    except (ValueError, RecursionError) as error:
        raise TokenRejectedError(f"a part is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise TokenRejectedError("a part is not a JSON object")
    return content


def _reject_special_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def required_subject(claims: Mapping[str, Any], name: str = "sub") -> str:
    """Return the subject. Raise TokenRejectedError if it is empty, or not valid Unicode."""
    subject = claims.get(name)
    if not isinstance(subject, str) or not subject.strip():
        raise TokenRejectedError("its subject is missing")
    if not is_utf8(subject):  # DEVIATION: a real broker lets it in
        raise TokenRejectedError("its subject has half a character (a lone surrogate)")
    return subject


def check_int64_times(claims: Mapping[str, Any], *names: str) -> None:
    """Raise TokenRejectedError for times that jose4j rejects: whole numbers beyond 64 bits."""
    for name in names:
        time = claims.get(name)
        if isinstance(time, int) and not -_LONG_MAX - 1 <= time <= _LONG_MAX:
            raise TokenRejectedError(f"its claim {name} is beyond 64 bits")


def check_millisecond_range(claims: Mapping[str, Any], *names: str) -> None:
    """Raise CloseConnection for valid times whose milliseconds are beyond 64 bits, at which Kafka
    fails.
    """
    for name in names:
        time = claims.get(name)
        if isinstance(time, int | float) and abs(time) > _LONG_MAX / 1000:
            raise CloseConnection(
                f"the claim {name} of its token is beyond 64 bits in milliseconds"
            )


def time_claim_s_or_none(claims: Mapping[str, Any], name: str) -> float | None:
    """Return a time in seconds since 1970, with a fraction or without; None without the claim.

    Times beyond 285,000 years count as then: in milliseconds they would not fit into a response.
    """
    time = claims.get(name)
    if time is None:
        return None
    is_number = isinstance(time, int | float) and not isinstance(time, bool)
    if not is_number or (isinstance(time, float) and isnan(time)):
        raise TokenRejectedError(f"its claim {name} is not a number")
    return float(max(-_FAR_S, min(time, _FAR_S)))


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
