"""pipeline.jobs.ingest: what is new, all of it, once; whatever moment a run dies at."""

import os
import random
from pathlib import Path
from typing import Any

import pytest

from authorizer.authorizer import StandardAuthorizer
from authorizer.store import AclStore
from pipeline.batches import Split, batches
from pipeline.lake import Lake
from pipeline.rows import Selection
from pipeline.written import whole_bytes
from protocol.enums import ApiKey, Operation, ResourceType
from protocol.trace.segments import segments
from tests.pipeline.traces import TraceMaker, random_acls

AUTHORIZER = StandardAuthorizer(store=AclStore(random_acls(random.Random(3), 20)))


class Killed(BaseException):
    """The process is gone: nothing of it is cleaned up."""


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
def test_a_run_that_dies_is_finished_or_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_at: int
) -> None:
    lake = Lake(tmp_path)
    lake.recover()
    staged(lake, 1)
    lake.commit({"a": 10})
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
        lake.commit({"a": 20, "b": 5})
        died = False
    except Killed:
        pass
    monkeypatch.setattr(os, "replace", real)
    assert died == (killed_at < 6)  # the note, four files, the note's new name
    again = Lake(tmp_path)
    again.recover()
    assert not again.staged.exists()
    if killed_at == 0:
        assert again.positions() == {"a": 10}
        assert contents(again) == whole
        staged(again, 2)
        again.commit({"a": 20, "b": 5})
    assert again.positions() == {"a": 20, "b": 5}
    expected = [f"{t} {n}{b}" for t in ("requests", "accesses") for n in (1, 2) for b in ("", "b")]
    assert contents(again) == sorted(expected)


def test_only_whole_blocks_count_as_written(tmp_path: Path) -> None:
    maker = TraceMaker(tmp_path, AUTHORIZER)
    ends = [0]
    (path,) = segments(tmp_path)
    for n in range(3):
        maker.ask("User:a", "h", ApiKey.FETCH, [(Operation.READ, ResourceType.TOPIC, f"t{n}")])
        maker.flush()
        ends.append(path.stat().st_size)
    content = path.read_bytes()
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        expected = max(end for end in ends if end <= cut)
        assert whole_bytes(path, 0) == expected
    (tmp_path / "broker-1-00000001.ktrace").touch()  # the writer went on elsewhere
    path.write_bytes(content[: ends[1] + 20])
    assert whole_bytes(path, 0) == ends[1] + 20
    split = Split(str(path), ends[1], ends[1] + 20, at_block=True)
    (batch,) = batches("damage", split, Selection())
    assert batch.to_pylist()[0]["at"] == ends[1]
    assert batch.to_pylist()[0]["length"] == 20
    assert not batch.to_pylist()[0]["is_tail"]
    path.write_bytes(content[: ends[1] + 50] + b"x" + content[ends[1] + 51 :])
    assert whole_bytes(path, 0) == ends[3]
    maker.close()
