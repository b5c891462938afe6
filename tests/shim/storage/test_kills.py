"""A broker that is killed at any moment keeps all data that it acknowledged."""

from pathlib import Path

import pytest

from tests.shim.storage.kills import kill_often


def test_a_kill_loses_no_acknowledged_data(tmp_path: Path) -> None:
    assert kill_often(tmp_path, 1, seed=1) > 0


@pytest.mark.heavy
@pytest.mark.timeout(1800)
def test_two_hundred_kills_lose_no_acknowledged_data(tmp_path: Path) -> None:
    assert kill_often(tmp_path, 200, seed=2) > 200
