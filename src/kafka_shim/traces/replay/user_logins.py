"""The users of a replay: each recorded connection authenticates as in the recording.

Connections are independent: nothing waits for the rejection of a user, and a session is renewed
when the target's lifetime of it ends, whenever the recorded client did that.
"""

import time
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from kafka_shim.client.config import Login
from kafka_shim.client.login import InvalidLoginResponseError, LoginResult, login_frames
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.traces.replay.compare import Difference
from kafka_shim.traces.replay.events import ConnectionId, Event
from kafka_shim.traces.replay.recorded_facts import RecordedFacts
from kafka_shim.traces.replay.replay_connection import ReplayConnection
from kafka_shim.traces.replay.report import ReplayReport, request_id_of_event
from kafka_shim.traces.replay.target import Target
from kafka_shim.traces.replay.target_connection import (
    Address,
    ConnectionClosedError,
    ConnectionLostError,
    TargetConnection,
    TargetConnector,
)
from kafka_shim.traces.replay.topology import TargetTopology

REAUTHENTICATION_SHARE = 0.85
"""Share of a session's lifetime after which clients authenticate again, as Kafka's own do."""


class MissingPasswordError(Exception):
    """The password of a recorded user is missing; the message says what to do."""


def login_for_recorded_user(
    name: str, mechanism: str, passwords: Mapping[str, str], *, was_rejected: bool
) -> Login:
    """Return the login of a recorded user. Raise MissingPasswordError if it has no password.

    For a rejected authentication, the trace contains neither its user nor its password.
    """
    if was_rejected:
        return Login(mechanism, "kafka-shim-replay", "a password that nobody has")
    if name not in passwords:
        raise MissingPasswordError(f"no password of `{name}`: --user {name}:PASSWORD")
    return Login(mechanism, name, passwords[name])


class LoginExchange:
    """An authentication on a connection, message by message; nothing waits for it by itself."""

    def __init__(self, connection: TargetConnection, login: Login, version: int) -> None:
        """Send the first message. Raise ConnectionLostError if the connection ends."""
        self._connection = connection
        self._frames = login_frames(login, version)
        self._sent = connection.queue(next(self._frames))
        self.result: LoginResult | None = None
        self.failure = ""
        """Why there is no result, if the connection ended first."""
        self.is_lost = False
        """Whether the connection was closed before the target has accepted or rejected the user."""
        connection.flush()

    @property
    def is_over(self) -> bool:
        return self.result is not None or bool(self.failure)

    def advance(self) -> None:
        """Send the next messages as far as responses have arrived."""
        while not self.is_over and self._has_response:
            self._take_response()

    def wait(self) -> None:
        """Wait for the end."""
        while not self.is_over:
            self._take_response()

    def finish(self) -> LoginResult:
        """Wait for the end, and return the result.

        Raise ConnectionLostError if the connection ended before.
        """
        self.wait()
        if self.result is None:
            raise ConnectionLostError(self.failure)
        return self.result

    @property
    def _has_response(self) -> bool:
        if self._sent.response is not None:
            return True
        is_open = self._connection.read_available()
        return self._connection.has_response or not is_open

    def _take_response(self) -> None:
        try:
            frame = self._connection.receive_response(self._sent)
            self._sent = self._connection.queue(self._frames.send(frame))
            self._connection.flush()
        except StopIteration as done:
            self.result = done.value
            _schedule_reauthentication(self._connection, done.value)
        except InvalidLoginResponseError as error:
            self.failure = f"the authentication failed: {error}"
        except ConnectionLostError as error:
            self.failure = str(error)
            self.is_lost = isinstance(error, ConnectionClosedError)


def _schedule_reauthentication(connection: TargetConnection, result: LoginResult) -> None:
    lifetime_s = REAUTHENTICATION_SHARE * result.session_lifetime_ms / 1000
    connection.reauthenticates_at = time.monotonic() + lifetime_s if lifetime_s else None


