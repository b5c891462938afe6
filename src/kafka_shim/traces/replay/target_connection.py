"""Connections of a replay to one broker of the target: frames, and pipelined requests."""

import errno
import socket
import time
from collections import deque
from typing import TYPE_CHECKING

from kafka_shim.client.config import PLAINTEXT, ClientConfig

if TYPE_CHECKING:
    import ssl

Address = tuple[str, int]

FRAME_BYTES_MAX = 104_857_600
WINDOW_BYTES = 128 * 1024
"""What may be sent ahead of its responses: the socket holds it, so that sending never waits for a
target that waits for us to read."""


_UNREACHABLE_S = 2.0
"""How long a broker that cannot be reached is not asked what any other broker can answer."""
_NOTHING_TO_READ = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, 2})
"""Of a plain socket, and of TLS (SSL_ERROR_WANT_READ)."""


class ConnectionLostError(Exception):
    """The target closed the connection or did not respond in time; the text says which."""


class ConnectionClosedError(ConnectionLostError):
    """The connection ended; on a new one, the request may be answered."""


class UnreachableError(ConnectionLostError):
    """The broker at `address` cannot be reached; it may be starting again."""

    def __init__(self, address: Address, reason: object) -> None:
        super().__init__(f"cannot connect to {address[0]}:{address[1]}: {reason}")
        self.address = address


class SentRequest:
    """A request on a connection, and its response once that was received."""

    __slots__ = ("expects_response", "frame", "response")

    def __init__(self, frame: bytes, *, expects_response: bool = True) -> None:
        self.frame = frame
        self.expects_response = expects_response
        self.response: bytes | None = None


class TargetConnection:
    """A connection; responses arrive in the order of the requests."""

    def __init__(
        self, host: str, port: int, timeout_s: float, tls: "ssl.SSLContext | None" = None
    ) -> None:
        """Connect. Raise ConnectionLostError if that fails."""
        self.address = host, port
        self.is_lost = False
        self.reauthenticates_at: float | None = None
        """When the session ends, by the monotonic clock; None if it does not."""
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout_s)
        except OSError as error:
            raise UnreachableError((host, port), error.strerror or error) from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * WINDOW_BYTES)
        if tls is not None:
            self._begin_tls(tls)
        self._received = b""
        self._at = 0  # bytes before this position were returned
        self._queued: list[bytes] = []
        self._awaited: deque[SentRequest] = deque()

    def _begin_tls(self, tls: "ssl.SSLContext") -> None:
        host, port = self.address
        try:
            self._socket = tls.wrap_socket(self._socket, server_hostname=host)
        except ConnectionError as error:
            self._socket.close()
            raise UnreachableError((host, port), error) from error
        except OSError as error:
            self._socket.close()
            reason = error.strerror or error
            raise ConnectionLostError(f"no TLS with {host}:{port}: {reason}") from error

    @property
    def was_closed(self) -> bool:
        """Return whether the connection was lost, or the target has closed it while it was idle."""
        if self.is_lost:
            return True
        if self._awaited or self._at < len(self._received):
            return False
        return not self.read_available()

    def read_available(self) -> bool:
        """Read what has arrived, without waiting; return whether the connection is open."""
        timeout = self._socket.gettimeout()
        try:
            self._socket.settimeout(0)
            while chunk := self._socket.recv(1 << 18):
                self._received, self._at = self._received[self._at :] + chunk, 0
        except OSError as error:
            return error.errno in _NOTHING_TO_READ
        finally:
            if self._socket.fileno() >= 0:
                self._socket.settimeout(timeout)
        return False

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
            raise self._mark_lost(error) from error

    @property
    def has_response(self) -> bool:
        """Return whether a whole frame was read that was not returned yet."""
        begin = self._at + 4
        size = int.from_bytes(self._received[self._at : begin], "big")
        return len(self._received) >= begin + size

    def receive(self) -> bytes:
        """Return the next frame, without its size."""
        self._fill_buffer(4)
        begin = self._at + 4
        size = int.from_bytes(self._received[self._at : begin], "big")
        if size > FRAME_BYTES_MAX:
            raise ConnectionLostError("the address is not a Kafka listener, or a TLS listener")
        self._fill_buffer(4 + size)
        begin = self._at + 4
        self._at = begin + size
        return self._received[begin : self._at]

    def close(self) -> None:
        self._socket.close()

    def _fill_buffer(self, count: int) -> None:
        """Read until this number of bytes is available."""
        available_bytes = len(self._received) - self._at
        if available_bytes >= count:
            return
        pieces = [self._received[self._at :]]
        try:
            while available_bytes < count:
                chunk = self._socket.recv(1 << 18)
                if not chunk:
                    raise self._mark_lost()
                pieces.append(chunk)
                available_bytes += len(chunk)
        except TimeoutError as error:
            self.is_lost = True
            raise ConnectionLostError("no response in time") from error
        except OSError as error:
            raise self._mark_lost(error) from error
        self._received, self._at = b"".join(pieces), 0

    def _mark_lost(self, error: OSError | None = None) -> ConnectionClosedError:
        self.is_lost = True
        reason = getattr(error, "reason", None)  # of TLS, such as a missing certificate
        return ConnectionClosedError(f"the connection was closed{f': {reason}' if reason else ''}")


class TargetConnector:
    """Opens connections to the brokers of the target."""

    def __init__(self, config: ClientConfig = PLAINTEXT, timeout_s: float = 15.0) -> None:
        """Prepare TLS. Raise ConfigError if keys or certificates cannot be used."""
        self._timeout_s = timeout_s
        self._unreachable_until: dict[Address, float] = {}
        self._tls: ssl.SSLContext | None = None
        if config.protocol.uses_tls:
            from kafka_shim.client.tls import client_tls_context  # noqa: PLC0415 - ssl takes a while to import

            self._tls = client_tls_context(config.trust)
        self.has_connected = False
        self.given_up: set[Address] = set()
        """Brokers that could not be reached for as long as a request may take."""

    def open(self, address: Address) -> TargetConnection:
        """Connect to a broker. Raise ConnectionLostError if that fails."""
        try:
            connection = TargetConnection(*address, self._timeout_s, self._tls)
        except UnreachableError:
            self._unreachable_until[address] = time.monotonic() + _UNREACHABLE_S
            raise
        self.has_connected = True
        self._unreachable_until.pop(address, None)
        self.given_up.discard(address)
        return connection

    def is_unreachable(self, address: Address) -> bool:
        """Return whether a broker could not be reached a moment ago."""
        until = self._unreachable_until
        return bool(until) and time.monotonic() < until.get(address, 0.0)
