"""Recognize what is given instead of a trace, such as a log, and say how to import it."""

from collections.abc import Sequence
from pathlib import Path

from kafka_shim.trace_format.segments import SUFFIX

_HEAD_BYTES = 65_536
_FILES_MAX = 20
_MARKS = {
    "audit-log": (b"kafka.authorizer.logger", b"Principal = ", b"io.confluent.kafka.server/"),
    "request-log": (b'"requestHeader"', b'\\"requestHeader'),
}
_CAPTURES = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\x0a\x0d\x0d\x0a")
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


def describe_missing_segments(paths: Sequence[Path]) -> str:
    """Return why paths without a segment are no trace, and how to import logs and captures."""
    names = ", ".join(map(str, paths))
    if all(path.is_dir() and not any(path.iterdir()) for path in paths):
        return f"`{names}` is empty, as the folder of a recording is if no client sent a request"
    return f"`{names}` has no trace: it contains no segment (*{SUFFIX}){first_import_hint(paths)}"


def first_import_hint(paths: Sequence[Path]) -> str:
    """Return how to import the first log or capture of these paths; empty if there is none."""
    return next((hint for path in paths if (hint := import_hint(path))), "")


def import_hint(path: Path) -> str:
    """Return how to import a file or folder that is a log or a capture; empty for other files."""
    files = [path]
    if path.is_dir():
        files = [file for file in sorted(path.iterdir()) if file.is_file()][:_FILES_MAX]
    formats = [name for file in files if file.is_file() and (name := _import_format(file))]
    if not formats:
        return ""
    command = f"kafka-shim trace import --input-format {formats[0]} {path} TRACE"
    return f"; import a log or a capture first: `{command}`"


def _import_format(file: Path) -> str:
    """Return the format of a log or a capture, as the import names it; empty for other files."""
    with file.open("rb") as opened:
        head = opened.read(_HEAD_BYTES)
    if head.startswith(_CAPTURES):
        return "pcap"
    if head.startswith(_COMPRESSED):
        return "audit-log"
    return next((name for name, marks in _MARKS.items() if any(mark in head for mark in marks)), "")
