"""A connection that a proxy or a network capture observes, and its principal, without secrets."""

import contextlib
from collections import deque
from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple, Protocol

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import (
    RequestHeader,
    is_kafka_request,
    read_request_header,
)
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.shim.request.access import AccessRecord
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


_LOGIN = frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})
_RAW_TOKENS = {"PLAIN": 1, "OAUTHBEARER": 1, "SCRAM-SHA-256": 2, "SCRAM-SHA-512": 2}
"""How many bare SASL messages follow SaslHandshake version 0, from each side."""


class TrafficObserver(Protocol):
    """Receives what passes on connections, such as the `TraceRecorder`."""

    def record_request(self, session: Session, header: RequestHeader, frame: bytes) -> int: ...
    def record_outcome(
        self,
        session: Session,
        sequence: int,
        header: RequestHeader,
        decided: Sequence[AccessRecord],
        frame: bytes | None,
    ) -> None: ...
    def flush_events(self) -> None: ...
    def record_close(self, session: Session, reason: str) -> None: ...
    def close(self) -> None: ...


class _OutstandingRequest(NamedTuple):
    """A request without a response so far."""

    header: RequestHeader
    sequence: int


class ObservedConnection:
    """Passes requests and responses to an observer, and learns the client's principal from them."""

    def __init__(self, session: Session, observer: TrafficObserver) -> None:
        self._session = session
        self._observer = observer
        self._login = SaslPrincipalTracker(session)
        self._outstanding: deque[_OutstandingRequest] = deque()
        self._not_a_request = ""
        self._raw_requests = self._raw_responses = 0.0  # bare SASL messages that are still to come

    def observe_request(self, frame: bytes) -> None:
        """Record a request."""
        if self._raw_requests:
            self._raw_requests -= 1
            self._login.track_token(frame)
            return
        try:
            header, at = read_request_header(frame)
        except ProtocolError:
            return  # the broker will close the connection over it
        if not is_kafka_request(header):
            self._not_a_request = f"a frame of {len(frame)} bytes that is not a request"
            return  # it may be a raw SASL token with a password
        sequence = self._observer.record_request(self._session, header, frame)
        self._observer.flush_events()
        if request_expects_response(header, frame, at):
            self._outstanding.append(_OutstandingRequest(header, sequence))
        if header.api_key in _LOGIN:
            with contextlib.suppress(ProtocolError):
                message = codecs.read_request(header.api_key, header.api_version, frame, at)
                self._login.track_request(header.api_key, message)
        elif header.api_key == ApiKey.API_VERSIONS:
            self._set_client_software(header, frame, at)

    def observe_response(self, frame: bytes) -> RequestHeader | None:
        """Record a response; return the header of its request, or None if that was not observed."""
        if self._raw_responses:
            self._raw_responses -= 1
            if not self._raw_responses:
                self._login.accept()
            return None
        request = self._pop_request_dropping_earlier(frame[:4])
        if request is None:
            return None
        header, sequence = request
        self._observer.record_outcome(self._session, sequence, header, (), frame)
        self._observer.flush_events()
        if header.api_key in _LOGIN:
            with contextlib.suppress(ProtocolError):
                self._on_sasl_response(header, frame)
        return header

    @property
    def has_outstanding_responses(self) -> bool:
        """Return whether responses are outstanding."""
        return bool(self._outstanding)

    def record_close(self) -> None:
        """Record the end of the connection."""
        self._observer.record_close(self._session, self._not_a_request)

    def _pop_request_dropping_earlier(self, correlation_id: bytes) -> _OutstandingRequest | None:
        """Remove and return the request with this id; drop earlier ones, which get no response."""
        number = int.from_bytes(correlation_id, "big", signed=True)
        if not any(request.header.correlation_id == number for request in self._outstanding):
            return None
        while (request := self._outstanding.popleft()).header.correlation_id != number:
            pass
        return request

    def _on_sasl_response(self, header: RequestHeader, frame: bytes) -> None:
        key, version = header.api_key, header.api_version
        message, _ = read_response_with_version(key, version, frame)
        if key == ApiKey.SASL_HANDSHAKE and version == 0 and message.error_code == 0:
            count = _RAW_TOKENS.get(self._session.mechanism or "", inf)
            self._raw_requests = self._raw_responses = count
        self._login.track_response(key, message)

    def _set_client_software(self, header: RequestHeader, frame: bytes, at: int) -> None:
        with contextlib.suppress(ProtocolError):
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
            self._session.set_client_software(
                message.client_software_name, message.client_software_version
            )


def request_expects_response(header: RequestHeader, frame: bytes, at: int) -> bool:
    """Return whether the request gets a response; Produce with acks=0 does not."""
    if header.api_key != ApiKey.PRODUCE:
        return True
    try:
        message = codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return True
    return bool(message.acks != 0)
