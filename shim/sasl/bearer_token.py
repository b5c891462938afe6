"""What a bearer token comes down to, whoever checks it."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class TokenRefusedError(Exception):
    """The token is not good; the client is told so, the text is for the log."""


class BearerToken(NamedTuple):
    """A token that is good: whose it is, and until when."""

    subject: str
    expires_ms: int


class TokenValidator(Protocol):
    """Checks the tokens of a listener."""

    def validate(self, token: str, now_ms: int) -> BearerToken:
        """What is in a token; raises TokenRefusedError, or CloseConnection where Kafka chokes."""
        ...


def seconds(claims: Mapping[str, Any], name: str) -> float | None:
    """A time in seconds since 1970, with a fraction or without; None if the claim is not there."""
    found = claims.get(name)
    if found is not None and (isinstance(found, bool) or not isinstance(found, int | float)):
        raise TokenRefusedError(f"its {name} is no number")
    return found
