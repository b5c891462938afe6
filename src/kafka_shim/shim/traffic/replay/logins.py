"""Log-ins in a replay: a trace has no passwords, so each is replaced by a new log-in."""

from collections.abc import Callable, Mapping

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.shim.client.config import Login
from kafka_shim.shim.traffic.replay.link import Link

WRONG_PASSWORD = Login("PLAIN", "kafka-shim-replay", "a password that nobody has")
"""For a rejected log-in: the trace contains neither its user nor its password."""


class NoPasswordError(Exception):
    """The password of a recorded user is missing; the message says what to do."""


def login_of(
    name: str, mechanism: str, passwords: Mapping[str, str], *, was_refused: bool
) -> Login:
    """Return the log-in for a recorded user. Raises NoPasswordError."""
    if was_refused:
        return WRONG_PASSWORD
    if name not in passwords:
        raise NoPasswordError(f"no password of `{name}`: --user {name}:PASSWORD")
    return Login(mechanism, name, passwords[name])


def log_in(
    link: Link,
    header: RequestHeader,
    frame: bytes,
    at: int,
    login: Callable[[str], Login],
) -> None:
    """Remember the mechanism; at the first message of the exchange, do a complete log-in.

    Raise GoneError if the target closes the connection, and the errors of `login`.
    """
    if header.api_key == ApiKey.SASL_HANDSHAKE:
        request = codecs.read_request(header.api_key, header.api_version, frame, at)
        link.mechanism = request.mechanism
        link.login_error = None
    elif link.login_error is None:
        assert link.peer is not None
        link.login_error = link.peer.log_in(login(link.mechanism))
