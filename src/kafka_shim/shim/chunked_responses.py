"""Long responses in pieces: records go from the log to the socket without being copied together."""

from typing import Any, Protocol

from kafka_shim.protocol.chunks import LONG_BYTES, flat
from kafka_shim.shim.apis import ServedApi
from kafka_shim.shim.faults.faults import Faults
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.cluster import Cluster


class Onlookers(Protocol):
    """The part of the dispatcher that may look at responses, keep them back or change them."""

    cluster: Cluster
    faults: Faults

    @property
    def recorder(self) -> object | None: ...
    @property
    def history(self) -> object | None: ...
    @property
    def storage(self) -> object | None: ...


def may_be_in_pieces(onlookers: Onlookers, context: RequestContext) -> bool:
    """Return whether a response is for its client alone, who takes it at once and as it is."""
    is_seen = onlookers.recorder is not None or onlookers.history is not None
    waits = onlookers.storage is not None or onlookers.cluster.throttles is not None
    is_other = onlookers.faults.by_id or context.spoil is not None
    return not (is_seen or waits or is_other or context.session.slices is not None)


def frame_in_pieces(
    onlookers: Onlookers, api: ServedApi, context: RequestContext, response: Any
) -> bytes:
    """Return the frame of a response, or its start: then the rest is in the session's `pieces`."""
    pieces = context.session.pieces
    assert pieces is not None
    assert api.write_pieces is not None
    written = api.write_pieces(response)
    size = sum(map(len, written))
    start = api.pack_start(api.start_bytes + size, context.header.correlation_id)
    if size < LONG_BYTES or not may_be_in_pieces(onlookers, context):
        return b"".join((start, *flat(written)))
    pieces.extend(flat(written))
    return start
