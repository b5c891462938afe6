"""All errors of a text are reported at once, each with its line."""

import json

import pytest

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats import parse_distinct_acls

RULE = "- {{principal: User:a, allow: {}, topic: t}}\n"
LIST = "Current ACLs for resource `Topic:t`:\n"
ENTRY = "\tUser:a has Allow permission for operations: {} from hosts: *\n"
OBJECT = {"principal": "User:a", "resource_type": "TOPIC", "resource_name": "t"}
STRIMZI = """\
kind: KafkaUser
metadata: {name: a}
spec:
  authorization:
    type: simple
    acls:
    - {resource: {type: topic, name: t}, operations: [Raed]}
    - {resource: {type: topic, name: t}, operations: [Read]}
    - {resource: {type: topik, name: t}, operations: [Read]}
---
kind: KafkaUser
metadata: {name: b}
spec: {autorization: {}, quota: {}}
"""
JIKKOU = """\
kind: KafkaPrincipalAuthorization
metadata: {name: User:a}
spec:
  roles: [none]
  acls:
  - {type: ALLOW, operations: [RAED], resource: {type: topic, pattern: t, patternType: LITERAL}}
  - {type: ALLOW, operations: [READ], resource: {type: topic, pattern: t, patternType: MATCH}}
"""
CSV = """\
KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host
User:a,Topic,LITERAL,t,Raed,Allow,*
User:a,Topic,LITERAL,t,Read,Allow,*
User:a,Topic,LITERAL,t
"""
TERRAFORM = """\
resource "kafka_acl" "a" {
  resource_name       = "t"
  resource_type       = "Topic"
  acl_principal       = var.a
  acl_host            = "*"
  acl_operation       = "Read"
  acl_permission_type = "Allow"
}
resource "kafka_acl" "b" {
  resource_name       = "t"
  resource_type       = "Topic"
  acl_principal       = "User:b"
  acl_host            = "*"
  acl_operation       = "Raed"
  acl_permission_type = "Allow"
  acl_opration        = "Read"
}
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (RULE.format("Raed") + RULE.format("Read") + RULE.format("Wirte"), [1, 3]),
        ("- {principal: User:a, alow: Read, topik: t}\n", [1, 1]),
        (LIST + ENTRY.format("Raed") + ENTRY.format("Read") + "hello\n", [2, 4]),
        ("kafka-acls --add --topic t\nkafka-acls --remove\n./grant-acls.sh\n", [1, 2, 3]),
        (json.dumps([OBJECT, OBJECT | {"operation": "READ"}, 5], indent=0), [2, 13]),
        (STRIMZI, [7, 9, 13]),
        (JIKKOU, [6, 7, 4]),
        (CSV, [2, 4]),
        (TERRAFORM, [4, 16, 14]),
    ],
    ids=["yaml", "keys", "list", "commands", "json", "strimzi", "jikkou", "csv", "terraform"],
)
def test_all_mistakes_are_reported_at_once(text: str, lines: list[int]) -> None:
    with pytest.raises(AclTextError) as caught:
        parse_distinct_acls(text)
    assert [error.line for error in (caught.value, *caught.value.further_errors)] == lines


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[\n{"principal": "User:a"\n"x": 1}]', "line 3: not JSON: "),
        ('{"acls": [', "line 1: not JSON: "),
        ("acls: [\n", "line 2: not YAML"),
        (
            f"WARN x\n{LIST}hello\n",
            "line 1: not a line that kafka-acls --list prints: `WARN",
        ),
        ("acls:\n", "line 1: there is nothing below `acls`; write `acls: []` if there are none"),
        ("\tUser:a has Allow permission", "line 1: not in a known format of ACLs (yaml, json"),
    ],
)
def test_the_error_names_the_expected_format(text: str, said: str) -> None:
    with pytest.raises(AclTextError) as caught:
        parse_distinct_acls(text)
    assert said in str(caught.value)
