"""Spark's own output goes to a file, which is kept only after a failure."""

import re
import tempfile
from pathlib import Path
from types import TracebackType

_WRONG = re.compile("(error|exception)", re.IGNORECASE)
_NOISE = (
    "WARNING: Using incubator modules",
    "NOTE: Picked up",
    "Picked up JAVA_TOOL_OPTIONS",
    "::",
)


class TemporarySparkLog:
    """A file for output of Java and the workers; it is removed at the end unless Spark failed."""

    def __init__(self) -> None:
        with tempfile.NamedTemporaryFile(
            prefix="kafka-shim-spark-", suffix=".log", delete=False
        ) as file:
            self.path = Path(file.name)
        self._is_kept = False

    def append_failure(self, text: str) -> None:
        """Add the text of a failure, and keep the file."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
        self._is_kept = True

    def first_error_line(self) -> str:
        """Return why Java did not start: the first line with an error, or the first line."""
        lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        messages = [line.strip() for line in lines if line.strip() and not line.startswith(_NOISE)]
        errors = [line for line in messages if _WRONG.search(line)]
        return next(iter(errors or messages), "")

    def __enter__(self) -> "TemporarySparkLog":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._is_kept:
            self.path.unlink()
