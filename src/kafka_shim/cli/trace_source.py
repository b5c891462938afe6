"""Check that a trace exists, and report its damaged parts."""

import sys
from collections.abc import Iterable
from pathlib import Path

from kafka_shim.shim.errors import ConfigError
from kafka_shim.trace_format.foreign_files import describe_missing_segments, import_hint
from kafka_shim.trace_format.segments import (
    Damage,
    contains_block,
    find_newer_segment,
    segment_paths,
)


def require_path_with_trace(path: Path) -> Path:
    """Return the path. Raise ConfigError if it has no trace. An empty segment is a trace."""
    if not path.exists():
        raise ConfigError(f"`{path}` does not exist")
    if newer := find_newer_segment(path):
        raise ConfigError(
            f"`{newer}` is in a format of a newer kafka-shim; read it with that release"
        )
    if path.is_dir():
        if not segment_paths(path):
            raise ConfigError(describe_missing_segments([path]))
    elif path.stat().st_size and not contains_block(path):
        raise ConfigError(
            f"`{path}` is not a kafka-shim trace: it has no valid block{import_hint(path)}"
        )
    return path


def print_damaged_parts(damage: Iterable[Damage]) -> None:
    """Print to standard error which parts could not be read."""
    for part in damage:
        state = "not yet written" if part.is_tail else "damaged"
        print(
            f"{part.path}: {state}: {part.length} bytes from {part.position}: {part.reason}",
            file=sys.stderr,
        )
