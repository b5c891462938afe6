"""The patterns of one resource type, by name and by subject."""

from kafka_shim.authorizer.patterns import Pattern, PrincipalAndHost, ResourceTypeIndex
from kafka_shim.protocol.enums import PatternType, ResourceType

ALICE, BOB = PrincipalAndHost("User:alice", "*"), PrincipalAndHost("User:bob", "*")


def make(name: str, pattern_type: PatternType = PatternType.LITERAL) -> Pattern:
    return Pattern(ResourceType.TOPIC, name, pattern_type, ALICE, 1)


def test_matching_patterns_are_ordered_by_specificity() -> None:
    index = ResourceTypeIndex()
    star, name, same = make("*"), make("orders"), make("orders", PatternType.PREFIXED)
    short = make("o", PatternType.PREFIXED)
    for pattern in (star, short, same, name, make("other"), make("*", PatternType.PREFIXED)):
        index.add_pattern(pattern)
    assert index.patterns_matching_name("orders") == [name, same, short, star]
    assert index.patterns_matching_name("payments") == [star]
    assert index.patterns_matching_name("*")[0] is star
    assert index.patterns_matching_name("*").count(star) == 1
    for pattern in (star, same):
        index.remove_pattern(pattern)
    assert index.patterns_matching_name("orders") == [name, short]
    assert index.pattern_with_name("orders", PatternType.LITERAL) is name
    assert index.pattern_with_name("orders", PatternType.PREFIXED) is None


def test_patterns_of_a_subject() -> None:
    index = ResourceTypeIndex()
    first, second = make("a"), make("b")
    assert list(index.patterns_of_subject(ALICE)) == []
    assert not index.has_patterns_of_subject(ALICE)
    index.record_pattern_of_subject(ALICE, first)
    index.record_pattern_of_subject(BOB, first)
    assert list(index.patterns_of_subject(ALICE)) == [first]
    index.record_pattern_of_subject(ALICE, second)
    assert list(index.patterns_of_subject(ALICE)) == [first, second]
    index.forget_pattern_of_subject(ALICE, first)
    assert list(index.patterns_of_subject(ALICE)) == [second]
    index.forget_pattern_of_subject(ALICE, second)
    assert not index.has_patterns_of_subject(ALICE)
    assert list(index.patterns_of_subject(BOB)) == [first]
    index.forget_pattern_of_subject(BOB, first)
    assert not index.has_patterns_of_subject(BOB)
