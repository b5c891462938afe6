"""Find out the principal of an observed connection, without keeping secrets."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.request.session import Session
from kafka_shim.trace_format.entries import UNKNOWN_PRINCIPAL


class SaslPrincipalTracker:
    """Follows the SASL messages of one connection."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._claimed: str | None = None

    def track_request(self, api_key: int, message: Any) -> None:
        """Process a SaslHandshake or SaslAuthenticate request."""
        if api_key == ApiKey.SASL_HANDSHAKE:
            self._session.mechanism = message.mechanism
        else:
            self.track_token(message.auth_bytes)

    def track_token(self, token: bytes) -> None:
        """Process a client's SASL message; the first one has the user."""
        if self._claimed is None:
            self._claimed = user_in_first_sasl_message(self._session.mechanism or "", token)

    def track_response(self, api_key: int, message: Any) -> None:
        """Process the broker's response, which decides whether the principal is accepted."""
        if api_key != ApiKey.SASL_AUTHENTICATE:
            return
        if message.error_code != 0:
            self._claimed = None
        else:
            self.accept()

    def accept(self) -> None:
        """Note that the authentication has succeeded; of a token, or of a message without its
        secrets, the user is unknown.
        """
        principal = UNKNOWN_PRINCIPAL if self._claimed is None else f"User:{self._claimed}"
        self._session.principal = principal


def user_in_first_sasl_message(mechanism: str, token: bytes) -> str | None:
    """Return the user in a client's first SASL message; None if it has none."""
    if mechanism == "PLAIN":
        parts = token.split(b"\0")
        return parts[1].decode(errors="replace") if len(parts) == 3 else None
    if mechanism.startswith("SCRAM-"):
        for part in token.decode(errors="replace").split(","):
            if part.startswith("n="):
                return part[2:].replace("=2C", ",").replace("=3D", "=")
    return None
