"""The last authentications by SASL, successful or refused, for tests and the control API."""

import re
from collections import deque
from collections.abc import Iterator
from typing import Final

import msgspec

KEPT_MAX: Final = 1_000
NAME_MAX: Final = 200
_SCRAM_NAME: Final = rb"[^,]*,[^,]*,n=([^,]*)"


class Authentication(msgspec.Struct, frozen=True):
    """An authentication. `user` is the name that the client sent, None if it sent none that can
    be read; `error` is None if it succeeded.
    """

    number: int
    time_ms: int
    listener: str
    host: str
    mechanism: str
    user: str | None
    error: str | None


class AuthenticationLog:
    """The last authentications, numbered from 1."""

    def __init__(self) -> None:
        self.last_number = 0
        self._kept: deque[Authentication] = deque(maxlen=KEPT_MAX)

    def add(
        self,
        time_ms: int,
        *,
        listener: str,
        host: str,
        mechanism: str,
        user: str | None,
        error: str | None = None,
    ) -> None:
        self.last_number += 1
        self._kept.append(
            Authentication(self.last_number, time_ms, listener, host, mechanism, user, error)
        )

    def clear_but_continue_numbering(self) -> None:
        """Forget all; numbers continue."""
        self._kept.clear()

    def __iter__(self) -> Iterator[Authentication]:
        return iter(self._kept)


def claimed_user_name(mechanism: str, first_message: bytes) -> str | None:
    """Return the user that a client's first message names; None if there is no such name."""
    name = b""
    if mechanism == "PLAIN" and first_message.count(b"\0") == 2:
        name = first_message.split(b"\0")[1]
    elif mechanism.startswith("SCRAM-") and (match := re.match(_SCRAM_NAME, first_message)):
        name = match[1].replace(b"=2C", b",").replace(b"=3D", b"=")
    return name.decode(errors="replace")[:NAME_MAX] or None
