"""kafka_shim.pipeline.jobs.ingest writes each row exactly once, even if a run is killed."""

import os
import random
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.rows.batches import Split, table_batches
from kafka_shim.pipeline.rows.complete_blocks import end_of_blocks
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.pipeline.rows.stream_offsets import (
    limit_to_whole_segments,
    splits_between,
    written_offsets,
)
from kafka_shim.pipeline.spark.lake import Lake
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.trace_format.segments import segment_paths
from tests.pipeline.traces import TraceMaker, random_acls, random_trace

AUTHORIZER = StandardAuthorizer(store=AclStore(random_acls(random.Random(3), 20)))


class Killed(BaseException):
    """Simulates a killed process, which cleans nothing up."""


def staged(lake: Lake, number: int) -> None:
    for table in ("requests", "accesses"):
        folder = lake.staged / table / "date=2026-01-01"
        folder.mkdir(parents=True)
        (folder / f"part-{number}.parquet").write_text(f"{table} {number}")
        (folder / f"part-{number}b.parquet").write_text(f"{table} {number}b")


def contents(lake: Lake) -> list[str]:
    return sorted(
        path.read_text()
        for path in lake.folder.rglob("*.parquet")
        if not path.relative_to(lake.folder).parts[0].startswith("_")
    )


@pytest.mark.parametrize("killed_at", range(8))
def test_an_interrupted_run_is_completed_or_discarded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_at: int
) -> None:
    lake = Lake(tmp_path)
    lake.complete_noted_run()
    staged(lake, 1)
    lake.commit_staged_files(0)
    lake.checkpoint.mkdir()
    whole = contents(lake)
    staged(lake, 2)
    steps = iter(range(100))
    real = os.replace

    def replace(source: Any, target: Any) -> None:
        if next(steps) == killed_at:
            raise Killed
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    died = True
    try:
        lake.commit_staged_files(1)
        died = False
    except Killed:
        pass
    monkeypatch.setattr(os, "replace", real)
    assert died == (killed_at < 6)  # six renames: the note, four files, the note again
    again = Lake(tmp_path)
    again.complete_noted_run()
    assert not again.staged.exists()
    assert again.has_run(1) == (killed_at > 0)
    if killed_at == 0:
        assert contents(again) == whole
        staged(again, 2)
        again.commit_staged_files(1)
    assert again.has_run(0)
    assert again.has_run(1)
    expected = [f"{t} {n}{b}" for t in ("requests", "accesses") for n in (1, 2) for b in ("", "b")]
    assert contents(again) == sorted(expected)


def test_only_one_process_writes_and_a_lake_without_its_checkpoint_is_rejected(
    tmp_path: Path,
) -> None:
    lake = Lake(tmp_path)
    with (
        lake.exclusive_lock(),
        pytest.raises(PipelineError, match="another process"),
        lake.exclusive_lock(),
    ):
        pass
    with lake.exclusive_lock():  # the lock ends with its holder
        staged(lake, 1)
        lake.commit_staged_files(0)
    with pytest.raises(PipelineError, match="_checkpoint is missing"):
        lake.complete_noted_run()


def test_offsets_continue_where_they_ended(tmp_path: Path) -> None:
    two, gone = tmp_path / "b", "/no/longer.ktrace"
    random_trace(tmp_path / "a", random.Random(1), AUTHORIZER, 200)
    first = written_offsets([str(tmp_path / "a")], {gone: 7})
    assert list(first) == [str(path) for path in segment_paths(tmp_path / "a")]
    random_trace(two, random.Random(2), AUTHORIZER, 100)
    both = written_offsets([str(two)], first)
    assert both.items() > first.items()
    assert splits_between(first, both, 1 << 26) == [
        Split(str(path), 0, path.stat().st_size, at_block=True) for path in segment_paths(two)
    ]
    assert splits_between(both, both, 1 << 26) == []
    small = splits_between({}, first, 3000)
    assert len(small) > 3
    assert [split.at_block for split in small] == [True] + [False] * (len(small) - 1)
    rows = [b.num_rows for split in small for b in table_batches("accesses", split, Selection())]
    assert sum(rows) == 200


def test_a_limit_is_reached_in_steps(tmp_path: Path) -> None:
    end = {"a": 10, "b": 20, "c": 5}
    assert limit_to_whole_segments({}, end, 1) == {"a": 10}
    assert limit_to_whole_segments({"a": 10}, end, 1) == {"a": 10, "b": 20}
    assert limit_to_whole_segments({"a": 4}, end, 100) == end
    at: dict[str, int] = {}
    for _ in range(3):
        assert at != end
        at = limit_to_whole_segments(at, end, 1)
    assert at == end


def test_only_whole_blocks_count_as_written(tmp_path: Path) -> None:
    maker = TraceMaker(tmp_path, AUTHORIZER)
    ends = [0]
    (path,) = segment_paths(tmp_path)
    for n in range(3):
        maker.ask("User:a", "h", ApiKey.FETCH, [(Operation.READ, ResourceType.TOPIC, f"t{n}")])
        maker.flush()
        ends.append(path.stat().st_size)
    content = path.read_bytes()
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        expected = max(end for end in ends if end <= cut)
        assert end_of_blocks(path, 0) == expected
    (tmp_path / "broker-1-00000001.ktrace").touch()  # the writer continued in a new segment
    path.write_bytes(content[: ends[1] + 20])
    assert end_of_blocks(path, 0) == ends[1] + 20
    split = Split(str(path), ends[1], ends[1] + 20, at_block=True)
    (batch,) = table_batches("damage", split, Selection())
    assert batch.to_pylist()[0]["at"] == ends[1]
    assert batch.to_pylist()[0]["length"] == 20
    assert not batch.to_pylist()[0]["is_tail"]
    path.write_bytes(content[: ends[1] + 50] + b"x" + content[ends[1] + 51 :])
    assert end_of_blocks(path, 0) == ends[3]
    maker.close()
