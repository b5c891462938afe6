"""Every format reports the line number of each ACL and of each error."""

import json
import re

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats import FORMATS, format_acls_losslessly, parse_acls_with_lines
from kafka_shim.policy.formats.documents import (
    MappingWithLines,
    line_of_key,
    load_json_with_lines,
)
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

YAML = """\
# a comment

acls:
- {principal: User:a, allow: [Read, Write], topic: t}
- principal: User:b
  topic:
  - t
  - u
  allow:
  - Read
  # and
  - Alter
- {"principal": "User:c", "resource_type": "TOPIC", "resource_name": "t", "operation": "READ"}
"""
STRIMZI = """\
kind: KafkaUser
metadata:
  name: a
spec:
  authorization:
    type: simple
    acls:
    - resource:
        type: topic
        name: t
      operations:
      - Read
      - Write
    - {resource: {type: cluster}, operation: Alter}
---
kind: KafkaUser
metadata: {name: b}
spec: {authorization: {type: simple, acls: [
  {resource: {type: group, name: g}, operations: [Read, Delete]}]}}
"""
JIKKOU = """\
kind: KafkaPrincipalRole
metadata: {name: r}
spec:
  acls:
  - {type: ALLOW, operations: [READ], resource: {type: topic, pattern: t, patternType: LITERAL}}
---
kind: KafkaPrincipalAuthorization
metadata: {name: "User:a"}
spec:
  roles: [r]
  acls:
  - type: ALLOW
    resource: {type: topic, pattern: t, patternType: LITERAL}
    operations:
    - WRITE
"""
TERRAFORM = """\
/* a
comment */
resource "kafka_acl" "a" {
  resource_name = "t"
  resource_type = "Topic"
  acl_principal = "User:a"
  acl_host = "*"
  acl_operation = "Read"
  acl_permission_type = "Allow"
}

resource "kafka_acl" "b" {
  resource_name = "t"
  resource_type = "Topic"
  acl_principal = "User:a"
  acl_host = "*"
  acl_operation = "Write"
  acl_permission_type = "Allow"
}
"""
LIST = """\
Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)`:
\t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)

\t(principal=User:a, host=*, operation=WRITE, permissionType=ALLOW)
"""
COMMANDS = """\
#!/bin/sh
kafka-acls --add --allow-principal User:a --operation Read \\
    --topic t
kafka-acls --add --allow-principal User:a --operation Write --topic t
"""
CSV = """\
KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host
User:a,Topic,LITERAL,t,Read,Allow,*

User:a,Topic,LITERAL,t,Write,Allow,*
"""
ZOOKEEPER = """\
{
  "/kafka-acl/Topic/t": {"version": 1, "acls": [
    {"principal": "User:a", "permissionType": "Allow", "operation": "Read", "host": "*"},
    {"principal": "User:a", "permissionType": "Allow", "operation": "Write", "host": "*"}
  ]},
  "/kafka-acl/Topic/u":
    "{\\"version\\":1,\\"acls\\":[{\\"principal\\":\\"User:a\\",\\"permissionType\\":\\"Allow\\",\\"operation\\":\\"All\\",\\"host\\":\\"*\\"}]}"
}
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (YAML, [("READ", 4), ("WRITE", 4), *[("READ", 10), ("ALTER", 12)] * 2, ("READ", 13)]),
        (STRIMZI, [("READ", 12), ("WRITE", 13), ("ALTER", 14), ("READ", 19), ("DELETE", 19)]),
        (JIKKOU, [("WRITE", 15), ("READ", 5)]),
        (TERRAFORM, [("READ", 3), ("WRITE", 12)]),
        (LIST, [("READ", 2), ("WRITE", 4)]),
        (COMMANDS, [("READ", 2), ("WRITE", 4)]),
        (CSV, [("READ", 2), ("WRITE", 4)]),
        (ZOOKEEPER, [("READ", 3), ("WRITE", 4), ("ALL", 6)]),
    ],
    ids=["yaml", "strimzi", "jikkou", "terraform", "list", "commands", "csv", "zookeeper"],
)
def test_acls_have_their_line_numbers(text: str, lines: list[tuple[str, int]]) -> None:
    assert [(acl.operation.name, line) for acl, line in parse_acls_with_lines(text)] == lines
    for number, (operation, line) in enumerate(lines):
        wrong = _misspelt(text, line, operation)
        if wrong is not None:
            with pytest.raises(AclTextError, match=r"`\w*Xx\w*`") as caught:
                parse_acls_with_lines(wrong)
            assert caught.value.line == line, number


def _misspelt(text: str, line: int, operation: str) -> str | None:
    """Return the text with the operation on this line misspelt; None if the line has none."""
    lines = text.split("\n")
    found = re.sub(rf"\b({operation})\b", "Xx", lines[line - 1], count=1, flags=re.IGNORECASE)
    if found == lines[line - 1]:
        return None
    return "\n".join([*lines[: line - 1], found, *lines[line:]])


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_each_written_line_names_its_operation(form: str) -> None:
    what = (ResourceType.TOPIC, "t", PatternType.LITERAL, "User:a", "*")
    acls = [Acl(*what, op, Permission.ALLOW) for op in (Operation.READ, Operation.WRITE)]
    text = format_acls_losslessly(acls, form)
    lines = text.split("\n")
    depth = {"terraform": 7, "terraform-confluent": 7, "json": 7, "zookeeper": 4}.get(form, 1)
    for acl, line in parse_acls_with_lines(text, form):
        there = "\n".join(lines[line - 1 : line - 1 + depth])
        assert acl.operation.name in there.upper(), form


def test_objects_and_keys_of_json_have_line_numbers() -> None:
    text = '{"a": "}{\\"\\n", "b"\n:\n [1, {"c": {}}],\n"e": {\n"d": 1}}'
    found = load_json_with_lines(text)
    assert found == json.loads(text)
    assert (
        found.line,
        line_of_key(found, "b"),
        line_of_key(found, "e"),
    ) == (1, 1, 4)
    assert found["b"][1].line == 3
    assert line_of_key(found["e"], "d") == 5


@given(st.recursive(st.text() | st.none(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
@settings(max_examples=60)
def test_json_is_read_as_by_the_standard_library(value: object) -> None:
    found = load_json_with_lines(json.dumps(value, indent=1))
    assert found == value
    assert type(found) is (MappingWithLines if isinstance(value, dict) else type(value))


@pytest.mark.parametrize("text", ['{"a": 1}}', "}", '"a": {', "{", '{"a" 1}', "{}{", '{"a": {]}'])
def test_invalid_json_is_reported(text: str) -> None:
    with pytest.raises(AclTextError, match=r"^line 1: not JSON: "):
        load_json_with_lines(text)
