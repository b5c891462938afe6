"""Files that are not ACL files are named by what they are."""

from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.policy.formats import parse_distinct_acls
from tests.policy.formats.samples import refusal

COMPOSE = "services:\n  broker:\n    image: example/kafka\n"
PLAYBOOK = "- hosts: brokers\n  tasks:\n  - name: x\n    apt: {name: y}\n"
NODE = (
    '{"version":1,"acls":[{"principal":"User:a","permissionType":"Allow","operation":"Read",'
    '"host":"*"}]}'
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("text", "name"),
    [
        (COMPOSE, "a Docker Compose file"),
        (f"version: '3'\nnetworks: {{}}\n{COMPOSE}", "a Docker Compose file"),
        (f"# a comment\nname: x\n{COMPOSE}", "a Docker Compose file"),
        ("services: {a: {build: .}, b: {extends: a}}\n", "a Docker Compose file"),
        ('{"services": {"a": {"container_name": "b"}}}', "a Docker Compose file"),
        (PLAYBOOK, "an Ansible playbook"),
        ("---\n- name: a\n  hosts: all\n  roles: [kafka]\n", "an Ansible playbook"),
        ("- import_playbook: x.yml\n", "an Ansible playbook"),
        ("- name: a\n  ansible.builtin.apt: {name: y}\n", "a list of Ansible tasks"),
        ("- name: a\n  shell: ls\n  register: x\n", "a list of Ansible tasks"),
        ("apiVersion: apps/v1\nkind: Deployment\n", "a Kubernetes resource of the kind Deploy"),
        ("on: push\njobs: {a: {steps: []}}\n", "a GitHub workflow"),
        ("services: {a: {type: application}}\n", "a state file of kafka-gitops"),
        ("services: {a: {env_file: .env}, b: null}\n", "a Docker Compose file"),
        ("projects: []\ncontext: a\n", "a topology of JulieOps"),
        (NODE, "a ZooKeeper node without its path"),
        (NODE.replace(",", ",\n"), "a ZooKeeper node without its path"),
        (NODE.replace('"version"', '"x"'), "a ZooKeeper node without its path"),
        ('{"acls": [], "version": 1}', "a ZooKeeper node without its path"),
        ("bootstrap.servers=b:9092\nsecurity.protocol=SSL\n", "a properties file"),
        ("# a\n\nlisteners = PLAINTEXT://:9092\n", "a properties file"),
        ("<project>\n</project>\n", "XML"),
        ("# x\nFROM example/kafka\nRUN ls\n", "a Dockerfile"),
        ('module "a" {\n  source = "./a"\n}\n', "the module ./a may have ACLs"),
        ('variable "a" {\n}\nmodule "a" {\n  source = "a/b/c"\n}\n', "module a: its ACLs cannot"),
        ('resource "redpanda_acl" "a" {\n}\n', "resource redpanda_acl a: ACLs of this provider"),
    ],
)
def test_other_files_are_named(text: str, name: str, bom: str, end: str) -> None:
    assert name in refusal(bom + text.replace("\n", end))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\xfe\xed\xfe\xed\0\0\0\2\0", "a Java keystore (JKS)"),
        (b"\xce\xce\xce\xce\0\0\0\2\0", "a Java keystore (JCEKS)"),
        (b"\x30\x82\x0a\x01\x02\x01\x03", "a keystore or key in binary form"),
        (b"\x1f\x8b\x08\0", "compressed with gzip"),
        (b"PK\x03\x04\x14\0\xff", "a zip or jar file"),
        ("acls: []".encode("utf-16"), "text in UTF-16"),
    ],
)
def test_binary_files_are_named(
    content: bytes, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    for words in (["acls", "--acls", str(path), "--format", "yaml"], ["policy", "lint", str(path)]):
        assert main(words) != 0
        assert f"not a text file in UTF-8, but {name}" in capsys.readouterr().err


def test_acls_beside_other_keys_stay_acls() -> None:
    text = "services: {a: {image: b}}\nacls: [{principal: User:a, allow: Read, topic: t}]\n"
    assert len(parse_distinct_acls(text)) == 1
