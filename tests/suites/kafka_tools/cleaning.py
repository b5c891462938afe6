"""Removes the parts of a tool's output that differ in each run."""

import re
from collections.abc import Mapping

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_WORD = r"(?:[-_]?(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}))+(?![\w-])"
_ID = rf"(?<![\w-])(?!{_WORD})[A-Za-z0-9_-]{{22}}(?![\w-])"
"""An id of 16 bytes in base64, but not a word of 22 letters."""

RULES = (
    # random ids
    (re.compile(_UUID), "UUID"),
    (re.compile(r"[A-Za-z0-9+/]{86}=="), "HMAC"),
    (re.compile(r"(?<=groupId=)console-consumer-\d+"), "ID"),
    (re.compile(r"\bA{22}\b"), "NO-ID"),
    (re.compile(_ID), "ID"),
    (re.compile(r"(Cluster ?I[Dd]:\s+)\S+"), r"\1ID"),
    # addresses of brokers
    (re.compile(r"CONTROLLER://127\.0\.0\.1:\d+"), "CONTROLLER"),
    (re.compile(r'(?<=logDir":)"[^"]+"|(?<=log_dirs":\[)"/[^"]+"'), '"DIRECTORY"'),
    # times
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([.,:]\d+)?(Z| \([^)]*\))?"), "TIME"),
    (re.compile(r"\b1[6-9]\d{11}\b"), "MILLISECONDS"),
    (re.compile(r"(MILLISECONDS\s+)\d+$"), r"\1N"),
    # durations and rates
    (re.compile(r"\b\d+(\.\d+)? (ms|MB/sec|records/sec)"), r"N \2"),
    (re.compile(r'(?<="avg_throughput":)[\d.E]+'), "N"),
    (re.compile(r"^(TIME, TIME, [\d.]+), [\d.]+, (\d+), .*"), r"\1, N, \2, N"),
    (re.compile(r"^(TIME, TIME, [\d.]+), [\d.]+, [\d.]+, (\d+), \d+$"), r"\1, N, N, \2, N"),
    (re.compile(r"^(\d+\t)\d+\.\d+$"), r"\1N"),
    (re.compile(r"(?<=th = )\d+"), "N"),
    # producer ids, in a column of kafka-transactions
    (re.compile(r"^(\S+\s+\t\d\s+\t)\d+(?=\s+\t[A-Z])"), r"\1PRODUCER"),
    (re.compile(r"^(\d\s+\t\S+\s+\t)\d+(?=\s+\t\d+\s+\t[A-Z])"), r"\1PRODUCER"),
    (re.compile(r"^\d+(?=\s+\t\d+\s+\t\d+\s+\t-?\d+\s+\tMILLISECONDS)"), "PRODUCER"),
    # the length of the metadata log
    (re.compile(r"(?<=\bEpoch: )\d+$|(?<=termark:)\s*\d+$"), " N"),
    (re.compile(r"^(\d+\s+(?:NO-)?ID\t)\d+\s+"), r"\1N\t"),
    # error messages, which differ from Kafka's (docs/explanation/differences.md)
    (re.compile(r"((?:\w+\.)+errors\.\w+(?:Exception|Error)): .*"), r"\1: WORDS"),
    (re.compile(r"(Error while executing [\w ]+ :) .*"), r"\1 WORDS"),
    (re.compile(r"(request for broker ID \d+ failed:) .*"), r"\1 WORDS"),
    (re.compile(r"^(\S+\s+Error:) (?!org\.).*"), r"\1 WORDS"),
    (re.compile(r"(Could not (?:up|down)grade \S+ to \S+\.) .*"), r"\1 WORDS"),
    (re.compile(r"(GroupHeartbeatRequest failed due to [\w ]+:) .*"), r"\1 WORDS"),
)
_STACK = re.compile(r"^\s+at |^\s*\.\.\. \d+ more")


def clean(text: str, places: Mapping[str, str]) -> list[str]:
    """Return the lines to compare; `places` maps texts of this run to names in their place."""
    for place in sorted(places, key=len, reverse=True):
        text = text.replace(place, places[place])
    lines = []
    for line in text.splitlines():
        if not line.strip() or _STACK.match(line):
            continue
        kept = line.rstrip()
        for pattern, replacement in RULES:
            kept = pattern.sub(replacement, kept)
        lines.append(kept)
    return lines
