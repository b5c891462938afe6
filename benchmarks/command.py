"""The command line of a benchmark: figures as text or JSON, and whether goals are met."""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence


def parse_arguments(doc: str | None, **options: tuple[int | str, str]) -> argparse.Namespace:
    """Parse `--json`, `--check`, and an option for each of `options` (its default and its help).

    Programs that a benchmark starts use compiled modules, as in an installed package.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    for name, (default, meaning) in options.items():
        parser.add_argument(
            f"--{name}", type=type(default), default=default, help=f"{meaning} (default {default})"
        )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--check", action="store_true", help="exit 3 when a goal is missed")
    return parser.parse_args()


def finish_below(
    options: argparse.Namespace, figures: Mapping[str, float], goals: Mapping[str, float]
) -> int:
    """Print a line for each figure and return the exit code; `goals`
    are upper limits of figures.
    """
    width = max(map(len, figures)) + 3
    lines = [f"{name.replace('_', ' '):{width}} {value:8.2f}" for name, value in figures.items()]
    missed = [
        f"{name} is {figures[name]:.2f}, goal {goal}"
        for name, goal in goals.items()
        if not figures[name] < goal
    ]
    return finish(options, figures, "\n".join(lines), missed)


def finish(
    options: argparse.Namespace, figures: Mapping[str, object], text: str, missed: Sequence[str]
) -> int:
    """Print the figures, as `text` or as JSON, and the missed goals; return the exit code."""
    print(json.dumps(figures, indent=1) if options.json else text)
    for goal in missed:
        print(f"goal missed: {goal}", file=sys.stderr)
    return 3 if options.check and missed else 0
