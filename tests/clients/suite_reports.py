"""Makes the conformance reports of all clients: plays the suite with each.

    python -m tests.clients.suite_reports [--client NAME] [--case PATTERN]

The JSON of each run is kept in `.cache/conformance`; with --case, new results replace those of the
same cases. The page is written from all kept reports, with the causes in conformance/findings.toml.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.report import as_html, read_report
from kafka_shim.schemas.pins import read_pins
from tests.clients.report_page import PAGE, write_reports
from tests.clients.suite_drivers import COMMANDS

FINDINGS = Path(__file__).parents[2] / "conformance" / "findings.toml"


class Finding(msgspec.Struct, frozen=True):
    """The cause of failed cases: what the client does, and further evidence."""

    clients: tuple[str, ...]
    cases: tuple[str, ...]
    what: str
    seen: str
    is_rare: bool = False
    """Whether the cases fail in some runs only, because of a race."""

    def concerns(self, client: str) -> bool:
        return client in self.clients

    def explains(self, case: str) -> bool:
        return any(fnmatchcase(case, pattern) for pattern in self.cases)


def read_findings(path: Path = FINDINGS) -> list[Finding]:
    """Return the findings; ValueError if one is invalid."""
    table = tomllib.loads(path.read_text())
    return msgspec.convert(table["finding"], list[Finding])


ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".cache" / "conformance"
RUN_SECONDS = 1800
HEAD = """\
# Conformance reports of clients

How eleven Kafka clients behave in the [conformance suite](../../guides/conformance.md#the-suite),
against the shim as Kafka {release}. The drivers of the clients are in
[`conformance/drivers/`](../../../conformance/drivers). `python -m tests.clients.suite_reports`
needs Java 17, Maven, Go, Node and Rust. It runs the clients, and writes the reports on this page,
and `.cache/conformance/report.html` with all requests and results. Cases that need an older release
are left out.

A cell has the numbers of passed / failed / unsupported cases. Cases that the client did not
exercise are not counted, so totals differ. The number in **bold** counts failures of level `must`,
and cases in which the client crashed or hung. *Unsupported* means that the client or its driver
lacks a feature. [Conformance cases](cases.md) describes the families, the levels, and which cases
also run on a real broker. For another client or version, run the
[suite](../../guides/conformance.md) with a driver. Clients without a driver, such as those of .NET,
Ruby and PHP, were not tested.
"""

Row = Mapping[str, Any]
ReplayReport = Mapping[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--client", action="append", choices=COMMANDS, help="only this client")
    parser.add_argument("--case", action="append", default=[], help="only cases whose id matches")
    parser.add_argument(
        "--page", action="store_true", help="write only the page, from kept reports"
    )
    args = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    for name in () if args.page else args.client or COMMANDS:
        try:
            command = COMMANDS[name]()
        except pytest.skip.Exception as missing:
            sys.stderr.write(f"{missing}\n")
            continue
        sys.stderr.write(f"{name}\n")
        kept = KEPT / f"{name}.json"
        report = json.loads(played(command, args.case))
        if args.case and kept.exists():
            report = merged(json.loads(kept.read_bytes()), report)
        kept.write_text(json.dumps(report))
    reports = {
        name: json.loads((KEPT / f"{name}.json").read_bytes())
        for name in COMMANDS
        if (KEPT / f"{name}.json").exists()
    }
    PAGE.parent.mkdir(exist_ok=True)
    write_reports("\n".join((*page(reports, read_findings()), "")))
    write_html([name for name in COMMANDS if name in reports])
    return 0


def write_html(names: Sequence[str]) -> None:
    """Write the page with all frames, which is not committed."""
    reports = [read_report(str(KEPT / f"{name}.json")) for name in names]
    (KEPT / "report.html").write_text(as_html(reports))
    sys.stderr.write(f"{KEPT / 'report.html'} has the errors and the frames of each client\n")


def played(driver: Sequence[str], cases: Sequence[str]) -> bytes:
    """Play the suite with a driver; return its report as JSON."""
    words = [sys.executable, "-m", "kafka_shim", "conformance", "suite", "--format", "json"]
    words += [
        "--driver",
        shlex.join(driver),
        *(word for case in cases for word in ("--case", case)),
    ]
    done = subprocess.run(words, stdout=subprocess.PIPE, timeout=RUN_SECONDS, check=False)
    if done.returncode not in (0, 3):  # 3: a case failed
        raise RuntimeError(f"{shlex.join(words)} ended with {done.returncode}")
    return done.stdout


def merged(before: ReplayReport, after: ReplayReport) -> ReplayReport:
    """Return the report `before` with the results of `after` added or replaced."""
    order = {case.id: at for at, case in enumerate(all_cases())}
    rows = {row["id"]: row for report in (before, after) for row in report["results"]}
    results = [row for name, row in rows.items() if name in order]
    results.sort(key=lambda row: order[row["id"]])
    return {**after, "results": results}


def page(reports: Mapping[str, ReplayReport], findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield HEAD.format(release=read_pins().newest.rpartition(".")[0])
    yield from table(reports)
    yield ""
    yield "## What failed"
    yield ""
    yield (
        "The failures in bold, by their cause. The evidence is the place in the client's source,"
        " or an observation. *Frames* are the requests and responses of a case. To see a failure"
        " yourself, run"
        " `kafka-shim conformance suite --driver COMMAND --case CASE --watch`."
    )
    for name, report in reports.items():
        failed = [row["id"] for row in report["results"] if row["breaks"]]
        yield ""
        yield f"### {report['client']}"
        yield ""
        yield from causes(failed, [each for each in findings if each.concerns(name)])


def table(reports: Mapping[str, ReplayReport]) -> Iterator[str]:
    families = list(
        dict.fromkeys(_family(row) for each in reports.values() for row in each["results"])
    )
    yield f"| client | all | {' | '.join(families)} |"
    yield "|---" * (len(families) + 2) + "|"
    for report in reports.values():
        rows = report["results"]
        cells = [_cell(rows)]
        cells += [_cell([row for row in rows if _family(row) == family]) for family in families]
        yield f"| {report['client']} | {' | '.join(cells)} |"


def _family(row: Row) -> str:
    family: str = row["id"].partition(".")[0]
    return family


def _cell(rows: Sequence[Row]) -> str:
    counts = Counter(row["outcome"] for row in rows)
    musts = sum(row["breaks"] for row in rows)
    shown = f"{counts['passed']} / {counts['failed']} / {counts['unsupported']}"
    return f"{shown}, **{musts}**" if musts else shown


def causes(failed: Sequence[str], findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a table of the failures: each cause with the cases that it explains."""
    if not failed:
        yield "Nothing."
        return
    yield "| cases | what the client does | evidence |"
    yield "|---|---|---|"
    left = list(dict.fromkeys(failed))
    for finding in findings:
        explained = [case for case in left if finding.explains(case)]
        left = [case for case in left if case not in explained]
        if explained:
            cells = (_listed(explained), finding.what, finding.seen)
            yield f"| {' | '.join(cells)} |"
    if left:
        yield f"| {_listed(left)} | not looked at yet | |"


def _listed(cases: Sequence[str]) -> str:
    return ", ".join(f"`{case}`" for case in cases)


if __name__ == "__main__":
    sys.exit(main())
