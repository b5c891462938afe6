"""A trace as what a replay needs: requests, answers and endings, in their recorded order."""

from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path

import msgspec

from kafka_shim.protocol.trace.entries import Access, Closed, Request, Response
from kafka_shim.protocol.trace.segments import Block, Damage, read_trace

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
    """All events, and what of the trace could not be read."""

    events: list[Event]
    damage: list[Damage]

    def principals(self) -> dict[Line, str]:
        """Who each connection turned out to be: its last principal."""
        return {event.line: event.principal for event in self.events}

    def answers(self) -> dict[tuple[Line, int], Response]:
        """The recorded answers by connection and sequence."""
        return {
            (event.line, event.entry.sequence): event.entry
            for event in self.events
            if isinstance(event.entry, Response)
        }


def read_recording(
    path: Path,
    progress: Callable[[int], None] = lambda _: None,
    watch: Callable[[Block], None] = lambda _: None,
) -> Recording:
    """Read a trace whole; the entries of several writers are merged by their times.

    `progress` is told how many bytes are behind, `watch` gets each block.
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
    writer = Path(block.path).stem.rpartition("-")[0]
    people = {who.number: who for who in block.body.connections}
    for entry in block.body.entries:
        if isinstance(entry, Access):
            continue
        who = people[entry.connection]
        line = (writer, who.writer_connection)
        yield Event(line, who.principal, who.node_id, who.listener, entry, who.host, who.port)
