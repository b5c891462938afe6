"""Traces of a given size with known content; half of the requests are by one principal."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.trace_format.entries import Access, BlockBody, Connection, Entry, Request
from kafka_shim.trace_format.segments import SegmentWriter

VERSION = 11
NAMES_A_REQUEST = 2
PRINCIPALS, HOSTS = 3000, 30
DENIED_EVERY = 50
_HEADER = write_request_header(RequestHeader(ApiKey.FETCH, VERSION, 1, "bench"))


class Asked(msgspec.Struct, frozen=True):
    """A Fetch request for two topics, its sender, and whether it is allowed."""

    who: int
    names: tuple[str, str]
    allowed: bool
    frame: bytes


class Workload:
    """A list of different requests, which a trace repeats.

    The first principal sends every second request; one in 50 is denied. `padding` is added to each
    frame. Names are those of `data.random_acls(names)`.
    """

    def __init__(self, different: int, names: int, padding: int = 0) -> None:
        self.people = [
            Connection(n, n, 1, "SASL", f"10.0.0.{n % HOSTS}", 1000 + n, f"User:u{n}")
            for n in range(PRINCIPALS)
        ]
        self.asked = [_asked(n, names, padding) for n in range(different)]

    def entries(self, start: int, requests: int) -> Iterator[Entry]:
        """Yield requests by number, 100 microseconds apart, each with its accesses."""
        for number in range(start, start + requests):
            asked = self.asked[number % len(self.asked)]
            when = number * 100
            yield Request(asked.who, number, when, asked.frame)
            for name in asked.names:
                rule = f"TOPIC|{name}|LITERAL|User:u{asked.who}|*|READ|ALLOW"
                yield Access(
                    *(asked.who, number, when, ApiKey.FETCH, VERSION),
                    *(Operation.READ, ResourceType.TOPIC, name, asked.allowed),
                    rule if asked.allowed else "DefaultDeny",
                )

    def write(self, folder: Path, requests: int, a_block: int, segment_bytes: int) -> None:
        """Write a trace of this number of requests, with `a_block` requests per block."""
        writer = SegmentWriter(folder, "bench", segment_bytes=segment_bytes)
        for start in range(0, requests, a_block):
            entries = list(self.entries(start, min(a_block, requests - start)))
            writer.write_block(BlockBody(self._senders(entries), entries))
        writer.close()

    def _senders(self, entries: list[Entry]) -> list[Connection]:
        return [self.people[n] for n in sorted({entry.connection for entry in entries})]

    def accesses(self, requests: int) -> dict[tuple[str, str, str], bool]:
        """Return the distinct accesses (principal, host and name), and whether each is allowed."""
        return {
            (self.people[asked.who].principal, self.people[asked.who].host, name): asked.allowed
            for asked in self.asked[:requests]
            for name in asked.names
        }

    def denied(self, requests: int) -> int:
        """Return the number of denied accesses in a trace of this number of requests."""
        slices = itertools.islice(itertools.cycle(self.asked), requests)
        return NAMES_A_REQUEST * sum(not asked.allowed for asked in slices)


def _asked(number: int, names: int, padding: int) -> Asked:
    who = 0 if number % 2 else 1 + number // 2 % (PRINCIPALS - 1)
    place = number // 2 * NAMES_A_REQUEST % names  # so that the decision depends on the name
    first, second = (f"team-{n % 5000}.topic-{n}" for n in (place, (place + 1) % names))
    topics = [FetchTopic(topic=name, partitions=[FetchPartition()]) for name in (first, second)]
    request = FetchRequest(topics=topics, rack_id="r" * padding)
    frame = _HEADER + codecs.write_request(request, VERSION)
    return Asked(who, (first, second), place // NAMES_A_REQUEST % DENIED_EVERY > 0, frame)
