"""What was acknowledged survives kills and damages of files, or the broker says that it may not."""

from collections import Counter
from pathlib import Path

import pytest

from tests.shim.storage.damages import (
    FILES,
    KINDS,
    REFUSED,
    SILENT,
    WHOLE,
    make_directory,
    try_damages,
)
from tests.shim.storage.kills import kill_often


@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_loses_acknowledged_data_in_silence(tmp_path: Path, kind: str) -> None:
    life = make_directory(tmp_path, kind)
    found = {
        f"{name} {damage}": outcome
        for name in FILES
        for damage, outcome in try_damages(tmp_path, name, life)
    }
    assert [damage for damage, outcome in found.items() if outcome == SILENT] == []
    counts = Counter(found.values())
    assert len(found) > 110, counts
    assert counts[REFUSED] > 45, counts
    assert counts[WHOLE] > 45, counts


def test_a_kill_loses_no_acknowledged_data(tmp_path: Path) -> None:
    assert kill_often(tmp_path, 1, seed=1) > 0


@pytest.mark.heavy
@pytest.mark.timeout(1800)
def test_two_hundred_kills_lose_no_acknowledged_data(tmp_path: Path) -> None:
    assert kill_often(tmp_path, 200, seed=2) > 200
