"""The figures as a table."""

from collections.abc import Sequence

from benchmarks.against.goals import WHOLE, Row


def text(rows: Sequence[Row], *, head: bool = True) -> str:
    """Return a line per kind and mode: thousands per second, processor microseconds, and ratios.

    Exchanges over several connections have milliseconds instead of a rate.
    """
    names = list(rows[0].taken)
    lines = []
    if head:
        cells = ["kind", "mode", *(f"{name} k/s, us" for name in names), "of kfake", "of real"]
        lines = [f"| {' | '.join(cells)} |", "|---" * len(cells) + "|"]
    return "\n".join([*lines, *(_line(row, names) for row in rows)])


def _line(row: Row, names: Sequence[str]) -> str:
    figures = [f"{_pace(row, name)}, {row.taken[name]['processor']:.1f}" for name in names]
    ratios = [
        f"{row.ratio(other):.2f}, {row.ratio(other, 'processor'):.2f}"
        if {other, "shim"} <= row.taken.keys()
        else ""
        for other in ("kfake", "real")
    ]
    kind = f"{row.kind}, {'different' if row.different else 'repeated'}"
    if row.mode == WHOLE:
        kind = row.kind
    return f"| {' | '.join([kind, row.mode, *figures, *ratios])} |"


def _pace(row: Row, name: str) -> str:
    clock_us = row.taken[name]["clock"]
    return f"{clock_us / 1000:.2f} ms" if row.mode == WHOLE else f"{1000 / clock_us:.1f}"
