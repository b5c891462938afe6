"""Known failures of a client: only new failures and healed cases make a run fail."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from kafka_shim.conformance.baseline import format_baseline, read_baseline
from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.report import (
    Report,
    as_json,
    as_junit,
    as_text,
    read_report,
    report_from_results,
)
from kafka_shim.conformance.runner import failed_cases_by_release
from kafka_shim.shim.errors import ConfigError
from tests.support.commands import SHIM, environment

CASES = {case.id: case for case in all_cases()}
DENIED, RECOVERS = "denials.delete-topic.reports-error", "denials.delete-topic.recovers"
SHOULD = next(
    case.id
    for case in CASES.values()
    if case.level.value == "should" and case.family_name != "denials"
)


def report_of(**outcomes: CaseOutcome) -> Report:
    """Return a report; `at_2_8` is the outcome of DENIED at 2.8, the others are at 4.4."""
    ids = {"at_2_8": DENIED, "denied": DENIED, "recovers": RECOVERS, "should": SHOULD}
    results = [
        CaseResult(
            CASES[ids[name]],
            "2.8" if name == "at_2_8" else "4.4",
            outcome,
            "an error",
            "the client\nreported none",
        )
        for name, outcome in outcomes.items()
    ]
    return report_from_results("toy 1", results)


FAILED, PASSED, UNSUPPORTED = CaseOutcome.FAILED, CaseOutcome.PASSED, CaseOutcome.UNSUPPORTED
KNOWN = """
[[known-failure]]
cases = ["denials.delete-topic.*"]
reason = "issue 12"
"""


def noted(report: Report, text: str, folder: Path) -> Report:
    file = folder / "baseline.toml"
    file.write_text(text)
    return read_baseline(str(file), list(CASES)).mark_known_failures(report)


def test_known_failures_do_not_make_the_run_fail(tmp_path: Path) -> None:
    report = noted(report_of(denied=FAILED, recovers=FAILED), KNOWN, tmp_path)
    assert (report.unexpected_result_count, len(report.ids_of_failed_cases)) == (0, 2)
    text = as_text(report)
    assert f"known failures, by reason:\n  issue 12: {RECOVERS}, {DENIED}\n" in text
    assert "but: " not in text
    suite = ET.fromstring(as_junit(report))
    assert (suite.attrib["failures"], suite.attrib["skipped"]) == ("0", "2")
    assert suite.find(".//skipped[@message='known failure: issue 12']") is not None


def test_a_new_failure_makes_the_run_fail(tmp_path: Path) -> None:
    known = KNOWN.replace("delete-topic.*", "delete-topic.recovers")
    report = noted(report_of(denied=FAILED, recovers=FAILED), known, tmp_path)
    assert [row.id for row in report.results if row.is_unexpected] == [DENIED]
    assert f"\n{DENIED} (must, KIP-11, Kafka 4.4)\n" in as_text(report)


@pytest.mark.parametrize("outcome", [PASSED, UNSUPPORTED, CaseOutcome.NOT_EXERCISED])
def test_a_listed_case_that_passes_makes_the_run_fail(outcome: CaseOutcome, tmp_path: Path) -> None:
    report = noted(report_of(denied=outcome, recovers=FAILED), KNOWN, tmp_path)
    assert [row.id for row in report.results if row.is_unexpected] == (
        [DENIED] if outcome is PASSED else []
    )
    assert ("remove these" in as_text(report)) is (outcome is PASSED)
    assert len(ET.fromstring(as_junit(report)).findall(".//failure")) == (outcome is PASSED)


def test_a_failure_that_occurs_in_some_runs_may_pass(tmp_path: Path) -> None:
    known = f"{KNOWN}intermittent = true\n"
    report = noted(report_of(denied=PASSED, recovers=FAILED), known, tmp_path)
    assert report.unexpected_result_count == 0


def test_an_entry_can_be_about_some_releases(tmp_path: Path) -> None:
    known = f'{KNOWN}releases = ["2.8"]\n'
    report = noted(report_of(at_2_8=FAILED, denied=FAILED), known, tmp_path)
    assert [row.kafka_version for row in report.results if row.is_unexpected] == ["4.4"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"issue 12"', '" "', "known-failure 1: reason is empty; say why the client fails"),
        ('["denials.delete-topic.*"]', "[]", "known-failure 1: cases is empty"),
        ("delete-topic", "delete-topics", "no case matches `denials.delete-topics.*`"),
        ("reason", "resaon", "unknown field `resaon`"),
        ('"issue 12"', '"issue 12"\nreleases = ["2.9"]', "unknown release `2.9`"),
        ("[[known-failure]]", "[[known-failure]", "line 2: not TOML: Expected"),
        ("reason", f"reason = {'[' * 5000}", "nested too deep"),
    ],
)
def test_an_invalid_baseline_is_rejected(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        noted(report_of(denied=FAILED), KNOWN.replace(old, new), tmp_path)
    assert str(error.value).startswith(f"--baseline {tmp_path}/baseline.toml: ")
    assert message in str(error.value)


def test_a_baseline_is_written_from_a_report_without_reasons(tmp_path: Path) -> None:
    report = report_of(at_2_8=PASSED, denied=FAILED, recovers=PASSED, should=FAILED)
    text = format_baseline([report])
    with pytest.raises(ConfigError, match="reason is empty"):
        noted(report, text, tmp_path)
    filled = text.replace('reason = ""', 'reason = "issue 12"')
    assert "# but: the client reported none\n" in text
    assert noted(report, filled, tmp_path).unexpected_result_count == 0
    assert 'releases = ["4.4"]' in text


def test_failed_cases_are_selected_with_their_releases() -> None:
    report = report_of(at_2_8=FAILED, denied=PASSED, recovers=FAILED, should=PASSED)
    selected = failed_cases_by_release(CASES.values(), report, None)
    assert {release: [case.id for case in cases] for release, cases in selected.items()} == {
        "2.8": [DENIED],
        "4.4": [RECOVERS],
    }
    at_3_9 = failed_cases_by_release(CASES.values(), report, ["3.9"])
    assert [case.id for case in at_3_9["3.9"]] == [DENIED, RECOVERS]


def test_totals_are_by_family_and_level(tmp_path: Path) -> None:
    report = report_of(denied=FAILED, recovers=PASSED, should=FAILED)
    family = SHOULD.partition(".")[0]
    lines = [" ".join(line.split()) for line in as_text(report).splitlines()[2:7]]
    assert lines[0] == "family level passed failed not exercised unsupported"
    assert "denials must 1 1 0 0" in lines
    assert f"{family} should 0 1 0 0" in lines
    assert "all must 1 1 0 0" in lines
    file = tmp_path / "report.json"
    file.write_text(as_json(report))
    assert {
        "family": "all",
        "level": "should",
        "counts": {"passed": 0, "failed": 1, "not exercised": 0, "unsupported": 0},
    } in json.loads(file.read_text())["totals"]
    assert read_report(str(file)) == report


def suite(*words: str) -> tuple[int, str, str]:
    driver = Path(__file__).parents[2] / "conformance" / "drivers" / "confluent_kafka_driver.py"
    command = [*SHIM, "conformance", "suite", "--driver", f"{sys.executable} {driver}"]
    done = subprocess.run(
        [*command, "--jobs", "1", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment(),
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("outcome", "has_passed"),
    [
        (PASSED, True),
        (FAILED, False),
        (CaseOutcome.NOT_EXERCISED, False),
        (UNSUPPORTED, False),
    ],
)
def test_a_run_without_an_exercised_case_has_not_passed(
    outcome: CaseOutcome, *, has_passed: bool
) -> None:
    assert report_of(denied=outcome).has_passed is has_passed


@pytest.mark.client
def test_a_run_with_a_baseline_and_a_run_of_failed_cases(tmp_path: Path) -> None:
    """librdkafka's DescribeAcls drops the error, which two cases find."""
    report, baseline = tmp_path / "report.json", tmp_path / "baseline.toml"
    acls = ("--case", "denials.*-acls.*")
    code, text, _ = suite(*acls, "--format", "json")
    report.write_text(text)
    failed = {f"denials.describe-acls.{aspect}" for aspect in ("reports-error", "recovers")}
    assert (code, read_report(str(report)).ids_of_failed_cases) == (3, failed)

    baseline.write_text(KNOWN.replace("delete-topic", "describe-acls"))
    code, text, _ = suite("--failed-from", str(report), "--baseline", str(baseline))
    assert (code, "0 passed, 2 failed" in text) == (0, True), text

    baseline.write_text(KNOWN.replace("delete-topic.*", "describe-acls.recovers"))
    options = ("--fail-fast", "--format", "json", "--baseline", str(baseline))
    code, text, _ = suite(*acls, *options)
    played = msgspec.json.decode(text, type=Report).results
    assert (code, played[-1].id) == (3, "denials.describe-acls.reports-error")

    baseline.write_text(KNOWN.replace("delete-topic", "create-acls"))
    code, text, _ = suite("--case", "denials.create-acls.recovers", "--baseline", str(baseline))
    assert (code, "issue 12: denials.create-acls.recovers" in text) == (3, True), text
