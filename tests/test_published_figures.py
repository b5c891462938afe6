"""`python -m benchmarks.against --publish` replaces the figures in the results."""

from pathlib import Path

from benchmarks.against.goals import Row
from benchmarks.against.publication import PAGE, publish


def row(kind: str, shim: float, kfake: float) -> Row:
    taken = {
        name: {"clock": us, "processor": us, "client": 1.0}
        for name, us in (("shim", shim), ("kfake", kfake))
    }
    return Row(kind, "write", different=True, mode="depth 64", taken=taken)


def test_the_figures_of_a_run_replace_those_of_the_last_one(tmp_path: Path) -> None:
    page = tmp_path / "against.md"
    publish([row("Produce", 10, 20), row("Fetch", 20, 10)], "Measured now.", page)
    publish([row("Produce", 10, 15), row("Fetch", 20, 10)], "Measured later.", page)
    text = page.read_text()
    assert "Measured now." not in text
    assert "Measured later." in text
    assert "| Produce, different | 10.0 | 15.0 | x1.50 |" in text
    assert "- Fetch, different, depth 64: 0.50 of kfake, goal 0.8" in text
    assert text.splitlines()[:3] == PAGE.read_text().splitlines()[:3]
