"""Folders that contain ACL files and other files."""

from pathlib import Path

import pytest

from kafka_shim.cli import main
from tests.policy.formats.test_files_without_acls import ACL, KAFKA, USER

EXPECTED = "- {principal: User:a, may: Read, topic: t}\n"
TERRAFORM = {
    "acls.tf": ACL + 'resource "kafka_topic" "t" {\n  name = "t"\n}\n',
    "main.tf": 'terraform {}\nmodule "topics" {\n  source = "./topics"\n}\n',
    "variables.tf": 'variable "x" {}\n',
    "topics/main.tf": 'resource "kafka_topic" "u" {\n  name = var.u\n}\n',
    "README.md": "# ACLs\n",
    ".terraform/modules/x/main.tf": 'resource "kafka_acl" "x" {}\n',
}
STRIMZI = {
    "kafka.yaml": KAFKA,
    "users/a.yaml": f"{USER}---\n{KAFKA}",
    "kustomization.yaml": "resources: [users]",
}


def written(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(folder)


def code_of(tmp_path: Path, files: dict[str, str]) -> int:
    (tmp_path / "policy.yaml").write_text(EXPECTED)
    folder = written(tmp_path / "acls", files)
    return main(["policy", "test", str(tmp_path / "policy.yaml"), "--acls", folder])


def test_files_of_a_terraform_folder_are_read_or_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(tmp_path, TERRAFORM) == 0
    folder = tmp_path / "acls"
    assert capsys.readouterr().err == (
        f"note: {folder}: skipped (no ACLs): main.tf (terraform, module),"
        " topics/main.tf (kafka_topic), variables.tf (variable)\n"
        f"note: {folder}: not read (file type): README.md\n"
        f"note: {folder}/acls.tf: skipped (no ACLs): kafka_topic\n"
    )


def test_files_of_a_strimzi_folder_are_read_or_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(tmp_path, STRIMZI) == 0
    folder = tmp_path / "acls"
    assert capsys.readouterr().err == (
        f"note: {folder}: skipped (no ACLs): kafka.yaml (Kafka, KafkaTopic),"
        " kustomization.yaml (nothing about ACLs)\n"
        f"note: {folder}/users/a.yaml: skipped (no ACLs): Kafka main, KafkaTopic orders\n"
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "m.tf",
            'module "m" {\n  source = "x/y/z"\n}\n',
            "m.tf:1: module m: its ACLs cannot be determined",
        ),
        (
            "m.tf",
            'module "m" {\n  source = "../m"\n}\n',
            "m.tf:1: the module ../m has no .tf files within",
        ),
        (
            "m.tf",
            'resource "aiven_kafka_acl" "a" {}',
            "m.tf:1: resource aiven_kafka_acl a: ACLs of this",
        ),
        ("m.tf", "resource {\n", "m.tf:1: a block is not closed"),
        ("m.yaml", "acl: []\n", "m.yaml:1: the key `acls` is missing"),
        ("m.json", '{"a": ', "m.json:1: not JSON: "),
        ("m.yaml", "kind: A\nspec: {acls: []}\n---\n" + USER, "m.yaml:1: unknown kind `A`"),
        ("m.yaml", "", "m.yaml: the file is empty"),
    ],
)
def test_files_that_may_contain_acls_are_not_ignored(
    tmp_path: Path, name: str, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(tmp_path, STRIMZI | {name: text}) == 2
    assert f"{tmp_path}/acls/{said}" in capsys.readouterr().err


OTHER = USER.replace("metadata: {", "metadata: {labels: {strimzi.io/cluster: two}, ")
ONE = USER.replace("metadata: {name: a", "metadata: {labels: {strimzi.io/cluster: one}, name: b")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"base.yaml": USER, "prod/patch.yaml": USER}, "patch.yaml:2: KafkaUser a is there twice"),
        ({"a.yaml": ONE, "b.yaml": OTHER}, "b.yaml:2: KafkaUser a is of the cluster two, not"),
        (
            {"a.yaml": USER, "kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\n"},
            "kustomization.yaml: `namePrefix` of kustomize is not evaluated",
        ),
        (
            {"a.yaml": USER, "kustomization.yaml": "patches: [{path: a.yaml}]\n"},
            "kustomization.yaml: `patches` of kustomize is not evaluated",
        ),
        (
            {"a.yaml": USER, "kustomization.yml": "resources: [a.yaml, ../base]\n"},
            "kustomization.yml: `../base` of kustomize is not evaluated",
        ),
        ({"a.yaml": USER, "kustomization.yaml": "- ["}, "kustomization.yaml: line 2: not YAML"),
    ],
)
def test_users_of_several_files_are_those_of_one_cluster(
    tmp_path: Path, files: dict[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(tmp_path, files) == 2
    assert said in capsys.readouterr().err


def test_links_out_of_the_folder_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    acls, other = tmp_path / "acls", tmp_path / "other"
    assert code_of(tmp_path, STRIMZI) == 0
    (acls / "again").symlink_to(acls / "users")
    (acls / "b.yaml").symlink_to(acls / "users" / "a.yaml")
    assert code_of(tmp_path, {}) == 0
    other.mkdir()
    (acls / "other").symlink_to(other)
    assert code_of(tmp_path, {}) == 2
    assert f"{acls}/other: a link out of {acls}, which is not followed" in capsys.readouterr().err
    other.rmdir()
    assert code_of(tmp_path, {}) == 2
    assert f"{acls}/other: a broken link" in capsys.readouterr().err


def test_a_folder_without_acls_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(tmp_path, {"kafka.yaml": KAFKA}) == 2
    said = "in this folder; skipped: kafka.yaml (Kafka, KafkaTopic)\n"
    assert capsys.readouterr().err.endswith(said)


def test_the_errors_of_all_files_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = "- {principal: User:a, allow: Raed, topic: t}\n"
    assert code_of(tmp_path, {"a.yaml": wrong + wrong, "b/c.yaml": wrong, "d.yaml": "- ["}) == 2
    folder = tmp_path / "acls"
    told = [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()]
    places = ("a.yaml:1", "a.yaml:2", "b/c.yaml:1", "d.yaml:2")
    assert told == [f"{folder}/{place}" for place in places]


def test_the_errors_of_all_expectations_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = "- {principal: User:a, my: Read, topic: t}\n- {principal: User:a}\n"
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(EXPECTED + wrong)
    words = [str(tmp_path / name) for name in ("a.yaml", "b.yaml")]
    assert main(["policy", "test", *words, "--acls", str(tmp_path / "a.yaml")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        f"{path}:{line}" for path in words for line in (2, 3)
    ]
    assert "unknown key `my`; did you mean `may`? Known are" in lines[0]


def test_the_number_of_reported_errors_is_limited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = "- {principal: User:a, allow: Raed, topic: t}\n"
    assert code_of(tmp_path, {"a.yaml": wrong * 60}) == 2
    lines = capsys.readouterr().err.splitlines()
    assert (len(lines), lines[-1]) == (21, "kafka-shim policy test: and 40 more")


GRANT_ALL = """\
resource "kafka_acl" "all" {
  resource_name       = "*"
  resource_type       = "Topic"
  acl_principal       = "User:pay"
  acl_host            = "*"
  acl_operation       = "All"
  acl_permission_type = "Allow"
}
"""
USES_MODULE = 'module "pay" {\n  source = "../modules/grant"\n}\n'


@pytest.mark.parametrize(
    ("path", "module", "code", "said"),
    [
        ("", GRANT_ALL, 3, "User:pay"),
        ("app", GRANT_ALL, 2, "main.tf:1: the module ../modules/grant has no .tf files within"),
        ("app/main.tf", GRANT_ALL, 2, "main.tf:1: the module ../modules/grant may have ACLs"),
        ("", None, 2, "main.tf:1: the module ../modules/grant has no .tf files"),
        ("", GRANT_ALL.replace("{\n", "{\n  count = 0\n"), 0, ""),
        ("unmade", GRANT_ALL, 2, "main.tf:1: the module ../modules/grant is made 0 times"),
        ("override", GRANT_ALL, 2, "override.tf: it overrides resources of other files"),
    ],
)
def test_a_module_that_was_not_read_passes_no_check(
    path: str,
    module: str | None,
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "main.tf").write_text(USES_MODULE)
    (tmp_path / "app" / "acls.yaml").write_text("acls: []\n")
    (tmp_path / "modules" / "grant").mkdir(parents=True)
    if module is not None:
        (tmp_path / "modules" / "grant" / "main.tf").write_text(module)
    if path == "unmade":
        unmade = USES_MODULE.replace("}", "  count = 0\n}")
        (tmp_path / "app" / "main.tf").write_text(unmade)
    if path == "override":
        (tmp_path / "modules" / "grant" / "override.tf").write_text(GRANT_ALL)
    folder = tmp_path / path if (tmp_path / path).exists() else tmp_path
    words = ["policy", "check", "access-not-granted", str(folder)]
    assert main([*words, "--principal", "User:pay", "--operation", "Write"]) == code
    captured = capsys.readouterr()
    assert said in captured.out + captured.err
