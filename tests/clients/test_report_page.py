"""Each of three commands writes its part of the page of reports, and keeps the others."""

from pathlib import Path

from kafka_shim.conformance.report import report_from_results
from tests.clients.report_page import (
    rows_about_real_brokers,
    write_real_brokers,
    write_reports,
    write_scorecards,
)
from tests.clients.suite_against import real_broker_lines


def test_each_part_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("# Reports\n\nold\n")
    write_scorecards("old cards\n", page)
    write_reports("# Reports\n\nnew\n", page)
    write_real_brokers("4.4.0\n", page)
    write_scorecards("new cards\n", page)
    write_reports("# Reports\n\nnewer\n", page)
    assert page.read_text() == (
        "# Reports\n\nnewer\n\n## Java on real brokers\n\n4.4.0\n\n## Scorecards\n\nnew cards\n"
    )


def test_real_brokers_that_were_not_run_again_keep_their_rows(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("# Reports\n")
    old = ["| Java 1 on Kafka 4.4.0 | 1 | 0 | 0 | 0 |", "| `a.case` | should | nothing |"]
    write_real_brokers("\n".join(["| client and broker |", "|---|", *old]), page)
    report = report_from_results("Java 1 on Kafka 3.9.2", [])
    lines = list(real_broker_lines([report], rows_about_real_brokers(page)))
    assert [line for line in lines if line.startswith(("| Java", "| `"))] == [
        old[0],
        "| Java 1 on Kafka 3.9.2 | 0 | 0 | 0 | 0 |",
        old[1],
    ]
