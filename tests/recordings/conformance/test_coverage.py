"""Recordings of real brokers exercise every row of the requirements table."""

from tests.recordings.conformance.coverage import OUTCOMES, uncovered
from tests.recordings.conformance.matrix.access_matrix import UNASKED


def test_every_row_is_exercised_allowed_and_denied() -> None:
    """Rows that no client can reach are listed there with their reasons."""
    unreachable = [f"{row_id} {outcome}" for row_id in UNASKED for outcome in OUTCOMES]
    assert sorted(uncovered()) == sorted(unreachable)
