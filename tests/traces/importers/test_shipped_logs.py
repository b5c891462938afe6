"""An authorizer log as log shippers and log services keep it: read completely, or refused."""

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from kafka_shim.trace_format.entries import Access
from kafka_shim.traces.importers.authorizer_log import LoggedDecision
from kafka_shim.traces.importers.log_import import AuthorizerLogImport, ImportReport
from tests.recordings.audit.layouts import RECORDED
from tests.recordings.audit.recording import recorded
from tests.recordings.audit.shipped_logs import BEHIND, SHIPPED, documented_logs
from tests.traces.importers.test_log_forms import KAFKA, decisions, imported

SAMPLES = {path.stem: path.read_text() for path in sorted(SHIPPED.iterdir())}
REFUSED = {"fluent-bit-plain": "no whole JSON object begins here"}
READ = sorted(SAMPLES.keys() - REFUSED.keys())
WITHOUT_ZONE = {
    *("docker-compose", "journald-export", "journald-short", "rsyslog-traditional", "splunk-raw"),
    *("stern", "stern-json", "syslog-ng-file"),
}
"""Their only complete time is the one that the broker wrote."""
CUT_EVERY_BYTES = 17
"""`check_cuts` with 1 is for changes of the importer."""


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    return imported(KAFKA, tmp_path_factory.mktemp("expected"))[1]


def test_the_samples_of_documented_formats_are_what_their_writers_return() -> None:
    documented = documented_logs()
    assert {name: SAMPLES[name] for name in documented} == documented


@pytest.mark.parametrize("name", READ)
def test_all_decisions_are_read_with_the_time_that_has_a_zone(
    name: str, expected: list[Access], tmp_path: Path
) -> None:
    report, accesses = imported(SAMPLES[name], tmp_path)
    assert (report.unread, report.examples) == (0, [])
    assert decisions(accesses) == decisions(expected)
    seconds = 0 if name in WITHOUT_ZONE else BEHIND.total_seconds()
    for access, other in zip(accesses, expected, strict=True):
        assert 0 <= (other.time_us - access.time_us) / 1e6 - seconds < 1


@pytest.mark.parametrize("name", REFUSED)
def test_other_formats_are_counted_as_not_read(
    name: str, expected: list[Access], tmp_path: Path
) -> None:
    report, accesses = imported(SAMPLES[name], tmp_path)
    assert (report.unread, accesses) == (len(expected), [])
    assert report.examples[0].reason.startswith(REFUSED[name])


@pytest.mark.parametrize("layout", ["strimzi", "ecs", "thread-first"])
def test_shippers_keep_logs_in_any_layout(
    layout: str, expected: list[Access], tmp_path: Path
) -> None:
    texts = (RECORDED / f"{layout}.txt").read_text().splitlines()
    for name, log in documented_logs(texts).items():
        report, accesses = imported(log, tmp_path / name)
        if name in REFUSED:
            assert (report.unread, accesses) == (len(expected), []), name
        else:
            assert (report.examples, decisions(accesses)) == ([], decisions(expected)), name


class DecisionsOfLogs(AuthorizerLogImport):
    """An import that returns the decisions of each log, and writes no trace of them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._decisions: list[LoggedDecision] = []

    def _write_access(self, decision: LoggedDecision, at_us: int, log_level: str) -> None:
        assert at_us > 0
        self._decisions.append(msgspec.structs.replace(decision, text_after=""))

    def decisions_and_unread(self, log: str) -> tuple[set[LoggedDecision], int]:
        self.report, self._decisions = ImportReport(), []
        self.import_lines(log.splitlines(keepends=True), "log")
        return set(self._decisions), self.report.unread


def cuts(log: str, first: int, every: int) -> Iterable[tuple[str, str]]:
    """Yield logs that end in a line, and logs with a line that ends too early."""
    for cut in range(first, len(log), every):
        yield log[:cut], log[cut - 40 : cut]
        line_end = log.find("\n", cut)
        yield f"{log[:cut]}\n{log[line_end + 1 :] if line_end >= 0 else ''}", log[cut - 40 : cut]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_cut_log_has_no_other_decisions(name: str, tmp_path: Path) -> None:
    check_cuts(SAMPLES[name], tmp_path, CUT_EVERY_BYTES)


WITH_NAMES_LAST = documented_logs(recorded("2.3.1"))
"""Up to Kafka 2.3, lines end with the resource's name."""


@pytest.mark.parametrize("name", WITH_NAMES_LAST)
def test_a_cut_log_of_an_earlier_release_has_no_other_decisions(name: str, tmp_path: Path) -> None:
    check_cuts(WITH_NAMES_LAST[name], tmp_path, CUT_EVERY_BYTES)


def check_cuts(log: str, folder: Path, every: int) -> None:
    with closing(DecisionsOfLogs(folder)) as logs:
        whole, _ = logs.decisions_and_unread(log)
        for cut_log, before_cut in cuts(log, 1 + len(log) % every, every):
            read, unread = logs.decisions_and_unread(cut_log)
            assert read <= whole, before_cut
            assert unread or " on resource = " not in before_cut, before_cut


LINE = KAFKA.splitlines()[0]
EARLIER = recorded("2.3.1")
COLORED = list(f"\x1b[32m{LINE}\x1b[m".encode())


@pytest.mark.parametrize(
    ("log", "read", "reasons"),
    [
        (json.dumps({"MESSAGE": COLORED, "__REALTIME_TIMESTAMP": "1795472725250000"}), 1, []),
        (json.dumps({"values": [["1795472725250000000", LINE, {"trace": "1"}]]}), 1, []),
        (json.dumps({"level": "INFO", LINE: 1}), 0, ["no field of its JSON is a message"]),
        (f'"{LINE}",kafka-0', 1, []),
        (f'kafka-0;"{LINE}"', 1, []),
        (f'kafka-0,"{LINE}', 0, ["no whole row of CSV: unexpected end of data"]),
        (f"{LINE},kafka-0", 0, ["not a whole decision of a known authorizer"]),
        (f"<v>{EARLIER[1]}</v>", 0, ["invalid group name"]),
        (f"{EARLIER[1]},kafka-0", 0, ["invalid group name"]),
    ],
)
def test_a_line_in_another_form_is_read_or_counted(
    log: str, read: int, reasons: list[str], tmp_path: Path
) -> None:
    report, accesses = imported(f"{log}\n", tmp_path)
    assert (len(accesses), report.unread) == (read, len(reasons))
    for example, reason in zip(report.examples, reasons, strict=True):
        assert example.reason.startswith(reason)
    assert {access.resource_name for access in accesses} <= {"audited"}