_POLL_S = 0.005
"""How often the responses to outstanding authentications are looked for."""
_OUTSTANDING_MAX = 200
_NOBODY = frozenset({"ANONYMOUS", ""})
"""The user of a client that left in the middle of its authentication."""


class _User(msgspec.Struct):
    """The user of a connection; `login` is None before the authentication."""

    mechanism: str = "PLAIN"
    login: Login | None = None
    version: int = 0


class _OutstandingLogin(NamedTuple):
    event: Event
    recorded_code: int
    exchange: LoginExchange
    connection: TargetConnection


class UserLogins:
    """Authenticates connections to the target, and compares the results with the recorded ones."""

    def __init__(
        self,
        target: Target,
        facts: RecordedFacts,
        topology: TargetTopology,
        report: ReplayReport,
        connector: TargetConnector,
    ) -> None:
        self._target = target
        self._facts = facts
        self._topology = topology
        self._report = report
        self._connector = connector
        self._users: dict[ConnectionId, _User] = {}
        self._outstanding: dict[ConnectionId, _OutstandingLogin] = {}
        self._rejections: list[_OutstandingLogin] = []
        self._polled_at = 0.0

    def add_connection(self, event: Event) -> None:
        """Add a connection whose client had authenticated before the first event that is replayed.

        It authenticates when it sends its first request, if its password is known. A client that
        never authenticates has the user in the target's settings, if there is one.
        """
        row, name = event.connection, event.principal.partition(":")[2]
        own, is_known = self._target.config.login, row is not None and bool(row.mechanism)
        if own is not None and not is_known and not self._facts.authenticates(event.connection_id):
            self._users[event.connection_id] = _User(own.mechanism, own, 1)
        if row is None or not row.mechanism or name not in self._target.users:
            return
        if self._facts.logs_in_later(event) or not self._target.replays_authentication:
            return
        login = Login(row.mechanism, name, self._target.users[name])
        self._users[event.connection_id] = _User(row.mechanism, login, 1)

    def open_connection(self, connection_id: ConnectionId, address: Address) -> TargetConnection:
        """Return a new connection to a broker, with the user of a recorded connection.

        Raise ConnectionLostError if that fails.
        """
        connection = self._connector.open(address)
        user = self._users.get(connection_id)
        if user is not None and user.login is not None:
            self._authenticate(connection, user)
        return connection

    def replay(
        self,
        event: Event,
        header: RequestHeader,
        frame: bytes,
        at: int,
        connection: ReplayConnection,
        address: Address,
    ) -> str:
        """Begin the authentication at its first message; return why it is impossible, or "".

        Raise ConnectionLostError if the connection ends.
        """
        user = self._users.setdefault(event.connection_id, _User())
        if header.api_key == ApiKey.SASL_HANDSHAKE:
            request = codecs.read_request(header.api_key, header.api_version, frame, at)
            user.mechanism = request.mechanism
            self._report.logins += 1
            return ""
        request_key = event.connection_id, event.entry.sequence
        if request_key not in self._facts.logins or user.login is not None:
            self._report.logins += 1  # the rest of an exchange, or of a session that is renewed
            return ""
        recorded_code = self._facts.logins[request_key]
        name = self._facts.principals[event.connection_id].partition(":")[2]
        if recorded_code is None or (not recorded_code and name in _NOBODY):
            self._report.skip_request("the client left before its authentication was answered")
            connection.close("its authentication was not answered in the recording")
            return ""
        try:
            login = login_for_recorded_user(
                name, user.mechanism, self._target.users, was_rejected=recorded_code != 0
            )
        except MissingPasswordError as error:
            return str(error)
        highest = self._topology.versions.get(ApiKey.SASL_AUTHENTICATE, (0, 1))[1]
        user.version = min(1, header.api_version, highest)
        if recorded_code:
            target = self._connector.open(address)
        else:
            target = connection.target_connection(address)
        exchange = LoginExchange(target, login, user.version)
        outstanding = _OutstandingLogin(event, recorded_code, exchange, target)
        if recorded_code:
            self._rejections.append(outstanding)
            self._limit_outstanding()
        else:
            user.login = login
            self._outstanding[event.connection_id] = outstanding
        return ""

    def prepare(
        self, connection_id: ConnectionId, connection: ReplayConnection, addresses: set[Address]
    ) -> None:
        """Finish the authentication of a connection, and renew sessions that end soon.

        Raise ConnectionLostError if the user is rejected, or a connection ends.
        """
        outstanding = self._outstanding.pop(connection_id, None)
        if outstanding is not None:
            outstanding.exchange.wait()
            if outstanding.exchange.is_lost:
                self._report.logins += 1  # the new connection authenticates
            else:
                self._compare_login(outstanding)
                _require_success(outstanding.exchange)
        user = self._users.get(connection_id)
        if user is None or user.login is None:
            return
        for address in addresses:
            if connection.has_connection(address):
                target = connection.target_connection(address)
                ends = target.reauthenticates_at
                if ends is not None and time.monotonic() >= ends:
                    self._authenticate(target, user)
                    self._report.renewed_sessions += 1

    def advance(self) -> None:
        """Continue the outstanding authentications as far as the target has responded."""
        if not self._rejections or time.monotonic() - self._polled_at < _POLL_S:
            return
        for outstanding in self._rejections:
            outstanding.exchange.advance()
        for outstanding in [each for each in self._rejections if each.exchange.is_over]:
            self._finish_rejection(outstanding)
        self._polled_at = time.monotonic()

    def finish(self) -> None:
        """Wait for the outstanding authentications, all at the same time."""
        deadline = time.monotonic() + self._target.timeout_s
        while self._rejections and time.monotonic() < deadline:
            self.advance()
            time.sleep(_POLL_S)
        for outstanding in [*self._rejections]:
            self._finish_rejection(outstanding)
        for outstanding in self._outstanding.values():
            self._compare_login(outstanding)
        self._outstanding.clear()

    def close(self) -> None:
        """Close the connections of users that are to be rejected, and count what is not awaited."""
        for _ in (*self._rejections, *self._outstanding):
            self._report.skip_request("in flight at the end")
        self._outstanding.clear()
        for outstanding in self._rejections:
            outstanding.connection.close()

    def finish_connection(self, connection_id: ConnectionId) -> None:
        """Wait for the authentication of a connection that is to be closed."""
        outstanding = self._outstanding.pop(connection_id, None)
        if outstanding is not None:
            self._compare_login(outstanding)

    def _limit_outstanding(self) -> None:
        if len(self._rejections) > _OUTSTANDING_MAX:
            self._finish_rejection(self._rejections[0])

    def _finish_rejection(self, outstanding: _OutstandingLogin) -> None:
        self._rejections.remove(outstanding)
        self._compare_login(outstanding)
        outstanding.connection.close()

    def _compare_login(self, outstanding: _OutstandingLogin) -> None:
        """Compare only the error codes: other contents of authentications always differ."""
        self._report.logins += 1
        try:
            code: int | str = outstanding.exchange.finish().error_code
        except ConnectionLostError as error:
            code = str(error)
        if code != outstanding.recorded_code:
            difference = Difference("error_code", outstanding.recorded_code, code)
            self._report.add_differences(request_id_of_event(outstanding.event), [difference])

    def _authenticate(self, connection: TargetConnection, user: _User) -> None:
        assert user.login is not None
        try:
            _require_success(LoginExchange(connection, user.login, user.version))
        except ConnectionLostError:
            connection.close()
            raise


def _require_success(exchange: LoginExchange) -> None:
    """Wait for the end. Raise ConnectionLostError unless the user was accepted."""
    code = exchange.finish().error_code
    if code:
        raise ConnectionLostError(f"the authentication failed: {error_name_with_code(code)}")
