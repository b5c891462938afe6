"""Choose as few of many choices as possible, so that every requirement is met.

Choices may raise further requirements: an ALLOW that covers too much needs a DENY. The search is
exact up to a number of steps; beyond, the result has a proven lower bound.
"""

from collections.abc import Iterable, Iterator, Sequence, Set

import msgspec

STEPS_MAX = 20_000
"""Steps of the search in each independent part."""
_SEARCHED_REQUIREMENTS_MAX = 400


class Choice(msgspec.Struct, frozen=True):
    """Something to choose. `meets` and `raises` are requirements that have numbers."""

    meets: frozenset[int]
    raises: frozenset[int] = frozenset()


class Cover(msgspec.Struct, frozen=True):
    """The positions of the choices; no cover has fewer choices than `lower_bound`."""

    chosen: frozenset[int]
    lower_bound: int


def minimum_cover(required: Set[int], choices: Sequence[Choice]) -> Cover:
    """Return the smallest cover that is found. Of equal choices, earlier ones are preferred.

    A choice that raises requirements must not meet any that choices raise. Raise ValueError if
    nothing meets a requirement.
    """
    problem = _Problem(required, choices)
    problem.reduce()
    chosen, lower_bound = set(problem.forced), len(problem.forced)
    for part in problem.independent_parts():
        search = _Search(problem, part)
        chosen |= search.best
        lower_bound += search.lower_bound
    return Cover(frozenset(chosen), lower_bound)


class _Problem:
    """Requirements with the choices that meet and raise them, reduced to what must be searched."""

    def __init__(self, required: Set[int], choices: Sequence[Choice]) -> None:
        self.forced: set[int] = set()
        self.required = set(required)
        met = frozenset().union(*(choice.meets for choice in choices))
        self.meets: dict[int, set[int]] = {}
        self.raises: dict[int, set[int]] = {}
        for position, choice in enumerate(choices):
            if choice.raises <= met:
                self.meets[position] = set(choice.meets)
                self.raises[position] = set(choice.raises - required)
        self.meeting = _inverted(self.meets)
        self.raising = _inverted(self.raises)
        if not self.required <= self.meeting.keys():
            raise ValueError("nothing meets a requirement")
        for requirement in self.meeting.keys() - self.raising.keys() - self.required:
            self._drop_requirement(requirement)

    def reduce(self) -> None:
        """Drop requirements that follow from others, and choices that others replace."""
        changed = True
        while changed:
            self._merge_requirements_met_alike()
            changed = self._drop_replaceable_choices() or self._choose_only_ways_to_meet()

    def independent_parts(self) -> Iterator[set[int]]:
        """Yield the required requirements of each part that shares no choice with another."""
        open_requirements = set(self.required)
        while open_requirements:
            part, frontier = set[int](), {open_requirements.pop()}
            while frontier:
                requirement = frontier.pop()
                part.add(requirement)
                choices = self.meeting[requirement] | self.raising.get(requirement, set())
                for choice in choices:
                    frontier |= (self.meets[choice] | self.raises[choice]) - part
            open_requirements -= part
            yield part & self.required

    def _merge_requirements_met_alike(self) -> None:
        representatives: dict[frozenset[int], int] = {}
        order = sorted(self.meeting, key=lambda requirement: requirement not in self.required)
        for requirement in order:
            first = representatives.setdefault(frozenset(self.meeting[requirement]), requirement)
            if first == requirement:
                continue
            if first not in self.required:
                for choice in self.raising.get(requirement, ()):
                    self.raises[choice].add(first)
                    self.raising[first].add(choice)
            self._drop_requirement(requirement)

    def _drop_replaceable_choices(self) -> bool:
        dropped = False
        for choice in sorted(self.meets, reverse=True):
            meets, raises = self.meets[choice], self.raises[choice]
            rarest = min(
                meets, key=lambda requirement: len(self.meeting[requirement]), default=None
            )
            others = () if rarest is None else self.meeting[rarest] - {choice}
            if rarest is None or any(
                meets <= self.meets[other]
                and self.raises[other] <= raises
                and (other < choice or meets != self.meets[other] or raises != self.raises[other])
                for other in others
            ):
                self._drop_choice(choice)
                dropped = True
        return dropped

    def _choose_only_ways_to_meet(self) -> bool:
        forced = {
            next(iter(self.meeting[requirement]))
            for requirement in self.required
            if len(self.meeting[requirement]) == 1
        }
        for choice in forced:
            self.forced.add(choice)
            self.required |= self.raises[choice]
        for requirement in set().union(*(self.meets[choice] for choice in forced)):
            self._drop_requirement(requirement)
        for choice in forced:
            self._drop_choice(choice)
        for requirement in self.required:
            for choice in self.raising.pop(requirement, ()):
                self.raises[choice].discard(requirement)
        return bool(forced)

    def _drop_requirement(self, requirement: int) -> None:
        self.required.discard(requirement)
        for choice in self.meeting.pop(requirement):
            self.meets[choice].discard(requirement)
        for choice in self.raising.pop(requirement, ()):
            self.raises[choice].discard(requirement)

    def _drop_choice(self, choice: int) -> None:
        for requirement in self.meets.pop(choice):
            self.meeting[requirement].discard(choice)
        for requirement in self.raises.pop(choice):
            raising = self.raising[requirement]
            raising.discard(choice)
            if not raising and requirement not in self.required:
                self._drop_requirement(requirement)


