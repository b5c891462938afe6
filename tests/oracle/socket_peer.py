"""A broker behind sockets as a conformance peer: one blocking connection a user."""

import socket
import time
from typing import Any

from protocol import codecs
from protocol.enums import ApiKey
from protocol.headers import RequestHeader, read_response_header, write_request_header
from protocol.messages.api_versions_request import ApiVersionsRequest
from protocol.messages.sasl_authenticate_request import SaslAuthenticateRequest
from protocol.messages.sasl_handshake_request import SaslHandshakeRequest
from tests.conformance.player import ADMIN

TIMEOUT_SECONDS = 20


class Connection:
    """Requests and answers, one at a time; `ask` gives None once the peer has hung up."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), TIMEOUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0

    def ask(self, api: ApiKey, version: int, request: Any) -> Any:
        self._correlation_id += 1
        header = RequestHeader(api, version, self._correlation_id, "oracle")
        self.send(write_request_header(header) + codecs.write_request(request, version))
        frame = self.receive()
        if frame is None:
            return None
        answered, at = read_response_header(api, version, frame)
        assert answered.correlation_id == self._correlation_id
        return codecs.read_response(api, version, frame, at)

    def send(self, payload: bytes) -> None:
        self._socket.sendall(len(payload).to_bytes(4, "big") + payload)

    def receive(self) -> bytes | None:
        size = self._exactly(4)
        return None if size is None else self._exactly(int.from_bytes(size, "big"))

    def close(self) -> None:
        self._socket.close()

    def _exactly(self, count: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < count:
            try:
                part = self._socket.recv(count - len(parts))
            except (ConnectionError, TimeoutError):
                return None
            if not part:
                return None
            parts += part
        return bytes(parts)


class SocketPeer:
    """The administrator comes by the plaintext listener, users log in with `NAME-secret`."""

    def __init__(self, plain: str, sasl: str, settle_seconds: float = 0.0) -> None:
        self._plain = plain
        self._sasl = sasl
        self._settle_seconds = settle_seconds
        self._connections: dict[str, Connection] = {}
        versions = self.ask(ADMIN, ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
        self.advertised = {
            ApiKey(one.api_key): (one.min_version, one.max_version)
            for one in versions.api_keys
            if one.api_key in list(ApiKey)
        }

    def newest(self, api: ApiKey) -> int:
        return self.advertised[api][1]

    def ask(self, user: str, api: ApiKey, version: int, request: Any) -> Any:
        try:
            answer = self._connection(user).ask(api, version, request)
        except ConnectionError:
            answer = None
        if answer is None:
            self._connections.pop(user).close()
        if api in (ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS):
            time.sleep(self._settle_seconds)  # a real broker's own copy follows a moment later
        return answer

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def _connection(self, user: str) -> Connection:
        if user not in self._connections:
            connection = Connection(self._plain if user == ADMIN else self._sasl)
            if user != ADMIN:
                self._log_in(connection, user)
            self._connections[user] = connection
        return self._connections[user]

    def _log_in(self, connection: Connection, user: str) -> None:
        """By raw tokens where the broker knows nothing newer."""
        version = min(1, self.newest(ApiKey.SASL_HANDSHAKE))
        handshake = SaslHandshakeRequest(mechanism="PLAIN")
        assert connection.ask(ApiKey.SASL_HANDSHAKE, version, handshake).error_code == 0
        token = f"\0{user}\0{user}-secret".encode()
        if version == 0:
            connection.send(token)
            assert connection.receive() == b""
            return
        request = SaslAuthenticateRequest(auth_bytes=token)
        version = min(2, self.newest(ApiKey.SASL_AUTHENTICATE))
        assert connection.ask(ApiKey.SASL_AUTHENTICATE, version, request).error_code == 0
