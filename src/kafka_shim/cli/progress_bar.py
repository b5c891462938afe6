"""The progress of a long task, on a terminal; nothing if standard error is not a terminal."""

import sys
import time
from types import TracebackType
from typing import Self

_REDRAW_S = 0.2
_WIDTH = 40


class ProgressBar:
    """A progress display: `with ProgressBar("reading", total) as progress: progress(done)`.

    Any unit can be used. If the total is 0 (unknown), the number of processed items is shown.
    Nothing is shown before `delay_s`.
    """

    def __init__(
        self, task: str, total: int, *, is_shown: bool = True, delay_s: float = 0.0
    ) -> None:
        self._task = task
        self._total = total
        self._is_shown = is_shown and sys.stderr.isatty()
        self._starts_at = time.monotonic() + delay_s
        self._drawn_at = 0.0
        self._drawn_width = 0

    def __call__(self, done: int, note: str = "") -> None:
        """Show how much is done, with a note behind it."""
        if not self._is_shown:
            return
        now = time.monotonic()
        if now - self._drawn_at < _REDRAW_S or now < self._starts_at:
            return
        self._drawn_at = now
        text = f"{self._task} {self._progress_text(done)}{note and ' '}{note}"
        self._drawn_width = max(self._drawn_width, len(text))
        print(f"\r{text:<{self._drawn_width}}", end="", file=sys.stderr, flush=True)

    def _progress_text(self, done: int) -> str:
        if not self._total:
            return f"{done:,}"
        share = min(1.0, done / self._total)
        return f"[{'#' * round(share * _WIDTH):<{_WIDTH}}] {share:4.0%}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._erase()

    def print_above(self, line: str) -> None:
        """Print a line that stays, above the progress."""
        self._erase()
        print(line, file=sys.stderr, flush=True)

    def _erase(self) -> None:
        if self._drawn_at:
            print(f"\r{'':<{self._drawn_width}}\r", end="", file=sys.stderr, flush=True)
            self._drawn_at = 0.0
