"""Count what a call runs: exact, whatever else the machine does."""

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Literal


def count_work(work: Callable[[], object], event: Literal["line", "opcode"]) -> int:
    """Return how many lines of code or bytecodes a call runs, also if it raises.

    Bytecodes differ between releases of Python.
    """
    count = 0

    def trace(frame: FrameType, traced: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes = event == "opcode"
        count += traced == event
        return trace

    before = sys.gettrace()
    gc.disable()  # or finalizers of other objects are counted, too
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return count
