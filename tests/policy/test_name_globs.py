"""Names with asterisks: an example of each kind of name that the ACLs distinguish."""

import re
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.policy.expectation import parse_expectation
from kafka_shim.policy.expectation_check import ExpectationChecker, Verdict
from kafka_shim.policy.formats.yaml_rules import parse_acl_content
from kafka_shim.protocol.enums import Operation, ResourceType
from tests.authorizer.test_against_naive import ACL_SETS, naive
from tests.policy.naive import NEWEST, addresses, authorizer, boundary_names

TEAM = {"principal": "User:a", "allow": "Write", "topic": "team-", "pattern": "prefixed"}
DENY = {"principal": "User:a", "deny": "Write", "topic": "team-x-", "pattern": "prefixed"}


def verdict(rules: list[dict[str, Any]], like: object, **more: Any) -> Verdict:
    entry = {"principal": "User:a", "may": "Write", "topic": {"like": like}} | more
    return ExpectationChecker(authorizer(parse_acl_content(rules))).check_expectation(
        parse_expectation(entry, "1", NEWEST)
    )


def examples(found: Verdict) -> list[str]:
    return [response.sample_name for response in found.violating_or_confirming_accesses]


def test_an_example_of_each_kind() -> None:
    found = verdict([TEAM], "team-*-events")
    assert found.holds
    assert all(re.fullmatch("team-.*-events", name) for name in examples(found))
    assert verdict([TEAM, DENY], "team-y-*").holds
    found = verdict([TEAM, DENY], "team-*-events")
    assert not found.holds
    assert examples(found) == ["team-x-events"]
    assert not verdict([TEAM, DENY], "*-events").holds
    assert examples(verdict([DENY], "*-events", may="Read"))[0].endswith("-events")


def test_names_that_the_pattern_does_not_have_do_not_count() -> None:
    literal = DENY | {"topic": "team-x-commands", "pattern": "literal"}
    assert verdict([TEAM, literal], "team-*-events").holds
    assert not verdict([TEAM, literal], ["team-*-events", "*-commands"]).holds


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ({"like": "orders"}, "`orders` has no asterisk"),
        ({"like": []}, "`topic: like` must be a string"),
        ({"liek": "a*"}, "unknown key `liek`"),
    ],
)
def test_invalid_patterns_are_reported(topic: object, said: str) -> None:
    with pytest.raises(AclTextError, match=said):
        parse_expectation({"principal": "User:a", "may": "Read", "topic": topic}, "1", NEWEST)


def test_acls_do_not_accept_like() -> None:
    with pytest.raises(AclTextError, match="`like` requires may or can"):
        parse_expectation({"no-acl": {"topic": {"like": "a*b"}}}, "1", NEWEST)


GLOBS = st.lists(st.sampled_from(["", "a", "b", "ab", "z", "*"]), min_size=2, max_size=4).map(
    "*".join
)


@pytest.mark.deep
@settings(max_examples=150, deadline=None)
@given(ACL_SETS, GLOBS, st.booleans())
def test_verdicts_about_globs_agree_with_the_naive_engine(
    acls: list[Acl], glob: str, wanted: bool
) -> None:
    entry = {"principal": "User:a", "may" if wanted else "may-not": "Read", "topic": {"like": glob}}
    found = ExpectationChecker(authorizer(acls)).check_expectation(
        parse_expectation(entry, "1", NEWEST)
    )
    pattern = re.compile(".*".join(map(re.escape, glob.split("*"))), re.DOTALL)
    hosts = sorted(set(addresses(acl.host for acl in acls)))

    def responses(name: str) -> set[bool]:
        action = Action(Operation.READ, ResourceType.TOPIC, name)
        return {naive(acls, Actor("User:a", host), action, False) for host in hosts}

    assert all(
        pattern.fullmatch(response.sample_name)
        for response in found.violating_or_confirming_accesses
    )
    if found.holds:
        names = [name for name in boundary_names(acls) if name and pattern.fullmatch(name)]
        starred = wanted and glob.startswith("*")  # an ALLOW on literal `*` may not cover these
        for name in names:
            assert (starred and name.startswith("*")) or responses(name) <= {wanted}, name
    else:
        assert any(
            (not wanted) in responses(response.sample_name)
            for response in found.violating_or_confirming_accesses
        )
