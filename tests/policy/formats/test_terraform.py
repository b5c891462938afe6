"""Resources of Terraform, as people write them."""

import json
import re

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.hcl import terraform_resource_name
from kafka_shim.protocol.enums import Operation, PatternType, Permission
from tests.policy.formats.samples import acls_of, refusal, rules
from tests.support.acls import make_acl

TERRAFORM = """\
variable "host" { default = "*" } # { "
/* resource "kafka_acl" "old" { */
resource "kafka_topic" "orders" {
  name = "orders"
}
resource "kafka_acl" "a" {
  resource_name       = "say \\"$${x}\\""
  resource_type       = "TransactionalID"   // as the provider spells it
  acl_principal       = "User:a"
  acl_host            = %s
  acl_operation       = "IdempotentWrite"
  acl_permission_type = "Deny"
  lifecycle { prevent_destroy = true }
  depends_on          = [kafka_topic.orders]
}
"""


def test_resources_of_terraform() -> None:
    expected = 'TRANSACTIONAL_ID|say "${x}"|LITERAL|User:a|*|IDEMPOTENT_WRITE|DENY'
    assert rules(TERRAFORM % '"*"') == [expected]


@pytest.mark.parametrize(
    "value", ["var.host", '"${var.host}"', '"a" == "b" ? "x" : "y"', "<<EOT\n*\nEOT"]
)
def test_expressions_of_terraform_are_not_evaluated(value: str) -> None:
    assert "resource a: `acl_host` is an expression; give the output" in refusal(TERRAFORM % value)


def test_invalid_terraform_resources_are_reported() -> None:
    text = TERRAFORM % '"*"'
    assert "`count` is an expression" in refusal(
        text.replace("  lifecycle", "  count = var.n\n  lifecycle")
    )
    assert "`acl_principal` is missing" in refusal(
        text.replace('  acl_principal       = "User:a"\n', "")
    )
    assert "a `}` is missing" in refusal(text.rstrip().removesuffix("}"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (TERRAFORM % '"*"', "resource_pattern_type_filer"),
        ('resource "confluent_kafka_acl" "a" {\n  kafka_cluster { id = "x" }\n}\n', "hosts"),
    ],
)
def test_misspelt_attributes_are_reported_with_their_line(text: str, name: str) -> None:
    line = text.count("\n")
    misspelt = text.removesuffix("}\n") + f'  {name} = "Prefixed"\n}}\n'
    said = f"line {line}: resource a: unknown key `{name}`"
    assert refusal(misspelt).startswith(said)


def test_an_invalid_value_is_reported_with_its_line() -> None:
    text = TERRAFORM % '"*"'
    assert refusal(text.replace("IdempotentWrite", "Idempotent")).startswith("line 11: resource a:")
    assert refusal(TERRAFORM % "var.host").startswith("line 10: resource a: `acl_host`")


@given(acls_of(st.sampled_from(["a", "a_b", "a-b", "a.b", "A", "*", "1", "from", "topic_a"])))
def test_a_resource_is_called_after_its_acl_alone(acls: list[Acl]) -> None:
    names = {terraform_resource_name(acl) for acl in acls}
    assert len(names) == len(acls)
    assert all(re.fullmatch(r"[a-z][\w-]*", name) for name in names)


def test_names_of_resources_are_readable() -> None:
    acl = make_acl(Operation.READ, "orders_eu")
    assert terraform_resource_name(acl) == "allow_alice_read_topic_orders_eu"
    assert terraform_resource_name(replace(acl, pattern_type=PatternType.PREFIXED)).endswith(
        "_topics_orders_eu"
    )
    assert (
        terraform_resource_name(replace(acl, resource_name="*")) == "allow_alice_read_every-topic"
    )
    host = terraform_resource_name(replace(acl, permission=Permission.DENY, host="10.0.0.1"))
    assert re.fullmatch(r"deny_alice_read_topic_orders_eu_from_10_0_0_1_[0-9a-f]{6}", host)


def test_an_attribute_that_does_not_matter_may_be_an_expression() -> None:
    text = (TERRAFORM % '"*"').replace("[kafka_topic.orders]", 'var.a == "b" ? [] : [x.y]')
    assert len(rules(text)) == 1


