"""The index of prefixes finds the same as a comparison with every prefix."""

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.patterns import Pattern, PrefixIndex, PrincipalAndHost
from kafka_shim.protocol.enums import PatternType, ResourceType

TEXTS = st.text(alphabet="ab", max_size=60)
SUBJECT = PrincipalAndHost("User:a", "*")


def make(name: str) -> Pattern:
    return Pattern(ResourceType.TOPIC, name, PatternType.PREFIXED, SUBJECT, 1)


def matching(index: PrefixIndex, name: str) -> list[str]:
    return [pattern.resource_name for pattern in index.patterns_matching_name(name)]


@pytest.mark.deep
@settings(max_examples=300)
@given(st.lists(st.tuples(st.booleans(), TEXTS)), st.lists(TEXTS, min_size=1))
def test_matching_is_every_prefix_longest_first(
    steps: list[tuple[bool, str]], names: list[str]
) -> None:
    index, left = PrefixIndex(), dict[str, Pattern]()
    for is_addition, name in steps:
        if is_addition and name not in left:
            left[name] = make(name)
            index.add_pattern(left[name])
        elif not is_addition and name in left:
            index.remove_pattern(left.pop(name))
    assert {pattern.resource_name for pattern in index.all_patterns()} == set(left)
    assert len(index) == len(left)
    for name in [*names, *(name for _, name in steps)]:
        expected = sorted((p for p in left if name.startswith(p)), key=len, reverse=True)
        assert matching(index, name) == expected
        assert index.pattern_with_prefix(name) is left.get(name)


def test_the_example_of_the_docstring() -> None:
    index = PrefixIndex()
    for name in ("team-7.", "team-7.orders-", "web-"):
        index.add_pattern(make(name))
    assert set(index._heads) == {"", "team-7", "team-7.order"}
    assert matching(index, "team-7.orders-eu") == ["team-7.orders-", "team-7."]
    assert matching(index, "team-77.orders") == []
    assert matching(index, "website") == []
    assert matching(index, "web-site") == ["web-"]


def test_a_shorter_name_than_its_neighbours_is_not_found_twice() -> None:
    index = PrefixIndex()
    for prefix in ("a", "ab", "abc"):
        index.add_pattern(make(prefix))
    assert matching(index, "ab") == ["ab", "a"]


def test_hints_are_rebuilt_when_most_of_them_are_stale() -> None:
    index = PrefixIndex()
    names = [f"{'kept' if n < 100 else 'gone'}-{n:05d}{'-x' * (n % 7)}" for n in range(6000)]
    patterns = [make(name) for name in names]
    for pattern in patterns:
        index.add_pattern(pattern)
    before = len(index._heads)
    for pattern in patterns[100:]:
        index.remove_pattern(pattern)
    assert len(index._heads) < before / 10
    assert matching(index, names[42] + "-y") == [names[42]]
    assert matching(index, names[4242]) == []


def test_an_index_with_a_prefix_is_used() -> None:
    index = PrefixIndex()
    assert not index.is_used
    index.add_pattern(make("a"))
    assert index.is_used
