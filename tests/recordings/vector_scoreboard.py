"""The tables of `docs/reference/vectors-scoreboard.md`, from reports of `--format json`."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from tests.docs.shown import ROOT
from tests.oracle.real_kafka import numbers
from tests.recordings.vectors_on_real_brokers import REPORTS

PAGE: Final = ROOT / "docs" / "reference" / "vectors-scoreboard.md"
OUTCOMES: Final = ("equal", "different", "not served", "not set up", "after a difference")
MARK: Final = "<!-- brokers -->\n"


def write_page(reports: Sequence[tuple[str, str, bytes]]) -> None:
    """Write the page; a report has the broker's name, what starts the broker, and JSON.

    The page keeps the rows of real brokers of which `tests.recordings.vectors_on_real_brokers` has
    kept no newer report.
    """
    head, mark, old = PAGE.read_text(encoding="utf-8").partition(MARK)
    decoded = [(name, start, msgspec.json.decode(report)) for name, start, report in reports]
    lines = [*_table(decoded), "", *_real_brokers(old), *_details(decoded)]
    PAGE.write_text(head + mark + "\n".join(lines), encoding="utf-8")


def _table(reports: Sequence[tuple[str, str, Any]]) -> Iterator[str]:
    yield f"| broker | {' | '.join(OUTCOMES)} |"
    yield "|---" * (len(OUTCOMES) + 1) + "|"
    for name, _, report in reports:
        counts = " | ".join(str(report["totals"][each]) for each in OUTCOMES)
        yield f"| {name} | {counts} |"


def _real_brokers(old_page: str) -> Iterator[str]:
    yield from ("## Apache Kafka itself", "")
    yield (
        "All files of a release in `vectors/`, on a real broker of this release."
        " The table above has only one file of 4.4.0.\n"
    )
    yield f"| release | {' | '.join(OUTCOMES)} |"
    yield "|---" * (len(OUTCOMES) + 1) + "|"
    rows = {
        row[1]: row[0] for row in re.finditer(r"^\| (\d+\.[\d.]+) \|.*\|$", old_page, re.MULTILINE)
    }
    for path in REPORTS.glob("kafka-*.json"):
        release = path.stem.removeprefix("kafka-")
        totals = msgspec.json.decode(path.read_bytes())["totals"]
        rows[release] = f"| {release} | {' | '.join(str(totals[each]) for each in OUTCOMES)} |"
    for release in sorted(rows, key=numbers, reverse=True):
        yield rows[release]
    yield ""


def _details(reports: Sequence[tuple[str, str, Any]]) -> Iterator[str]:
    for name, command, report in reports:
        yield from (f"## {name}", "", f"Started with {command}.", "")
        rows = [row for row in report["results"] if row["outcome"] == "different"]
        if rows:
            yield from ("| API | different | shortest vector | what differs |", "|---|---|---|---|")
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
