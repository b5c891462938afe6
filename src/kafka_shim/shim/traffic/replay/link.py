"""A recorded connection and its counterpart, with pipelined requests."""

from collections import deque
from collections.abc import Iterator

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.trace.entries import Response
from kafka_shim.shim.traffic.replay.events import Event
from kafka_shim.shim.traffic.replay.ids import id_kinds
from kafka_shim.shim.traffic.replay.offsets import TEACHES_OFFSETS
from kafka_shim.shim.traffic.replay.peer import WINDOW_BYTES, Peer

WINDOW_REQUESTS = 200
"""A window is sent in halves. Once it is full, answers are taken until the first half has left room
for another: the target always has work.
"""


class Sent:
    """A request in flight: its sent frame, and its recorded event."""

    __slots__ = ("event", "frame", "recorded")

    def __init__(self, event: Event, frame: bytes, recorded: bytes) -> None:
        self.event = event
        self.frame = frame
        self.recorded = recorded

    @property
    def expects_response(self) -> bool:
        """Whether it gets a response; Produce with acks=0 does not."""
        try:
            header, at = read_request_header(self.recorded)
            if header.api_key != ApiKey.PRODUCE:
                return True
            message = codecs.read_request(header.api_key, header.api_version, self.recorded, at)
        except ProtocolError:
            return True
        return bool(message.acks != 0)


class Link:
    """A connection of the replay.

    A broker answers the requests of a connection one after another, so a request can be sent before
    earlier ones are answered. `due` are the responses that the recording has reached and that were
    not received from the target yet.
    """

    def __init__(self, peer: Peer | None, why_not: str) -> None:
        self.peer = peer
        self.why_not = why_not
        self.sent: dict[int, Sent] = {}
        self.due: deque[tuple[Event, Response]] = deque()
        self.teaches = False  # whether due responses may contain ids
        self.teaches_offsets = False
        self.mechanism = "PLAIN"
        self.login_error: int | None = None
        self._ahead: list[bytes] = []
        self._ahead_bytes = 0
        self._open_bytes = 0  # of requests without a received response

    @property
    def is_full(self) -> bool:
        """Whether responses must be received before more is sent, of those that can be."""
        if self._open_bytes > WINDOW_BYTES:
            return bool(self.due)
        return len(self.due) >= WINDOW_REQUESTS

    @property
    def has_room(self) -> bool:
        """Whether more can be sent again, and no response is available at once."""
        if self.peer is not None and self.peer.has_response:
            return False
        return 3 * self._open_bytes < 2 * WINDOW_BYTES and 3 * len(self.due) < 2 * WINDOW_REQUESTS

    @property
    def is_clogged(self) -> bool:
        """Whether many requests are in flight whose responses are not in the recording."""
        return len(self.sent) >= 2 * WINDOW_REQUESTS

    @property
    def is_laden(self) -> bool:
        """Whether queued requests should be sent, even if no response is due."""
        return 2 * self._ahead_bytes > WINDOW_BYTES or 2 * len(self._ahead) >= WINDOW_REQUESTS

    def put(self, sent: Sent, sequence: int) -> None:
        """Queue a request for the next `flush`."""
        self.sent[sequence] = sent
        size = len(sent.frame)
        self._ahead.append(sent.frame)
        self._ahead_bytes += size
        self._open_bytes += size

    def responded(self, sequence: int) -> Sent:
        """Return the request of a received response."""
        sent = self.sent.pop(sequence)
        self._open_bytes -= len(sent.frame)
        return sent

    def flush(self) -> None:
        """Send queued requests. Raises GoneError."""
        if self._ahead and self.peer is not None:
            frames, self._ahead, self._ahead_bytes = self._ahead, [], 0
            self.peer.send(*frames)

    def expect(self, event: Event, entry: Response) -> None:
        """Mark a response as due."""
        self.due.append((event, entry))
        kinds = id_kinds(entry.api_key, entry.api_version, "Response") - {"records"}
        self.teaches = self.teaches or bool(kinds)
        self.teaches_offsets = self.teaches_offsets or entry.api_key in TEACHES_OFFSETS

    def unrecorded(self, until: int | None = None) -> Iterator[tuple[Sent, bytes]]:
        """Yield the responses before that of a request, or all, that the recording does not have.

        Raises GoneError.
        """
        while self.sent and self.peer is not None:
            sequence = next(iter(self.sent))
            if sequence == until:
                return
            sent = self.sent[sequence]
            frame = self.peer.receive() if sent.expects_response else None
            self.responded(sequence)
            if frame is not None:
                yield sent, frame

    def take(self) -> None:
        """Mark the first due response as received."""
        self.due.popleft()
        self.teaches = self.teaches and bool(self.due)
        self.teaches_offsets = self.teaches_offsets and bool(self.due)

    def give_up(self, why: str) -> list[Event]:
        """Close the connection; return the events whose responses are outstanding."""
        if self.peer is not None:
            self.peer.close()
        self.peer, self.why_not = None, why
        self._ahead, self._ahead_bytes, self._open_bytes = [], 0, 0
        lost = [event for event, _ in self.due]
        self.due.clear()
        self.sent.clear()
        return lost
