"""A trace as what a replay needs: requests, answers and endings, in their recorded order."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path

import msgspec

from kafka_shim.protocol.trace.entries import Access, Closed, Request, Response
from kafka_shim.protocol.trace.segments import Block, Damage, read_segment, read_trace, segments

Line = tuple[str, int]
"""One recorded connection: its writer and its number among that writer's."""


class Event(msgspec.Struct, frozen=True):
    """One entry with the connection it was on, and who was known to be there."""

    line: Line
    principal: str
    node_id: int
    listener: str
    entry: Request | Response | Closed
    host: str = ""
    port: int = 0


class Recording(msgspec.Struct, frozen=True):
    """All events, to be gone through more than once, and what of the trace could not be read."""

    events: Iterable[Event]
    damage: list[Damage]


class TraceEvents:
    """The events of a trace, read anew each time: only a block of each writer is in memory.

    `damage` is what the last pass met. The events of several writers are merged by their times.
    """

    def __init__(self, path: Path, progress: Callable[[int], None] = lambda _: None) -> None:
        self._path = path
        self._progress = progress
        self.damage: list[Damage] = []

    def __iter__(self) -> Iterator[Event]:
        self.damage.clear()
        self._behind = 0
        by_writer: dict[str, list[Path]] = {}
        for path in segments(self._path):
            by_writer.setdefault(_writer(path), []).append(path)
        streams = [self._of(paths) for paths in by_writer.values()]
        if len(streams) == 1:
            return streams[0]
        return heapq.merge(*streams, key=attrgetter("entry.time_us"))

    def _of(self, paths: list[Path]) -> Iterator[Event]:
        for path in paths:
            for block in read_segment(path):
                if isinstance(block, Damage):
                    self.damage.append(block)
                    continue
                yield from _events(block)
                self._behind += block.header.block_bytes
                self._progress(self._behind)


def read_recording(
    path: Path,
    progress: Callable[[int], None] = lambda _: None,
    watch: Callable[[Block], None] = lambda _: None,
) -> Recording:
    """Read a trace whole; the entries of several writers are merged by their times.

    `progress` gets the number of bytes read, `watch` gets each block.
    """
    events: list[Event] = []
    damage: list[Damage] = []
    for block in read_trace(path, progress):
        if isinstance(block, Damage):
            damage.append(block)
        else:
            watch(block)
            events += _events(block)
    if len({event.line[0] for event in events}) > 1:
        events.sort(key=attrgetter("entry.time_us"))
    return Recording(events, damage)


def _events(block: Block) -> Iterator[Event]:
    writer = _writer(Path(block.path))
    people = {who.number: who for who in block.body.connections}
    for entry in block.body.entries:
        if isinstance(entry, Access):
            continue
        who = people[entry.connection]
        line = (writer, who.writer_connection)
        yield Event(line, who.principal, who.node_id, who.listener, entry, who.host, who.port)


def _writer(segment: Path) -> str:
    return segment.stem.rpartition("-")[0]
