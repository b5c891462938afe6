"""The trace that a command reads: whether there is one, and which parts of it are lost."""

import sys
from collections.abc import Iterable
from pathlib import Path

from kafka_shim.protocol.trace.segments import SUFFIX, Damage, has_block, segments
from kafka_shim.shim.errors import ConfigError


def existing_trace(path: Path) -> Path:
    """The same path; ConfigError if no trace is there. One that is empty so far is a trace."""
    if not path.exists():
        raise ConfigError(f"`{path}` does not exist")
    if path.is_dir():
        if not segments(path):
            raise ConfigError(f"`{path}` has no trace: no segment (*{SUFFIX}) was recorded there")
    elif path.stat().st_size and not has_block(path):
        raise ConfigError(f"`{path}` is not a kafka-shim trace: it has no valid block")
    return path


def tell_damage(damage: Iterable[Damage]) -> None:
    """Say on standard error what could not be read."""
    for part in damage:
        state = "not yet written" if part.is_tail else "damaged"
        print(
            f"{part.path}: {state}: {part.length} bytes from {part.at}: {part.reason}",
            file=sys.stderr,
        )
