"""The page of compared brokers: versions, and rows of real brokers that are not run again."""

from pathlib import Path

import msgspec
import pytest

from tests.recordings import vector_scoreboard
from tests.recordings.compared_brokers import BROKERS, PROGRAMS
from tests.recordings.vector_scoreboard import MARK, OUTCOMES, write_page

OLD_PAGE = f"""\
# Brokers
{MARK}
| 4.4.0 | 2 | 0 | 0 | 0 | 0 |
| 2.8.2 | 1 | 0 | 0 | 0 | 0 |
"""


def report(equal: int, **when: str) -> bytes:
    different = [{"id": "a/1", "outcome": "different", "reason": "errorCode: 0", "when": when}]
    totals = dict.fromkeys(OUTCOMES, 0) | {"equal": equal, "different": len(different)}
    return msgspec.json.encode({"totals": totals, "results": different})


def test_real_brokers_that_were_not_run_again_keep_their_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(OLD_PAGE)
    (tmp_path / "kafka-4.4.0.json").write_bytes(report(5))
    (tmp_path / "kafka-3.9.2.json").write_bytes(report(7))
    monkeypatch.setattr(vector_scoreboard, "PAGE", page)
    monkeypatch.setattr(vector_scoreboard, "REPORTS", tmp_path)
    write_page([("mock 1", "`mock`", report(3, api="Fetch", body="AA=="))])
    rows = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    assert rows == [
        "| broker | equal | different | not served | not set up | after a difference |",
        "| mock 1 | 3 | 1 | 0 | 0 | 0 |",
        "| release | equal | different | not served | not set up | after a difference |",
        "| 4.4.0 | 5 | 1 | 0 | 0 | 0 |",
        "| 3.9.2 | 7 | 1 | 0 | 0 | 0 |",
        "| 2.8.2 | 1 | 0 | 0 | 0 | 0 |",
        "| API | different | shortest vector | what differs |",
        "| Fetch | 1 | `a/1` | `errorCode: 0` |",
    ]


def test_the_page_has_every_compared_broker_and_its_version() -> None:
    text = vector_scoreboard.PAGE.read_text(encoding="utf-8")
    for name in set(BROKERS) - {"tansu"}:  # which is installed when it is compared
        assert f"## {BROKERS[name].title()}\n" in text
    assert {path.name for path in PROGRAMS.iterdir()} <= set(BROKERS)
