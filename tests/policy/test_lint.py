"""Lint reports an ACL as ineffective exactly if removing it changes no decision."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.access_changes import access_changes
from kafka_shim.policy.checked_accesses import InexactReleaseError
from kafka_shim.policy.formats.yaml_rules import parse_acl_content
from kafka_shim.policy.lint import (
    Finding,
    LocatedAcl,
    find_probable_mistakes,
    lint_report_lines,
)
from tests.authorizer.test_against_naive import ACL_SETS
from tests.policy.naive import NEWEST, authorizer

WITHOUT_EFFECT = {"shadowed", "redundant", "ineffective"}
READ = {"principal": "User:alice", "allow": "Read", "topic": "orders"}
TEAM = READ | {"topic": "team-", "pattern": "prefixed"}
WRITE = READ | {"allow": "Write"}
DENY = {"principal": "User:alice", "deny": "Read", "topic": "orders"}


def findings(
    acls: list[Acl], release: str = NEWEST, supers: tuple[str, ...] = (), *, everyone: bool = False
) -> list[Finding]:
    written = [LocatedAcl(acl, "acls.yaml", at) for at, acl in enumerate(acls, start=1)]
    empty = StandardAuthorizer(
        rules=acl_rules_of_release(release), super_users=supers, allow_everyone=everyone
    )
    return list(find_probable_mistakes(written, empty, release))


def found(*rules: dict[str, Any], release: str = NEWEST, **more: Any) -> list[tuple[str, int]]:
    all_found = findings(parse_acl_content(list(rules)), release, **more)
    return [(finding.kind, finding.located_acl.line) for finding in all_found]


def test_usual_acls_have_no_findings() -> None:
    assert found(READ, TEAM, READ | {"principal": "User:bob"}) == []
    assert found() == []


def test_an_acl_below_a_broader_one_is_shadowed() -> None:
    assert found(TEAM | {"topic": "team-a", "pattern": "literal"}, TEAM) == [("shadowed", 1)]
    assert found(READ, READ | {"host": "10.0.0.1"}) == [("shadowed", 2)]
    assert found(READ | {"host": "10.0.0.0/8"}, READ | {"host": "10.0.0.1"}) == [("shadowed", 2)]
    assert found(DENY | {"deny": "All"}, DENY, TEAM, READ) == [
        ("redundant", 2),
        ("ineffective", 4),
    ]


def test_an_included_operation_is_redundant() -> None:
    both = {"allow": ["Alter", "Describe"]}
    assert found(READ | both) == [("redundant", 2)]
    assert found({"principal": "User:a", "allow": ["Read", "Describe"], "group": "g"}) == [
        ("redundant", 2)
    ]


def test_describe_beside_read_or_write_is_accepted() -> None:
    assert found(READ | {"allow": ["Read", "Describe"]}) == []
    assert found(READ | {"allow": "Describe", "topic": "ord-x"}, TEAM | {"topic": "ord-"}) == [
        ("shadowed", 1)
    ]


def test_an_acl_covered_by_several_is_redundant() -> None:
    each = ["Read", "Write", "Create", "Delete", "Alter", "AlterConfigs"]
    several = [READ | {"allow": operation} for operation in each]
    prefix = [rule | {"topic": "order", "pattern": "prefixed"} for rule in several]
    assert ("redundant", 1) in found(READ | {"allow": "All"}, *prefix)


def test_allows_under_denies() -> None:
    assert found(WRITE, DENY | {"deny": "All"}) == [("ineffective", 1)]
    assert found(READ | {"allow": "Create"}, DENY | {"deny": "Create"}) == [("ineffective", 1)]
    # the Describe that Read implies is not denied
    assert found(READ, DENY) == []
    both = found(READ, DENY, DENY | {"deny": "Describe"})
    assert both == [("ineffective", 1)]


def test_denies_without_allows() -> None:
    assert found(DENY) == [("ineffective", 1)]
    assert found(DENY | {"principal": "User:*"}, READ) == []
    assert found(DENY | {"principal": "User:*"}, READ | {"topic": "other"}) == [("ineffective", 1)]
    assert found(DENY, everyone=True) == []


def test_super_users_need_no_acls() -> None:
    assert found(READ, supers=("User:alice",)) == [("ineffective", 1)]


def test_an_operation_that_the_type_does_not_support() -> None:
    [finding] = findings(
        parse_acl_content([{"principal": "User:a", "allow": "Write", "group": "g"}])
    )
    assert finding.kind == "operation"
    assert finding.message.startswith("Group has no such operation; it has Read, Delete, Desc")
    old = {"principal": "User:a", "allow": "DescribeConfigs", "group": "g"}
    assert found(old) == []
    assert found(old, release="3.9") == [("operation", 1)]


def test_grants_to_everybody_and_prefixes_within_words() -> None:
    assert found(READ | {"principal": "User:*"}) == [("everybody", 1)]
    assert found(TEAM | {"topic": "team"}) == [("prefix", 1)]
    assert found(TEAM | {"topic": "team."}) == []


@pytest.mark.parametrize(
    "change",
    [
        {"topic": "orders-*", "pattern": "literal"},
        {"topic": "a b"},
        {"topic": "a/", "pattern": "prefixed"},
        {"principal": "User:team-*"},
        {"host": "localhost"},
        {"host": "2001:db8::1"},
    ],
)
def test_names_that_cannot_exist_are_found(change: dict[str, str]) -> None:
    assert found(READ | change) == [("name", 1)]


def test_hosts_as_brokers_write_them() -> None:
    assert found(READ | {"host": "2001:db8:0:0:0:0:0:1"}) == []
    assert found(READ | {"host": "10.0.0.0/8"}, release="4.3") == [("name", 1)]


def test_acls_that_a_release_cannot_express_are_found() -> None:
    assert found(TEAM, READ, release="1.1") == [("release", 1)]
    assert found(READ | {"principal": "alice"}) == [("release", 1)]


def test_duplicates_name_the_first() -> None:
    assert found(READ, READ, READ) == [("duplicate", 2), ("duplicate", 3)]
    [second, _] = findings(parse_acl_content([READ, READ, READ]))
    assert [written.line for written in second.causes] == [1]


def test_a_release_that_overlooks_acls_is_rejected() -> None:
    with pytest.raises(InexactReleaseError):
        findings([], "3.2")


def test_acls_that_cover_each_other_are_to_be_removed_one_at_a_time() -> None:
    """All operations cover `All`, and it covers each of them: without all, nothing is allowed."""
    each = ["Read", "Write", "Create", "Describe", "Delete", "Alter", "DescribeConfigs"]
    acls = parse_acl_content([READ | {"allow": ["All", "AlterConfigs", *each]}])
    result = findings(acls)
    assert {finding.located_acl.acl for finding in result} == set(acls)
    *_, last = lint_report_lines(result, len(acls), NEWEST, github=False)
    assert "one at a time" in last
    *_, last = lint_report_lines(result[:1], len(acls), NEWEST, github=False)
    assert "one at a time" not in last


@pytest.mark.deep
@settings(max_examples=80, deadline=None)
@given(ACL_SETS, st.booleans())
def test_findings_are_acls_that_change_no_decision(acls: list[Acl], everyone: bool) -> None:
    acls = list(dict.fromkeys(acls))
    kinds: dict[Acl, set[str]] = {}
    for finding in findings(acls, everyone=everyone):
        kinds.setdefault(finding.located_acl.acl, set()).add(finding.kind)
    for acl in acls:
        if kinds.get(acl, set()) & {"operation", "name", "release"}:
            continue
        rest = [other for other in acls if other != acl]
        sides = [authorizer(side, everyone=everyone) for side in (acls, rest)]
        differs = access_changes(sides[0], sides[1], NEWEST) != ()
        assert differs is not bool(kinds.get(acl, set()) & WITHOUT_EFFECT), (acl, acls)
