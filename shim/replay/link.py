"""A recorded connection and its counterpart, with requests that are sent ahead of their answers."""

from collections import deque
from collections.abc import Iterator

from protocol import codecs
from protocol.enums import ApiKey
from protocol.errors import ProtocolError
from protocol.headers import read_request_header
from protocol.trace.entries import Response
from shim.replay.events import Event
from shim.replay.ids import id_kinds
from shim.replay.offsets import TEACHES_OFFSETS
from shim.replay.peer import Peer

WINDOW_REQUESTS = 100
WINDOW_BYTES = 32 * 1024
"""Little enough for the buffers of both ends: neither side waits for the other to read."""


class Sent:
    """A request that is on its way: its frame as it went out, and what was recorded of it."""

    __slots__ = ("event", "frame", "recorded")

    def __init__(self, event: Event, frame: bytes, recorded: bytes) -> None:
        self.event = event
        self.frame = frame
        self.recorded = recorded

    @property
    def expects_answer(self) -> bool:
        """Produce without acks has none."""
        try:
            header, at = read_request_header(self.recorded)
            if header.api_key != ApiKey.PRODUCE:
                return True
            message = codecs.read_request(header.api_key, header.api_version, self.recorded, at)
        except ProtocolError:
            return True
        return bool(message.acks != 0)


class Link:
    """One connection of the replay.

    A broker answers a connection's requests one after another, so a request may go out before the
    answers to those before it are in: nothing changes for the broker. `due` are the answers whose
    turn has come in the recording and which have not been taken from the target yet.
    """

    def __init__(self, peer: Peer | None, why_not: str) -> None:
        self.peer = peer
        self.why_not = why_not
        self.sent: dict[int, Sent] = {}
        self.due: deque[tuple[Event, Response]] = deque()
        self.teaches = False  # whether answers that are due may hold ids
        self.teaches_offsets = False
        self.mechanism = "PLAIN"
        self.login_error: int | None = None
        self._ahead: list[bytes] = []
        self._ahead_bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether no more should be sent before answers are taken."""
        return self._ahead_bytes > WINDOW_BYTES or len(self.due) >= WINDOW_REQUESTS

    @property
    def is_clogged(self) -> bool:
        """Whether many requests are out whose answers the recording does not have."""
        return len(self.sent) >= 2 * WINDOW_REQUESTS

    def put(self, frame: bytes) -> None:
        """Send this one with the next `flush`."""
        self._ahead.append(frame)
        self._ahead_bytes += len(frame)

    def flush(self) -> None:
        """Send what was put. Raises GoneError."""
        if self._ahead and self.peer is not None:
            frames, self._ahead, self._ahead_bytes = self._ahead, [], 0
            self.peer.send(*frames)

    def expect(self, event: Event, entry: Response) -> None:
        """It is this answer's turn."""
        self.due.append((event, entry))
        kinds = id_kinds(entry.api_key, entry.api_version, "Response") - {"records"}
        self.teaches = self.teaches or bool(kinds)
        self.teaches_offsets = self.teaches_offsets or entry.api_key in TEACHES_OFFSETS

    def unrecorded(self, until: int | None = None) -> Iterator[tuple[Sent, bytes]]:
        """The answers that come before that of a request, or all; the recording has none of them.

        Raises GoneError.
        """
        while self.sent and self.peer is not None:
            sequence = next(iter(self.sent))
            if sequence == until:
                return
            sent = self.sent[sequence]
            frame = self.peer.receive() if sent.expects_answer else None
            del self.sent[sequence]
            if frame is not None:
                yield sent, frame

    def take(self) -> None:
        """The first answer that was due is in."""
        self.due.popleft()
        self.teaches = self.teaches and bool(self.due)
        self.teaches_offsets = self.teaches_offsets and bool(self.due)

    def give_up(self, why: str) -> list[Event]:
        """Close for good; tells whose answers were due and will not come."""
        if self.peer is not None:
            self.peer.close()
        self.peer, self.why_not = None, why
        self._ahead.clear()
        lost = [event for event, _ in self.due]
        self.due.clear()
        self.sent.clear()
        return lost
