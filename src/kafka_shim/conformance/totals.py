"""The number of cases by family, level and outcome."""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from kafka_shim.conformance.case import CaseOutcome
from kafka_shim.conformance.report import ResultRow
from kafka_shim.conformance.requirement_level import RequirementLevel

OUTCOMES = tuple(outcome.value for outcome in CaseOutcome)


class FamilyTotals(msgspec.Struct, frozen=True):
    """The number of cases of a family and level by outcome; the family `all` is all of them."""

    family: str
    level: str
    counts: dict[str, int]

    @property
    def cells(self) -> tuple[str, ...]:
        return (self.family, self.level, *(str(self.counts[name]) for name in OUTCOMES))


HEADER = ("family", "level", *OUTCOMES)


def totals_by_group(rows: Iterable[ResultRow]) -> list[FamilyTotals]:
    """Return the totals of each family and level that occurs, and those of all families."""
    counts: dict[tuple[str, RequirementLevel], Counter[str]] = {}
    for row in rows:
        for family in (row.id.partition(".")[0], "all"):
            counts.setdefault((family, row.level), Counter())[row.outcome.value] += 1
    families = dict.fromkeys(family for family, _ in counts)
    order = [*(family for family in families if family != "all"), "all"]
    return [
        FamilyTotals(family, level.value, {name: counts[family, level][name] for name in OUTCOMES})
        for family in order
        for level in RequirementLevel
        if (family, level) in counts
    ]


def totals_text_lines(rows: Iterable[ResultRow]) -> Iterator[str]:
    """Yield a table of the totals with aligned columns."""
    table = [HEADER, *(each.cells for each in totals_by_group(rows))]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        first = (cells[0].ljust(widths[0]), cells[1].ljust(widths[1]))
        numbers = (cell.rjust(width) for cell, width in zip(cells[2:], widths[2:], strict=True))
        yield "  ".join((*first, *numbers))


def totals_markdown_lines(rows: Iterable[ResultRow]) -> Iterator[str]:
    yield f"| {' | '.join(HEADER)} |"
    yield "|" + "---|" * len(HEADER)
    for each in totals_by_group(rows):
        yield f"| {' | '.join(each.cells)} |"
