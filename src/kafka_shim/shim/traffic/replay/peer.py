"""A connection to the target: sends and receives frames, and logs in."""

import socket

from kafka_shim.shim.client.config import Login
from kafka_shim.shim.client.login import LoginError
from kafka_shim.shim.client.login_frames import login_frames

FRAME_BYTES_MAX = 104_857_600
WINDOW_BYTES = 128 * 1024
"""What may be sent ahead of its answers: the socket holds it, so that sending never waits for a
target that waits for us to read."""


class GoneError(Exception):
    """The target closed the connection or did not answer in time; the text says which."""


class Peer:
    """A connection; responses arrive in the order of the requests."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        """Connect; GoneError if that fails."""
        self.address = host, port
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout_s)
        except OSError as error:
            raise GoneError(
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
            raise GoneError("the connection was closed") from error

    @property
    def has_response(self) -> bool:
        """Return whether a whole frame was read that was not returned yet."""
        begin = self._at + 4
        size = int.from_bytes(self._received[self._at : begin], "big")
        return len(self._received) >= begin + size

    def receive(self) -> bytes:
        """Return the next frame, without its size."""
        self._fill(4)
        begin = self._at + 4
        size = int.from_bytes(self._received[self._at : begin], "big")
        if size > FRAME_BYTES_MAX:
            raise GoneError("the address is not a Kafka listener, or a TLS listener")
        self._fill(4 + size)
        begin = self._at + 4
        self._at = begin + size
        return self._received[begin : self._at]

    def close(self) -> None:
        self._socket.close()

    def log_in(self, login: Login) -> int:
        """Log in; return the target's error code, 0 for success."""
        exchange = login_frames(login)
        try:
            frame = next(exchange)
            while True:
                self.send(frame)
                frame = exchange.send(self.receive())
        except StopIteration as done:
            return int(done.value)
        except LoginError as error:
            raise GoneError(f"the log-in failed: {error}") from error

    def _fill(self, count: int) -> None:
        """Read until this number of bytes is available."""
        left = len(self._received) - self._at
        if left >= count:
            return
        pieces = [self._received[self._at :]]
        try:
            while left < count:
                chunk = self._socket.recv(1 << 18)
                if not chunk:
                    raise GoneError("the connection was closed")
                pieces.append(chunk)
                left += len(chunk)
        except TimeoutError as error:
            raise GoneError("no response in time") from error
        except OSError as error:
            raise GoneError("the connection was closed") from error
        self._received, self._at = b"".join(pieces), 0
