"""A client with little overhead: it sends prepared frames, and reads responses by their length."""

import select
import socket
import time
from collections.abc import Sequence
from itertools import islice
from struct import Struct
from typing import NamedTuple

from benchmarks.against.brokers import PASSWORDS, Broker
from benchmarks.broker import framed
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest

_SIZE = Struct(">i")
_ROOM = 4 * 1024 * 1024
_WAIT_S = 30


class Taken(NamedTuple):
    """Seconds per request: elapsed, processor time of the broker, and of this client."""

    clock: float
    processor: float
    client: float


class Peer:
    """A connection that has logged in; responses are counted, and the last one is kept."""

    def __init__(self, broker: Broker, user: str = "alice") -> None:
        self.socket = socket.create_connection(broker.address, _WAIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._room = bytearray(_ROOM)
        self._view = memoryview(self._room)
        self._held = 0  # bytes of an incomplete response
        self._log_in(user)

    def _log_in(self, user: str) -> None:
        self.ask(framed(ApiKey.SASL_HANDSHAKE, 1, SaslHandshakeRequest("PLAIN")))
        token = f"\0{user}\0{PASSWORDS[user]}".encode()
        self.ask(framed(ApiKey.SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(token)))

    def ask(self, frame: bytes) -> bytes:
        """Send a request and return its response, without the size."""
        self.socket.sendall(frame)
        return self.response()

    def response(self) -> bytes:
        """Wait for a response and return it, without the size."""
        size = _SIZE.unpack(self._exactly(_SIZE.size))[0]
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            assert part, "the broker has closed the connection"
            data += part
        return bytes(data)

    def take(self) -> int:
        """Read available bytes; return the number of responses that are now complete."""
        came = self.socket.recv_into(self._view[self._held :])
        assert came, "the broker has closed the connection"
        end, at, responses = self._held + came, 0, 0
        while at + 4 <= end:
            following = at + 4 + _SIZE.unpack_from(self._room, at)[0]
            if following > end:
                break
            at = following
            responses += 1
        self._held = end - at
        if at and self._held:
            self._room[: self._held] = self._room[at:end]
        return responses

    def close(self) -> None:
        self.socket.close()


def play(broker: Broker, peers: Sequence[Peer], frames: Sequence[bytes], depth: int) -> Taken:
    """Send the frames in turn over the connections, with `depth` requests in flight on each."""
    began, before, own = time.perf_counter(), broker.processor_s(), time.process_time()
    if len(peers) == 1:
        _play_alone(peers[0], frames, depth)
    else:
        _play_together(peers, frames, depth)
    clock, used = time.perf_counter() - began, time.process_time() - own
    count = len(frames)
    return Taken(clock / count, (broker.processor_s() - before) / count, used / count)


def _play_alone(peer: Peer, frames: Sequence[bytes], depth: int) -> None:
    count = len(frames)
    peer.socket.sendall(b"".join(frames[:depth]))
    sent, responded = min(depth, count), 0
    while responded < count:
        more = peer.take()
        responded += more
        if sent < count and more:
            peer.socket.sendall(b"".join(frames[sent : sent + more]))
            sent += more


def _play_together(peers: Sequence[Peer], frames: Sequence[bytes], depth: int) -> None:
    poll = select.epoll()
    by_file = {peer.socket.fileno(): peer for peer in peers}
    left = iter(frames)
    try:
        for file, peer in by_file.items():
            poll.register(file, select.EPOLLIN)
            peer.socket.sendall(b"".join(islice(left, depth)))
        responded, count = 0, len(frames)
        while responded < count:
            for file, _ in poll.poll(_WAIT_S):
                peer = by_file[file]
                more = peer.take()
                responded += more
                following = b"".join(islice(left, more))
                if following:
                    peer.socket.sendall(following)
    finally:
        poll.close()