class _Search:
    """Branch and bound in one part: `best` are its choices."""

    def __init__(self, problem: _Problem, required: set[int]) -> None:
        self._problem = problem
        self._steps = STEPS_MAX if len(required) <= _SEARCHED_REQUIREMENTS_MAX else 0
        self.lower_bound = self._least_choices(required, frozenset())
        self.best = self._choose_greedily(required)
        if len(self.best) > self.lower_bound:
            self._search(frozenset(required), frozenset(), frozenset(), frozenset())
            if self._steps:
                self.lower_bound = len(self.best)

    def _choose_greedily(self, required: set[int]) -> frozenset[int]:
        chosen, met, open_requirements = set[int](), set[int](), set(required)
        while open_requirements:
            choice = max(
                sorted(set().union(*(self._problem.meeting[each] for each in open_requirements))),
                key=lambda each: (
                    len(self._problem.meets[each] & open_requirements)
                    - len(self._problem.raises[each] - met)
                ),
            )
            chosen.add(choice)
            met |= self._problem.meets[choice]
            open_requirements = (open_requirements | self._problem.raises[choice]) - met
        return frozenset(chosen)

    def _search(
        self,
        required: frozenset[int],
        met: frozenset[int],
        chosen: frozenset[int],
        excluded: frozenset[int],
    ) -> None:
        """Try all choices for the requirement that has the fewest; `best` becomes smaller."""
        if not required:
            self.best = min(self.best, chosen, key=len)
            return
        self._steps = max(self._steps - 1, 0)
        if not self._steps or len(chosen) + self._least_choices(required, excluded) >= len(
            self.best
        ):
            return
        candidates = min((self._problem.meeting[each] - excluded for each in required), key=len)
        for choice in sorted(
            candidates, key=lambda each: (-len(self._problem.meets[each] & required), each)
        ):
            now_met = met | self._problem.meets[choice]
            self._search(
                (required | self._problem.raises[choice]) - now_met,
                now_met,
                chosen | {choice},
                excluded,
            )
            excluded |= {choice}

    def _least_choices(self, required: Iterable[int], excluded: frozenset[int]) -> int:
        """Return how many requirements are found of which no choice meets two."""
        count, used = 0, set[int]()
        meeting = (self._problem.meeting[each] - excluded for each in required)
        for choices in sorted(meeting, key=len):
            if used.isdisjoint(choices):
                count += 1
                used |= choices
        return count


def _inverted(sets: dict[int, set[int]]) -> dict[int, set[int]]:
    inverted: dict[int, set[int]] = {}
    for key, members in sets.items():
        for member in members:
            inverted.setdefault(member, set()).add(key)
    return inverted
