"""Connections of a replay to the target: frames, pipelined requests, and authentication."""

import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from kafka_shim.client.config import Login
from kafka_shim.client.login import InvalidLoginResponseError
from kafka_shim.client.login_frames import login_frames_then_error_code
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.trace_format.entries import Response
from kafka_shim.traces.connection_observer import request_expects_response
from kafka_shim.traces.identities.id_mapping import mapped_kinds_of_message
from kafka_shim.traces.replay.events import Event
from kafka_shim.traces.replay.recorded_to_target_mapping import RESPONSES_WITH_OFFSETS

FRAME_BYTES_MAX = 104_857_600
WINDOW_BYTES = 128 * 1024
"""What may be sent ahead of its responses: the socket holds it, so that sending never waits for a
target that waits for us to read."""


class ConnectionLostError(Exception):
    """The target closed the connection or did not respond in time; the text says which."""


class TargetConnection:
    """A connection; responses arrive in the order of the requests."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        """Connect. Raise ConnectionLostError if that fails."""
        self.address = host, port
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout_s)
        except OSError as error:
            raise ConnectionLostError(
                f"cannot connect to {host}:{port}: {error.strerror or error}"
            ) from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * WINDOW_BYTES)
        self._received = b""
        self._at = 0  # bytes before this position were returned

    def send(self, *frames: bytes) -> None:
        """Send frames, given without their sizes, in one call."""
        pieces = [piece for frame in frames for piece in (len(frame).to_bytes(4, "big"), frame)]
        try:
            self._socket.sendall(b"".join(pieces))
        except OSError as error:
            raise ConnectionLostError("the connection was closed") from error

    @property
    def has_response(self) -> bool:
        """Return whether a whole frame was read that was not returned yet."""
        begin = self._at + 4
        size = int.from_bytes(self._received[self._at : begin], "big")
        return len(self._received) >= begin + size

    def receive(self) -> bytes:
        """Return the next frame, without its size."""
        self._read(4)
        begin = self._at + 4
        size = int.from_bytes(self._received[self._at : begin], "big")
        if size > FRAME_BYTES_MAX:
            raise ConnectionLostError("the address is not a Kafka listener, or a TLS listener")
        self._read(4 + size)
        begin = self._at + 4
        self._at = begin + size
        return self._received[begin : self._at]

    def close(self) -> None:
        self._socket.close()

    def authenticate(self, login: Login) -> int:
        """Log in; return the target's error code, 0 for success."""
        exchange = login_frames_then_error_code(login)
        try:
            frame = next(exchange)
            while True:
                self.send(frame)
                frame = exchange.send(self.receive())
        except StopIteration as done:
            return int(done.value)
        except InvalidLoginResponseError as error:
            raise ConnectionLostError(f"the authentication failed: {error}") from error

    def _read(self, count: int) -> None:
        """Read until this number of bytes is available."""
        available_bytes = len(self._received) - self._at
        if available_bytes >= count:
            return
        pieces = [self._received[self._at :]]
        try:
            while available_bytes < count:
                chunk = self._socket.recv(1 << 18)
                if not chunk:
                    raise ConnectionLostError("the connection was closed")
                pieces.append(chunk)
                available_bytes += len(chunk)
        except TimeoutError as error:
            raise ConnectionLostError("no response in time") from error
        except OSError as error:
            raise ConnectionLostError("the connection was closed") from error
        self._received, self._at = b"".join(pieces), 0


WINDOW_REQUESTS = 200
"""A window is sent in halves. Once it is full, responses are taken until the first half has left
room for another: the target always has work.
"""


class InFlightRequest:
    """A request in flight: its sent frame, and its recorded event."""

    __slots__ = ("event", "frame", "recorded_frame")

    def __init__(self, event: Event, frame: bytes, recorded_frame: bytes) -> None:
        self.event = event
        self.frame = frame
        self.recorded_frame = recorded_frame

    @property
    def expects_response(self) -> bool:
        try:
            header, at = read_request_header(self.recorded_frame)
        except ProtocolError:
            return True
        return request_expects_response(header, self.recorded_frame, at)


