"""The events of a trace for a replay, and facts that the replay needs before it begins."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.trace_format.entries import (
    Access,
    Connection,
    ConnectionClosed,
    Request,
    Response,
)
from kafka_shim.trace_format.segments import (
    RELEASED_BYTES,
    Block,
    Damage,
    first_time_us,
    read_segment,
    read_trace,
    segment_paths,
)

ConnectionId = tuple[str, int]
"""One recorded connection: its writer and its number among that writer's."""


class Event(msgspec.Struct, frozen=True):
    """An entry with its connection."""

    connection_id: ConnectionId
    principal: str
    node_id: int
    listener: str
    entry: Request | Response | ConnectionClosed
    host: str = ""
    port: int = 0
    position: "EntryPosition | None" = None
    connection: Connection | None = None


class EntryPosition(NamedTuple):
    """Where an entry is in a trace: its segment, its block's position there, and its number."""

    segment: str
    block: int
    number: int


class Recording(msgspec.Struct, frozen=True):
    """All events, which can be iterated more than once, and the unreadable parts of the trace."""

    events: Iterable[Event]
    damage: list[Damage]


class TraceEvents:
    """The events of a trace, read again for each pass.

    `damage` is that of the last pass. The events of several writers are merged by their times. In
    memory is one block of each writer that has begun and not ended at that time.
    """

    def __init__(self, path: Path, progress: Callable[[int], None] = lambda _: None) -> None:
        self._path = path
        self._progress = progress
        self.damage: list[Damage] = []

    def __iter__(self) -> Iterator[Event]:
        self.damage.clear()
        self._bytes_read = 0
        by_writer: dict[str, list[Path]] = {}
        for path in segment_paths(self._path):
            by_writer.setdefault(_writer_of_segment(path), []).append(path)
        released_bytes = RELEASED_BYTES // max(1, len(by_writer))
        streams = [
            (first_time_us(paths[0]), self._events_of_writer(paths, released_bytes))
            for paths in by_writer.values()
        ]
        if len(streams) == 1:
            return streams[0][1]
        return _merge_by_time(streams)

    def _events_of_writer(self, paths: list[Path], released_bytes: int) -> Iterator[Event]:
        for path in paths:
            for block in read_segment(path, released_bytes=released_bytes):
                if isinstance(block, Damage):
                    self.damage.append(block)
                    continue
                yield from _events_in_block(block)
                self._bytes_read += block.header.block_bytes
                self._progress(self._bytes_read)


def _merge_by_time(streams: list[tuple[int, Iterator[Event]]]) -> Iterator[Event]:
    """Yield the events of several writers by time; a stream is read from its first time on."""
    heap: list[tuple[int, int, Event | None]] = [
        (first_us, number, None) for number, (first_us, _) in enumerate(streams)
    ]
    heapq.heapify(heap)
    while heap:
        _, number, event = heap[0]
        if event is not None:
            yield event
        following = next(streams[number][1], None)
        if following is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, (following.entry.time_us, number, following))


def load_recording(
    path: Path,
    progress: Callable[[int], None] = lambda _: None,
    on_block: Callable[[Block], None] = lambda _: None,
) -> Recording:
    """Read a whole trace into memory; the entries of several writers are merged by their times.

    `progress` is called with the number of bytes read, `on_block` with each block.
    """
    events: list[Event] = []
    damage: list[Damage] = []
    for block in read_trace(path, progress):
        if isinstance(block, Damage):
            damage.append(block)
        else:
            on_block(block)
            events += _events_in_block(block)
    if len({event.connection_id[0] for event in events}) > 1:
        events.sort(key=attrgetter("entry.time_us"))
    return Recording(events, damage)


def _events_in_block(block: Block) -> Iterator[Event]:
    writer = _writer_of_segment(Path(block.path))
    connections = {connection.number: connection for connection in block.body.connections}
    for index, entry in enumerate(block.body.entries):
        if isinstance(entry, Access):
            continue
        connection = connections[entry.connection]
        connection_id = (writer, connection.writer_connection)
        yield Event(
            connection_id,
            connection.principal,
            connection.node_id,
            connection.listener,
            entry,
            connection.host,
            connection.port,
            EntryPosition(block.path, block.position, index),
            connection,
        )


def _writer_of_segment(segment: Path) -> str:
    return segment.stem.rpartition("-")[0]


AUTHENTICATION_APIS = frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})
