"""How far traces are written and read: the offsets of streams, each a position by segment's path.

A position is always where a block ends, so that what lies between two offsets can be read alone.
"""

import itertools
from pathlib import Path

from kafka_shim.pipeline.rows.batches import Split, plan
from kafka_shim.pipeline.rows.whole_blocks import whole_bytes

Offset = dict[str, int]


def written(paths: list[str], start: Offset) -> Offset:
    """How far traces are written by now; segments of other traces stay where they were.

    Segments that are gone are forgotten. Only what was added since the start is looked at.
    """
    names = dict.fromkeys(str(Path(split.path).resolve()) for split in plan(paths))
    now = {name: whole_bytes(Path(name), start.get(name, 0)) for name in names}
    return {name: at for name, at in start.items() if Path(name).exists()} | now


def limited(start: Offset, end: Offset, max_bytes: int) -> Offset:
    """An offset on the way: segments in their order, and no more than so many bytes but one."""
    found = {name: start[name] for name in end if name in start}
    room = max_bytes
    for name in sorted(end):
        new = end[name] - start.get(name, 0)
        if new > 0 and room > 0:
            found[name] = end[name]
            room -= new
    return found


def between(start: Offset, end: Offset, split_bytes: int) -> list[Split]:
    """The pieces from one offset to another; a segment of the usual size is one piece.

    Where a segment continues, a block should begin, and damage right there is not skipped.
    """
    found = []
    for name, stop in sorted(end.items()):
        begin = start.get(name, 0)
        if stop <= begin or not Path(name).exists():
            continue
        pieces = max(1, round((stop - begin) / split_bytes))
        edges = [begin + (stop - begin) * n // pieces for n in range(pieces + 1)]
        found += [
            Split(name, low, high, at_block=low == begin) for low, high in itertools.pairwise(edges)
        ]
    return found
