"""A broker behind sockets as a peer, with a blocking connection for each name."""

import base64
import hashlib
import hmac
import secrets
import socket
import ssl
import time
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.oracle.real_kafka import USERS
from tests.recordings.peers.peer import (
    CLOSED,
    PATIENCE_MS,
    ROOT,
    SILENT,
    UNREADABLE,
    WAITS,
    ask,
    versions,
)
from tests.recordings.peers.settling import Settling
from tests.support.commands import split
from tests.support.frames import request_frame, sized

DIGEST = "sha256"


def token_messages(token_id: str, token_hmac: bytes) -> Generator[bytes, bytes, None]:
    """Yield the two messages, then an empty one; the server's responses are sent in."""
    nonce = secrets.token_urlsafe(18)
    first = f"n={token_id},r={nonce},tokenauth=true"
    server_first = (yield f"n,,{first}".encode()).decode()
    fields = dict(part.split("=", 1) for part in server_first.split(","))
    password = base64.b64encode(token_hmac)
    salt, rounds = base64.b64decode(fields["s"]), int(fields["i"])
    salted = hashlib.pbkdf2_hmac(DIGEST, password, salt, rounds)
    client_key = hmac.digest(salted, b"Client Key", DIGEST)
    last = f"c=biws,r={fields['r']}"
    exchange = f"{first},{server_first},{last}".encode()
    signature = hmac.digest(hashlib.sha256(client_key).digest(), exchange, DIGEST)
    proof = bytes(left ^ right for left, right in zip(client_key, signature, strict=True))
    yield f"{last},p={base64.b64encode(proof).decode()}".encode()
    yield b""


READS_COMMITTED: Final = frozenset(
    {
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.LIST_GROUPS,
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        ApiKey.SHARE_GROUP_DESCRIBE,
        ApiKey.STREAMS_GROUP_DESCRIBE,
    }
)
"""APIs that a new coordinator answers from committed records, which are a little behind."""
COMMITTING_SECONDS: Final = 0.2
CLEANING_SECONDS: Final = 2.5
"""Time in which a cleaner with log.cleaner.backoff.ms=200 has compacted all logs."""


