"""Lists the responses that still differ from the recordings, counted by recording and API.

A test compares the list, `tests/golden/remaining_differences.txt`, with the current differences.
After a difference is fixed, `python -m tests.recordings.conformance.remaining` writes it again; it
may only shrink.
"""

import collections
from pathlib import Path

from tests.recordings.conformance.deviations import is_meant
from tests.recordings.conformance.play import play, shim_of
from tests.recordings.conformance.scenario import load, recordings

GOLDEN = Path(__file__).parents[2] / "golden" / "remaining_differences.txt"


def differences(name: str) -> tuple[collections.Counter[str], list[str], int]:
    """Return different responses by API, a line for each, and the number of responses played."""
    peer = shim_of(name)
    counts: collections.Counter[str] = collections.Counter()
    told = []
    played = 0
    for scenario in load(name):
        for step, got in zip(scenario.steps, play(scenario, peer), strict=True):
            played += 1
            if got != step.response and not is_meant(step, step.response, got):
                counts[step.api] += 1
                place = f"{scenario.prefix}: {step.user} {step.api} v{step.version} {step.request}"
                told.append(f"{place}\n  want {step.response}\n  got  {got}")
    return counts, told, played


def known() -> dict[str, collections.Counter[str]]:
    """Return the listed counts by recording and API."""
    found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for line in GOLDEN.read_text().splitlines():
        if line and not line.startswith("#"):
            name, api, count = line.split()[:3]
            found[name][api] = int(count)
    return found


def listing() -> str:
    """Return the text of the list for the current differences."""
    lines = ["# recording, API, differing responses; by tests.recordings.conformance.remaining"]
    for name in recordings():
        counts, _, played = differences(name)
        lines.append(f"# {name}: {sum(counts.values())} of {played}")
        lines += [f"{name} {api} {count}" for api, count in sorted(counts.items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    GOLDEN.write_text(listing())
