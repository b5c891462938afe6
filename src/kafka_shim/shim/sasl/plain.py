"""PLAIN: authorization id, user name and password between NULs (RFC 4616)."""

import hmac
from collections.abc import Mapping

from kafka_shim.shim.sasl.mechanism import SaslFailure, SaslReply

INVALID = "authentication failed: invalid username or password"


class PlainExchange:
    """The one message of PLAIN, checked against the configured users.

    `drops_ending_nuls`: those behind the password do not count, as before 2.3.
    """

    def __init__(self, users: Mapping[str, str], *, drops_ending_nuls: bool = False) -> None:
        self._users = users
        self._drops_ending_nuls = drops_ending_nuls

    def respond(self, message: bytes) -> SaslReply:
        """Check the message: another authorization id is rejected (CVE-2017-12610); constant-time
        compare.
        """
        if self._drops_ending_nuls:
            message = message.rstrip(b"\0")
        parts = message.split(b"\0")
        if len(parts) != 3:
            raise SaslFailure("authentication failed: expected three fields in the PLAIN message")
        try:
            authorization_id, user, password = (part.decode() for part in parts)
        except UnicodeDecodeError:
            raise SaslFailure("authentication failed: PLAIN message is not UTF-8") from None
        if not user or not password:
            raise SaslFailure("authentication failed: username or password is empty")
        expected = self._users.get(user)
        given = password.encode()
        known = hmac.compare_digest((expected or "").encode(), given) and expected is not None
        if not known:
            raise SaslFailure(INVALID)
        if authorization_id not in ("", user):
            raise SaslFailure("authentication failed: authorization id differs from the username")
        return SaslReply(b"", f"User:{user}")
