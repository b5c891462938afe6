"""Plays the same scenario on two peers, and compares their responses."""

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from tests.recordings.conformance.deviations import is_meant
from tests.recordings.conformance.play import play
from tests.recordings.conformance.scenario import Scenario, Step
from tests.recordings.peers.peer import Peer


class Difference(msgspec.Struct, frozen=True):
    """A step with different responses: `wanted` of the reference, `got` of the other peer."""

    seed: int
    number: int
    step: Step
    wanted: Any
    got: Any


class Tally:
    """The number of responses by API, how many of them were equal, and the differences."""

    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self.equal: Counter[str] = Counter()
        self.differences: list[Difference] = []

    def add(self, seed: int, scenario: Scenario, wanted: list[Any], got: list[Any]) -> None:
        rows = zip(scenario.steps, wanted, got, strict=True)
        for number, (step, first, second) in enumerate(rows):
            self.total[step.api] += 1
            if first == second or is_meant(step, first, second):
                self.equal[step.api] += 1
            else:
                self.differences.append(Difference(seed, number, step, first, second))

    @property
    def all_equal(self) -> bool:
        return not self.differences


def play_both(scenario: Scenario, reference: Peer, other: Peer) -> tuple[list[Any], list[Any]]:
    """Play a scenario on both peers at the same time; return their responses."""
    with ThreadPoolExecutor(1) as pool:
        later = pool.submit(play, scenario, reference)
        got = play(scenario, other)
        return later.result(), got


def paths(wanted: Any, got: Any, at: str = "") -> Iterable[str]:
    """Yield a line for each place where two plain values differ."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key in sorted(wanted.keys() | got.keys()):
            if key not in wanted or key not in got:
                which = "missing" if key not in got else "extra"
                yield f"{at}.{key}: {which} {wanted.get(key, got.get(key))!r:.200}"
            else:
                yield from paths(wanted[key], got[key], f"{at}.{key}")
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for index, (first, second) in enumerate(zip(wanted, got, strict=True)):
            yield from paths(first, second, f"{at}.{index}")
    elif wanted != got:
        yield f"{at}: want {wanted!r:.300} got {got!r:.300}"
