"""The page with the figures of each night."""

from pathlib import Path

from tests.oracle.policy_decisions import PUBLISHED_NIGHTS, publish


def test_a_night_is_published_once_and_above_earlier_ones(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for night in range(PUBLISHED_NIGHTS + 5):
        publish(f"night-{night}", "4.4.0", {"decisions": 1000, "different": 0}, page)
    publish("night-100", "4.4.0", {"decisions": 7_000_000, "different": 1}, page)
    rows = [line for line in page.read_text().splitlines() if line.startswith("| night-")]
    assert len(rows) == PUBLISHED_NIGHTS
    assert rows[0].startswith("| night-100 | 4.4.0 | 0 | 7,000,000 |")
    assert rows[0].endswith("| 1 |")
    assert rows[1].startswith("| night-104 |")
    assert sum("night-100 " in row for row in rows) == 1
