"""Plans for declarative tools."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.model import Acl
from kafka_shim.cli import main
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.policy.plan import planned_groups
from kafka_shim.policy.plan_formats import PLAN_FORMATS, format_two_stages
from kafka_shim.protocol.api_versions import RELEASES
from tests.policy.formats.test_forms import PLAIN

OLD = """
- {principal: User:alice, allow: [Read, Write], topic: orders}
- {principal: User:eve, deny: Read, topic: orders}
"""
NEW = """
- {principal: User:alice, allow: [Read, Describe], topic: orders}
- {principal: User:bob, deny: Write, topic: team-, pattern: prefixed, host: 10.0.0.1}
"""
STRIMZI_2 = """\
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata:
  name: alice
spec:
  authorization:
    type: simple
    acls:
    - type: allow
      resource:
        type: topic
        name: orders
        patternType: literal
      operations:
      - Read
      - Describe
      host: '*'
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata:
  name: eve
spec:
  authorization:
    type: simple
    acls: []
"""
Files = tuple[str, str]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    (tmp_path / "old.yaml").write_text(OLD)
    (tmp_path / "new.yaml").write_text(NEW)
    return str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")


def applied(present: set[Acl], stage: str, form: str) -> set[Acl]:
    """Return the ACLs after a tool applied the file of this stage."""
    if not stage:
        return present
    if form.startswith("terraform"):
        gone = "\n".join(line[2:] for line in stage.splitlines()[1:] if line.startswith("#"))
        return present - set(parse_distinct_acls(gone, form)) | set(
            parse_distinct_acls(stage, form)
        )
    named = [document["metadata"]["name"] for document in yaml.safe_load_all(stage)]
    principals = {name if form == "jikkou" else f"User:{name}" for name in named}
    cut = "" if form == "jikkou" else "CN="  # Strimzi's principals of users with TLS certificates
    others = {acl for acl in present if acl.principal.replace(cut, "") not in principals}
    return others | set(parse_distinct_acls(stage, form))


@pytest.mark.parametrize("form", [form for form in PLAN_FORMATS if form != "commands"])
@settings(max_examples=30, deadline=None)
@given(old=st.sets(PLAIN, max_size=6), new=st.sets(PLAIN, max_size=6), data=st.data())
def test_applying_both_stages_leads_to_the_new_acls(
    form: str, old: set[Acl], new: set[Acl], data: st.DataObject
) -> None:
    new |= data.draw(st.sets(st.sampled_from(sorted(old, key=str)))) if old else set()
    first, then = format_two_stages(
        [step for group in planned_groups(old, new, RELEASES[-1]) for step in group],
        dict.fromkeys(old, "old.tf:1"),
        form,
    )
    between = applied(old, first, form)
    assert between == old | new
    assert applied(between, then, form) == new


def test_a_single_stage_can_be_piped_into_the_tool(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "plan", *files, "--format", "strimzi", "--stage", "2"]) == 0
    assert capsys.readouterr().out == STRIMZI_2
    assert main(["policy", "plan", *files, "--format", "terraform"]) == 0
    out = capsys.readouterr().out
    assert out.startswith('# stage 1 of 2: add the new ACLs\nresource "kafka_acl" "deny_bob_write')
    assert f'\n# # {files[0]}:3\n# resource "kafka_acl" "deny_eve_read_topic_orders" {{\n' in out
    assert out.endswith("# 2 ACLs to add, 2 to remove\n")


def test_a_principal_without_acls_is_deleted_in_jikkou(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "plan", *files, "--format", "jikkou", "--stage", "2"]) == 0
    _, eve = yaml.safe_load_all(capsys.readouterr().out)
    assert eve["metadata"] == {"name": "User:eve", "annotations": {"jikkou.io/delete": True}}
    assert eve["spec"] == {"acls": []}


def test_equal_acls_need_no_stages(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "plan", files[0], files[0], "--format", "strimzi"]) == 0
    assert capsys.readouterr().out == "# 0 ACLs to add, 0 to remove\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--format", "strimzi", "--json"), "leave out --apply, --json, --out"),
        (("--stage", "1"), "--stage requires a --format"),
    ],
)
def test_usage_errors_are_reported(
    files: Files, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["policy", "plan", *files, *words])
    assert said in capsys.readouterr().err


def test_acls_that_a_tool_cannot_express_are_reported(
    files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.yaml").write_text("- {principal: Group:x, allow: Read, topic: t}")
    with pytest.raises(SystemExit):
        main(["policy", "plan", *files, "--format", "strimzi"])
    assert "--format strimzi: `Group:x` cannot be a KafkaUser" in capsys.readouterr().err
