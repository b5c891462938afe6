"""Reading the body of a request, and finding out whether it takes long."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.shim.errors import CloseConnection, TakesLong

if TYPE_CHECKING:
    from kafka_shim.shim.apis import ServedApi
    from kafka_shim.shim.request.time_slices import TimeSlices


def never() -> bool:
    """No request is handled in turns, as there is no event loop."""
    return False


def read(
    api: "ServedApi",
    frame: bytes,
    body_at: int,
    slices: "TimeSlices[Any] | None",
    may_take_turns: Callable[[], bool],
) -> Any:
    """Return the request; CloseConnection if it is unreadable, TakesLong if it needs turns."""
    try:
        if slices is not None:
            return _read_in_turns(api, frame, body_at, slices)
        request = api.read(frame, body_at)
    except ProtocolError as error:
        raise CloseConnection(
            f"unreadable {api.key.wire_name} request, version {api.version}: {error}"
        ) from error
    if api.takes_long is not None and api.takes_long(request) and may_take_turns():
        raise TakesLong
    return request


def _read_in_turns(api: "ServedApi", frame: bytes, body_at: int, slices: "TimeSlices[Any]") -> Any:
    from kafka_shim.shim.request.long_arrays import time_sliced  # noqa: PLC0415 - for large requests alone

    request = slices.offload(api.read, frame, body_at)
    slices.offload(time_sliced, request, api.key, slices)
    return request
