"""Responses of a target that has not yet handled a JoinGroup of another connection.

JoinGroup is answered late, so a replay cannot wait for its response before it sends the next
request, and brokers serve several connections concurrently.
"""

from collections.abc import Iterable
from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.trace.entries import Response
from kafka_shim.shim.traffic.replay.error_codes import error_code

REBALANCE_IN_PROGRESS = 27
_TOLD = frozenset({ApiKey.HEARTBEAT, ApiKey.SYNC_GROUP})
"""Requests of members that change nothing if they are sent again."""


def is_before_join(
    request: bytes, entry: Response, actual: bytes, unanswered: Iterable[bytes]
) -> bool:
    """Return whether the target answered a member's `request` as if the group were not rebalancing.

    `entry` is the recorded response, `actual` the target's; `unanswered` are requests in flight.
    """
    if entry.api_key not in _TOLD or error_code(entry) != REBALANCE_IN_PROGRESS:
        return False
    if error_code(entry, actual) != 0:
        return False
    group = _read(request).group_id
    return any(
        int.from_bytes(frame[:2], "big") == ApiKey.JOIN_GROUP
        and getattr(_read(frame), "group_id", None) == group
        for frame in unanswered
    )


def _read(frame: bytes) -> Any:
    """Return a decoded request; None if it cannot be decoded."""
    header, at = read_request_header(frame)
    try:
        return codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return None