class Connection:
    """A connection for one request at a time."""

    def __init__(
        self, address: str, client_id: str = "tests", tls: ssl.SSLContext | None = None
    ) -> None:
        self._client_id = client_id
        self._socket = socket.create_connection(split(address), 20)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self._socket = tls.wrap_socket(self._socket, server_hostname=split(address)[0])
        self._correlation_id = 0

    def ask(self, api: ApiKey, version: int, request: Any) -> Any:
        """Return the response; ConnectionError or TimeoutError if none comes."""
        self.tell(api, version, request)
        return self.response(api, version)

    def response(
        self, api: ApiKey, version: int, patience_ms: int = PATIENCE_MS, number: int = 0
    ) -> Any:
        """Return the response to the request with this number (default: the last one)."""
        expected = number or self._correlation_id
        self._socket.settimeout(patience_ms / 1000)
        frame = self.receive()
        while int.from_bytes(frame[:4], "big") < expected:
            frame = self.receive()  # real brokers answer some failed Produce requests twice
        assert int.from_bytes(frame[:4], "big") == expected
        return read_response_with_version(api, version, frame)[0]

    def tell_all(self, calls: Sequence[tuple[ApiKey, int, Any]]) -> int:
        """Send all requests; return the number of the first one."""
        first = self._correlation_id + 1
        frames = [
            sized(request_frame(*call, number, self._client_id))
            for number, call in enumerate(calls, first)
        ]
        self._correlation_id += len(calls)
        self._socket.settimeout(PATIENCE_MS / 1000)
        self._socket.sendall(b"".join(frames))
        return first

    def unexpected_response(self, api: ApiKey, version: int) -> Any:
        """Return the response to a request that should have none; None if there is none, and the
        connection is still open.
        """
        expected = self._correlation_id
        self.tell(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
        self._socket.settimeout(PATIENCE_MS / 1000)
        frame = self.receive()
        if int.from_bytes(frame[:4], "big") != expected:
            return None
        self.receive()
        return read_response_with_version(api, version, frame)[0]

    def tell(self, api: ApiKey, version: int, request: Any) -> None:
        self._correlation_id += 1
        self.send(request_frame(api, version, request, self._correlation_id, self._client_id))

    def send(self, payload: bytes) -> None:
        self._socket.sendall(sized(payload))

    def receive(self) -> bytes:
        return self._exactly(int.from_bytes(self._exactly(4), "big"))

    def close(self) -> None:
        self._socket.close()

    def _exactly(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            part = self._socket.recv(count - len(parts))
            if not part:
                raise ConnectionError("the peer hung up")
            parts += part
        return bytes(parts)


class LoginRejectedError(Exception):
    """A broker has rejected a delegation token."""


class SocketPeer:
    """A broker at two addresses, `host:port`; its users log in with `NAME-secret`.

    The client id is the name of the connection unless `client_id` is given. Users connect with TLS
    if `tls` is given.
    """

    takes_effect_later = True

    def __init__(
        self,
        release: str,
        plain: str,
        sasl: str,
        *,
        client_id: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.release = release
        self._tls = tls
        self._tokens: dict[str, tuple[str, bytes]] = {}  # token id and hmac by connection
        self._plain = plain
        self._sasl = sasl
        self._client_id = client_id
        self._settling: Settling | None = None
        self._connections: dict[str, Connection] = {}
        self._sent: dict[str, tuple[ApiKey, int, Any]] = {}
        self._changed_at = 0.0  # the time of the last request that can have changed something
        if isinstance(ask(self, ROOT, ApiKey.API_VERSIONS, 0, ApiVersionsRequest()), str):
            raise ConnectionError(f"the broker at {plain} does not answer yet")

    def send(self, connection: str, api: ApiKey, version: int, request: Any) -> None:
        if api in READS_COMMITTED:
            time.sleep(max(0.0, self._changed_at + COMMITTING_SECONDS - time.monotonic()))
        else:
            self._changed_at = time.monotonic()
        self._sent[connection] = api, version, request
        try:
            opened = self._connection(connection)
        except LoginRejectedError:
            return
        try:
            opened.tell(api, version, request)
        except ConnectionError:  # the broker has closed it
            self.hang_up(connection)

    def receive(self, connection: str, patience_ms: int = PATIENCE_MS) -> Any:
        response = self._received(connection, patience_ms)
        if self._settling is not None and not isinstance(response, str):
            api, _, request = self._sent[connection]
            self._settling.after(api, request, response)
        return response

    def ask_all(
        self, connection: str, calls: Sequence[tuple[ApiKey, int, Any]], patience_ms: int
    ) -> list[Any]:
        """Send all requests at the same time; return their outcomes.

        A broker handles the requests of a connection one after the other. Requests behind one that
        closes the connection, or is not answered, are sent again on a new connection.
        """
        found: list[Any] = []
        while len(found) < len(calls):
            rest = calls[len(found) :]
            opened = self._connection(connection)
            first = opened.tell_all(rest)
            for number, (api, version, _) in enumerate(rest, first):
                try:
                    found.append(opened.response(api, version, patience_ms, number))
                except TimeoutError:
                    found.append(WAITS)
                except ConnectionError:
                    found.append(CLOSED)
                except DecodeError:
                    found.append(UNREADABLE)
                if found[-1] in (WAITS, CLOSED):
                    self.hang_up(connection)
                    break
        return found

    def hang_up(self, connection: str) -> None:
        self._connections.pop(connection).close()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def pause(self, milliseconds: int) -> None:
        time.sleep(milliseconds / 1000)

    def use_token(self, connection: str, token_id: str, hmac: bytes) -> None:
        self._tokens[connection] = token_id, hmac

    def compact(self, topic: str, roll: Callable[[], None]) -> None:
        roll()
        time.sleep(CLEANING_SECONDS)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def settle(self, *, kraft: bool) -> None:
        """From now on wait after each change until this real broker has applied it."""
        self._settling = Settling(self, kraft=kraft)

    def _received(self, name: str, patience_ms: int) -> Any:
        connection = self._connections.get(name)
        if connection is None:
            return CLOSED
        api, version, request = self._sent[name]
        try:
            if api is ApiKey.PRODUCE and request.acks == 0:
                return connection.unexpected_response(api, version) or SILENT
            return connection.response(api, version, patience_ms)
        except TimeoutError:
            return WAITS
        except ConnectionError:
            self.hang_up(name)
            return CLOSED
        except DecodeError:
            return UNREADABLE

    def _connection(self, name: str) -> Connection:
        if name not in self._connections:
            user = name.partition("/")[0]
            address = self._sasl if user in USERS else self._plain
            tls = self._tls if user in USERS else None
            connection = Connection(address, self._client_id or name, tls)
            if name in self._tokens:
                self._log_in_by_token(connection, *self._tokens[name])
            elif user in USERS:
                self._log_in(connection, user)
            self._connections[name] = connection
        return self._connections[name]

    def _log_in(self, connection: Connection, user: str) -> None:
        """Log in, with raw tokens if the broker does not support SaslAuthenticate."""
        version = min(1, versions(self.release, ApiKey.SASL_HANDSHAKE)[-1])
        handshake = SaslHandshakeRequest(mechanism="PLAIN")
        assert connection.ask(ApiKey.SASL_HANDSHAKE, version, handshake).error_code == 0
        token = f"\0{user}\0{user}-secret".encode()
        if version == 0:
            connection.send(token)
            assert connection.receive() == b""
            return
        request = SaslAuthenticateRequest(auth_bytes=token)
        version = min(2, versions(self.release, ApiKey.SASL_AUTHENTICATE)[-1])
        assert connection.ask(ApiKey.SASL_AUTHENTICATE, version, request).error_code == 0

    def _log_in_by_token(self, connection: Connection, token_id: str, hmac: bytes) -> None:
        handshake = SaslHandshakeRequest(mechanism="SCRAM-SHA-256")
        assert connection.ask(ApiKey.SASL_HANDSHAKE, 1, handshake).error_code == 0
        messages = token_messages(token_id, hmac)
        version = min(2, versions(self.release, ApiKey.SASL_AUTHENTICATE)[-1])
        sent = next(messages)
        while sent:
            request = SaslAuthenticateRequest(auth_bytes=sent)
            response = connection.ask(ApiKey.SASL_AUTHENTICATE, version, request)
            if response.error_code:
                connection.close()
                raise LoginRejectedError
            sent = messages.send(response.auth_bytes)
