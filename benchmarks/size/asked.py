"""Measures a broker's processor time and memory, by requests that are all different."""

import contextlib
import resource
import socket
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks.against.brokers import processor_s
from benchmarks.broker import Broker
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header

WINDOW = 50
_WAIT_S = 300


class Asked:
    """A broker in its own process, with one connection."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.socket = connect(broker)
        self._reader = self.socket.makefile("rb", 1 << 20)

    def ask(self, frame: bytes) -> bytes:
        """Send a request and return its response, without the size."""
        self.socket.sendall(frame)
        return self.response()

    def processor_us(self, frames: Sequence[bytes], window: int = WINDOW) -> float:
        """Send the requests, `window` at a time; return the broker's µs for each."""
        before = self.processor_s()
        for at in range(0, len(frames), window):
            some = frames[at : at + window]
            self.socket.sendall(b"".join(some))
            for _ in some:
                self.response()
        return (self.processor_s() - before) / len(frames) * 1e6

    def processor_s(self) -> float:
        """Return the processor time of the broker so far, of all its threads."""
        return processor_s([self.broker.child.pid])

    def resident_bytes(self) -> int:
        """Return the memory that the broker holds."""
        pages = Path(f"/proc/{self.broker.child.pid}/statm").read_text().split()[1]
        return int(pages) * resource.getpagesize()

    def close(self) -> None:
        self._reader.close()
        self.socket.close()

    def response(self) -> bytes:
        size = self._reader.read(4)
        assert size, "the broker has closed the connection"
        response: bytes = self._reader.read(int.from_bytes(size, "big"))
        return response


def connect(broker: Broker) -> socket.socket:
    connected = socket.create_connection(broker.address, _WAIT_S)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connected


@contextlib.contextmanager
def started(*options: str) -> Iterator[Asked]:
    with tempfile.TemporaryDirectory() as name:
        broker = Broker(Path(name), *options)
        asked = Asked(broker)
        try:
            yield asked
        finally:
            asked.close()
            broker.child.kill()  # freeing all objects at exit takes a while
            broker.stop()


def named(number: int, api: ApiKey, version: int, request: msgspec.Struct) -> bytes:
    """Return the frame of a request with its own client id, so that no cached response is used."""
    payload = write_request_header(RequestHeader(api, version, number, f"bench-{number}"))
    payload += codecs.write_request(request, version)
    return len(payload).to_bytes(4, "big") + payload


def best_us(asked: Asked, frames: Sequence[bytes], rounds: int = 5) -> float:
    """Return the best µs per request over several rounds, each with its part of the frames."""
    part = len(frames) // rounds
    return min(asked.processor_us(frames[n * part : (n + 1) * part]) for n in range(rounds))


def processor_ms(asked: Asked, frame: bytes) -> float:
    """Send a request; return the broker's processor time until its response, in ms."""
    before = asked.processor_s()
    asked.ask(frame)
    return (asked.processor_s() - before) * 1000
