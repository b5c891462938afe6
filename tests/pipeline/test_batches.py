"""kafka_shim.pipeline.rows.batches: from segments to Arrow tables, without a JVM."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.rows.batches import (
    SPLIT_BYTES,
    Split,
    group_splits_into_tasks,
    plan_splits,
    sum_equal_rows,
    table_batches,
)
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.pipeline.spark.trace_reader import TraceReader
from kafka_shim.pipeline.tables import TABLES
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.trace_format.entries import Access, BlockBody, Connection
from kafka_shim.trace_format.segments import SegmentWriter, segment_paths
from tests.pipeline.traces import (
    START_US,
    TraceMaker,
    all_topics_frame,
    create_frame,
    fetch_frame,
    random_acls,
    random_trace,
)

T, C = ResourceType.TOPIC, ResourceType.CLUSTER
CLUSTER = "kafka-cluster"


def table(
    name: str, folder: Path, selection: Selection | None = None, split_bytes: int = 1 << 26
) -> pa.Table:
    found = [
        batch
        for split in plan_splits([str(folder)], split_bytes)
        for batch in table_batches(name, split, selection or Selection())
    ]
    return pa.Table.from_batches(found, TABLES[name])


@pytest.fixture
def nobody() -> StandardAuthorizer:
    return StandardAuthorizer(super_users=["User:root"])


def test_a_segment_that_several_paths_name_is_read_once(tmp_path: Path) -> None:
    trace, link = tmp_path / "trace", tmp_path / "link"
    random_trace(trace, random.Random(1), StandardAuthorizer(), 10)
    (segment,) = segment_paths(trace)
    link.symlink_to(trace)
    whole = plan_splits([str(trace)])
    assert whole
    for paths in ([trace, segment], [trace, trace], [trace, link], [trace / "*", trace]):
        assert plan_splits([str(path) for path in paths]) == whole
    copy = tmp_path / "copy.ktrace"
    copy.write_bytes(segment.read_bytes())
    assert len(plan_splits([str(trace), str(copy)])) == 2 * len(whole)  # it may be another trace


def test_accesses_equal_the_recorded_ones_for_any_splits(tmp_path: Path) -> None:
    rng = random.Random(1)
    authorizer = StandardAuthorizer(store=AclStore(random_acls(rng, 30)))
    random_trace(tmp_path, rng, authorizer, 600)
    whole = table("accesses", tmp_path)
    assert whole.num_rows == 600
    assert len(plan_splits([str(tmp_path)], 4000)) > 3
    assert table("accesses", tmp_path, split_bytes=4000).equals(whole)
    counts = sum_equal_rows(table("observed", tmp_path, split_bytes=4000))
    assert sum(counts["requests"].to_pylist()) == 600
    rows: dict[tuple[Any, ...], Any] = {}
    for row in whole.to_pylist():
        key = tuple(row[name] for name in ("principal", "host", "api", "operation"))
        key += (row["resource_type"], row["resource_name"], row["allowed"], row["rule"])
        n, first, last = rows.get(key, (0, row["time"], row["time"]))
        rows[key] = (n + 1, min(first, row["time"]), max(last, row["time"]))
    for row in counts.to_pylist():
        key = tuple(row[name] for name in ("principal", "host", "api", "operation"))
        key += (row["resource_type"], row["resource_name"], row["allowed"], row["rule"])
        assert rows.pop(key) == (row["requests"], row["first_seen"], row["last_seen"])
    assert not rows


def test_only_the_columns_that_are_wanted(tmp_path: Path, nobody: StandardAuthorizer) -> None:
    maker = TraceMaker(tmp_path, nobody)
    maker.ask("User:a", "h", ApiKey.FETCH, [(Operation.READ, T, "x")], fetch_frame("x", "y"))
    maker.close()
    (split,) = plan_splits([str(tmp_path)])
    (batch,) = table_batches("requests", split, Selection(), ["topics", "principal"])
    assert batch.schema.names == ["topics", "principal"]
    assert batch.to_pylist() == [{"topics": ["x", "y"], "principal": "User:a"}]
    assert sum(batch.num_rows for batch in table_batches("requests", split, Selection(), [])) == 1


def test_requests_and_clients(tmp_path: Path, nobody: StandardAuthorizer) -> None:
    maker = TraceMaker(tmp_path, nobody)
    for _ in range(3):
        maker.ask("User:a", "h", ApiKey.FETCH, [], fetch_frame("x"))
    maker.ask("User:a", "h", ApiKey.FETCH, [], b"\0\1\0\x0b\0\0\0\7\0\5app")  # cut short
    maker.close()
    rows = table("requests", tmp_path).to_pylist()
    assert [row["topics"] for row in rows] == [["x"], ["x"], ["x"], []]
    assert [row["undecoded"] is None for row in rows] == [True, True, True, False]
    assert rows[0]["client_id"] == "app"
    (client, bad) = sorted(table("clients", tmp_path).to_pylist(), key=lambda r: -r["requests"])
    assert (client["software_name"], client["client_id"], client["requests"]) == ("lib", "app", 3)
    assert bad["requests"] == 1


def test_time_and_apis_select(tmp_path: Path, nobody: StandardAuthorizer) -> None:
    maker = TraceMaker(tmp_path, nobody)
    for api, operation in ((ApiKey.FETCH, Operation.READ), (ApiKey.PRODUCE, Operation.WRITE)) * 5:
        maker.ask("User:a", "h", api, [(operation, T, "x")])
        maker.flush()
    maker.close()
    some = Selection(START_US + 2000, START_US + 5000)
    assert table("accesses", tmp_path, some)["sequence"].to_pylist() == [2, 3, 4]
    fetches = Selection(apis=frozenset({ApiKey.FETCH}))
    assert set(table("accesses", tmp_path, fetches)["api"].to_pylist()) == {"Fetch"}


def test_damage_is_reported_and_affects_no_other_block(
    tmp_path: Path, nobody: StandardAuthorizer
) -> None:
    maker = TraceMaker(tmp_path, nobody)
    for n in range(4):
        maker.ask("User:a", "h", ApiKey.FETCH, [(Operation.READ, T, f"t{n}")])
        maker.flush()
    maker.close()
    (segment,) = segment_paths(tmp_path)
    content = bytearray(segment.read_bytes())
    content[content.find(b"t1")] ^= 1
    segment.write_bytes(content + b"KSHMTRC\nhalf")
    assert table("accesses", tmp_path)["resource_name"].to_pylist() == ["t0", "t2", "t3"]
    damage = table("damage", tmp_path).to_pylist()
    assert [place["is_tail"] for place in damage] == [False, True]
    assert "damaged" in damage[0]["reason"]
    assert table("damage", tmp_path, split_bytes=150).num_rows == 2


def test_an_empty_trace_has_no_splits_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    assert plan_splits([str(tmp_path)]) == []
    with pytest.raises(PipelineError, match="does not exist"):
        plan_splits([str(tmp_path / "no")])


def roles_of(folder: Path) -> list[tuple[str, str, str, list[str]]]:
    return [
        (row["operation"], row["resource_name"], row["role"], row["instead"])
        for row in table("accesses", folder).to_pylist()
    ]


def test_a_denied_alternative_is_not_reported_as_a_denial(
    tmp_path: Path, nobody: StandardAuthorizer
) -> None:
    maker = TraceMaker(tmp_path, nobody)
    asked = [(Operation.CREATE, C, CLUSTER), (Operation.CREATE, T, "x"), (Operation.CREATE, T, "y")]
    maker.ask("User:a", "h", ApiKey.CREATE_TOPICS, asked, create_frame("x", "y"))
    maker.close()
    assert roles_of(tmp_path) == [
        ("CREATE", CLUSTER, "tried", []),
        ("CREATE", "x", "either", ["CREATE|CLUSTER|kafka-cluster"]),
        ("CREATE", "y", "either", ["CREATE|CLUSTER|kafka-cluster"]),
    ]


def test_unchecked_alternatives_come_from_the_request(
    tmp_path: Path, nobody: StandardAuthorizer
) -> None:
    maker = TraceMaker(tmp_path, nobody)
    asked = [(Operation.CREATE, C, CLUSTER)]
    maker.ask("User:root", "h", ApiKey.CREATE_TOPICS, asked, create_frame("x", "y"))
    maker.ask("User:root", "h", ApiKey.INIT_PRODUCER_ID, [(Operation.IDEMPOTENT_WRITE, C, CLUSTER)])
    maker.close()
    assert roles_of(tmp_path) == [
        ("CREATE", CLUSTER, "either", ["CREATE|TOPIC|x", "CREATE|TOPIC|y"]),
        ("IDEMPOTENT_WRITE", CLUSTER, "either", ["WRITE|TOPIC|*"]),
    ]


def test_authorized_operations_and_lists_need_nothing(
    tmp_path: Path, nobody: StandardAuthorizer
) -> None:
    operations = ["READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE"]
    operations += ["DESCRIBE_CONFIGS", "ALTER_CONFIGS"]
    asked = [(Operation.DESCRIBE, T, "x"), *((Operation[name], T, "x") for name in operations)]
    maker = TraceMaker(tmp_path, nobody)
    maker.ask("User:root", "h", ApiKey.METADATA, asked, all_topics_frame())
    maker.close()
    assert [role for _, _, role, _ in roles_of(tmp_path)] == ["listed"] + ["probe"] * 8


def test_an_operation_of_a_later_kafka_is_shown_as_unknown(tmp_path: Path) -> None:
    who = Connection(0, 0, 1, "SASL", "h", 1, "User:a")
    writer = SegmentWriter(tmp_path, "broker-1")
    access = Access(0, 0, START_US, ApiKey.METADATA, 12, 99, 77, "x", allowed=True, rule="x")
    writer.write_block(BlockBody([who], [access]))
    writer.close()
    (split,) = plan_splits([str(tmp_path)])
    for table in ("accesses", "observed"):
        (row,) = next(table_batches(table, split, Selection())).to_pylist()
        assert (row["operation"], row["resource_type"]) == ("UNKNOWN", "UNKNOWN")


def test_many_small_files_are_few_tasks_and_large_ones_stay_alone() -> None:
    small = [Split(f"s{n}", 0, 10_000) for n in range(10_000)]
    found = group_splits_into_tasks(small)
    assert [split for part in found for split in part] == small
    assert len(found) <= 42  # 10,000 files with the cost of opening them, in tasks of 64 MiB
    whole = [Split(f"w{n}", 0, SPLIT_BYTES) for n in range(5)]
    assert group_splits_into_tasks(whole) == [(split,) for split in whole]
    assert group_splits_into_tasks([whole[0], *small[:3], whole[1]]) == [
        (whole[0],),
        (*small[:3],),
        (whole[1],),
    ]
    assert group_splits_into_tasks([]) == []


def test_a_task_reads_all_of_its_files(tmp_path: Path, nobody: StandardAuthorizer) -> None:
    for number in range(3):
        random_trace(tmp_path / str(number), random.Random(number), nobody, 30)
    splits = plan_splits([str(tmp_path / str(number)) for number in range(3)])
    reader = TraceReader("accesses", splits, Selection(), ["principal"])
    (task,) = reader.partitions()
    assert sum(batch.num_rows for batch in reader.read(task)) == 90
