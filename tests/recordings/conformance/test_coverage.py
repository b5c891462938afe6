"""Recordings of real brokers exercise every row of the requirements table."""

from collections.abc import Iterable
from typing import Any, Final

from kafka_shim.authorizer.requirement import BoundRequirement, Requirement
from kafka_shim.authorizer.requirements import TABLE
from kafka_shim.shim.request.access import Access
from tests.recordings.conformance.matrix.access_matrix import UNASKED
from tests.recordings.conformance.play import play, shim_of
from tests.recordings.conformance.scenario import load, recordings

Exercised = set[tuple[str, bool]]
OUTCOMES: Final = {"allowed": True, "denied": False}


class Watching:
    """Notes every row that handlers check while it is open, and the outcome."""

    def __init__(self) -> None:
        self.seen: Exercised = set()
        self._meets = Access.allows_bound
        self._allows_either = Access.allows_either

    def __enter__(self) -> "Watching":
        meets, allows_either = self._meets, self._allows_either

        def noting(access: Any, bound: BoundRequirement, *more: Any) -> bool:
            granted = meets(access, bound, *more)
            self.seen.add((bound.requirement.id, granted))
            return granted

        def noting_either(access: Any, row: Requirement, *more: Any) -> bool:
            granted = allows_either(access, row, *more)
            self.seen.add((row.id, granted))
            return granted

        self._put(noting, noting_either)
        return self

    def __exit__(self, *_: object) -> None:
        self._put(self._meets, self._allows_either)

    def _put(self, meets: Any, allows_either: Any) -> None:
        watched: Any = Access
        watched.allows_bound, watched.allows_either = meets, allows_either


def exercised(names: Iterable[str]) -> Exercised:
    """Return the rows that these recordings check, and whether they were allowed."""
    with Watching() as watching:
        for name in names:
            peer = shim_of(name)
            for scenario in load(name):
                play(scenario, peer)
    return watching.seen


def uncovered() -> list[str]:
    """Return rows and outcomes that are in no matrix, e.g. `Envelope.cluster denied`."""
    seen = exercised(name for name in recordings() if name.endswith("-matrix"))
    return [
        f"{row.id} {outcome}"
        for row in TABLE
        for outcome, granted in OUTCOMES.items()
        if (row.id, granted) not in seen
    ]


def test_every_row_is_exercised_allowed_and_denied() -> None:
    """Rows that no client can reach are listed there with their reasons."""
    unreachable = [f"{row_id} {outcome}" for row_id in UNASKED for outcome in OUTCOMES]
    assert sorted(uncovered()) == sorted(unreachable)
