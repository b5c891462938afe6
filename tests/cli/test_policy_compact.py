"""`policy compact`: fewer ACLs, and every decision stays."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.model import Acl
from kafka_shim.cli import main
from kafka_shim.policy.checked_accesses import checked_operations_by_resource_type
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.policy.least.compaction import compacted_acls
from kafka_shim.policy.relations import Relation
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from tests.authorizer.test_against_naive import ACL_SETS, naive
from tests.policy.naive import NEWEST, authorizer, questions
from tests.policy.plain_decisions import PlainPolicy, contradictions

LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
OPERATIONS = "[Read, Write, Create, Delete, Alter, AlterConfigs]"
MANY = f"""\
- {{principal: User:a, allow: {OPERATIONS}, topic: t}}
- {{principal: User:a, allow: Read, topic: t, host: 10.0.0.1}}
- {{principal: User:b, allow: Read, topic: team-, pattern: prefixed}}
- {{principal: User:b, allow: [Read, Describe], topic: team-a}}
- {{principal: User:c, deny: Write, topic: t}}
"""


def test_all_replaces_all_operations_and_the_rest_is_covered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, plan = tmp_path / "many.yaml", tmp_path / "plan.json"
    file.write_text(MANY)
    assert main(["policy", "compact", str(file), "--plan", str(plan)]) == 0
    printed = capsys.readouterr()
    acls = parse_distinct_acls(printed.out, "yaml")
    assert [(acl.principal, acl.operation, acl.resource_name) for acl in acls] == [
        ("User:a", Operation.ALL, "t"),
        ("User:b", Operation.READ, "team-"),
    ]
    assert printed.err == (
        "2 ACLs instead of 11; every decision stays; none of them can be left out\n"
        "left out: 1 DENY ACL, which would overrule ALLOW ACLs that somebody adds later:\n"
        "  {principal: User:c, deny: Write, topic: t}\n"
    )
    (tmp_path / "few.yaml").write_text(printed.out)
    assert main(["policy", "equivalent", str(file), str(tmp_path / "few.yaml")]) == 0
    requests = json.loads(plan.read_text())["requests"]
    assert [(each["action"], len(each["acls"])) for each in requests] == [
        ("add", 1),
        ("remove", 10),
    ]


@pytest.mark.deep
@settings(max_examples=25, deadline=None)
@given(ACL_SETS, st.booleans(), st.data())
def test_every_decision_stays(acls: list[Acl], everyone: bool, data: st.DataObject) -> None:
    compact = compacted_acls(authorizer(acls, everyone=everyone), NEWEST)
    assert len(compact) <= len(set(acls))
    kind = data.draw(st.sampled_from([ResourceType.TOPIC, ResourceType.GROUP]))
    operation = data.draw(st.sampled_from(checked_operations_by_resource_type(NEWEST)[kind]))
    for actor, action in questions(acls, [operation], [kind]):
        assert naive(compact, actor, action, everyone) is naive(acls, actor, action, everyone)


PATTERNS = [("*", LITERAL), ("a", LITERAL), ("a", PREFIXED), ("abc", LITERAL), ("abx", PREFIXED)]
IDS = ResourceType.TRANSACTIONAL_ID
SMALL_ACLS = st.builds(
    lambda pattern, *rest: Acl(IDS, *pattern, *rest),
    st.sampled_from(PATTERNS),
    st.sampled_from(["User:a", "User:b", "User:*"]),
    st.sampled_from(["*", "*", "10.0.0.1", "10.0.0.2/31"]),
    st.sampled_from([*checked_operations_by_resource_type(NEWEST)[IDS], Operation.ALL]),
    st.sampled_from([Permission.DENY, Permission.ALLOW, Permission.ALLOW]),
)


@pytest.mark.deep
@settings(max_examples=30, deadline=None)
@given(st.lists(SMALL_ACLS, min_size=2, max_size=6), st.booleans())
def test_no_acl_can_be_left_out(acls: list[Acl], everyone: bool) -> None:
    compact = compacted_acls(authorizer(acls, everyone=everyone), NEWEST)
    whole = PlainPolicy(tuple(compact), NEWEST, allow_everyone=everyone)
    given = PlainPolicy(tuple(acls), NEWEST, allow_everyone=everyone)
    assert contradictions(Relation.EQUIVALENT, [given, whole])[0] == []
    for acl in compact:
        less = PlainPolicy(tuple(compact - {acl}), NEWEST, allow_everyone=everyone)
        assert contradictions(Relation.EQUIVALENT, [whole, less])[0], acl


def test_a_deny_is_left_out_with_the_allow_that_it_limits() -> None:
    acls = parse_distinct_acls(
        "- {principal: User:a, allow: Write, transactional_id: t}\n"
        "- {principal: User:a, deny: [Write, Describe], transactional_id: t}\n"
    )
    assert compacted_acls(authorizer(acls), NEWEST) == set()


def test_denies_that_would_overrule_later_allows_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "denies.yaml"
    file.write_text(
        "- {principal: User:a, deny: Read, topic: pay}\n"
        "- {principal: User:b, deny: Read, topic: t}\n"
        "- {principal: User:b, deny: Read, topic: t, host: 10.0.0.1}\n"
        "- {principal: User:b, allow: All, topic: t}\n"
    )
    assert main(["policy", "compact", str(file)]) == 0
    printed = capsys.readouterr()
    assert "pay" not in printed.out
    assert printed.err.splitlines()[1:] == [
        "left out: 1 DENY ACL, which would overrule ALLOW ACLs that somebody adds later:",
        "  {principal: User:a, deny: Read, topic: pay}",
    ]
