"""Authentications of a replay: with the target's users, and without waiting for rejected ones."""

import time
from collections.abc import Mapping

from kafka_shim.client.config import Login
from kafka_shim.client.login import InvalidLoginResponseError, LoginResult, login_frames
from kafka_shim.traces.replay.target_connection import (
    ConnectionClosedError,
    ConnectionLostError,
    TargetConnection,
)

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
