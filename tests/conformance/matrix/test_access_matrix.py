"""The access matrix is reviewed line by line; it is what the shim does, not what it should do."""

from pathlib import Path

import pytest

from authorizer.requirements import TABLE, in_force
from protocol.api_versions import RELEASES
from tests.conformance.matrix.access_matrix import ALLOWED, QUESTIONS, UNASKED, Matrix, printed

GOLDEN = Path(__file__).parents[2] / "golden" / "access_matrix.txt"
FEATURE_OFF = f"all there: {ALLOWED}, then 35"
"""Groups of a kind that a release has switched off: that comes before any permission."""


def test_every_row_has_a_question_or_a_reason() -> None:
    assert {row.id for row in TABLE} == QUESTIONS.keys() | UNASKED.keys()
    assert not QUESTIONS.keys() & UNASKED.keys() - {"InitProducerId.two_phase_commit"}
    assert all(UNASKED.values())


@pytest.mark.parametrize("release", [RELEASES[0], "2.7", "2.8", "3.9", RELEASES[-1]])
def test_every_denial_shows(release: str) -> None:
    """Where all is there it is not answered at all, or without it just the same: nothing shows."""
    asked = list(Matrix(release).rows())
    assert len(asked) > len(in_force(release)) / 2
    for one in asked:
        all_there, without = one.outcomes[:2]
        assert all_there.startswith(f"all there: {ALLOWED}"), one.row.id
        if all_there != FEATURE_OFF:
            assert not without.endswith(f": {ALLOWED}"), one.row.id


def test_the_golden_matrix_is_what_the_shim_answers() -> None:
    """Refresh with `python -m tests.conformance.matrix.access_matrix`, into the file."""
    assert printed() + "\n" == GOLDEN.read_text(encoding="utf-8")
