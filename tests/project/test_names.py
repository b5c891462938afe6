"""The questions for a blind reader have signatures only, and the same seed draws the same ones."""

from pathlib import Path

import pytest

from tests.project import names
from tests.project.names import SOURCE_FOLDER, answers, definitions, draw, questions


def test_definitions_have_signatures_with_decorators_and_fields() -> None:
    by_name = {each.name: each for each in definitions(SOURCE_FOLDER / "protocol")}
    assert by_name["Batch.last_offset"].signature == "@property def Batch.last_offset(self) -> int"
    lines = by_name["Batch"].signature.splitlines()
    assert lines[0] == "class Batch(msgspec.Struct, gc=False)"
    assert "       base_offset: int" in lines
    assert "position in its blob" in by_name["Batch"].docstring
    assert by_name["Batch"].path.startswith("protocol/")


def test_special_methods_nested_functions_and_messages_are_left_out() -> None:
    drawn = definitions(SOURCE_FOLDER / "protocol")
    assert not any("__" in each.name or "messages/" in each.path for each in drawn)
    assert len(drawn) > 200


def test_same_seed_draws_the_same_names_and_another_draws_others() -> None:
    folder = SOURCE_FOLDER / "protocol"
    assert draw(folder, 1, 20) == draw(folder, 1, 20) != draw(folder, 2, 20)
    assert len({(each.path, each.name) for each in draw(folder, 1, 80)}) == 80


def test_questions_show_no_docstring_and_no_body(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [tmp_path / "q.txt", tmp_path / "a.txt"]
    files = [f"--questions={texts[0]}", f"--answers={texts[1]}"]
    names.main(["--seed=7", "--package=protocol", "--count=12", *files])
    sample = draw(SOURCE_FOLDER / "protocol", 7, 12)
    assert texts[0].read_text() == questions(sample)
    assert texts[1].read_text() == answers(sample)
    assert "12 questions" in capsys.readouterr().out
    for each in sample:
        assert each.name in texts[0].read_text()
        assert each.docstring == "(none)" or each.docstring not in texts[0].read_text()
        assert each.source in texts[1].read_text()