def test_the_output_of_terraform_show_is_read() -> None:
    values = {
        "principal": "User:sa-1",
        "host": "*",
        "resource_type": "GROUP",
        "resource_name": "g",
        "pattern_type": "PREFIXED",
        "operation": "READ",
        "permission": "ALLOW",
    }
    resource = {"address": "confluent_kafka_acl.a", "type": "confluent_kafka_acl", "values": values}
    shown = {"values": {"root_module": {"child_modules": [{"resources": [resource]}]}}}
    assert rules(json.dumps(shown)) == ["GROUP|g|PREFIXED|User:sa-1|*|READ|ALLOW"]
    state = {
        "resources": [
            {"type": resource["type"], "name": "a", "instances": [{"attributes": values}]}
        ]
    }
    assert rules(json.dumps(state)) == ["GROUP|g|PREFIXED|User:sa-1|*|READ|ALLOW"]


def test_a_resource_without_a_name_is_named_by_its_type() -> None:
    state = {"resources": [{"type": "kafka_acl", "values": 1}]}
    assert "kafka_acl: the values must be an object" in refusal(json.dumps(state))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('acl_principal = "User:b"', "`acl_principal` is there twice"),
        ('provisioner "local-exec" { command = "kafka-acls --add" }', "it may contain ACLs"),
    ],
)
def test_resources_with_two_meanings_are_rejected(line: str, said: str) -> None:
    text = (TERRAFORM % '"*"').replace("  lifecycle", f"  {line}\n  lifecycle")
    assert said in refusal(text)


@pytest.mark.parametrize("other", ["confluent_kafka_acl", "aiven_kafka_acl"])
def test_a_state_with_acls_of_several_providers_is_rejected(other: str) -> None:
    state: dict[str, list[dict[str, object]]] = {
        "resources": [
            {"mode": "managed", "type": "kafka_acl", "instances": []},
            {"mode": "managed", "type": other, "instances": [{"attributes": {}}]},
        ]
    }
    assert f"ACLs of the type {other} cannot be combined" in refusal(json.dumps(state), "terraform")
    state["resources"][1]["mode"] = "data"
    assert rules(json.dumps(state), "terraform") == []


@pytest.mark.parametrize("text", ["<<A-B\r\n}\r\nA-B\r\n", "<<-A\n  }\n  A\n", "<<A\nA\n"])
def test_heredocs_hide_what_is_in_them(text: str) -> None:
    other = f'resource "kafka_topic" "t" {{\n  name = {text}}}\n'
    assert len(rules(other + TERRAFORM % '"*"')) == 1


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ('"$${x}"', "${x}"),
        ('"%%{x}"', "%{x}"),
        ('"$$${x}"', "$${x}"),
        ('"%%%{x}"', "%%{x}"),
        ('"$$"', "$$"),
        ('"%$${x}"', "%${x}"),
        (r'"a\tb"', "a\tb"),
        (r'"\u00e9\U0001F600"', "é\U0001f600"),
        ('"e\u0301\u212b"', "\u00e9\u00c5"),  # normalized, as all texts of Terraform
        ('"a # b" // "', "a # b"),
        ('/* "y" */ "x" /* } */', "x"),
        (r'"\"" # "', '"'),
        ('"}"', "}"),
        (r'"a\qb"', None),
        (r'"CN=a\,O=b"', None),
        (r'"\u00"', None),
        ('"$%{ if false }x%{ endif }"', None),
        ('"$%{ if false }x$%{ endif }"', None),
        ('"${join("-", ["a"])}"', None),
        ('"a${"b"}c"', None),
        ('("x")', None),
        ("<<EOT\nx\nEOT", None),
        ("123", None),
        ("null", None),
    ],
)
def test_values_are_those_of_terraform_or_rejected(value: str, name: str | None) -> None:
    """Compared with `terraform plan` (1.11.4) and the provider Mongey/kafka (0.13.1)."""
    text = (TERRAFORM % '"*"').replace('"say \\"$${x}\\""', value)
    if name is None:
        assert refusal(text)
    else:
        assert rules(text) == [f"TRANSACTIONAL_ID|{name}|LITERAL|User:a|*|IDEMPOTENT_WRITE|DENY"]