class ReplayConnection:
    """A connection of the replay.

    A broker answers the requests of a connection one after another, so a request can be sent before
    earlier ones are answered. `due_responses` are those that the recording has reached and
    that were not received from the target yet.
    """

    def __init__(self, target_connection: TargetConnection | None, failure: str) -> None:
        self.target_connection = target_connection
        self.failure = failure
        self.in_flight_requests: dict[int, InFlightRequest] = {}
        self.due_responses: deque[tuple[Event, Response]] = deque()
        self.due_responses_contain_ids = False  # whether due responses may contain ids
        self.due_responses_contain_offsets = False
        self.mechanism = "PLAIN"
        self.login_error: int | None = None
        self._queued_frames: list[bytes] = []
        self._queued_bytes = 0
        self._unanswered_bytes = 0  # of requests without a received response

    @property
    def must_receive_before_sending(self) -> bool:
        """Return whether the window is full, and due responses can be received to empty it."""
        if self._unanswered_bytes > WINDOW_BYTES:
            return bool(self.due_responses)
        return len(self.due_responses) >= WINDOW_REQUESTS

    @property
    def is_sendable(self) -> bool:
        """Return whether more can be sent again, and no response is available immediately."""
        if self.target_connection is not None and self.target_connection.has_response:
            return False
        return (
            3 * self._unanswered_bytes < 2 * WINDOW_BYTES
            and 3 * len(self.due_responses) < 2 * WINDOW_REQUESTS
        )

    @property
    def has_many_unrecorded(self) -> bool:
        """Return whether many requests are in flight whose responses are not in the recording."""
        return len(self.in_flight_requests) >= 2 * WINDOW_REQUESTS

    @property
    def should_flush(self) -> bool:
        """Return whether queued requests should be sent, even if no response is due."""
        return (
            2 * self._queued_bytes > WINDOW_BYTES or 2 * len(self._queued_frames) >= WINDOW_REQUESTS
        )

    def queue_request(self, in_flight_request: InFlightRequest, sequence: int) -> None:
        """Queue a request for the next `flush`."""
        self.in_flight_requests[sequence] = in_flight_request
        size = len(in_flight_request.frame)
        self._queued_frames.append(in_flight_request.frame)
        self._queued_bytes += size
        self._unanswered_bytes += size

    def remove_in_flight_request(self, sequence: int) -> InFlightRequest:
        """Remove and return the request of a received response."""
        in_flight_request = self.in_flight_requests.pop(sequence)
        self._unanswered_bytes -= len(in_flight_request.frame)
        return in_flight_request

    def flush(self) -> None:
        """Send queued requests. Raise ConnectionLostError if the connection ends."""
        if self._queued_frames and self.target_connection is not None:
            frames, self._queued_frames, self._queued_bytes = self._queued_frames, [], 0
            self.target_connection.send(*frames)

    def mark_response_due(self, event: Event, entry: Response) -> None:
        """Mark a response as due."""
        self.due_responses.append((event, entry))
        kinds = mapped_kinds_of_message(entry.api_key, entry.api_version, "Response") - {"records"}
        self.due_responses_contain_ids = self.due_responses_contain_ids or bool(kinds)
        self.due_responses_contain_offsets = (
            self.due_responses_contain_offsets or entry.api_key in RESPONSES_WITH_OFFSETS
        )

    def receive_unrecorded_responses(
        self, until_sequence: int | None = None
    ) -> Iterator[tuple[InFlightRequest, bytes]]:
        """Yield the responses before that of a request, or all, that the recording does not have.

        Raise ConnectionLostError if the connection ends.
        """
        while self.in_flight_requests and self.target_connection is not None:
            sequence = next(iter(self.in_flight_requests))
            if sequence == until_sequence:
                return
            in_flight_request = self.in_flight_requests[sequence]
            frame = self.target_connection.receive() if in_flight_request.expects_response else None
            self.remove_in_flight_request(sequence)
            if frame is not None:
                yield in_flight_request, frame

    def mark_first_due_response_received(self) -> None:
        """Mark the first due response as received."""
        self.due_responses.popleft()
        self.due_responses_contain_ids = self.due_responses_contain_ids and bool(self.due_responses)
        self.due_responses_contain_offsets = self.due_responses_contain_offsets and bool(
            self.due_responses
        )

    def close(self, reason: str) -> list[Event]:
        """Close the connection; return the events whose responses are outstanding."""
        if self.target_connection is not None:
            self.target_connection.close()
        self.target_connection, self.failure = None, reason
        self._queued_frames, self._queued_bytes, self._unanswered_bytes = [], 0, 0
        lost_events = [event for event, _ in self.due_responses]
        self.due_responses.clear()
        self.in_flight_requests.clear()
        return lost_events


WRONG_PASSWORD = Login("PLAIN", "kafka-shim-replay", "a password that nobody has")
"""For a rejected authentication: the trace contains neither its user nor its password."""


class MissingPasswordError(Exception):
    """The password of a recorded user is missing; the message says what to do."""


def login_for_recorded_user(
    name: str, mechanism: str, passwords: Mapping[str, str], *, was_rejected: bool
) -> Login:
    """Return the login of a recorded user. Raise MissingPasswordError if it has no password."""
    if was_rejected:
        return WRONG_PASSWORD
    if name not in passwords:
        raise MissingPasswordError(f"no password of `{name}`: --user {name}:PASSWORD")
    return Login(mechanism, name, passwords[name])


def authenticate_replayed(
    connection: ReplayConnection,
    header: RequestHeader,
    frame: bytes,
    at: int,
    login_for_mechanism: Callable[[str], Login],
) -> None:
    """Remember the mechanism; at the first message of the exchange, authenticate completely.

    Raise ConnectionLostError if the target closes the connection, and what `login_for_mechanism`
    raises.
    """
    if header.api_key == ApiKey.SASL_HANDSHAKE:
        request = codecs.read_request(header.api_key, header.api_version, frame, at)
        connection.mechanism = request.mechanism
        connection.login_error = None
    elif connection.login_error is None:
        assert connection.target_connection is not None
        connection.login_error = connection.target_connection.authenticate(
            login_for_mechanism(connection.mechanism)
        )
