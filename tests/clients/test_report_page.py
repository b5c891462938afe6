"""Each of two commands writes its part of the page of reports, and keeps the other."""

from pathlib import Path

from tests.clients.report_page import write_reports, write_scorecards


def test_each_part_is_replaced_and_the_other_stays(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("# Reports\n\nold\n")
    write_scorecards("old cards\n", page)
    write_reports("# Reports\n\nnew\n", page)
    write_scorecards("new cards\n", page)
    write_reports("# Reports\n\nnewer\n", page)
    assert page.read_text() == "# Reports\n\nnewer\n\n## Scorecards\n\nnew cards\n"
