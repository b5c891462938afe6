"""How far a long work has come, on a terminal; silent where standard error is none."""

import sys
import time
from types import TracebackType
from typing import Self

_REDRAW_S = 0.2
_WIDTH = 40


class Progress:
    """`with Progress("reading", total) as progress: progress(done)`; any unit, 0 is unknown."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._is_shown = sys.stderr.isatty()
        self._drawn_at = 0.0

    def __call__(self, done: int) -> None:
        if not self._is_shown:
            return
        now = time.monotonic()
        if now - self._drawn_at < _REDRAW_S:
            return
        self._drawn_at = now
        share = min(1.0, done / self._total) if self._total else 0.0
        bar = "#" * round(share * _WIDTH)
        print(f"\r{self._what} [{bar:<{_WIDTH}}] {share:4.0%}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn_at:  # wipe the line
            print(f"\r{'':<{len(self._what) + _WIDTH + 8}}\r", end="", file=sys.stderr, flush=True)
