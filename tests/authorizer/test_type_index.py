"""The patterns of one resource type, by name and by subject."""

from kafka_shim.authorizer.pattern import Pattern, Subject
from kafka_shim.authorizer.type_index import TypeIndex
from kafka_shim.protocol.enums import PatternType, ResourceType

ALICE, BOB = Subject("User:alice", "*"), Subject("User:bob", "*")


def make(name: str, pattern_type: PatternType = PatternType.LITERAL) -> Pattern:
    return Pattern(ResourceType.TOPIC, name, pattern_type, ALICE, 1)


def test_matching_patterns_are_ordered_by_specificity() -> None:
    index = TypeIndex()
    star, name, same = make("*"), make("orders"), make("orders", PatternType.PREFIXED)
    short = make("o", PatternType.PREFIXED)
    for pattern in (star, short, same, name, make("other"), make("*", PatternType.PREFIXED)):
        index.add(pattern)
    assert index.matching("orders") == [name, same, short, star]
    assert index.matching("payments") == [star]
    assert index.matching("*")[0] is star
    assert index.matching("*").count(star) == 1
    for pattern in (star, same):
        index.remove(pattern)
    assert index.matching("orders") == [name, short]
    assert index.get("orders", PatternType.LITERAL) is name
    assert index.get("orders", PatternType.PREFIXED) is None


def test_patterns_of_a_subject() -> None:
    index = TypeIndex()
    first, second = make("a"), make("b")
    assert list(index.of_subject(ALICE)) == []
    assert not index.has_subject(ALICE)
    index.link(ALICE, first)
    index.link(BOB, first)
    assert list(index.of_subject(ALICE)) == [first]
    index.link(ALICE, second)
    assert list(index.of_subject(ALICE)) == [first, second]
    index.unlink(ALICE, first)
    assert list(index.of_subject(ALICE)) == [second]
    index.unlink(ALICE, second)
    assert not index.has_subject(ALICE)
    assert list(index.of_subject(BOB)) == [first]
    index.unlink(BOB, first)
    assert not index.has_subject(BOB)
