"""The figures as a table."""

from collections.abc import Sequence

from benchmarks.against.goals import Row


def text(rows: Sequence[Row], *, head: bool = True) -> str:
    """A line a kind and mode: rates a second in thousands, processor time, and ratios."""
    names = list(rows[0].taken)
    lines = []
    if head:
        cells = ["kind", "mode", *(f"{name} k/s, us" for name in names), "of kfake", "of real"]
        lines = [f"| {' | '.join(cells)} |", "|---" * len(cells) + "|"]
    return "\n".join([*lines, *(_line(row, names) for row in rows)])


def _line(row: Row, names: Sequence[str]) -> str:
    figures = [
        f"{1000 / row.taken[name]['clock']:.1f}, {row.taken[name]['processor']:.1f}"
        for name in names
    ]
    ratios = [
        f"{row.ratio(other):.2f}, {row.ratio(other, 'processor'):.2f}"
        if {other, "shim"} <= row.taken.keys()
        else ""
        for other in ("kfake", "real")
    ]
    kind = f"{row.kind}, {'different' if row.different else 'repeated'}"
    return f"| {' | '.join([kind, row.mode, *figures, *ratios])} |"
