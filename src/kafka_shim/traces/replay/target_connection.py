"""Connections of a replay to one broker of the target: frames, and pipelined requests."""

import socket
from collections import deque

FRAME_BYTES_MAX = 104_857_600
WINDOW_BYTES = 128 * 1024
"""What may be sent ahead of its responses: the socket holds it, so that sending never waits for a
target that waits for us to read."""

Address = tuple[str, int]


class ConnectionLostError(Exception):
    """The target closed the connection or did not respond in time; the text says which."""


class SentRequest:
    """A request on a connection, and its response once that was received."""

    __slots__ = ("expects_response", "frame", "response")

    def __init__(self, frame: bytes, *, expects_response: bool = True) -> None:
        self.frame = frame
        self.expects_response = expects_response
        self.response: bytes | None = None


class TargetConnection:
    """A connection; responses arrive in the order of the requests."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        """Connect. Raise ConnectionLostError if that fails."""
        self.address = host, port
        self.reauthenticates_at: float | None = None
        """When the session ends, by the monotonic clock; None if it does not."""
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
        self._queued: list[bytes] = []
        self._awaited: deque[SentRequest] = deque()

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def was_closed(self) -> bool:
        """Return whether the target has closed an idle connection."""
        if self._awaited or self._at < len(self._received):
            return False
        timeout = self._socket.gettimeout()
        try:
            self._socket.settimeout(0)
            return not self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self._socket.settimeout(timeout)

    def queue(self, frame: bytes, *, expects_response: bool = True) -> SentRequest:
        """Queue a request for the next `flush`."""
        sent = SentRequest(frame, expects_response=expects_response)
        self._queued.append(frame)
        if expects_response:
            self._awaited.append(sent)
        return sent

    def flush(self) -> None:
        """Send queued requests. Raise ConnectionLostError if the connection ends."""
        if self._queued:
            frames, self._queued = self._queued, []
            self.send(*frames)

    def receive_response(self, sent: SentRequest) -> bytes:
        """Return the response to a request; responses to earlier ones are kept for later.

        Raise ConnectionLostError if the connection ends.
        """
        self.flush()
        while sent.response is None:
            self._awaited.popleft().response = self.receive()
        return sent.response

    def exchange(self, frame: bytes) -> bytes:
        """Send a request and return its response. Raise ConnectionLostError as above."""
        return self.receive_response(self.queue(frame))

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
