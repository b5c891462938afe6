"""What of a tool's output is kept for comparison: all but what no two runs have in common."""

import re
from collections.abc import Mapping

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

RULES = (
    # made by chance
    (re.compile(_UUID), "UUID"),
    (re.compile(r"(?<![\w-])[A-Za-z0-9_-]{22}(?![\w-])"), "ID"),
    # the clock
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([.,:]\d+)?(Z| \([^)]*\))?"), "TIME"),
    (re.compile(r"\b1[6-9]\d{11}\b"), "MILLISECONDS"),
    # speed
    (re.compile(r"\b\d+(\.\d+)? (ms|MB/sec|records/sec)"), r"N \2"),
    # a broker's own words, which are its business (docs/deviations.md)
    (re.compile(r"((?:\w+\.)+errors\.\w+(?:Exception|Error)): .*"), r"\1: WORDS"),
    (re.compile(r"(Error while executing [\w ]+ :) .*"), r"\1 WORDS"),
)
_STACK = re.compile(r"^\s+at |^\s*\.\.\. \d+ more")


def clean(text: str, places: Mapping[str, str]) -> list[str]:
    """The lines that count; `places` are texts of this run with the names that stand for them."""
    for place in sorted(places, key=len, reverse=True):
        text = text.replace(place, places[place])
    lines = []
    for line in text.splitlines():
        if not line.strip() or _STACK.match(line):
            continue
        kept = line
        for pattern, replacement in RULES:
            kept = pattern.sub(replacement, kept)
        lines.append(kept.rstrip())
    return lines
