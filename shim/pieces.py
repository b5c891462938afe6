"""Long responses in pieces: records go from the log to the socket without being copied together."""

from typing import TYPE_CHECKING, Any

from kafka_shim.protocol.pieces import flat
from kafka_shim.shim.apis import ServedApi
from kafka_shim.shim.request.context import RequestContext

if TYPE_CHECKING:
    from kafka_shim.shim.dispatch import Dispatcher

LONG_BYTES = 64 * 1024
"""Shorter responses are not in pieces."""


def may_be_in_pieces(dispatcher: "Dispatcher", context: RequestContext) -> bool:
    """Return whether a response is for its client alone, who takes it at once and as it is."""
    is_seen = dispatcher.recorder is not None or dispatcher.history is not None
    waits = dispatcher.storage is not None or dispatcher.cluster.throttles is not None
    is_other = dispatcher.faults.by_id or context.spoil is not None
    return not (is_seen or waits or is_other or context.session.turns is not None)


def frame_in_pieces(
    dispatcher: "Dispatcher", api: ServedApi, context: RequestContext, answer: Any
) -> bytes:
    """Return the frame of a response, or its start: then the rest is in the session's `pieces`."""
    pieces = context.session.pieces
    assert pieces is not None
    assert api.write_pieces is not None
    written = api.write_pieces(answer)
    size = sum(map(len, written))
    start = api.pack_start(api.start_bytes + size, context.header.correlation_id)
    if size < LONG_BYTES or not may_be_in_pieces(dispatcher, context):
        return b"".join((start, *flat(written)))
    pieces.extend(flat(written))
    return start
