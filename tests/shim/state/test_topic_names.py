"""Valid topic names."""

import pytest
from hypothesis import given, strategies as st

from kafka_shim.shim.state.topics import NAME_LENGTH_MAX, name_error, name_in_metrics

LEGAL = st.text("abcXYZ019._-", min_size=1, max_size=NAME_LENGTH_MAX)


@given(LEGAL)
def test_letters_digits_dots_dashes_and_underscores_are_valid(name: str) -> None:
    assert (name_error(name) is None) == (name not in (".", ".."))


@given(LEGAL, st.characters(exclude_characters="._-", exclude_categories=("Cs", "L", "N")), LEGAL)
def test_any_other_character_is_invalid(before: str, odd: str, after: str) -> None:
    assert (
        name_error((before + odd + after)[:NAME_LENGTH_MAX]) is not None
        or odd not in (before + odd + after)[:NAME_LENGTH_MAX]
    )


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "ü", "٣", "x" * 250, "a\n"])
def test_examples_of_invalid_names(name: str) -> None:
    assert name_error(name) is not None


def test_a_name_may_have_249_characters() -> None:
    assert name_error("x" * 249) is None


def test_names_that_differ_only_in_dots_and_underscores_collide() -> None:
    assert name_in_metrics("a.b_c") == name_in_metrics("a_b.c") != name_in_metrics("a-b_c")
