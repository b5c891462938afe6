"""How much of a segment has been written: up to the end of its last whole block."""

from pathlib import Path

from kafka_shim.trace_format.blocks import (
    HEADER_BYTES,
    BlockError,
    NewerFormatError,
    read_block_header,
)
from kafka_shim.trace_format.segments import Damage, has_no_next_segment, read_segment


def end_of_blocks(path: Path, start: int) -> int:
    """Return the end of the last complete block, from a position where a block begins.

    An incomplete block at the end of a writer's newest segment may still be completed; other damage
    is final.
    """
    size = path.stat().st_size
    at = start
    with path.open("rb") as file:
        while at < size:
            file.seek(at)
            try:
                header = read_block_header(file.read(HEADER_BYTES))
            except BlockError:
                return _end_of_intact_tail(path, at, size)
            if at + header.block_bytes > size:
                return _end_of_intact_tail(path, at, size)
            at += header.block_bytes
    return at


def _end_of_intact_tail(path: Path, at: int, size: int) -> int:
    found = list(read_segment(path, at))
    if not found:  # the reader searches the first intact header; there is none
        return at if has_no_next_segment(path) else size
    last = found[-1]
    return last.position if isinstance(last, Damage) and last.is_tail else size


def damage_at_block_start(path: Path, start: int) -> Damage | None:
    """Return the damage at a position where a block should begin; the reader would skip it."""
    size = path.stat().st_size
    try:
        with path.open("rb") as file:
            file.seek(start)
            read_block_header(file.read(HEADER_BYTES))
    except BlockError as error:
        following = next((block.position for block in read_segment(path, start)), size)
        is_newer = isinstance(error, NewerFormatError)
        is_tail = following == size and has_no_next_segment(path) and not is_newer
        return Damage(str(path), start, following - start, str(error), is_tail)
    return None
