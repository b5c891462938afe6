"""The index of prefixes against trying them all."""

from hypothesis import given, strategies as st

from authorizer.prefixes import PrefixIndex

TEXTS = st.text(alphabet="ab", max_size=40)


@given(st.lists(TEXTS), st.lists(TEXTS), st.lists(TEXTS, min_size=1))
def test_matching_is_every_prefix_longest_first(
    put: list[str], removed: list[str], names: list[str]
) -> None:
    index: PrefixIndex[str] = PrefixIndex()
    for prefix in put:
        index.put(prefix, prefix)
    left = set(put)
    for prefix in removed:
        if prefix in left:
            index.remove(prefix)
            left.discard(prefix)
    assert set(index.values()) == left
    assert len(index) == len(left)
    for name in [*names, *put]:
        expected = sorted((p for p in left if name.startswith(p)), key=len, reverse=True)
        assert index.matching(name) == expected
        assert index.get(name) == (name if name in left else None)


def test_a_shorter_name_than_its_neighbours_is_not_found_twice() -> None:
    index: PrefixIndex[str] = PrefixIndex()
    for prefix in ("a", "ab", "abc"):
        index.put(prefix, prefix)
    assert index.matching("ab") == ["ab", "a"]


def test_hints_are_made_anew_when_most_of_them_are_stale() -> None:
    index: PrefixIndex[int] = PrefixIndex()
    for n in range(3000):
        index.put(f"gone-{n:05d}.with-a-long-tail", n)
        index.put(f"kept-{n:05d}", n)
    before = len(index._heads)
    for n in range(3000):
        index.remove(f"gone-{n:05d}.with-a-long-tail")
        if n >= 100:
            index.remove(f"kept-{n:05d}")
    assert len(index._heads) < before / 10
    assert index.matching("kept-00042-x") == [42]
    assert index.matching("gone-00042.with-a-long-tail") == []


def test_putting_again_replaces() -> None:
    index: PrefixIndex[str] = PrefixIndex()
    index.put("a", "old")
    index.put("a", "new")
    assert index.matching("a-topic") == ["new"]
    assert len(index) == 1
