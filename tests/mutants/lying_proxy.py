"""A proxy that changes the responses of a broker, by a function for each response."""

import socket
import socketserver
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.conformance.vectors.runner import BrokerAddresses
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.message_frames import read_response_with_version, write_response_frame
from tests.support.commands import split

Lie = Callable[[ApiKey, int, Any], Any]
"""Returns the response to send instead of one of an API in a version, or None to close."""


@contextmanager
def lying_proxy(address: str, lie: Lie) -> Iterator[str]:
    """Yield the address of a proxy before a broker."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(split(address)) as broker:
                for each in (broker, self.request):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                _relay(self.request, broker, lie)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield "{}:{}".format(*server.server_address)
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def lying_proxies(addresses: BrokerAddresses, lie: Lie) -> Iterator[BrokerAddresses]:
    """Yield the addresses of proxies before the listeners of a broker."""
    with (
        lying_proxy(addresses.super_users, lie) as plain,
        lying_proxy(addresses.users, lie) as sasl,
    ):
        yield BrokerAddresses(plain, sasl)


def _relay(client: socket.socket, broker: socket.socket, lie: Lie) -> None:
    """Relay one request after the other; a response may come later than the next request."""
    headers: deque[RequestHeader] = deque()
    back = threading.Thread(target=_relay_responses, args=(client, broker, headers, lie))
    back.start()
    try:
        for frame in _frames(client):
            headers.append(read_request_header(frame)[0])
            broker.sendall(len(frame).to_bytes(4, "big") + frame)
    except OSError:
        pass
    finally:
        _hang_up(broker)
        back.join(5)


def _relay_responses(
    client: socket.socket, broker: socket.socket, headers: deque[RequestHeader], lie: Lie
) -> None:
    try:
        for frame in _frames(broker):
            header = headers.popleft()
            while header.correlation_id != int.from_bytes(frame[:4], "big"):
                header = headers.popleft()  # of a request without a response
            api = ApiKey(header.api_key)
            sent = frame
            if api not in (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE):
                response, version = read_response_with_version(api, header.api_version, frame)
                told = lie(api, version, response)
                if told is None:
                    break
                sent = write_response_frame(header, reset_unsupported_fields(told, version))
            client.sendall(len(sent).to_bytes(4, "big") + sent)
    except OSError:
        pass
    finally:
        _hang_up(client)
        _hang_up(broker)


def _hang_up(connection: socket.socket) -> None:
    """End a connection; closing it would not end a `recv` of another thread."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _frames(connection: socket.socket) -> Iterator[bytes]:
    while size := _exactly(connection, 4):
        yield _exactly(connection, int.from_bytes(size, "big"))


def _exactly(connection: socket.socket, count: int) -> bytes:
    """Return this many bytes; none if the other side has closed."""
    parts = bytearray()
    while len(parts) < count:
        part = connection.recv(count - len(parts))
        if not part:
            return b""
        parts += part
    return bytes(parts)
