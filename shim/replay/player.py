"""Sends the requests of a recording to a target, in the recorded order, and compares the answers.

A request is sent once every answer that the recorded client, or any other, had got before it has
come from the target too: so causes stay before effects, whatever the speed.
"""

import time
from collections.abc import Mapping
from typing import Any

import msgspec

from protocol import codecs
from protocol.enums import ApiKey
from protocol.errors import ProtocolError
from protocol.headers import (
    RequestHeader,
    read_request_header,
    write_request_header,
)
from protocol.trace.entries import Closed, Request, Response
from protocol.trace.redaction import BLANK
from shim.client_config import Login
from shim.replay.answers import error_code, read_answer
from shim.replay.compare import Difference, differences
from shim.replay.events import Event, Line, Recording
from shim.replay.fields import NOT_YET
from shim.replay.ids import Ids
from shim.replay.peer import GoneError, Peer
from shim.replay.report import Place, Report

WRONG_PASSWORD = Login("PLAIN", "kafka-shim-replay", "a password that nobody has")
"""For a log-in that was refused: whose it was, and its password, no trace tells."""

RETRY_S = 0.1
"""Before a target that is not ready yet is asked again."""

_SASL = frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})
_SECRET = frozenset(
    {
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
    }
)


class MissError(Exception):
    """Something cannot be replayed, and it was asked to stop then."""


class Target(msgspec.Struct, frozen=True):
    """Where to, and how. `routes` are addresses for recorded listeners and broker ids, `address` is
    for all others.

    `speed` None is as fast as it goes. `logs_in` False leaves the recorded log-ins out, for a
    target that has none.
    """

    address: tuple[str, int]
    routes: Mapping[str, tuple[str, int]] = {}
    users: Mapping[str, str] = {}
    speed: float | None = None
    timeout_s: float = 15.0
    stops_on_miss: bool = True
    logs_in: bool = True
    ignored: frozenset[str] = frozenset()


class _Connection:
    """A recorded connection and its counterpart."""

    def __init__(self, peer: Peer | None, why: str) -> None:
        self.peer = peer
        self.why_not = why
        self.requests: dict[int, tuple[bytes, Any]] = {}
        self.mechanism = "PLAIN"
        self.login_error: int | None = None


