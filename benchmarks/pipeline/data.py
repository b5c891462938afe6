"""Input of the pipeline's benchmarks: traces, ACLs and accesses, the same in every run."""

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.tables import OBSERVED
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.trace_format.entries import Access, BlockBody, Connection, Request
from kafka_shim.trace_format.segments import SegmentWriter

ENTRIES_A_BLOCK = 2000
PEOPLE, TOPICS = 300, 3000
DENIED_EVERY = 50
PRINCIPALS, HOSTS = 3000, ("10.0.0.1", "10.0.0.2")
WHEN = datetime(2026, 1, 1, tzinfo=UTC)


class Traffic:
    """Fetch requests of 300 principals for 3,000 topics, two each, with their accesses."""

    def __init__(self) -> None:
        self._rng = random.Random(1)
        self._header = write_request_header(RequestHeader(ApiKey.FETCH, 11, 1, "bench"))
        self._sequence = 0
        self.people = [
            Connection(n, n, 1, "SASL", f"10.0.0.{n % 30}", 1000 + n, f"User:u{n}")
            for n in range(PEOPLE)
        ]

    def entries(self, requests: int, now_us: int | None = None) -> list[Any]:
        """Return requests, 100 microseconds apart or all at one time."""
        found: list[Any] = []
        for _ in range(requests):
            n = self._sequence
            self._sequence += 1
            who = self._rng.randrange(PEOPLE)
            names = [f"topic-{int(self._rng.paretovariate(0.7)) % TOPICS}" for _ in "ab"]
            when = n * 100 if now_us is None else now_us
            found.append(Request(who, n, when, self._header + fetch_body(names)))
            found += [
                Access(
                    *(who, n, when, ApiKey.FETCH, 11),
                    *(Operation.READ, ResourceType.TOPIC, name, True, "x"),
                )
                for name in names
            ]
        return found


def fetch_body(names: list[str]) -> bytes:
    topics = [FetchTopic(topic=name, partitions=[FetchPartition()]) for name in names]
    return codecs.write_request(FetchRequest(topics=topics), 11)


def make_trace(folder: Path, requests: int, *, accesses: bool = True) -> None:
    """Write a trace of the traffic; without accesses, only the requests."""
    traffic = Traffic()
    writer = SegmentWriter(folder, "bench", segment_bytes=16 << 20)
    a_block = ENTRIES_A_BLOCK // 3
    for at in range(0, requests, a_block):
        entries = traffic.entries(min(a_block, requests - at))
        kept = [entry for entry in entries if accesses or not isinstance(entry, Access)]
        writer.write_block(BlockBody(traffic.people, kept))
    writer.close()


def random_acls(count: int) -> list[Acl]:
    """Return literal and prefixed ACLs that allow or deny, of principals and of `User:*`."""
    rng = random.Random(2)
    found: dict[Acl, None] = {}
    while len(found) < count:
        n = rng.randrange(count)
        prefixed = rng.random() < 0.2
        name = f"team-{n % 5000}." + ("" if prefixed else f"topic-{n}")
        acl = Acl(
            ResourceType.TOPIC,
            name,
            PatternType.PREFIXED if prefixed else PatternType.LITERAL,
            f"User:u{rng.randrange(PRINCIPALS)}" if rng.random() < 0.95 else "User:*",
            "*" if rng.random() < 0.9 else rng.choice(HOSTS),
            rng.choice((Operation.READ, Operation.WRITE, Operation.ALL)),
            Permission.DENY if rng.random() < 0.05 else Permission.ALLOW,
        )
        found[acl] = None
    return list(found)


def access_rows(numbers: list[int], names: int) -> pa.RecordBatch:
    """Return a different access for each number, to this number of names; one in 50 is denied."""
    columns: dict[str, Any] = {name: [None] * len(numbers) for name in OBSERVED.names}
    columns["principal"] = [f"User:u{(n + n // names) % PRINCIPALS}" for n in numbers]
    columns["host"] = [HOSTS[n % len(HOSTS)] for n in numbers]
    columns["api_key"] = [1] * len(numbers)
    columns["operation"] = [("READ", "WRITE", "DESCRIBE")[n // 7 % 3] for n in numbers]
    columns["resource_type"] = ["TOPIC"] * len(numbers)
    columns["resource_name"] = [f"team-{n % names % 5000}.topic-{n % names}" for n in numbers]
    columns["role"] = ["required"] * len(numbers)
    columns["instead"] = [[]] * len(numbers)
    columns["allowed"] = [n % DENIED_EVERY > 0 for n in numbers]
    columns["rule"] = [None if allowed else "DefaultDeny" for allowed in columns["allowed"]]
    columns["api"] = ["Fetch"] * len(numbers)
    columns["requests"] = [1] * len(numbers)
    columns["first_seen"] = columns["last_seen"] = [WHEN] * len(numbers)
    arrays = [pa.array(columns[field.name], field.type) for field in OBSERVED]
    return pa.RecordBatch.from_arrays(arrays, schema=OBSERVED)
