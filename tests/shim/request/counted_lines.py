"""Count the lines of code of a request, since bytecodes differ between releases of Python."""

import sys
from types import FrameType
from typing import Any

from kafka_shim.shim.dispatching.dispatcher import Dispatcher
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import Session


def count_lines(dispatcher: Dispatcher, frame: bytes, session: Session) -> int:
    """Return how many lines of code a request runs."""
    lines = 0

    def trace(_: FrameType, event: str, __: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        dispatcher.dispatch(frame, session)
    except CloseConnection:
        pass
    finally:
        sys.settrace(before)
    return lines
