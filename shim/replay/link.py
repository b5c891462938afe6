"""A recorded connection and its counterpart, with requests that are sent ahead of their answers."""

from collections import deque

from protocol.trace.entries import Response
from shim.replay.events import Event
from shim.replay.ids import id_kinds
from shim.replay.peer import Peer

WINDOW_REQUESTS = 100
WINDOW_BYTES = 32 * 1024
"""Little enough for the buffers of both ends: neither side waits for the other to read."""


class Sent:
    """A request that is on its way: its frame as it went out and as it was recorded."""

    __slots__ = ("frame", "recorded")

    def __init__(self, frame: bytes, recorded: bytes) -> None:
        self.frame = frame
        self.recorded = recorded


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
        self.mechanism = "PLAIN"
        self.login_error: int | None = None
        self._ahead: list[bytes] = []
        self._ahead_bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether no more should be sent before answers are taken."""
        return self._ahead_bytes > WINDOW_BYTES or len(self.due) >= WINDOW_REQUESTS

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
        self.teaches = self.teaches or bool(
            id_kinds(entry.api_key, entry.api_version, "Response") - {"records"}
        )

    def take(self) -> None:
        """The first answer that was due is in."""
        self.due.popleft()
        self.teaches = self.teaches and bool(self.due)

    def give_up(self, why: str) -> list[Event]:
        """Close for good; tells whose answers were due and will not come."""
        if self.peer is not None:
            self.peer.close()
        self.peer, self.why_not = None, why
        self._ahead.clear()
        lost = [event for event, _ in self.due]
        self.due.clear()
        return lost
