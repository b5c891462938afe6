"""The page of the conformance reports, made from two reports."""

from kafka_shim.conformance.cases import all_cases
from tests.clients.report_page import PAGE
from tests.clients.suite_drivers import COMMANDS
from tests.clients.suite_reports import Finding, causes, merged, read_findings, table


def row(case: str, outcome: str, *, breaks: bool = False) -> dict[str, str | bool]:
    return {"id": case, "outcome": outcome, "breaks": breaks}


REPORTS = {
    "java": {"client": "Java 1", "results": [row("denials.a.reports-error", "passed")]},
    "kafkajs": {
        "client": "kafkajs 2",
        "results": [
            row("denials.a.reports-error", "failed", breaks=True),
            row("trouble.b.reports-final-error", "failed"),
            row("trouble.c.reports-final-error", "unsupported"),
        ],
    },
}


def test_a_row_counts_outcomes_by_family() -> None:
    assert list(table(REPORTS))[2:] == [
        "| Java 1 | 1 / 0 / 0 | 1 / 0 / 0 | 0 / 0 / 0 |",
        "| kafkajs 2 | 0 / 2 / 1, **1** | 0 / 1 / 0, **1** | 0 / 1 / 1 |",
    ]


def test_cases_played_again_replace_those_of_the_run_before_in_their_order() -> None:
    first, second, third = (case.id for case in all_cases()[:3])
    before = {
        "client": "a 1",
        "results": [row(first, "passed"), row(third, "failed"), row("x", "passed")],
    }
    after = {"client": "a 2", "results": [row(third, "passed"), row(second, "failed")]}
    assert merged(before, after) == {
        "client": "a 2",
        "results": [row(first, "passed"), row(second, "failed"), row(third, "passed")],
    }


def test_findings_explain_cases_and_others_are_unknown() -> None:
    finding = Finding(("kafkajs",), ("denials.a.*",), "drops the error", "by hand")
    lines = list(causes(["denials.a.reports-error", "denials.b.reports-error"], [finding]))
    assert lines[2:] == [
        "| `denials.a.reports-error` | drops the error | by hand |",
        "| `denials.b.reports-error` | not looked at yet | |",
    ]


def test_findings_are_about_clients_with_drivers() -> None:
    for finding in read_findings():
        assert set(finding.clients) <= COMMANDS.keys()


def test_each_failure_on_the_page_has_its_cause_and_no_cause_is_left_over() -> None:
    page = PAGE.read_text()
    assert "not looked at yet" not in page
    lasting = [finding.what for finding in read_findings() if not finding.is_rare]
    left_over = [what for what in lasting if what not in page]
    assert left_over == [], "these findings explain no published failure"
