"""Where Spark's own output goes: a file that is kept only if something failed."""

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


class SparkLog:
    """A file for what Java and the workers print; removed at the end unless `keep` was called."""

    def __init__(self) -> None:
        with tempfile.NamedTemporaryFile(
            prefix="kafka-shim-spark-", suffix=".log", delete=False
        ) as file:
            self.path = Path(file.name)
        self._is_kept = False

    def keep(self, text: str) -> None:
        """Add what is known of a failure, and leave the file where it is."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
        self._is_kept = True

    def said(self) -> str:
        """Why Java did not start: the first line that is about an error, or of all."""
        lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        found = [line.strip() for line in lines if line.strip() and not line.startswith(_NOISE)]
        wrong = [line for line in found if _WRONG.search(line)]
        return next(iter(wrong or found), "")

    def __enter__(self) -> "SparkLog":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._is_kept:
            self.path.unlink()
