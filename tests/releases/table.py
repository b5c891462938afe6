"""The table of docs/reference/releases.md: the recordings of each minor release."""

from pathlib import Path
from typing import NamedTuple

from kafka_shim.protocol.api_versions import RELEASES, parse_minor_release
from tests.oracle.real_kafka import numbers
from tests.recordings.conformance.remaining import differences
from tests.recordings.conformance.scenario import load, recordings

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "releases.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of the table -->"


class Row(NamedTuple):
    """A minor release: its recorded patches, and how many of their responses the shim equals."""

    release: str
    patches: str
    scenarios: int
    responses: int
    equal: int


def row(release: str) -> Row:
    """Play all recordings of a minor release."""
    names = [
        name for name in recordings() if parse_minor_release(name.partition("-")[0]) == release
    ]
    scenarios = responses = different = 0
    for name in names:
        counts, _, played = differences(name)
        scenarios += sum(1 for _ in load(name))
        responses += played
        different += counts.total()
    patches = sorted({name.partition("-")[0] for name in names}, key=numbers)
    return Row(release, ", ".join(patches), scenarios, responses, responses - different)


def rows() -> list[Row]:
    return [row(release) for release in RELEASES]


def page_with(page: str, told: list[Row]) -> str:
    """Return the page with its table replaced."""
    lines = ["| release | recorded | scenarios | responses | equal |", "|---|---|---|---|---|"]
    lines += [
        f"| {row.release} | {row.patches} | {row.scenarios} | {row.responses:,} | {row.equal:,} |"
        for row in told
    ]
    responses, equal = (sum(getattr(row, key) for row in told) for key in ("responses", "equal"))
    scenarios = sum(row.scenarios for row in told)
    lines.append(f"| all | | {scenarios:,} | {responses:,} | {equal:,} |")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n".join(["", *lines, "", ""]) + END + after
