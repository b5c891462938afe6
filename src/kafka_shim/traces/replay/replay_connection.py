"""A connection of the replay: requests in flight, and its connections to the target's brokers."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

from kafka_shim.trace_format.entries import Response
from kafka_shim.traces.identities.id_mapping import mapped_kinds_of_message
from kafka_shim.traces.replay.events import Event
from kafka_shim.traces.replay.offset_mapping import RESPONSES_WITH_OFFSETS
from kafka_shim.traces.replay.target_connection import (
    WINDOW_BYTES,
    Address,
    ConnectionClosedError,
    SentRequest,
    TargetConnection,
)

WINDOW_REQUESTS = 200
"""A window is sent in halves. Once it is full, responses are taken until the first half has left
room for another: the target always has work.
"""


class InFlightRequest:
    """A request in flight: its frame for the target, its parts for brokers, its recorded event.

    `recorded_frame` has the recorded ids, in the version of the target.
    """

    __slots__ = (
        "event", "expects_response", "frame", "is_repeated", "parts", "recorded_frame",
        "recorded_version", "version",
    )  # fmt: skip

    def __init__(
        self,
        event: Event,
        frame: bytes,
        recorded_frame: bytes,
        versions: tuple[int, int],
        *,
        expects_response: bool = True,
    ) -> None:
        self.event = event
        self.frame = frame
        self.recorded_frame = recorded_frame
        self.recorded_version, self.version = versions
        self.parts: list[tuple[TargetConnection, SentRequest]] = []
        self.expects_response = expects_response
        self.is_repeated = False
        """Whether it was sent again after its connection was lost, so that it may count twice."""


class ReplayConnection:
    """A connection of the replay.

    A broker answers the requests of a connection one after another, so a request can be sent before
    earlier ones are answered. `due_responses` are those that the recording has reached and
    that were not received from the target yet.

    `open_connection` returns an authenticated connection to a broker of the target.
    """

    def __init__(self, open_connection: Callable[[Address], TargetConnection]) -> None:
        self.failure = ""
        """Why nothing can be sent any more."""
        self.in_flight_requests: dict[int, InFlightRequest] = {}
        self.due_responses: deque[tuple[Event, Response]] = deque()
        self.due_responses_contain_ids = False  # whether due responses may contain ids
        self.due_responses_contain_offsets = False
        self.is_rejected = False
        """Whether the target closes each connection over the first request."""
        self._open_connection = open_connection
        self._connections: dict[Address, TargetConnection] = {}
        self._busy_addresses: set[Address] = set()
        """Where the requests in flight were sent."""
        self._queued_count = self._queued_bytes = 0
        self._unanswered_bytes = 0  # of requests without a received response

    @property
    def is_usable(self) -> bool:
        return not self.failure

    def target_connection(self, address: Address) -> TargetConnection:
        """Return the connection to a broker, which is opened again if it was closed while idle.

        Raise ConnectionLostError if that fails.
        """
        connection = self._connections.get(address)
        if connection is not None and connection.was_closed:
            connection.close()
            connection = None
        if connection is None:
            connection = self._connections[address] = self._open_connection(address)
        return connection

    def has_connection(self, address: Address) -> bool:
        return address in self._connections

    @property
    def is_window_full(self) -> bool:
        """Return whether the window is full, and due responses can be received to empty it."""
        if self._unanswered_bytes > WINDOW_BYTES:
            return bool(self.due_responses)
        return len(self.due_responses) >= WINDOW_REQUESTS

    @property
    def has_window_space(self) -> bool:
        """Return whether more can be sent again, and no response is available immediately."""
        if any(connection.has_response for connection in self._connections.values()):
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
        return 2 * self._queued_bytes > WINDOW_BYTES or 2 * self._queued_count >= WINDOW_REQUESTS

    def must_await_other_brokers(self, addresses: set[Address]) -> bool:
        """Return whether a request for these brokers has to wait for responses of other ones.

        The recorded client had received the due responses before it sent the request.
        """
        if not self.due_responses or not self.in_flight_requests:
            return False
        return addresses != self._busy_addresses or len(addresses) > 1

    def queue_request(
        self, request: InFlightRequest, sequence: int, parts: list[tuple[Address, bytes]]
    ) -> None:
        """Queue the parts of a request for the next `flush`.

        Raise ConnectionLostError if a connection to a broker cannot be opened.
        """
        connections = [self.target_connection(address) for address, _ in parts]
        for connection, (_, frame) in zip(connections, parts, strict=True):
            sent = connection.queue(frame, expects_response=request.expects_response)
            request.parts.append((connection, sent))
        addresses = {address for address, _ in parts}
        self._busy_addresses = (
            self._busy_addresses | addresses if self.in_flight_requests else addresses
        )
        self.in_flight_requests[sequence] = request
        self._queued_count += 1
        self._queued_bytes += len(request.frame)
        self._unanswered_bytes += len(request.frame)

    def remove_in_flight_request(self, sequence: int) -> InFlightRequest:
        """Remove and return the request of a received response."""
        request = self.in_flight_requests.pop(sequence)
        self._unanswered_bytes -= len(request.frame)
        return request

    def flush(self) -> None:
        """Send queued requests; if a connection has ended, that is noticed at its responses."""
        self._queued_count = self._queued_bytes = 0
        for connection in self._connections.values():
            with suppress(ConnectionClosedError):
                connection.flush()

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
    ) -> Iterator[tuple[InFlightRequest, list[bytes]]]:
        """Yield the responses before that of a request, or all, that the recording does not have.

        Raise ConnectionLostError if the target does not respond in time.
        """
        while self.in_flight_requests and self.is_usable:
            sequence = next(iter(self.in_flight_requests))
            if sequence == until_sequence:
                return
            request = self.in_flight_requests[sequence]
            frames = []
            with suppress(ConnectionClosedError):
                frames = receive_parts(request) if request.expects_response else []
            self.remove_in_flight_request(sequence)
            if frames:
                yield request, frames

    def mark_first_due_response_received(self) -> None:
        """Mark the first due response as received."""
        self.due_responses.popleft()
        self.due_responses_contain_ids = self.due_responses_contain_ids and bool(self.due_responses)
        self.due_responses_contain_offsets = self.due_responses_contain_offsets and bool(
            self.due_responses
        )

    def close(self, reason: str) -> list[Event]:
        """Close the connection; return the events whose responses are outstanding."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
        self.failure = reason
        self._queued_count = self._queued_bytes = self._unanswered_bytes = 0
        lost_events = [event for event, _ in self.due_responses]
        self.due_responses.clear()
        self.in_flight_requests.clear()
        return lost_events


def receive_parts(request: InFlightRequest) -> list[bytes]:
    """Return the response of each broker. Raise ConnectionLostError if a connection ends."""
    return [connection.receive_response(sent) for connection, sent in request.parts]
