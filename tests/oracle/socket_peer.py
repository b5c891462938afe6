"""A broker behind sockets as a conformance peer: one blocking connection a user."""

import socket
import time
from typing import Any

from kafka_shim.protocol import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.api_versions_request import ApiVersionsRequest
from kafka_shim.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id_request import InitProducerIdRequest
from kafka_shim.protocol.messages.sasl_authenticate_request import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake_request import SaslHandshakeRequest
from kafka_shim.protocol.trace.entries import Response
from kafka_shim.shim.traffic.traces.answers import read_answer
from tests.oracle.settling import Settling
from tests.recordings.conformance.peer import CLIENT_ID, CLOSED, PATIENCE_MS, ROOT, SILENT, WAITS


class Connection:
    """Requests and answers, one at a time."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), 20)
        self._socket.settimeout(PATIENCE_MS / 1000)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0

    def ask(self, api: ApiKey, version: int, request: Any) -> Any:
        """The response; ConnectionError if the peer hangs up, TimeoutError if it is silent."""
        self.tell(api, version, request)
        return self.answer(api, version)

    def answer(self, api: ApiKey, version: int) -> Any:
        frame = self.receive()
        assert int.from_bytes(frame[:4], "big") == self._correlation_id
        return read_answer(Response(0, 0, 0, api, version, frame), frame)[0]

    def tell(self, api: ApiKey, version: int, request: Any) -> None:
        self._correlation_id += 1
        header = RequestHeader(api, version, self._correlation_id, CLIENT_ID)
        self.send(write_request_header(header) + codecs.write_request(request, version))

    def send(self, payload: bytes) -> None:
        self._socket.sendall(len(payload).to_bytes(4, "big") + payload)

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


class SocketPeer:
    """The administrator comes by the plaintext listener, users log in with `NAME-secret`."""

    def __init__(self, plain: str, sasl: str) -> None:
        self._plain = plain
        self._sasl = sasl
        self._settling: Settling | None = None
        self._connections: dict[str, Connection] = {}
        self._begun: dict[str, tuple[ApiKey, int, bool]] = {}
        versions = self.ask(ROOT, ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
        if isinstance(versions, dict):
            raise ConnectionError(f"the broker at {plain} does not answer yet")
        self.advertised = {
            ApiKey(row.api_key): (row.min_version, row.max_version)
            for row in versions.api_keys
            if row.api_key in list(ApiKey)
        }

    def newest(self, api: ApiKey) -> int:
        return int(self.advertised[api][1])

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def pause(self, milliseconds: int) -> None:
        time.sleep(milliseconds / 1000)

    def ask(self, user: str, api: ApiKey, version: int, request: Any) -> Any:
        self._begin(user, api, version, request)
        answer = self.outcome(user)
        if self._settling is not None:
            self._settling.after(api, request, answer)
        return answer

    def begin(self, user: str, api: ApiKey, version: int, request: Any) -> None:
        self._begin(user, api, version, request)
        time.sleep(0.1)  # nothing else tells when the broker has seen it

    def outcome(self, user: str) -> Any:
        api, version, is_silent = self._begun.pop(user)
        connection = self._connections.get(user)
        if connection is None:
            return CLOSED
        try:
            if is_silent:
                connection.ask(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())  # it lives
                return SILENT
            return connection.answer(api, version)
        except TimeoutError:
            self._connections.pop(user).close()
            return WAITS
        except ConnectionError:
            self._connections.pop(user).close()
            return CLOSED

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def settle(self, *, kraft: bool) -> None:
        """From now on wait for what each request changes: this is a real broker."""
        self._settling = Settling(self, kraft=kraft)

    def warm(self) -> None:
        """Wait until both coordinators answer and have read their logs."""
        producer = InitProducerIdRequest(transactional_id="warm", transaction_timeout_ms=60_000)
        finds = [FindCoordinatorRequest(key="warm", key_type=kind) for kind in (0, 1)]
        for _ in range(300):
            found = [self.ask(ROOT, ApiKey.FIND_COORDINATOR, 1, find) for find in finds]
            found.append(self.ask(ROOT, ApiKey.INIT_PRODUCER_ID, 0, producer))
            if not any(answer.error_code for answer in found) and self._shares():
                time.sleep(2)
                return
            time.sleep(0.1)
        raise AssertionError("the coordinators do not come up")

    def _shares(self) -> bool:
        """Whether the share coordinator answers, where there is one."""
        if ApiKey.READ_SHARE_GROUP_STATE not in self.advertised:
            return True
        key = "warm:AAAAAAAAAAAAAAAAAAAAAQ:0"
        find = FindCoordinatorRequest(key_type=2, coordinator_keys=[key])
        answer = self.ask(ROOT, ApiKey.FIND_COORDINATOR, 6, find)
        return bool(answer.coordinators[0].error_code == 0)

    def _begin(self, user: str, api: ApiKey, version: int, request: Any) -> None:
        is_silent = api is ApiKey.PRODUCE and request.acks == 0
        self._begun[user] = api, version, is_silent
        try:
            self._connection(user).tell(api, version, request)
        except ConnectionError:  # it was closed meanwhile
            self._connections.pop(user).close()

    def _connection(self, user: str) -> Connection:
        if user not in self._connections:
            connection = Connection(self._plain if user == ROOT else self._sasl)
            if user != ROOT:
                self._log_in(connection, user.partition("/")[0])
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
