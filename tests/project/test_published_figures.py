"""`--publish` of `benchmarks.against` and of its `throughput` writes the figures of a run."""

from pathlib import Path

from benchmarks.against import throughput
from benchmarks.against.costs import costs
from benchmarks.against.goals import EVERYDAY, Row, rows_that_miss
from benchmarks.against.publication import PAGE, publish
from benchmarks.against.throughput import Speed


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


def test_what_clients_send_all_day_comes_first(tmp_path: Path) -> None:
    page = tmp_path / "against.md"
    publish([row("OffsetFetch", 20, 10), row("Produce", 10, 20)], "Measured now.", page=page)
    text = page.read_text()
    first, second = (text.index(f"| {kind}, different |") for kind in ("Produce", "OffsetFetch"))
    assert text.index(f"{EVERYDAY}, with 64 in flight:") < first < second
    assert f"| kfake | depth 64, {EVERYDAY} | x2.00 | x2.00 |" in text


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


def test_a_missed_rate_is_told_with_what_the_client_uses_of_its_core() -> None:
    speeds = {"shim": Speed(90, 0.6, 0.99), "kfake": Speed(100, 0.8, 0.95)}
    rows = [
        throughput.Row("librdkafka", "out", speeds),
        throughput.Row("java", "in", {"shim": Speed(50, 1, 1), "real": Speed(40, 2, 1)}),
    ]
    text = throughput.published(rows, "Measured now.")
    assert rows[0].ratio("kfake") == 0.9
    assert rows[1].ratio("kfake") is None
    assert "| librdkafka out | kfake | 100 | x0.90 | 0.80 | 95% |" in text
    assert "| java in | real | 40 | x1.25 | 2.00 | 100% |" in text
    missed = "librdkafka out: 0.90 of kfake, goal 1.0; the client uses its core 99% of the time"
    assert text.endswith(f"Missed goals:\n\n- {missed}\n")
    assert text.startswith(throughput.PAGE.read_text()[:80])
