"""Handshakes that fail with an alert, as Java's do, and with the reason.

asyncio closes the connection before the alert is sent, so that clients cannot tell a rejected
certificate from a broker that is down.
"""

import ssl
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from kafka_shim.shim.tls.distinguished_name import subject_of_certificate

send_alert: ContextVar[Callable[[bytes], None]] = ContextVar("send_alert")
"""Writes to the socket of the connection whose handshake begins."""

_BAD_CERTIFICATE, _CERTIFICATE_UNKNOWN = 42, 46
_JAVA_ALERTS = {
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": _BAD_CERTIFICATE,
    "CERTIFICATE_VERIFY_FAILED": _CERTIFICATE_UNKNOWN,
}
_ALERT_RECORD, _ALERT_BYTES = 0x15, 7
_HANDSHAKE, _CERTIFICATE = 22, 11  # types of records and of messages


class AlertSendingHandshake(ssl.SSLObject):
    """One end of a handshake; sends the alert if it fails."""

    outgoing: ssl.MemoryBIO
    client_certificate: bytes | None = None

    def do_handshake(self) -> None:
        try:
            super().do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except ssl.SSLError as error:
            error.client_certificate = self.client_certificate  # type: ignore[attr-defined]
            send = send_alert.get(None)
            if send is not None and self.outgoing.pending:
                send(_replace_alert(self.outgoing.read(), error.reason or ""))
            raise


class JavaAlertContext(ssl.SSLContext):
    """A server's context whose handshakes send alerts, and remember the client's certificate."""

    sslobject_class = AlertSendingHandshake

    def wrap_bio(
        self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *args: Any, **more: Any
    ) -> ssl.SSLObject:
        handshake = super().wrap_bio(incoming, outgoing, *args, **more)
        assert isinstance(handshake, AlertSendingHandshake)
        handshake.outgoing = outgoing
        return handshake

    def record_client_certificates(self) -> None:
        """Keep the certificate that a client sends, since OpenSSL forgets a rejected one.

        Only CPython's debugging hook shows it. The hook of the base class gets numbers, which
        takes far less time than the enums of `ssl.SSLContext`.
        """
        hook = getattr(ssl.SSLContext.__mro__[1], "_msg_callback", None)
        if hook is not None:
            hook.__set__(self, _record_client_certificate)


def handshake_failure_text_with_subject(error: ssl.SSLError) -> str:
    """Return why a handshake failed, and whose certificate was rejected."""
    reason = (error.reason or "unknown reason").lower().replace("_", " ")
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = f"{reason}: {error.verify_message}"
    certificate = getattr(error, "client_certificate", None)
    if certificate is None:
        return reason
    try:
        return f"{reason}; the certificate's subject is `{subject_of_certificate(certificate)}`"
    except ValueError as unreadable:
        return f"{reason}; {unreadable}"


def _record_client_certificate(
    handshake: AlertSendingHandshake,
    direction: str,
    version: int,
    content_type: int,
    message_type: int,
    message: bytes,
) -> None:
    if direction != "read" or content_type != _HANDSHAKE or message_type != _CERTIFICATE:
        return
    at = 4
    if version == ssl.TLSVersion.TLSv1_3:
        at += 1 + message[at]  # the context of the request
    size = int.from_bytes(message[at + 3 : at + 6])
    handshake.client_certificate = message[at + 6 : at + 6 + size] or None


def _replace_alert(records: bytes, reason: str) -> bytes:
    """Replace OpenSSL's alert by Java's.

    DEVIATION: TLS 1.3 encrypts alerts, so that it keeps OpenSSL's.
    """
    java_alert = _JAVA_ALERTS.get(reason)
    alert = records[-_ALERT_BYTES:]
    if java_alert is None or alert[0] != _ALERT_RECORD or alert[3:5] != b"\0\x02":
        return records
    return records[:-1] + bytes([java_alert])
