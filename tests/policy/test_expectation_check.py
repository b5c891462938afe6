"""Expectations hold exactly if the naive engine agrees; the advice makes them hold."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.authorizer.networks import covers_host
from kafka_shim.authorizer.remedy import Step
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.expectation import parse_expectation
from kafka_shim.policy.expectation_check import ExpectationChecker, Verdict
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.policy.formats.yaml_rules import parse_acl_content
from kafka_shim.policy.name_sets import NameSet, pattern_covering_names
from kafka_shim.policy.policy import Policy
from kafka_shim.policy.profiles import PROFILES, name_keys_of_profile
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import Operation, Permission, ResourceType
from tests.authorizer.test_against_naive import ACL_SETS, naive
from tests.policy.naive import NEWEST, authorizer, questions

TOPIC = ResourceType.TOPIC
ALICE = {"principal": "User:alice", "allow": "Write", "topic": "orders"}
EVERYONE = {"principal": "User:*", "allow": "Read", "topic": "*"}


def verdict(rules: list[dict[str, Any]], release: str = NEWEST, **expected: Any) -> Verdict:
    entry = {key.replace("_", "-"): value for key, value in expected.items()}
    wanted = parse_expectation(entry, "expectation 1", release)
    return ExpectationChecker(authorizer(parse_acl_content(rules))).check_expectation(wanted)


def advice(found: Verdict) -> list[tuple[bool, str, str, str]]:
    return [
        (step.is_addition, step.acl.principal, step.acl.operation.name, step.acl.resource_name)
        for step in found.steps
    ]


def test_an_allowed_access_names_the_rule() -> None:
    found = verdict([ALICE], principal="User:alice", may="Describe", topic="orders")
    assert found.holds
    [response] = found.violating_or_confirming_accesses
    assert response.decision.acl is not None
    assert response.decision.acl.operation is Operation.WRITE


def test_a_prefix_covers_all_names_with_it() -> None:
    rule = ALICE | {"topic": "team-", "pattern": "prefixed"}
    deny = {"principal": "User:alice", "deny": "Write", "topic": "team-x"}
    assert verdict([rule], principal="User:alice", may="Write", topic="team-a*").holds
    assert not verdict([rule], principal="User:alice", may="Write", topic="tea*").holds
    found = verdict([rule, deny], principal="User:alice", may="Write", topic="team-*")
    assert advice(found) == [(False, "User:alice", "WRITE", "team-x")]


def test_advice_that_removes_a_deny_still_denies_its_principals() -> None:
    allowed = [ALICE | {"principal": who} for who in ("User:alice", "User:bob")]
    deny = {"principal": "User:*", "deny": "Write", "topic": "orders"}
    found = verdict([*allowed, deny], only=["User:alice"], may="Write", topic="orders")
    assert set(advice(found)) == {
        (False, "User:*", "WRITE", "orders"),
        (False, "User:bob", "WRITE", "orders"),
    }


def test_advice_says_what_it_opens_and_closes_besides() -> None:
    """The truth: who else is allowed after the steps, by the naive engine."""
    deny = {"principal": "User:*", "deny": "Write", "topic": "*"}
    found = verdict([ALICE, deny], principal="User:alice", may="Write", topic="orders")
    assert "to other principals and to all names" in found.also_changes[0]
    wanted = parse_expectation(
        {"principal": "User:alice", "may-not": "Write", "topic": "free"}, "expectation 1", NEWEST
    )
    checker = ExpectationChecker(authorizer([], everyone=True))
    found = checker.check_expectation(wanted)
    assert advice(found) == [(True, "User:alice", "WRITE", "free")]
    added = [step.acl for step in found.steps]
    bob = Actor("User:bob", "h"), Action(Operation.WRITE, TOPIC, "free")
    assert (naive([], *bob, True), naive(added, *bob, True)) == (True, False)
    assert found.also_changes == ("the first ACL closes topics named `free` to everyone else",)


def test_without_hosts_every_host_is_checked() -> None:
    rule = ALICE | {"host": "10.0.0.1"}
    asked: dict[str, Any] = {"principal": "User:alice", "may": "Write", "topic": "orders"}
    assert not verdict([rule], **asked).holds
    assert verdict([rule], **asked, host="10.0.0.1").holds
    assert not verdict([rule], principal="User:alice", may_not="Write", topic="orders").holds


def test_a_network_is_every_host_in_it() -> None:
    rule = ALICE | {"host": "10.0.0.0/8"}
    deny = {"principal": "User:alice", "deny": "Write", "topic": "orders", "host": "10.1.0.0/16"}
    asked: dict[str, Any] = {"principal": "User:alice", "may": "Write", "topic": "orders"}
    assert verdict([rule], **asked, host="10.2.0.0/16").holds
    assert verdict([rule, deny], **asked, host="10.2.0.1").holds
    found = verdict([rule, deny], **asked, host="10.0.0.0/8")
    assert [response.host for response in found.violating_or_confirming_accesses] == ["10.1.0.0/16"]
    assert advice(found) == [(False, "User:alice", "WRITE", "orders")]


def test_unwanted_access_is_removed_narrowly() -> None:
    found = verdict([ALICE], principal="User:alice", may_not="Write", topic="orders")
    assert advice(found) == [(False, "User:alice", "WRITE", "orders")]
    found = verdict([ALICE], principal="User:alice", may_not="Describe", topic="orders")
    assert advice(found) == [(True, "User:alice", "DESCRIBE", "orders")]
    [step] = found.steps
    assert step.acl.permission.name == "DENY"
    [removal] = found.removals
    assert (removal.is_addition, removal.acl.operation.name) == (False, "WRITE")
    found = verdict([EVERYONE], principal="User:alice", may_not="Describe", topic="orders")
    assert advice(found) == [(True, "User:alice", "DESCRIBE", "orders")]
    assert not found.removals  # the ACL is for others, too


def test_nobody_but() -> None:
    expected: dict[str, Any] = {"nobody_but": ["User:alice"], "may": "Write", "topic": "orders"}
    assert verdict([ALICE], **expected).holds
    assert verdict([], **expected).holds
    found = verdict([ALICE, EVERYONE | {"allow": "All"}], **expected)
    assert {response.principal for response in found.violating_or_confirming_accesses} == {"User:*"}
    assert advice(found) == [(False, "User:*", "ALL", "*")]
    bob = ALICE | {"principal": "User:bob", "topic": "ord", "pattern": "prefixed"}
    assert [a.principal for a in verdict([bob], **expected).violating_or_confirming_accesses] == [
        "User:bob"
    ]
    assert verdict([], nobody_but=[], may="Write", topic="*").holds


def test_only_means_may_and_nobody_but() -> None:
    expected: dict[str, Any] = {"only": "User:alice", "may": "Write", "topic": "orders"}
    assert verdict([ALICE], **expected).holds
    assert advice(verdict([], **expected)) == [(True, "User:alice", "WRITE", "orders")]


def test_no_acl() -> None:
    assert verdict([ALICE], no_acl={"principal": "User:*"}).holds
    assert not verdict([EVERYONE], no_acl={"principal": "User:*"}).holds
    wildcard = {"allow": "Write", "topic": "*"}
    assert verdict([EVERYONE, ALICE], no_acl=wildcard).holds
    found = verdict([ALICE | {"topic": "*", "allow": "All"}], no_acl=wildcard)
    assert advice(found) == [(False, "User:alice", "ALL", "*")]
    assert not verdict([ALICE], no_acl={"topic": None}).holds
    assert verdict([ALICE], no_acl={"deny": None}).holds


def test_an_asterisk_means_the_names_that_a_wildcard_covers() -> None:
    assert verdict([EVERYONE], principal="User:x", may="Read", topic="*").holds


def test_a_super_user_cannot_be_denied() -> None:
    root = StandardAuthorizer(super_users=("User:root",), store=AclStore())
    error_response = {"principal": "User:root", "may-not": "Write", "topic": "t"}
    found = ExpectationChecker(root).check_expectation(
        parse_expectation(error_response, "", NEWEST)
    )
    assert not found.holds
    assert found.steps == ()


# ------------------------------------------------------------------ whole requests

CONSUMER = "kafka-acls --add --allow-principal User:a --consumer --topic t --group g"
PRODUCER = "kafka-acls --add --allow-principal User:a --producer --topic t"


@pytest.mark.parametrize("release", [r for r in RELEASES if r != "3.2"])
def test_profiles_agree_with_the_roles_of_kafka_acls(release: str) -> None:
    """The options --consumer and --producer show which ACLs Kafka considers necessary."""
    consumer, producer = (parse_distinct_acls(text, "commands") for text in (CONSUMER, PRODUCER))
    transactional = parse_distinct_acls(
        PRODUCER + " --transactional-id tx --idempotent", "commands"
    )
    cases: list[tuple[list[Acl], dict[str, str], bool]] = [
        (consumer, {"can": "consume", "topic": "t", "group": "g"}, True),
        (consumer, {"can": "consume", "topic": "t", "group": "h"}, False),
        (consumer, {"can": "produce", "topic": "t"}, False),
        (consumer, {"cannot": "produce", "topic": "t"}, True),
        (producer, {"can": "produce", "topic": "t"}, True),
        (producer, {"cannot": "produce", "topic": "t"}, False),
        (producer, {"can": "consume", "topic": "t", "group": "g"}, False),
        (
            transactional,
            {"can": "produce-transactional", "topic": "t", "transactional-id": "tx"},
            True,
        ),
        (transactional, {"can": "produce-idempotent", "topic": "t"}, True),
    ]
    for acls, asked, held in cases:
        wanted = parse_expectation({"principal": "User:a", **asked}, "", release)
        assert ExpectationChecker(authorizer(acls)).check_expectation(wanted).holds == held, asked


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_holds_after_its_advice(profile: str) -> None:
    given = {
        slot: "app" if slot == "application-id" else f"{slot}-*"
        for slot in name_keys_of_profile(profile)
    }
    wanted = parse_expectation({"principal": "User:a", "can": profile, **given}, "", NEWEST)
    found = ExpectationChecker(authorizer([])).check_expectation(wanted)
    assert not found.holds
    acls = [step.acl for step in found.steps]
    assert ExpectationChecker(authorizer(acls)).check_expectation(wanted).holds
    for missing in acls:
        fewer = authorizer(acl for acl in acls if acl != missing)
        assert not ExpectationChecker(fewer).check_expectation(wanted).holds, missing


# ------------------------------------------------------------------ invalid expectations


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("x", "expected keys such as principal, may and topic"),
        ({"principal": "User:a"}, "expected one of principal, nobody-but, only and one of may"),
        ({"principal": "User:a", "may": "Read", "can": "consume"}, "expected one of"),
        ({"principal": "User:a", "may": "Read"}, "expected one resource, by one of topic"),
        ({"principal": "User:a", "may": "Read", "topic": []}, "`topic` must be a string"),
        ({"principal": "a", "may": "Read", "topic": "t"}, "`a`: expected Type:name"),
        ({"principal": "User:a", "may": "Fly", "topic": "t"}, "unknown operation `Fly`"),
        ({"principal": "User:a", "may": "Write", "group": "g"}, "group has no operation WRITE"),
        ({"principal": "User:a", "may": "Read", "topik": "t"}, "unknown key `topik`"),
        (
            {"principal": "User:a", "can": "fly", "topic": "t"},
            "unknown profile `fly`",
        ),
        ({"principal": "User:a", "can": "consume", "topic": "t"}, "requires `group`"),
        ({"principal": "User:a", "can": "stream", "topic": "t"}, "did you mean `streams`? Known"),
        ({"principal": "User:a", "can": "read", "topic": "t", "group": "g"}, "no effect on read"),
        ({"nobody-but": [], "may-not": "Read", "topic": "t"}, "`nobody-but` requires may or can"),
        ({"no-acl": {}}, "`no-acl` requires one or more of"),
        ({"no-acl": {"topic": "t"}, "topic": "t"}, "`topic` belongs below `no-acl`"),
        ({"no-acl": {"operation": "Read"}}, "unknown key `operation`"),
        ({"no-acl": {"topic": "t"}, "release": "9.9"}, "9.9"),
    ],
)
def test_an_invalid_expectation_names_what_was_expected(entry: object, said: str) -> None:
    with pytest.raises(AclTextError) as refused:
        parse_expectation(entry, "expectation 3", NEWEST)
    assert str(refused.value).startswith("expectation 3: ")
    assert said in str(refused.value)


# ------------------------------------------------------------------ against the naive engine

NAMES = st.sampled_from(["a", "ab", "a*", "ab*", "b*", "*"])


@pytest.mark.deep
@settings(max_examples=80, deadline=None)
@given(
    ACL_SETS,
    st.sampled_from(["User:a", "User:b", "User:nobody"]),
    st.sampled_from(["Write", "Describe"]),
    NAMES,
    st.sampled_from(["may", "may-not"]),
    st.sampled_from(["*", "10.0.0.1", "10.0.0.0/8"]),
)
def test_verdicts_agree_with_the_decisions(
    acls: list[Acl], principal: str, operation: str, name: str, verb: str, host: str
) -> None:
    entry = {"principal": principal, verb: operation, "topic": name, "host": host}
    wanted = parse_expectation(entry, "", NEWEST)
    found = ExpectationChecker(authorizer(acls)).check_expectation(wanted)
    names = wanted.clauses[0].names
    assert names is not None
    asked = [Operation[operation.upper()]]
    responses = {
        naive(acls, Actor(principal, actor.host), action, False)
        for actor, action in questions(_with(acls, names, principal, host), asked, [TOPIC])
        if names.contains_name(action.resource_name)
        and covers_host(host, actor.host, host_networks=True)
        and not (verb == "may" and name == "*" and action.resource_name[:1] == "*")
    }
    assert found.holds == (responses <= {verb == "may"})
    check_advice(acls, found)


@pytest.mark.deep
@settings(max_examples=80, deadline=None)
@given(
    ACL_SETS,
    st.lists(st.sampled_from(["User:a", "User:b"]), max_size=2),
    st.sampled_from(["nobody-but", "only"]),
    st.sampled_from(["Write", "Describe"]),
    NAMES,
)
def test_nobody_but_checks_all_other_principals(
    acls: list[Acl], named: list[str], key: str, operation: str, name: str
) -> None:
    if key == "only":
        named = ["User:a"]
    wanted = parse_expectation({key: named, "may": operation, "topic": name}, "", NEWEST)
    found = ExpectationChecker(authorizer(acls)).check_expectation(wanted)
    names = wanted.clauses[0].names
    assert names is not None
    asked = [
        question
        for question in questions(
            _with(acls, names, "User:a"), [Operation[operation.upper()]], [TOPIC]
        )
        if names.contains_name(question[1].resource_name)
    ]
    others = any(naive(acls, *q, False) for q in asked if q[0].principal not in named)
    mine = [
        naive(acls, Actor("User:a", q[0].host), q[1], False)
        for q in asked
        if not (name == "*" and q[1].resource_name[:1] == "*")
    ]
    assert found.holds == (not others and (key == "nobody-but" or all(mine)))
    check_advice(acls, found)


@pytest.mark.deep
@settings(max_examples=60, deadline=None)
@given(
    ACL_SETS,
    st.sampled_from(["can", "cannot"]),
    st.sampled_from(["consume", "produce-idempotent", "create-topic", "commit"]),
    NAMES,
)
def test_advice_about_a_request_is_complete_and_minimal(
    acls: list[Acl], verb: str, profile: str, name: str
) -> None:
    given = dict.fromkeys(name_keys_of_profile(profile), name)
    wanted = parse_expectation({"principal": "User:a", verb: profile, **given}, "", NEWEST)
    check_advice(acls, ExpectationChecker(authorizer(acls)).check_expectation(wanted))


def check_advice(acls: list[Acl], found: Verdict) -> None:
    """Require that the advice makes the expectation hold, and that it needs every step."""
    wanted = found.expectation
    assert ExpectationChecker(authorizer(_after(acls, found.steps))).check_expectation(wanted).holds
    if found.removals:
        assert not any(step.is_addition for step in found.removals)
        after = ExpectationChecker(authorizer(_after(acls, found.removals)))
        assert after.check_expectation(wanted).holds
    for step in found.steps:
        rest = [other for other in found.steps if other is not step]
        assert (
            not ExpectationChecker(authorizer(_after(acls, rest))).check_expectation(wanted).holds
        ), step


def _with(acls: list[Acl], names: NameSet, principal: str, host: str = "*") -> list[Acl]:
    """Add an ACL for these names, so that they lie at the boundary of a pattern."""
    name, pattern_type = pattern_covering_names(names)
    read = Operation.READ
    return [*acls, Acl(TOPIC, name, pattern_type, principal, host, read, Permission.ALLOW)]


def _after(acls: list[Acl], steps: Sequence[Step]) -> list[Acl]:
    """Return the ACLs after following the advice."""
    gone = {step.acl for step in steps if not step.is_addition}
    more = (step.acl for step in steps if step.is_addition)
    return [acl for acl in itertools.chain(acls, more) if acl not in gone]


def test_advice_leaves_the_acls_as_they_were() -> None:
    judge = ExpectationChecker(authorizer(parse_acl_content([ALICE | {"topic": "team-a"}])))
    nobody = parse_expectation({"nobody-but": [], "may": "Write", "topic": "team-*"}, "1", NEWEST)
    refusal = {"principal": "User:alice", "may-not": "Write", "topic": "team-a"}
    for expectation in (nobody, parse_expectation(refusal, "2", NEWEST), nobody):
        assert not judge.check_expectation(expectation).holds


@pytest.mark.parametrize(
    ("acl_host", "host", "release", "is_allowed"),
    [
        ("0:0:0:0:0:0:0:1", "::1", NEWEST, True),
        ("::1", "::1", NEWEST, False),
        ("10.1.2.3", "::ffff:10.1.2.3", NEWEST, True),
        ("10.0.0.0/8", "10.1.2.3", NEWEST, True),
        ("10.0.0.0/8", "10.1.2.3", "4.3", False),
    ],
)
def test_hosts_are_those_of_clients(
    acl_host: str, host: str, release: str, is_allowed: bool
) -> None:
    acls = parse_distinct_acls(
        f"- {{principal: User:a, allow: Write, topic: t, host: '{acl_host}'}}"
    )
    checker = ExpectationChecker(Policy(acls, release).authorizer())
    for verb, holds in (("may", is_allowed), ("may-not", not is_allowed)):
        entry = {"principal": "User:a", verb: "Write", "topic": "t", "host": host}
        wanted = parse_expectation(entry, "expectation", release)
        assert checker.check_expectation(wanted).holds is holds


def test_an_acl_for_a_host_of_no_client_allows_nobody() -> None:
    access = {"principal": "User:alice", "topic": "orders", "may_not": "Write"}
    assert verdict([ALICE | {"host": "::1"}], **access).holds
    assert not verdict([ALICE | {"host": "0:0:0:0:0:0:0:1"}], **access).holds
