"""One resource pattern with the grants of its ACLs, by principal and host."""

from hypothesis import given, strategies as st

from kafka_shim.authorizer.model import Actor
from kafka_shim.authorizer.patterns import Pattern, PrincipalAndHost
from kafka_shim.protocol.enums import PatternType, ResourceType

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