@pytest.mark.parametrize(
    "text",
    [
        'a ${"{"} b',
        'a ${"}"} b',
        '${join("}", ["{", "\\""])}',
        '${"${"{"}"}',
        '%{ if "{" == "}" }{%{ endif }',
        "$${",
    ],
)
def test_quotes_in_expressions_hide_no_resource(text: str) -> None:
    """Terraform makes the resource; a bracket in a text neither opens nor closes a block."""
    other = f'locals {{\n  t = "{text}"\n}}\nlocals {{\n  u = "{{ }} ${{"}}"}}"\n}}\n'
    assert len(rules(other + TERRAFORM % '"*"')) == 1


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("TransactionalID", "TransactionalId"),
        ("TransactionalID", "TRANSACTIONAL_ID"),
        ("IdempotentWrite", "IDEMPOTENT_WRITE"),
        ("IdempotentWrite", "idempotentwrite"),
        ("IdempotentWrite", "CreateTokens"),
        ("TransactionalID", "User"),
        ("Deny", "deny"),
        ("Deny", "DENY"),
        ("Deny", " Deny"),
        ("Deny", "Any"),
    ],
)
def test_words_that_the_provider_refuses_are_rejected(word: str, other: str) -> None:
    """Its functions `stringTo...` (0.5.4 to 0.13.1) compare with case; the plan accepts all."""
    text = (TERRAFORM % '"*"').replace(f'"{word}"', f'"{other}"')
    assert re.match(r"line \d+: (?:resource a: |kafka_acl has no )", refusal(text))


@pytest.mark.parametrize("other", ["Topic", "topic"])
def test_words_of_another_provider_are_rejected(other: str) -> None:
    text = (
        'resource "confluent_kafka_acl" "a" {\n  resource_type = "TOPIC"\n  resource_name = "t"\n'
        '  pattern_type = "LITERAL"\n  principal = "User:sa-1"\n  host = "*"\n'
        '  operation = "READ"\n  permission = "DENY"\n}\n'
    )
    assert rules(text) == ["TOPIC|t|LITERAL|User:sa-1|*|READ|DENY"]
    said = f"line 2: resource a: `resource_type` is `{other}`, but the provider expects `TOPIC`"
    assert refusal(text.replace("TOPIC", other)) == said


@pytest.mark.parametrize(
    "command", ["rpk security acl create", "confluent kafka acl create", "./create-acls.sh"]
)
def test_commands_of_provisioners_may_add_acls(command: str) -> None:
    provisioner = f'provisioner "local-exec" {{\n    command = "{command}"\n  }}'
    other = f'resource "terraform_data" "d" {{\n  {provisioner}\n}}\n'
    assert "resource terraform_data d: it may contain ACLs" in refusal(other + TERRAFORM % '"*"')


ALIAS = "  provider = kafka.prod\n  lifecycle"


@pytest.mark.parametrize(
    ("first", "second"), [("  lifecycle", ALIAS), (ALIAS, ALIAS.replace("prod", "dev"))]
)
def test_acls_of_several_clusters_are_not_mixed(first: str, second: str) -> None:
    one = (TERRAFORM % '"*"').replace("  lifecycle", first)
    other = (TERRAFORM % '"10.0.0.1"').replace('"a" {', '"b" {').replace("  lifecycle", second)
    assert "resource b: it is for another cluster than a" in refusal(one + other)
    assert len(rules(one + other.replace(second, first))) == 2


def test_acls_of_several_clusters_of_confluent_are_not_mixed() -> None:
    values = {"resource_type": "TOPIC", "resource_name": "t", "pattern_type": "LITERAL"}
    values |= {"principal": "User:sa-1", "host": "*", "operation": "READ", "permission": "DENY"}
    acl = "".join(f'  {key} = "{value}"\n' for key, value in values.items())
    resource = 'resource "confluent_kafka_acl" "%s" {\n' + acl
    cluster = '  kafka_cluster {\n    id = "%s"\n  }\n}\n'
    text = resource % "a" + cluster % "lkc-1" + resource % "b" + cluster
    assert len(rules(text % "lkc-1")) == 1
    assert "resource b: it is for another cluster than a" in refusal(text % "lkc-2")
    resources = [
        {"type": "confluent_kafka_acl", "values": {**values, "kafka_cluster": [{"id": each}]}}
        for each in ("lkc-1", "lkc-2")
    ]
    assert "another cluster" in refusal(json.dumps({"values": {"resources": resources}}))
