"""The JSON schemas accept what the commands accept and print, and reject misspelt files."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from kafka_shim.cli import main
from kafka_shim.cli.policy.schema import SCHEMAS, schema_text
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.state_file import parse_state_text
from tests.support.generated_files import outdated

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "policy"
PUBLISHED = ROOT / "docs" / "schemas"
ACLS = """\
- {principal: User:alice, allow: [Read, Write], topic: orders}
- {principal: [User:bob, User:eve], deny: all, group: team-, pattern: prefixed, host: 10.0.0.1}
- {principal: "User:*", allow: idempotent_write, cluster: }
- {principal: User:t, allow: Write, transactional_id: t}
"""
EXPECTATIONS = """\
- {principal: User:alice, may: [Read, write], topic: orders}
- {principal: User:bob, may-not: Read, topic: {like: "team-*-x"}, host: 10.0.0.0/8}
- {principal: User:alice, can: consume, topic: orders-*, group: g, release: 3.9}
- {nobody_but: [], may: Alter, cluster: }
- {only: User:alice, may: Write, topic: {literal: "a*"}, name: x}
- {no-acl: {deny: , but: [User:platform]}}
- {principal: User:s, cannot: streams, application-id: s, input: i, output: [o, p]}
- for: {team: [eu, us], verb: verbs.txt}
  principal: "User:{team}"
  may: "{verb}"
  topic: "{team}-*"
  exception: {owner: a, reason: b, until: 2099-12-31}
"""
WRONG_ACLS = [
    "- {principal: alice, allow: Read, topic: t}",
    "- {principal: User:a, allow: Fly, topic: t}",
    "- {principal: User:a, allow: Read, topik: t}",
    "- {principal: User:a, allow: Read}",
    "- {principal: User:a, topic: t}",
    "- {principal: User:a, allow: Read, topic: t, group: g}",
    "- {principal: User:a, allow: Read, topic: t, pattern: glob}",
    "acl: []",
]
WRONG_EXPECTATIONS = [
    "- {principal: User:a}",
    "- {principal: User:a, may: Read, can: consume, topic: t}",
    "- {principal: a, may: Read, topic: t}",
    "- {principal: User:a, may: Fly, topic: t}",
    "- {principal: User:a, may: Read, topik: t}",
    "- {principal: User:a, can: fly, topic: t}",
    "- {no-acl: {}}",
    "- {no-acl: {operation: Read}}",
    "- {principal: User:a, may: Read, topic: t, exception: {owner: a}}",
    "expects: []",
    "expect: []",
]

STATE = """\
users: {bob: bob-secret}
super_users: [User:admin]
topics:
  orders: {partitions: 3, replication_factor: 1, configs: {retention.ms: 60000}}
  payments:
  many: 12
acls:
  - {principal: User:alice, allow: [Write, Describe], topic: orders}
  - {principal: User:b, host: "*", resource_type: TOPIC, resource_name: t, operation: READ,
     resource_pattern_type: LITERAL, permission: ALLOW}
groups:
  billing: {orders: {0: 0, 1: 42}}
client_metrics:
  latencies: {metrics: org.apache.kafka.producer., interval.ms: 5000}
faults:
  - {match: {api: FindCoordinator}, action: {error: COORDINATOR_NOT_AVAILABLE}, trigger: {times: 2}}
