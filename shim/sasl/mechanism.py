"""What every SASL mechanism looks like to the rest of the broker."""

from typing import Protocol

import msgspec


class SaslFailure(Exception):  # noqa: N818 - the client's failure, not ours
    """The client did not prove who it is; the text goes into the answer (error 58)."""


class SaslStep(msgspec.Struct, frozen=True):
    """What the server says next; with a principal the exchange is over and has succeeded.

    `expires_at_ms` is when the proof itself ends (a token's expiry), None if it does not.
    """

    reply: bytes
    principal: str | None = None
    expires_at_ms: int | None = None
    token_id: str | None = None


class SaslExchange(Protocol):
    """One authentication in progress."""

    def step(self, message: bytes) -> SaslStep:
        """Take the client's next message; raises SaslFailure."""
        ...
