"""Kill brokers and damage their data; print how much was lost without a message.

python -m tests.shim.storage [KILLS]
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.shim.storage.damages import FILES, KINDS, OUTCOMES, SILENT, make_directory, try_damages
from tests.shim.storage.kills import kill_often

KILLS = 100


def main(kills: int) -> int:
    """Return 1 if anything was lost without a message; a loss after a kill is an AssertionError."""
    lines = [f"| directory | file | damages | {' | '.join(OUTCOMES)} |", f"|{'---|' * 7}"]
    totals = Counter[str]()
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            life = make_directory(Path(folder), kind)
            for name in FILES:
                counts = Counter(outcome for _, outcome in try_damages(Path(folder), name, life))
                totals += counts
                lines.append(_row(kind, f"`{name}`", counts))
    lines.append(_row("all", "", totals))
    with tempfile.TemporaryDirectory() as folder:
        acknowledged = kill_often(Path(folder), kills, seed=1)
    lines.append(f"{kills} kills: all {acknowledged} acknowledged records are there")
    sys.stdout.write("\n".join([*lines, ""]))
    return int(totals[SILENT] > 0)


def _row(kind: str, name: str, counts: Counter[str]) -> str:
    figures = [counts.total(), *(counts[outcome] for outcome in OUTCOMES)]
    return f"| {kind} | {name} | {' | '.join(map(str, figures))} |"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else KILLS))
