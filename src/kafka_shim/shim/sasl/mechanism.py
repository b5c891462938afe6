"""What every SASL mechanism looks like to the rest of the broker."""

from typing import Protocol

import msgspec

BEARER_REFUSAL = '{"status":"invalid_token"}'
"""The error of every refused bearer token."""


class SaslFailure(Exception):  # noqa: N818 - the client's failure, not ours
    """The authentication failed: SASL_AUTHENTICATION_FAILED (58), with this text.

    `reason` is for the log, where it says more than the text for the client.
    """

    def __init__(self, text: str, reason: str | None = None) -> None:
        super().__init__(text)
        self.reason = reason or text


class SaslReply(msgspec.Struct, frozen=True):
    """The server's next message; with a principal, the authentication has succeeded.

    `expires_at_ms` is when the authentication expires (a token's expiry); None if it does not.
    `rejection_reason`: the reason, if the message is an error that the client must acknowledge.
    """

    message: bytes
    principal: str | None = None
    expires_at_ms: int | None = None
    token_id: str | None = None
    rejection_reason: str | None = None


class SaslExchange(Protocol):
    """One authentication in progress."""

    def respond(self, message: bytes) -> SaslReply:
        """Respond to the client's next message. Raise SaslFailure if the authentication fails."""
        ...
