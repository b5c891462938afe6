"""Valid topic names."""

import pytest
from hypothesis import given, strategies as st

from kafka_shim.shim.state.topic_names import NAME_LENGTH_MAX, metric_name, name_error

LEGAL = st.text("abcXYZ019._-", min_size=1, max_size=NAME_LENGTH_MAX)


@given(LEGAL)
def test_letters_digits_dots_dashes_and_underscores_are_legal(name: str) -> None:
    assert (name_error(name) is None) == (name not in (".", ".."))


@given(LEGAL, st.characters(exclude_characters="._-", exclude_categories=("Cs", "L", "N")), LEGAL)
def test_any_other_character_is_not(before: str, odd: str, after: str) -> None:
    assert (
        name_error((before + odd + after)[:NAME_LENGTH_MAX]) is not None
        or odd not in (before + odd + after)[:NAME_LENGTH_MAX]
    )


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "ü", "٣", "x" * 250, "a\n"])
def test_illegal_names(name: str) -> None:
    assert name_error(name) is not None


def test_the_longest_name_has_249_characters() -> None:
    assert name_error("x" * 249) is None


def test_metrics_confuse_dots_and_underscores() -> None:
    assert metric_name("a.b_c") == metric_name("a_b.c") != metric_name("a-b_c")
