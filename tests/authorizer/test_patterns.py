"""Resource patterns with the grants of their ACLs, and their index by type and name."""

from hypothesis import given, strategies as st

from kafka_shim.authorizer.model import Actor
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


SUBJECTS = [PrincipalAndHost(f"User:u{n}", "*") for n in range(4)]


@given(st.lists(st.tuples(st.sampled_from(range(4)), st.integers(0, 3))))
def test_a_pattern_is_a_mapping_from_subjects_to_grants(puts: list[tuple[int, int]]) -> None:
    pattern = Pattern(ResourceType.TOPIC, "t", PatternType.LITERAL, SUBJECTS[0], 1)
    expected = {0: 1}
    for number, grant in puts:
        if not grant and number not in expected:
            continue  # the store never removes a missing grant
        pattern.set_grant(SUBJECTS[number], grant)
        expected[number] = grant
        expected = {key: value for key, value in expected.items() if value}
        assert dict(pattern.subject_grants()) == {SUBJECTS[key]: v for key, v in expected.items()}
        for key, subject in enumerate(SUBJECTS):
            assert pattern.grant_bits_of(subject) == expected.get(key, 0)
        assert pattern.has_no_grants is (not expected)


def test_a_subject_includes_matching_actors() -> None:
    actor = Actor("User:alice", "10.0.0.1")
    for principal in ("User:alice", "User:*"):
        for host in ("10.0.0.1", "*"):
            assert PrincipalAndHost(principal, host).includes(actor)
    for principal, host in (("User:bob", "*"), ("User:alice", "10.0.0.2"), ("Group:*", "*")):
        assert not PrincipalAndHost(principal, host).includes(actor)
