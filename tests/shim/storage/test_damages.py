"""What was acknowledged survives each damage of a file, or the broker says that it may not."""

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
