"""Equal accesses and equal requests are counted as plain loops over the single accesses count."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.rows import batches
from kafka_shim.pipeline.rows.batches import plan_splits, task_batches
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.trace_format.entries import AUDIT, Access, BlockBody, Connection, Entry
from kafka_shim.trace_format.segments import SegmentWriter
from tests.pipeline.traces import START_US, random_acls, random_trace

WHOLE = 1 << 26


def rows(table: str, folder: Path, split_bytes: int = WHOLE) -> list[dict[str, Any]]:
    splits = plan_splits([str(folder)], split_bytes)
    found = task_batches(table, splits, Selection())
    return [row for batch in found for row in batch.to_pylist()]


def requests_by_accesses(table: list[dict[str, Any]]) -> Counter[Any]:
    """Return the number of requests with each set of accesses."""
    accesses: dict[Any, list[Any]] = {}
    numbers: dict[Any, int] = {}
    for row in table:
        number = row["time"] if row["source"] == AUDIT else row["sequence"]
        request = row["writer"], row["connection"], row["api_key"], number
        numbers[request] = row.get("requests", 1)
        names = ("principal", "host", "operation", "resource_name", "role", "allowed")
        accesses.setdefault(request, []).append(tuple(row[name] for name in names))
    totals: Counter[Any] = Counter()
    for request, of_request in accesses.items():
        totals[(request[2], *of_request)] += numbers[request]
    return totals


@pytest.fixture
def random_requests(tmp_path: Path) -> Path:
    rng = random.Random(1)
    authorizer = StandardAuthorizer(store=AclStore(random_acls(rng, 30)))
    random_trace(tmp_path, rng, authorizer, 2_000, names=2)
    return tmp_path


@pytest.mark.parametrize("split_bytes", [WHOLE, 4_000])
@pytest.mark.parametrize("distinct_rows", [500_000, 50])
def test_equal_requests_are_counted(
    random_requests: Path, split_bytes: int, distinct_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "DISTINCT_ROWS", distinct_rows)
    single = rows("accesses", random_requests)
    counted = rows("request_accesses", random_requests, split_bytes)
    assert requests_by_accesses(counted) == requests_by_accesses(single)
    assert len(counted) < len(single)
    distinct = len(requests_by_accesses(single))
    kept_whole = distinct_rows == 500_000
    assert (len({row["sequence"] for row in counted}) == distinct) == kept_whole


def test_the_first_time_and_its_example_are_those_of_all_splits(tmp_path: Path) -> None:
    """The file of the later writer is read first."""
    who = Connection(0, 0, 1, "SASL", "h", 1, "User:a")
    asked = (ApiKey.FETCH, 0, Operation.READ, ResourceType.TOPIC, "t", True, "x")
    for writer, when in (("a", 9), ("b", 5), ("c", 7)):
        segment = SegmentWriter(tmp_path, writer)
        segment.write_block(BlockBody([who], [Access(0, 3, START_US + when, *asked)]))
        segment.close()
    (row,) = rows("observed", tmp_path)
    micros = [round(row[name].timestamp() * 1e6) - START_US for name in ("first_seen", "last_seen")]
    assert (row["requests"], micros, row["example"]) == (3, [5, 9], "b/0#3")


def test_a_logged_request_that_goes_on_in_the_next_block_is_one(tmp_path: Path) -> None:
    """Lines are (time, topic); a bar is the end of a block."""
    who = Connection(0, 0, 1, "SASL", "h", 1, "User:a", access_source=AUDIT)
    asked = (ApiKey.FETCH, 0, Operation.READ, ResourceType.TOPIC)
    blocks = [
        [(0, "t"), (0, "u"), (1, "t"), (2, "t")],
        [(2, "u"), (3, "t"), (3, "u"), (4, "t")],
        [(4, "u")],
    ]
    writer = SegmentWriter(tmp_path, "log")
    sequence = 0
    for lines in blocks:
        entries: list[Entry] = []
        for when, topic in lines:
            entries.append(Access(0, sequence, START_US + when, *asked, topic, True, "x"))
            sequence += 1
        writer.write_block(BlockBody([who], entries))
    writer.close()
    counted = requests_by_accesses(rows("request_accesses", tmp_path))
    assert counted == requests_by_accesses(rows("accesses", tmp_path))
    assert sorted(counted.values()) == [1, 4]
