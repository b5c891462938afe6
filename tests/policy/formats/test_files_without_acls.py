"""In a folder of ACL files, other files are skipped unless they may contain ACLs."""

import json

import pytest

from kafka_shim.policy.formats import (
    detect_format,
    parse_distinct_acls,
    resources_without_acls,
)
from kafka_shim.policy.formats.files_without_acls import (
    describe_foreign_file,
)
from tests.policy.formats.samples import refusal

CRD = "CustomResourceDefinition"
AIVEN = "apiVersion: kafka.aiven.io/v1\n"
KAFKA = """\
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: main}
spec:
  kafka:
    authorization: {type: simple, superUsers: [CN=admin]}
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata: {name: orders}
spec: {partitions: 3, config: {cleanup.policy: compact}}
"""
USER = """\
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata: {name: a}
spec:
  authorization:
    type: simple
    acls: [{resource: {type: topic, name: t}, operations: [Read]}]
"""
ACL = """\
resource "kafka_acl" "a" {
  resource_name       = "t"
  resource_type       = "Topic"
  acl_principal       = "User:a"
  acl_host            = "*"
  acl_operation       = "Read"
  acl_permission_type = "Allow"
}
"""


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("variables.tf", 'variable "x" {\n  default = "a" # kafka_acl\n}\n', "variable"),
        ("outputs.tf", "", "nothing in it"),
        (
            "main.tf",
            'terraform {}\nprovider "kafka" {}\nresource "kafka_topic" "t" { name = "t" }\n',
            "terraform, provider, kafka_topic",
        ),
        ("net.tf", 'resource "aws_network_acl" "a" { vpc_id = aws_vpc.a.id }\n', "aws_network_acl"),
        ("local.tf", 'module "topics" {\n  source = "./topics"\n}\n', "module"),
        ("kafka.yaml", KAFKA, "Kafka, KafkaTopic"),
        ("topics.yaml", "topics: {orders: {partitions: 3}}\n", "nothing about ACLs"),
        ("role.yaml", "apiVersion: v1\nkind: Role\nrules: [{verbs: [create]}]\n", "Role"),
        ("values.yaml", "replicas: 3\nimage: {tag: '1'}\n", "nothing about ACLs"),
        ("policy.yaml", "acls: [acls]\nexpect:\n- {principal: User:a, may: Read}", "expectations"),
        ("crd.yaml", f"kind: {CRD}\nspec: {{acls: {{}}}}", CRD),
        ("package.json", '{"name": "x", "version": "1"}', "nothing about ACLs"),
        (
            "state.json",
            '{"terraform_version": "1", "resources": [{"type": "aws_s3_bucket", "acl": "x"}]}',
            "no resources of ACLs",
        ),
        ("topics.csv", "name,partitions\nt,3\n", "other columns"),
        (
            "topics.sh",
            "# not kafka-acls\nkafka-topics --create\n",
            "no kafka-acls command",
        ),
        ("notes.txt", "Ask the platform team for ACLs.\n", "no list of ACLs"),
    ],
)
def test_files_without_acls_are_ignored(name: str, text: str, said: str) -> None:
    assert describe_foreign_file(text, name) == said


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("acls.tf", ACL),
        ("other.tf", 'resource "aiven_kafka_acl" "a" {}'),
        ("other.tf", 'resource "redpanda_acl" "a" {}'),
        ("module.tf", 'module "a" {\n  source = "git::https://example.com/a"\n}\n'),
        ("module.tf", 'module "a" {\n  source = var.a\n}\n'),
        ("module.tf", 'module "a" {\n  source = "./a"\n  for_each = var.teams\n}\n'),
        (
            "user.tf",
            'resource "manifest" "a" {\n  manifest = { kind = "KafkaUser" }\n}\n',
        ),
        ("user.tf", f'resource "kubectl_manifest" "a" {{\n  yaml_body = <<EOT\n{USER}EOT\n}}\n'),
        ("run.tf", 'resource "null_resource" "a" {\n  command = "kafka-acls --add"\n}\n'),
        ("account.tf", 'resource "conduktor_account" "a" {\n  spec = { acls = [x] }\n}\n'),
        ("broken.tf", 'resource "a" "b" {\n'),
        ("broken.tf", "hello\n"),
        ("terragrunt.tf", "include {}\n"),
        ("a.tf.json", '{"resource": {"kafka_acl": {"a": {}}}}'),
        ("a.tf.json", '{"resource": {}, "module": {"a": {"source": "x"}}}'),
        ("state.json", '{"terraform_version": "1", "resources": [{"type": "aiven_kafka_acl"}]}'),
        ("users.yaml", KAFKA + USER),
        ("map.yaml", f"kind: ConfigMap\napiVersion: v1\ndata: {{a: {json.dumps(USER)}}}\n"),
        ("compose.yml", "services: {init: {command: 'bash -c \"kafka-acls --add\"'}}\n"),
        ("other.yaml", "acl:\n- {principal: User:a}\n"),
        ("other.yaml", "teams:\n- principal: User:a\n  topics: [t]\n"),
        ("other.yaml", "users: {a: {kafka_acls: []}}\n"),
        ("other.yaml", "apiVersion: v1\nkind: Acme\nspec: {topicAcls: []}\n"),
        ("ksm.yaml", "users: {CN=a: {topics: {'*': [All]}, groups: {g: [Read]}}}\n"),
        ("gitops.yaml", "services: {a: {type: application, produces: [t]}}\n"),
        ("aiven.yaml", f"{AIVEN}kind: Entry\nspec: {{permission: ADMIN, topic: '*'}}\n"),
        ("jikkou.yaml", f"{AIVEN}kind: List\nspec: {{users: [{{principal: User:a}}]}}\n"),
        ("list.yaml", "- a\n"),
        ("broken.yaml", "a: [\n"),
        ("template.yaml", "{{ if .Values.acls }}\na: b\n{{ end }}\n"),
        ("empty.yaml", ""),
        ("comment.yaml", "# acls\n"),
        ("nodes.json", '{"/kafka-acl-extended/prefixed/Topic/t": "{}"}'),
        ("acls.csv", "KafkaPrincipal,ResourceType\n"),
        ("acls.csv", "principal;topic\n"),
        ("acls.sh", "docker exec kafka kafka-acls --add\n"),
        ("acls.txt", "User:a may read t\n"),
        ("any.acls", "hello"),
    ],
)
def test_files_that_may_have_acls_are_not_ignored(name: str, text: str) -> None:
    assert describe_foreign_file(text, name) is None


