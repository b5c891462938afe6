"""Answers read from their frames."""

from typing import Any

from protocol import codecs
from protocol.enums import ApiKey
from protocol.errors import ProtocolError
from protocol.headers import read_response_header
from protocol.trace.entries import Response
from shim.replay.fields import NOT_YET

_UNSUPPORTED_VERSION = 35
_NOT_YET_BYTES = tuple(code.to_bytes(2, "big") for code in NOT_YET)


def read_answer(entry: Response, frame: bytes) -> tuple[Any, int]:
    """The answer and its version: a refusal of ApiVersions is in version 0 whatever was asked."""
    key, version = entry.api_key, entry.api_version
    _, at = read_response_header(key, version, frame)
    if key == ApiKey.API_VERSIONS and frame[at : at + 2] == _UNSUPPORTED_VERSION.to_bytes(2, "big"):
        version = 0
    return codecs.read_response(key, version, frame, at), version


def error_code(entry: Response, frame: bytes | None = None) -> int:
    """The code of the recorded answer, or of another one to the same request."""
    try:
        answer = read_answer(entry, entry.frame if frame is None else frame)[0]
    except ProtocolError:
        return -1
    for rows in ("coordinators", "groups"):  # since versions that ask about several at once
        inner = getattr(answer, rows, None)
        if inner:
            return int(inner[0].error_code)
    return int(getattr(answer, "error_code", 0))


def is_put_off(entry: Response, frame: bytes | None = None) -> bool:
    """Whether the broker was not ready for the request (`NOT_YET`); read only if it may be so."""
    seen = entry.frame if frame is None else frame
    return any(code in seen for code in _NOT_YET_BYTES) and error_code(entry, frame) in NOT_YET
