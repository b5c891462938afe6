"""Each of three commands writes its part of the page of reports, and keeps the others."""

from pathlib import Path

from tests.clients.report_page import write_real_brokers, write_reports, write_scorecards


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
