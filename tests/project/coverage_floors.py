"""Print the coverage of each package with its minimum, and fail below one: `make coverage`.

Minima are percent of lines and branches, in `[tool.kafka-shim.coverage]` of pyproject.toml. The
data are those of the last `coverage combine`. `python -m tests.project.coverage_floors --raise`
raises the minima to what was measured.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import coverage

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = "src/kafka_shim"
WHOLE: Final = "kafka_shim"
"""The key of the minimum for all packages together."""


class Counts(NamedTuple):
    """Lines and branches, and how many of them ran."""

    covered: int
    total: int

    @property
    def percent(self) -> float:
        return 100 * self.covered / self.total if self.total else 100.0


def counts_by_package(
    files: Mapping[str, Mapping[str, int]], names: Iterable[str]
) -> dict[str, Counts]:
    """Return the counts of packages such as `protocol` or `shim/handlers`, subpackages included.

    `files` has the summary of each file in coverage's JSON report.
    """
    counts = {}
    for name in names:
        prefix = f"{SOURCE}/" if name == WHOLE else f"{SOURCE}/{name}/"
        rows = [row for path, row in files.items() if path.startswith(prefix)]
        covered = sum(row["covered_lines"] + row["covered_branches"] for row in rows)
        counts[name] = Counts(
            covered, sum(row["num_statements"] + row["num_branches"] for row in rows)
        )
    return counts


def floors() -> dict[str, float]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    result: dict[str, float] = settings["tool"]["kafka-shim"]["coverage"]
    return result


def report(counts: Mapping[str, Counts], minima: Mapping[str, float]) -> tuple[str, list[str]]:
    """Return the table, and the packages below their minimum or without any line."""
    lines = [f"{'package':<24}{'lines and branches':>20}{'percent':>9}{'minimum':>9}"]
    for name, minimum in minima.items():
        row = counts[name]
        lines.append(f"{name:<24}{row.total:>20,}{row.percent:>9.1f}{minimum:>9.1f}")
    low = [name for name in minima if not counts[name].total or counts[name].percent < minima[name]]
    return "\n".join(lines), low


def raised(text: str, counts: Mapping[str, Counts]) -> str:
    """Return pyproject.toml with minima that are not below what was measured, in whole percent."""

    def higher(match: re.Match[str]) -> str:
        measured = int(counts[match[1]].percent) if match[1] in counts else 0
        return f'"{match[1]}" = {max(int(match[2]), measured)}'

    head, table, tail = text.partition("[tool.kafka-shim.coverage]")
    rows, mark, rest = tail.partition("\n[")
    return head + table + re.sub(r'"([\w/]+)" = (\d+)', higher, rows) + mark + rest


def main() -> int:
    data = coverage.Coverage(config_file=str(ROOT / "pyproject.toml"))
    data.load()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.json"
        data.json_report(outfile=str(path))
        rows = json.loads(path.read_text())["files"]
    minima = floors()
    counts = counts_by_package({name: row["summary"] for name, row in rows.items()}, minima)
    if sys.argv[1:] == ["--raise"]:
        path = ROOT / "pyproject.toml"
        path.write_text(raised(path.read_text(), counts))
        minima = floors()
    table, low = report(counts, minima)
    sys.stdout.write(f"{table}\n")
    if low:
        sys.stderr.write(f"below the minimum: {', '.join(low)}\n")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
