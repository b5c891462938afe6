"""The shim's goals, as ratios of request rates."""

import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """Microseconds per request of a kind in a mode, by broker: elapsed, processor, client."""

    kind: str
    group: str
    different: bool
    mode: str
    taken: dict[str, dict[str, float]]

    @property
    def helped(self) -> bool:
        """Whether the same read is repeated, so that cached responses help."""
        return self.group == "read" and not self.different

    @property
    def is_everyday(self) -> bool:
        """Whether clients send such requests all day, different every time."""
        return self.different and self.kind in _EVERYDAY_KINDS

    def ratio(self, other: str, part: str = "clock") -> float:
        """Return the number of requests that the shim answers while the
        other broker answers one.
        """
        return self.taken[other][part] / self.taken["shim"][part]


class Goal(NamedTuple):
    """The minimum ratio: of the geometric mean over the kinds, and of each kind."""

    mean: float
    each: float


_REPEATED = {"depth 64": Goal(4, 2), "depth 1": Goal(1.5, 1)}
EVERYDAY = "different requests that clients send all day"
"""Different every time, so no cached response helps. Their goals and figures come first."""
_EVERYDAY_KINDS = frozenset(
    {
        "InitProducerId",
        "FindCoordinator",
        "Metadata of a topic",
        "Metadata of two",
        "ListOffsets of two",
        "OffsetCommit",
        "Fetch of 1 KiB",
        "Heartbeat",
        "Produce",
    }
)
_EVERYDAY = {"depth 64": Goal(0.8, 0.6), "depth 1": Goal(1, 0.8)}
_OTHERS = {"depth 64": Goal(1, 0.8), "depth 1": Goal(1, 0.8)}
REAL = {"depth 64": Goal(4, 1)}
"""A real Kafka is slower in each row."""
WHOLE = "whole"
"""The mode of what several connections do together."""
AS_SOON = "a waiting Fetch woken by a Produce"
"""What is to take no longer than a real Kafka takes."""


def goal_of(row: Row) -> Goal | None:
    """Return the goal against kfake."""
    goals = _REPEATED if row.helped else _EVERYDAY if row.is_everyday else _OTHERS
    return goals.get(row.mode)


def _sets(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    for mode in dict.fromkeys(row.mode for row in rows):
        of_mode = [row for row in rows if row.mode == mode != WHOLE]
        yield f"{mode}, {EVERYDAY}", [row for row in of_mode if row.is_everyday]
        yield f"{mode}, repeated reads", [row for row in of_mode if row.helped]
        yield f"{mode}, all else", [row for row in of_mode if not row.helped]
        yield f"{mode}, all", of_mode


def means(rows: Sequence[Row]) -> dict[str, float]:
    """Return geometric means of the ratios, of elapsed and of processor time."""
    found = {}
    for name, chosen in _sets(rows):
        for other in ("kfake", "real", "compiled"):
            if not chosen or any({other, "shim"} - row.taken.keys() for row in chosen):
                continue
            for part in ("clock", "processor"):
                ratios = [row.ratio(other, part) for row in chosen]
                found[f"{other}, {name}, {part}"] = statistics.geometric_mean(ratios)
    return found


def rows_that_miss(rows: Sequence[Row]) -> list[Row]:
    """Return the requests that miss their goal against kfake."""
    return [row for row in rows if _misses(row)]


def _misses(row: Row) -> bool:
    goal = goal_of(row)
    is_compared = {"kfake", "shim"} <= row.taken.keys()
    return goal is not None and is_compared and row.ratio("kfake") < goal.each


def missed(rows: Sequence[Row]) -> list[str]:
    """Return the missed goals, of elapsed time."""
    found = []
    for row in rows_that_miss(rows):
        goal = goal_of(row)
        assert goal is not None
        found.append(f"{name_of(row)}: {row.ratio('kfake'):.2f} of kfake, goal {goal.each}")
    found += [
        f"{name_of(row)}: {row.ratio('real'):.2f} of real, goal 1"
        for row in rows
        if (row.kind == AS_SOON or row.mode in REAL)
        and {"real", "shim"} <= row.taken.keys()
        and row.ratio("real") < 1
    ]
    got = means(rows)
    for other, name, least in _mean_goals():
        mean = got.get(f"{other}, {name}, clock")
        if mean is not None and mean < least:
            found.append(f"mean of {name}: {mean:.2f} of {other}, goal {least}")
    return found


def name_of(row: Row) -> str:
    """Return the name of a row: its kind, whether it repeats a request, and its mode."""
    return f"{row.kind}, {'different' if row.different else 'repeated'}, {row.mode}"


def _mean_goals() -> Iterator[tuple[str, str, float]]:
    named = ((EVERYDAY, _EVERYDAY), ("repeated reads", _REPEATED), ("all else", _OTHERS))
    for kinds, of_kinds in named:
        for mode, goal in of_kinds.items():
            yield "kfake", f"{mode}, {kinds}", goal.mean
    for mode, goal in REAL.items():
        yield "real", f"{mode}, all", goal.mean
