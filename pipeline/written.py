"""How much of a segment is written by now: up to the end of its last whole block."""

from pathlib import Path

from protocol.trace.blocks import HEADER_BYTES, BlockError, read_header
from protocol.trace.segments import Damage, read_segment


def whole_bytes(path: Path, start: int) -> int:
    """Where the blocks that are surely written end, from a position where one begins.

    A block that is cut off at the end of a writer's newest segment may still be written; damage
    elsewhere is not waited for.
    """
    size = path.stat().st_size
    at = start
    with path.open("rb") as file:
        while at < size:
            file.seek(at)
            try:
                header = read_header(file.read(HEADER_BYTES))
            except BlockError:
                return _past_damage(path, at, size)
            if at + header.block_bytes > size:
                return _past_damage(path, at, size)
            at += header.block_bytes
    return at


def _past_damage(path: Path, at: int, size: int) -> int:
    end = size
    for one in read_segment(path, at):
        if isinstance(one, Damage) and one.is_tail:
            end = one.at
    return end
