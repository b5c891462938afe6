"""Offsets of streams: for each segment, by path, how far it has been written or read.

A position is always the end of a block, so the data between two offsets can be read alone.
"""

import itertools
from pathlib import Path

from kafka_shim.pipeline.rows.batches import Split, plan_splits
from kafka_shim.pipeline.rows.complete_blocks import end_of_blocks

Offset = dict[str, int]


def written_offsets(paths: list[str], start: Offset) -> Offset:
    """Return how far traces have been written; segments of other traces keep their positions.

    Deleted segments are dropped. Only the data after `start` is read.
    """
    names = dict.fromkeys(str(Path(split.path).resolve()) for split in plan_splits(paths))
    now = {name: end_of_blocks(Path(name), start.get(name, 0)) for name in names}
    return {name: at for name, at in start.items() if Path(name).exists()} | now


def limit_to_whole_segments(start: Offset, end: Offset, max_bytes: int) -> Offset:
    """Return an offset up to `end` that takes whole segments, in order of path, while the bytes
    after `start` are fewer than `max_bytes`; the last segment may exceed it.
    """
    found = {name: start[name] for name in end if name in start}
    room = max_bytes
    for name in sorted(end):
        new = end[name] - start.get(name, 0)
        if new > 0 and room > 0:
            found[name] = end[name]
            room -= new
    return found


def splits_between(start: Offset, end: Offset, split_bytes: int) -> list[Split]:
    """Return the splits between two offsets; a segment of the usual size is one split.

    At a segment's old position a block should begin; damage there is reported, not skipped.
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
