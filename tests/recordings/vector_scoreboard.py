"""Write the tables of `docs/reference/vectors-scoreboard.md`; reports are those of `--format json`.

`python -m tests.recordings.vector_scoreboard "NAME VERSION: COMMAND=report.json" ...`
The reports of real brokers are those that `tests.recordings.vectors_on_real_brokers` has kept.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.docs.shown import ROOT
from tests.oracle.real_kafka import numbers
from tests.recordings.vectors_on_real_brokers import REPORTS

PAGE: Final = ROOT / "docs" / "reference" / "vectors-scoreboard.md"
OUTCOMES: Final = ("equal", "different", "not served", "not set up", "after a difference")
MARK: Final = "<!-- brokers -->\n"


def page(reports: Sequence[tuple[str, str, Any]]) -> str:
    """Return the page; a report has a name, the command that starts the broker, and JSON."""
    head, mark, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    return head + mark + "\n".join([*_table(reports), "", *_real_brokers(), *_details(reports)])


def _table(reports: Sequence[tuple[str, str, Any]]) -> Iterator[str]:
    yield f"| broker | {' | '.join(OUTCOMES)} |"
    yield "|---" * (len(OUTCOMES) + 1) + "|"
    for name, _, report in reports:
        counts = " | ".join(str(report["totals"][each]) for each in OUTCOMES)
        yield f"| {name} | {counts} |"


def _real_brokers() -> Iterator[str]:
    yield from ("## Apache Kafka itself", "")
    yield "All vectors of a release, on a real broker of this release.\n"
    yield f"| release | {' | '.join(OUTCOMES)} |"
    yield "|---" * (len(OUTCOMES) + 1) + "|"
    paths = sorted(REPORTS.glob("kafka-*.json"), key=lambda path: numbers(_release(path)))
    for path in reversed(paths):
        totals = msgspec.json.decode(path.read_bytes())["totals"]
        yield f"| {_release(path)} | {' | '.join(str(totals[each]) for each in OUTCOMES)} |"
    yield ""


def _release(path: Path) -> str:
    return path.stem.removeprefix("kafka-")


def _details(reports: Sequence[tuple[str, str, Any]]) -> Iterator[str]:
    for name, command, report in reports:
        yield from (f"## {name}", "", f"Started with {command}.", "")
        rows = [row for row in report["results"] if row["outcome"] == "different"]
        if rows:
            yield from ("| API | different | the shortest | what differs |", "|---|---|---|---|")
        counts = Counter(row["when"]["api"] for row in rows)
        for api, count in counts.most_common():
            of_api = [row for row in rows if row["when"]["api"] == api]
            shortest = min(of_api, key=lambda row: len(row["when"]["body"]))
            yield f"| {api} | {count} | `{shortest['id']}` | `{shortest['reason']}` |"
        reasons = Counter(
            row["reason"] for row in report["results"] if row["outcome"] == "not set up"
        )
        for reason, count in reasons.most_common(3):
            yield f"{count} not set up: {_without_address(reason)}."
        if rows or reasons:
            yield ""


def _without_address(reason: str) -> str:
    return (
        reason.partition(" at 127.0.0.1")[0]
        + reason.partition(" does")[1]
        + (reason.partition(" does")[2])
    )


def main() -> None:
    reports = []
    for word in sys.argv[1:]:
        told, _, file = word.rpartition("=")
        name, _, command = told.partition(": ")
        reports.append((name, command, msgspec.json.decode(Path(file).read_bytes())))
    PAGE.write_text(page(reports), encoding="utf-8")


if __name__ == "__main__":
    main()
