"""No row of the requirements table is left to itself: recordings of real brokers exercise it."""

from pathlib import Path

from tests.conformance.coverage import uncovered

GOLDEN = Path(__file__).parents[1] / "golden" / "uncovered.txt"


def test_uncovered_rows_are_listed_with_their_reasons() -> None:
    """Aim: none. A line is `row outcome: reason`."""
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    known = {line.partition(": ")[0]: line.partition(": ")[2] for line in listed}
    assert uncovered() == list(known)
    assert all(known.values())
