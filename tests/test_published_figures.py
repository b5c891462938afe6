"""`python -m benchmarks.against --publish` replaces the figures in the results."""

from pathlib import Path

from benchmarks.against.costs import costs
from benchmarks.against.goals import Row, rows_that_miss
from benchmarks.against.publication import PAGE, publish


def row(kind: str, shim: float, kfake: float) -> Row:
    taken = {
        name: {"clock": us, "processor": us, "client": 1.0}
        for name, us in (("shim", shim), ("kfake", kfake))
    }
    return Row(kind, "write", different=True, mode="depth 64", taken=taken)


def test_the_figures_of_a_run_replace_those_of_the_last_one(tmp_path: Path) -> None:
    page = tmp_path / "against.md"
    publish([row("Produce", 10, 20), row("Fetch", 20, 10)], "Measured now.", page=page)
    publish([row("Produce", 10, 15), row("Fetch", 20, 10)], "Measured later.", page=page)
    text = page.read_text()
    assert "Measured now." not in text
    assert "Measured later." in text
    assert "| Produce, different | 10.0 | 15.0 | x1.50 |" in text
    assert "- Fetch, different, depth 64: 0.50 of kfake, goal 0.8" in text
    assert text.splitlines()[:3] == PAGE.read_text().splitlines()[:3]


def test_the_time_of_a_row_that_misses_its_goal_is_shown_by_stage(tmp_path: Path) -> None:
    page = tmp_path / "against.md"
    rows = [row("Produce", 100, 200), row("Heartbeat", 200, 100)]
    publish(rows, "Measured now.", costs(rows_that_miss(rows)), page)
    head, _, only = page.read_text().splitlines()[-3:]
    stages, figures = ([cell.strip() for cell in line.split("|")[2:-3]] for line in (head, only))
    assert only.startswith("| Heartbeat, different, depth 64 |")
    assert only.endswith("| 200.0 | 100.0 |")
    assert {"read", "decode", "handle", "authorize", "encode", "write"} <= {*stages}
    assert all(float(us) > 0 for us in figures[stages.index("handle") :][:1])
    assert abs(sum(map(float, figures)) - 200) < len(figures) / 10
