"""Print a recording as text, one response per line: `python -m tests.recordings.show FILE`.

This is what `git diff` runs on packed recordings, see `.gitattributes` and README.md.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.recordings.store import read_file


def shown(path: Path) -> Iterator[str]:
    """Yield the lines of a recording: the name of each scenario, then a line per response."""
    content = read_file(path)
    try:
        scenarios = msgspec.json.decode(content, type=dict[str, list[msgspec.Raw]])
    except msgspec.DecodeError:
        yield from _steps_by_line(content)
        return
    for name, steps in scenarios.items():
        yield name
        yield from (f"  {bytes(step).decode()}" for step in steps)


def _steps_by_line(content: bytes) -> Iterator[str]:
    """Yield the lines of a recording that has one scenario per line."""
    for line in content.splitlines():
        scenario = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        steps = msgspec.json.decode(scenario.pop("steps"), type=list[msgspec.Raw])
        yield msgspec.json.encode(scenario).decode()
        yield from (f"  {bytes(step).decode()}" for step in steps)


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in shown(Path(sys.argv[1])))
