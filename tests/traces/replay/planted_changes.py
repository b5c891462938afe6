"""A broker of which a client sees something else: changes responses on their way to a replay."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.message_frames import read_response_with_version, write_response_frame
from tests.support.frames import sized

Change = Callable[[ApiKey, Any, Any], bool]
"""Changes a response in place, given the API and the request; returns whether it did."""


def of_response(wanted: ApiKey, change: Callable[[Any], None]) -> Change:
    """Return a change of each response to an API."""

    def plant(api: ApiKey, _: Any, response: Any) -> bool:
        if api == wanted:
            change(response)
        return api == wanted

    return plant


class ChangedBroker:
    """Passes requests to a broker, and its responses back with changes."""

    def __init__(self, upstream: tuple[str, int], change: Change) -> None:
        self._upstream = upstream
        self._change = change
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._listener]
        self.address: tuple[str, int] = self._listener.getsockname()
        self.changes = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for opened in self._open:
            with contextlib.suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
            opened.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._open.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), socket.create_connection(self._upstream) as broker:
            while frame := read_frame(client):
                header, at = read_request_header(frame)
                broker.sendall(sized(frame))
                response = read_frame(broker)
                if not response:
                    break
                with contextlib.suppress(ProtocolError):
                    response = self._changed(header, frame, at, response)
                client.sendall(sized(response))
        client.close()

    def _changed(self, header: RequestHeader, frame: bytes, at: int, response: bytes) -> bytes:
        key, version = header.api_key, header.api_version
        request = codecs.read_request(key, version, frame, at)
        message, _ = read_response_with_version(key, version, response)
        self._lead_here(ApiKey(key), message)
        if self._change(ApiKey(key), request, message):
            self.changes += 1
        return write_response_frame(header, message)

    def _lead_here(self, key: ApiKey, message: Any) -> None:
        """Put this address in the place of the broker's, so that the replay stays here."""
        rows = []
        if key in (ApiKey.METADATA, ApiKey.DESCRIBE_CLUSTER):
            rows = message.brokers
        elif key == ApiKey.FIND_COORDINATOR:
            rows = [row for row in (message, *message.coordinators) if row.port > 0]
        for row in rows:
            row.host, row.port = self.address


def read_frame(peer: socket.socket) -> bytes:
    """Return the next frame, b"" at the end."""
    size = int.from_bytes(peer.recv(4, socket.MSG_WAITALL), "big")
    return peer.recv(size, socket.MSG_WAITALL) if size else b""


@contextlib.contextmanager
def changed_broker(upstream: tuple[str, int], change: Change) -> Iterator[ChangedBroker]:
    broker = ChangedBroker(upstream, change)
    try:
        yield broker
    finally:
        broker.close()