class Player:
    """One replay."""

    def __init__(self, recording: Recording, target: Target) -> None:
        self._recording = recording
        self._target = target
        self._principals = recording.principals()
        self._answers = recording.answers()
        self._connections: dict[Line, _Connection] = {}
        self._ids = Ids()
        self.report = Report(ignored=target.ignored)

    def play(self) -> Report:
        """Replay everything; MissError at the first miss if the target is set so."""
        began = time.monotonic()
        events = self._recording.events
        first_us = events[0].entry.time_us if events else 0
        try:
            for event in events:
                if self._target.speed is not None:
                    due = (event.entry.time_us - first_us) / 1_000_000 / self._target.speed
                    time.sleep(max(0.0, began + due - time.monotonic()))
                self._one(event)
        finally:
            for connection in self._connections.values():
                if connection.peer is not None:
                    connection.peer.close()
            self.report.seconds = time.monotonic() - began
        return self.report

    def _one(self, event: Event) -> None:
        connection = self._connection(event)
        match event.entry:
            case Request():
                self._request(event, event.entry, connection)
            case Response():
                self._response(event, event.entry, connection)
            case Closed():
                if connection.peer is not None:
                    connection.peer.close()
                connection.peer, connection.why_not = None, "the recorded client had left"

    def _connection(self, event: Event) -> _Connection:
        found = self._connections.get(event.line)
        if found is None:
            routes = self._target.routes
            by_node = routes.get(str(event.node_id), self._target.address)
            host, port = routes.get(event.listener, by_node)
            try:
                found = _Connection(Peer(host, port, self._target.timeout_s), "")
            except GoneError as error:
                found = _Connection(None, str(error))
            self._connections[event.line] = found
        return found

    def _request(self, event: Event, entry: Request, connection: _Connection) -> None:
        try:
            header, at = read_request_header(entry.frame)
        except ProtocolError as error:
            self._miss(Place(event.line[1], entry.sequence, "?", 0, event.principal), str(error))
            return
        place = _place(event, header.api_key, header.api_version)
        answer = self._answers.get((event.line, entry.sequence))
        if answer is not None and error_code(answer) in NOT_YET:
            self.report.left_out += 1
        elif connection.peer is None:
            self._miss(place, connection.why_not)
        elif header.api_key in _SASL:
            self._log_in(event, place, header, entry, at, connection)
        elif header.api_key in _SECRET or (entry.redacted and BLANK.encode() in entry.frame):
            self._miss(place, "it has secrets, which are not in a trace")
        else:
            self._send(event, place, header, entry, at, connection)

    def _send(
        self,
        event: Event,
        place: Place,
        header: RequestHeader,
        entry: Request,
        at: int,
        connection: _Connection,
    ) -> None:
        frame, message = entry.frame, None
        try:
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
            original = codecs.read_request(header.api_key, header.api_version, frame, at)
            if self._ids.rewrite(event.line, message):
                body = codecs.write_request(message, header.api_version)
                frame = write_request_header(header) + body
            message = original
        except ProtocolError:
            pass  # sent as it is: what the target makes of it is part of the comparison
        assert connection.peer is not None
        try:
            connection.peer.send(frame)
        except GoneError as error:
            self._lost(place, connection, str(error))
            return
        connection.requests[entry.sequence] = frame, message
        self.report.requests += 1

    def _log_in(
        self,
        event: Event,
        place: Place,
        header: RequestHeader,
        entry: Request,
        at: int,
        connection: _Connection,
    ) -> None:
        """Remember the mechanism; at the first message of the exchange, go through one of ours."""
        if not self._target.logs_in:
            return
        if header.api_key == ApiKey.SASL_HANDSHAKE:
            request = codecs.read_request(header.api_key, header.api_version, entry.frame, at)
            connection.mechanism = request.mechanism
            connection.login_error = None
            return
        if connection.login_error is not None:
            return
        login = self._login(event, entry, connection)
        if login is None:
            name = self._principals[event.line].partition(":")[2]
            self._lost(place, connection, f"no password of `{name}`: --user {name}:PASSWORD")
            return
        assert connection.peer is not None
        try:
            connection.login_error = connection.peer.log_in(login)
        except GoneError as error:
            self._lost(place, connection, str(error))

    def _login(self, event: Event, entry: Request, connection: _Connection) -> Login | None:
        answer = self._answers.get((event.line, entry.sequence))
        name = self._principals[event.line].partition(":")[2]
        if answer is not None and error_code(answer):
            return WRONG_PASSWORD
        password = self._target.users.get(name)
        return None if password is None else Login(connection.mechanism, name, password)

    def _response(self, event: Event, entry: Response, connection: _Connection) -> None:
        place = _place(event, entry.api_key, entry.api_version)
        if entry.api_key in _SASL:
            self._compare_login(place, entry, connection)
            return
        sent = connection.requests.pop(entry.sequence, None)
        if sent is None or connection.peer is None:
            return  # told when the request was missed
        try:
            frame = self._answer(connection, connection.peer, sent[0], entry)
        except GoneError as error:
            self._lost(place, connection, str(error))
            return
        self.report.answers += 1
        self.report.differ(place, self._compare(event.line, sent[1], entry, frame))

    def _answer(
        self, connection: _Connection, peer: Peer, request: bytes, entry: Response
    ) -> bytes:
        """The target's answer; one that is not ready yet is asked again, as a client would."""
        deadline = time.monotonic() + self._target.timeout_s
        while True:
            frame = peer.receive()
            is_put_off = error_code(entry, frame) in NOT_YET and error_code(entry) not in NOT_YET
            if not is_put_off or connection.requests or time.monotonic() > deadline:
                return frame
            time.sleep(RETRY_S)
            peer.send(request)

    def _compare(self, line: Line, request: Any, entry: Response, frame: bytes) -> list[Difference]:
        try:
            recorded, version = read_answer(entry, entry.frame)
            actual, actual_version = read_answer(entry, frame)
        except ProtocolError:
            same = entry.frame[4:] == frame[4:]
            return [] if same else [Difference("bytes", entry.frame[4:].hex(), frame[4:].hex())]
        if version != actual_version:
            return [Difference("version", version, actual_version)]
        self._ids.learn(line, request, recorded, actual)
        return differences(version, recorded, actual)

    def _compare_login(self, place: Place, entry: Response, connection: _Connection) -> None:
        """Only whether the target takes the log-in: the messages themselves never agree."""
        actual = connection.login_error
        if entry.api_key != ApiKey.SASL_AUTHENTICATE or actual is None:
            return
        recorded = error_code(entry)
        self.report.answers += 1
        if recorded != actual:
            self.report.differ(place, [Difference("error_code", recorded, actual)])

    def _lost(self, place: Place, connection: _Connection, why: str) -> None:
        """The connection cannot be used any more; what it was still to answer is missed too."""
        if connection.peer is not None:
            connection.peer.close()
        connection.peer, connection.why_not = None, f"before it: {why}"
        self._miss(place, why)

    def _miss(self, place: Place, why: str) -> None:
        self.report.miss(place, why)
        if self._target.stops_on_miss:
            raise MissError(
                f"connection {place.connection}, request {place.sequence}: {place.api}"
                f" v{place.version}: {why}; --on-miss skip goes on without it"
            )


def _place(event: Event, api_key: int, version: int) -> Place:
    try:
        api = ApiKey(api_key).wire_name
    except ValueError:
        api = str(api_key)
    return Place(event.line[1], event.entry.sequence, api, version, event.principal)
