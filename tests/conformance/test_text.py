"""The report of a run as text."""

from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.report import as_text, report_from_results

CASE = next(case for case in all_cases() if case.id == "denials.delete-topic.reports-error")
RELEASES = ("2.7", "2.8", "3.0", "3.1", "3.2")


def text_of(failed: set[str], releases: tuple[str, ...] = RELEASES) -> str:
    outcomes = {True: CaseOutcome.FAILED, False: CaseOutcome.PASSED}
    results = [
        CaseResult(CASE, each, outcomes[each in failed], "an error", f"ok at {each}")
        for each in releases
    ]
    return as_text(report_from_results("toy 1", results))


def test_a_case_that_failed_with_several_releases_is_printed_once() -> None:
    text = text_of({"2.7", "2.8", "3.1"})
    assert text.count(CASE.id) == 1
    assert f"{CASE.id} (must, KIP-11, Kafka 2.7 to 2.8, 3.1)\n" in text
    assert "but: ok at 3.1\n" in text


def test_each_release_has_its_totals_if_there_are_several() -> None:
    assert "  Kafka 3.1: 0 passed, 1 failed, 0 not exercised, 0 unsupported\n" in text_of({"3.1"})
    assert "Kafka 3.1:" not in text_of({"3.1"}, ("3.1",))
