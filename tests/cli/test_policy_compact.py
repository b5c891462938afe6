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
from kafka_shim.protocol.enums import Operation, ResourceType
from tests.authorizer.test_against_naive import ACL_SETS, naive
from tests.policy.naive import NEWEST, authorizer, questions

OPERATIONS = "[Read, Write, Create, Delete, Alter, AlterConfigs]"
MANY = f"""\
- {{principal: User:a, allow: {OPERATIONS}, topic: t}}
- {{principal: User:a, allow: Read, topic: t, host: 10.0.0.1}}
- {{principal: User:b, allow: Read, topic: team-, pattern: prefixed}}
- {{principal: User:b, allow: [Read, Describe], topic: team-a}}
- {{principal: User:c, deny: Write, topic: t}}
"""
CONTRADICTION = """\
- {principal: User:a, allow: Write, topic: t}
- {principal: User:a, deny: [Read, Write], topic: t}
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
    assert printed.err == "2 ACLs instead of 11; every decision stays; fewer are not possible\n"
    (tmp_path / "few.yaml").write_text(printed.out)
    assert main(["policy", "equivalent", str(file), str(tmp_path / "few.yaml")]) == 0
    requests = json.loads(plan.read_text())["requests"]
    assert [(each["action"], len(each["acls"])) for each in requests] == [
        ("add", 1),
        ("remove", 10),
    ]


@pytest.mark.parametrize(
    ("acls", "options", "text", "fewest"),
    [
        (MANY, [], "fewer are not possible", True),
        (
            CONTRADICTION,
            ["--allow-everyone-if-no-acl-found"],
            "none can be left out; the fewest are 1 or more",
            False,
        ),
    ],
)
def test_the_output_says_whether_fewer_are_possible(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    acls: str,
    options: list[str],
    text: str,
    fewest: bool,
) -> None:
    file, compact = tmp_path / "acls.yaml", tmp_path / "compact.json"
    file.write_text(acls)
    assert main(["policy", "compact", str(file), "--format", "json", *options]) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert result["fewest"] is fewest
    assert printed.err.endswith(f"; {text}\n")
    compact.write_text(printed.out)
    rules = ["--a-set", f"allow.everyone.if.no.acl.found={str(bool(options)).lower()}"]
    rules += ["--b-set", rules[1]]
    assert main(["policy", "equivalent", str(file), str(compact), *rules]) == 0


@pytest.mark.deep
@settings(max_examples=25, deadline=None)
@given(ACL_SETS, st.booleans(), st.data())
def test_every_decision_stays(acls: list[Acl], everyone: bool, data: st.DataObject) -> None:
    compact = compacted_acls(authorizer(acls, everyone=everyone), NEWEST).acls
    assert len(compact) <= len(set(acls))
    kind = data.draw(st.sampled_from([ResourceType.TOPIC, ResourceType.GROUP]))
    operation = data.draw(st.sampled_from(checked_operations_by_resource_type(NEWEST)[kind]))
    for actor, action in questions(acls, [operation], [kind]):
        assert naive(compact, actor, action, everyone) is naive(acls, actor, action, everyone)