def test_resources_of_other_kinds_beside_acls() -> None:
    assert len(parse_distinct_acls(KAFKA + USER)) == 1
    assert resources_without_acls(KAFKA + USER, "strimzi") == [
        "Kafka main",
        "KafkaTopic orders",
    ]
    assert resources_without_acls(ACL + 'resource "kafka_topic" "t" {}\n', "terraform") == [
        "kafka_topic"
    ]
    assert resources_without_acls("acls: []\n", "yaml") == []


def test_acls_of_another_format_are_reported() -> None:
    other = "---\nkind: KafkaPrincipalAuthorization\nmetadata: {name: User:b}\nspec: {acls: []}\n"
    assert (
        "unknown kind `KafkaUser`: expected KafkaPrincipalAuthorization or KafkaPrincipalRole; its"
        in refusal(USER + other)
    )
    text = ACL + 'resource "confluent_kafka_acl" "b" {}\n'
    assert (
        "line 9: resource confluent_kafka_acl b: this type of ACLs cannot be combined"
        in refusal(text)
    )
    text = ACL + 'module "b" {\n  source = "x/y/z"\n}\n'
    assert "line 9: module b: its ACLs cannot be determined; give the output" in refusal(text)


def test_users_of_jikkou_have_no_acls() -> None:
    user = "---\napiVersion: kafka.jikkou.io/v1\nkind: KafkaUser\nmetadata: {name: b}\n"
    assert len(parse_distinct_acls(USER + user + "spec: {authentications: []}\n")) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("projects:\n- {name: a, consumers: [{principal: User:a}]}\n", "a topology of JulieOps"),
        ("services: {a: {type: application}}\n", "a state file of kafka-gitops"),
    ],
)
def test_tools_that_derive_acls_are_known(text: str, said: str) -> None:
    assert f"{said}: it derives ACLs by its own rules; give what" in refusal(text)


def test_the_other_provider_may_be_named_in_a_comment() -> None:
    text = '# resource "kafka_acl" was before\n' + ACL.replace("kafka_acl", "confluent_kafka_acl")
    assert detect_format(text) == "terraform-confluent"