"""
WRONG_STATES = [
    "user: {}",
    "users: {a: 1}",
    "super_users: [admin]",
    "topics: {t: {partition: 1}}",
    "topics: {t: 0}",
    "topics: {t: {configs: {a: []}}}",
    "acls: [{principal: User:a, allow: Read, topik: t}]",
    "groups: {g: {t: {0: -1}}}",
    "groups: {g: {t: {zero: 1}}}",
    "client_metrics: {a: 1}",
    "faults: {}",
    "faults: [{action: {errors: X}}]",
    "[]",
]


def content_of(text: str) -> Any:
    """Return a document of YAML as editors see it: dates are text."""
    content = yaml.load(text, Loader=yaml.CSafeLoader)
    return json.loads(json.dumps(content, default=date.isoformat))


def validator_of(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(schema_text(name)))


def is_valid(name: str, text: str) -> bool:
    return bool(validator_of(name).is_valid(content_of(text)))


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "schema", name]) == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))


def test_files_of_the_examples_are_valid() -> None:
    names = {"acls": "acls", "expectations": "expect"}
    paths = [path for path in EXAMPLES.rglob("*.yaml") if path.parent.name != "tools"]
    checked = [
        (name, path, content)
        for path in paths
        if isinstance(content := content_of(path.read_text()), dict)
        for name, key in names.items()
        if key in content and not (name == "acls" and "expect" in content)
    ]
    assert len(checked) >= 6
    for name, path, content in checked:
        assert validator_of(name).is_valid(content), path


@pytest.mark.parametrize(("name", "text"), [("acls", ACLS), ("expectations", EXPECTATIONS)])
def test_all_forms_are_valid(name: str, text: str, tmp_path: Path) -> None:
    assert is_valid(name, text)
    key = "acls" if name == "acls" else "expect"
    assert is_valid(name, f"{key}:\n{text}")
    (tmp_path / "file.yaml").write_text(text)
    (tmp_path / "verbs.txt").write_text("Read\n")
    (tmp_path / "acls.yaml").write_text(ACLS)
    acls = str(tmp_path / "acls.yaml")
    if name == "acls":
        assert main(["policy", "lint", str(tmp_path / "file.yaml")]) in (0, 3)
    else:
        assert main(["policy", "test", str(tmp_path / "file.yaml"), "--acls", acls]) in (0, 3)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("acls", text) for text in WRONG_ACLS),
        *(("expectations", text) for text in WRONG_EXPECTATIONS),
    ],
)
def test_what_the_commands_reject_is_invalid(name: str, text: str, tmp_path: Path) -> None:
    assert not is_valid(name, text)
    (tmp_path / "file.yaml").write_text(text)
    (tmp_path / "acls.yaml").write_text(ACLS)
    path = str(tmp_path / "file.yaml")
    if "alice, allow" in text:  # Kafka accepts such a principal in some releases
        return
    words = ["lint", path] if name == "acls" else ["test", path, "--acls", f"{tmp_path}/acls.yaml"]
    assert main(["policy", *words]) == 2


@pytest.mark.parametrize("text", [STATE, "", "topics: [a, b]", "users:"])
def test_state_files_of_all_forms_are_valid(text: str) -> None:
    assert is_valid("state", text)
    parse_state_text(text, "state.yaml")


@pytest.mark.parametrize("text", WRONG_STATES)
def test_a_state_file_that_the_broker_rejects_is_invalid(text: str) -> None:
    assert not is_valid("state", text)
    with pytest.raises(ConfigError):
        parse_state_text(text, "state.yaml")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("test", ["test", "{expectations}", "--acls", "{acls}", "--json"]),
        ("diff", ["diff", "{acls}", "{new}", "--json"]),
        ("lint", ["lint", "{acls}", "{new}", "--json"]),
        ("matrix", ["matrix", "{acls}", "--json"]),
        ("check", ["check", "no-new-access", "{acls}", "{new}", "--json"]),
        ("relation", ["equivalent", "{acls}", "{acls}", "--json"]),
        ("relation", ["implies", "{acls}", "{new}", "--json"]),
        ("relation", ["disjoint", "{acls}", "{new}", "--json"]),
    ],
)
def test_what_commands_print_is_valid(
    name: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acls.yaml").write_text(ACLS)
    (tmp_path / "new.yaml").write_text(ACLS.replace("orders", "ord*").replace("10.0.0.1", '"*"'))
    (tmp_path / "expectations.yaml").write_text(EXPECTATIONS)
    (tmp_path / "verbs.txt").write_text("Read\n")
    (tmp_path / "new.yaml").write_text(ACLS.replace("orders", "other"))
    paths = {key: f"{tmp_path}/{key}.yaml" for key in ("acls", "new", "expectations")}
    assert main(["policy", *(word.format(**paths) for word in words)]) in (0, 3)
    printed = json.loads(capsys.readouterr().out)
    assert printed
    validator_of(name).validate(printed)


def test_a_saved_plan_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "acls.yaml").write_text(ACLS)
    plan = tmp_path / "plan.json"
    assert main(["policy", "compact", f"{tmp_path}/acls.yaml", "--plan", str(plan)]) == 0
    capsys.readouterr()
    validator_of("plan").validate(json.loads(plan.read_text()))


@pytest.mark.parametrize("name", sorted(set(SCHEMAS) - {"state"}))
def test_the_published_schemas_are_current(name: str) -> None:
    path = PUBLISHED / f"policy-{name}.json"
    assert path.read_text() == schema_text(name), outdated(f"docs/schemas/policy-{name}.json")


def test_the_published_schema_of_state_files_is_current() -> None:
    text = (PUBLISHED / "state.json").read_text()
    assert text == schema_text("state"), outdated("docs/schemas/state.json")


def test_no_other_schema_is_published() -> None:
    assert len(list(PUBLISHED.iterdir())) == len(SCHEMAS)
