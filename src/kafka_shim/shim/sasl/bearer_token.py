"""The content of a bearer token, for all validators."""

from collections.abc import Mapping
from math import isnan
from typing import Any, NamedTuple, Protocol

_FAR_S = 2**53 // 1000


class TokenRefusedError(Exception):
    """The token is invalid. The text is for the log; the client gets only the error."""


class BearerToken(NamedTuple):
    """A token that is good: whose it is, and until when."""

    subject: str
    expires_ms: int


class TokenValidator(Protocol):
    """Checks the tokens of a listener."""

    def validate(self, token: str, now_ms: int) -> BearerToken:
        """Return a token's claims; TokenRefusedError, or CloseConnection where Kafka fails."""
        ...


def seconds(claims: Mapping[str, Any], name: str) -> float | None:
    """Return a time in seconds since 1970, with a fraction or without; None without the claim.

    Times beyond 285,000 years count as then: in milliseconds they would not fit into an answer.
    """
    found = claims.get(name)
    if found is None:
        return None
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    if not is_number or (isinstance(found, float) and isnan(found)):
        raise TokenRefusedError(f"its claim {name} is not a number")
    return float(max(-_FAR_S, min(found, _FAR_S)))
