"""The documentation stays short: `python -m tests.docs.words` prints the words of each page."""

from pathlib import Path

import pytest

from tests.docs import words
from tests.docs.shown import ROOT
from tests.docs.words import GENERATED_PAGES, WORDS_MAX, hand_written_pages, word_count


def test_the_hand_written_words_are_below_the_ceiling() -> None:
    assert sum(word_count(page) for page in hand_written_pages()) <= WORDS_MAX


def test_the_first_release_is_described_in_fifteen_lines() -> None:
    section = (ROOT / "CHANGELOG.md").read_text().partition("\n## 0.1.0\n")[2].partition("\n## ")[0]
    assert 0 < section.count("\n- ") <= 15


def test_generated_pages_exist() -> None:
    assert all((ROOT / page).exists() for page in GENERATED_PAGES)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("# Two words\n\nThree more [words](a/link.md).\n", 5),
        ("One.\n\n    a command --of four words\n\nTwo.\n", 2),
        ("One\n\n```sh\na block\n```\n\ntwo `three` <b>four</b>\n", 4),
        ("| a | b |\n|---|---|\n| `c` | d e |\n", 5),
        ("One\n<!-- table -->\n| generated |\n<!-- end of the table -->\ntwo\n", 2),
    ],
)
def test_words_of_prose_and_tables_count(
    text: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text)
    assert word_count(page) == count
