"""Output of test runners is read into results."""

import json
from pathlib import Path

from tests.suites.librdkafka import _reported, _told
from tests.suites.outcome import FAILED, PASSED, SKIPPED, counts, of_go, of_junit


def go_events(*events: tuple[str, str, str]) -> str:
    """Return lines of `go test -json` from (action, test, output); no test: the package."""
    lines = []
    for action, test, output in events:
        event = {"Action": action, "Package": "example.org/client"}
        event |= {"Test": test} if test else {}
        lines.append(json.dumps(event | ({"Output": output} if output else {"Elapsed": 1.5})))
    return "\n".join(lines)


def test_go_tests_are_counted_by_their_leaves() -> None:
    results = of_go(
        go_events(
            ("run", "TestA", ""),
            ("run", "TestA/one", ""),
            ("run", "TestA/two", ""),
            ("output", "TestA/two", "    a_test.go:3: unexpected offset 7\n"),
            ("pass", "TestA/one", ""),
            ("fail", "TestA/two", ""),
            ("fail", "TestA", ""),
            ("run", "TestB", ""),
            ("skip", "TestB", ""),
            ("run", "TestHangs", ""),
            ("fail", "", ""),
        )
    )
    states = {result.name: result.state for result in results}
    assert states == {
        "TestA/one": PASSED,
        "TestA/two": FAILED,
        "TestB": SKIPPED,
        "TestHangs": FAILED,
    }
    reasons = {result.name: result.reason for result in results}
    assert reasons["TestA/two"] == "a_test.go:3: unexpected offset 7"
    assert reasons["TestHangs"] == "did not end"


def test_a_go_parent_that_fails_by_itself_counts() -> None:
    results = of_go(
        go_events(("run", "TestA", ""), ("run", "TestA/one", ""), ("pass", "TestA/one", ""))
        + "\n"
        + go_events(("fail", "TestA", ""), ("fail", "", ""))
    )
    assert counts(results) == {PASSED: 1, FAILED: 1, SKIPPED: 0}


def test_go_packages_that_do_not_compile_have_failed() -> None:
    results = of_go("# example.org/client\nundefined: x\n" + go_events(("fail", "", "")))
    assert [result.state for result in results] == [FAILED]


def test_pytest_reports(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(
        "<testsuites><testsuite>"
        '<testcase classname="a" name="good" time="0.5"/>'
        '<testcase classname="a" name="bad" time="1"><failure message="not 3"/></testcase>'
        '<testcase classname="a" name="broken" time="1"><error message="no broker"/></testcase>'
        '<testcase classname="a" name="other" time="0"><skipped message="old"/></testcase>'
        "</testsuite></testsuites>"
    )
    results = of_junit(report, tmp_path / "output.txt")
    assert [(result.name, result.state, result.reason) for result in results] == [
        ("a.good", PASSED, ""),
        ("a.bad", FAILED, "not 3"),
        ("a.broken", FAILED, "no broker"),
        ("a.other", SKIPPED, "old"),
    ]


def test_a_pytest_run_without_a_report_has_failed(tmp_path: Path) -> None:
    output = tmp_path / "output.txt"
    output.write_text("ModuleNotFoundError: kafka\n")
    (result,) = of_junit(tmp_path / "junit.xml", output)
    assert result.state == FAILED
    assert "ModuleNotFoundError" in result.reason


def test_librdkafkas_report_is_limited_to_the_chosen_tests() -> None:
    def test(state: str, extra: str) -> dict[str, str | float]:
        return {"state": state, "extra": extra, "duration": 1.0}

    tests = {
        "<MAIN>": test("PASSED", ""),
        "0001_multiobj": test("PASSED", ""),
        "0002_unkpart": test("FAILED", "no such partition"),
        "0003_local": test("SKIPPED", "Filtered due to negative test flags"),
        "0004_manual": test("SKIPPED", ""),
        "0005_old": test("SKIPPED", "needs another broker"),
        "0006_hangs": test("RUNNING", ""),
    }
    states = {result.name: result.state for result in _reported(tests, "", "")}
    assert states == {
        "0001_multiobj": PASSED,
        "0002_unkpart": FAILED,
        "0005_old": SKIPPED,
        "0006_hangs": FAILED,
    }


def test_librdkafkas_output_is_read_if_there_is_no_report() -> None:
    said = (
        "[0001_multiobj / 0.0s] ===== Running test 0001_multiobj =====\n"
        "[0002_unkpart / 0.0s] ===== Running test 0002_unkpart =====\n"
        "[0001_multiobj / 1.0s] ===== Test 0001_multiobj PASSED =====\n"
    )
    assert [result.state for result in _told(said)] == [PASSED, FAILED]
