"""Folders of Terraform: which of their ACLs Terraform makes.

Right values are those of `terraform plan` (1.11.4) in the first folder, with the provider
Mongey/kafka (0.13.1).
"""

import json
from pathlib import Path

import pytest

from kafka_shim.policy.acl_files import read_located_acls
from kafka_shim.text.input_files import InputError


def _acl(name: str, more: str = "") -> str:
    return f"""\
resource "kafka_acl" "{name}" {{
  {more}
  resource_name       = "{name}"
  resource_type       = "Topic"
  acl_principal       = "User:a"
  acl_host            = "*"
  acl_operation       = "Read"
  acl_permission_type = "Deny"
}}
"""


def _module(source: str, more: str = "", name: str = "m") -> str:
    return f'module "{name}" {{\n  source = "{source}"\n  {more}\n}}\n'


X, Y = _acl("x"), _acl("y")
JSON = {"resource": [{"kafka_acl": {"x": {"resource_name": "x"}}}]}
SOURCE_IN_A_VALUE = 'module "m" {\n  cfg = { source = "./n" }\n  source = "./m"\n}\n'


@pytest.mark.parametrize(
    ("files", "topics"),
    [
        ({"a.tf": _module("./m"), "m/a.tf": X}, "x"),
        ({"a.tf": _module("./m"), "m/a.tf": _module("./n"), "m/n/a.tf": X}, "x"),
        ({"a.tf": _module("./m/../m/"), "m/a.tf": X}, "x"),
        ({"a.tf": _module("./m", "count = 0") + _module("./m", name="x"), "m/a.tf": X}, "x"),
        ({"a.tf": _module("./m") + _module("./m", name="x"), "m/a.tf": X}, "x"),
        ({"a.tf": _module("./m", "depends_on = [kafka_acl.y]") + Y, "m/a.tf": X}, "xy"),
        ({"app/a.tf": _module("../m"), "m/a.tf": X}, "x"),
        ({"dev/a.tf": _module("../m"), "prod/a.tf": _module("../m"), "m/a.tf": X}, "x"),
        ({"a.tf": X, "examples/b/a.tf": _module("../..")}, "x"),
        ({"a.tf": X, "b.tf": _acl("y", "provider = kafka")}, "xy"),
        ({"a.tf": X, ".b.tf": Y}, "x"),
        ({"a.tf": X, "b.tf~": Y, "b.tf.bak": Y, "B.TF": Y}, "x"),
        ({"a.tf": X, "x_override.tf": 'terraform {\n  backend "local" {}\n}\n'}, "x"),
        ({"a.tf": X, "b.tf.json": '{"resource": [{"terraform_data": {"d": {}}}]}'}, "x"),
        ({"a.tf": SOURCE_IN_A_VALUE, "m/a.tf": X}, "x"),
    ],
)
def test_acls_that_terraform_makes_are_read(
    tmp_path: Path, files: dict[str, str], topics: str
) -> None:
    assert _topics(tmp_path, files) == topics


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.tf": X, "m/a.tf": Y}, "Terraform runs in {}/m or in {}, not in both"),
        ({"a.tf": "locals {}\n", "m/a.tf": Y}, "Terraform runs in {}/m or in {}, not in both"),
        ({"a.tf": _module("./m"), "m/a.tf": X, "n/a.tf": Y}, "Terraform runs in {}/n or in {},"),
        ({"a.tf": X, "examples/b/a.tf": Y}, "Terraform runs in {}/examples/b or in {},"),
        ({"dev/a.tf": X, "prod/a.tf": Y}, "/prod or in {}/dev, not in both"),
        ({"a.tf": SOURCE_IN_A_VALUE, "m/a.tf": X, "n/a.tf": Y}, "Terraform runs in {}/n or"),
        (
            {"a.tf": _module("./m", "count = 0"), "m/a.tf": _module("../n"), "n/a.tf": X},
            "{}/m/a.tf:1: the module ../n is made 0 times, and has ACLs",
        ),
        ({"a.tf": _module("./m", "for_each = {}"), "m/a.tf": X}, "./m is made 0 times"),
        ({"a.tf": _module("./.terraform/m"), ".terraform/m/a.tf": X}, "has no .tf files within"),
        ({"a.tf": X, "o_override.tf": _acl("x", "count = 0")}, "{}/o_override.tf: it overrides"),
        (
            {"a.tf": _module("./m"), "m/a.tf": X, "n/a.tf": Y, "override.tf": _module("./n")},
            "{}/override.tf: it overrides resources of other files",
        ),
        (
            {"a.tf": X, "override.tf.json": json.dumps({"module": {"m": {"source": "./n"}}})},
            "{}/override.tf.json: it overrides resources of other files",
        ),
        ({"a.tf": X, "b.tf": _acl("y", "provider = kafka.b")}, "{}: ACLs of several clusters"),
        ({"a.tf": Y, "b.tf.json": json.dumps(JSON)}, "{}/b.tf.json: Terraform's JSON syntax"),
        ({"a.tf": _module("./m", "count = 2"), "m/a.tf": X}, "{}/a.tf:1: module m: its ACLs"),
    ],
)
def test_acls_that_terraform_may_not_make_are_rejected(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        _topics(tmp_path, files)
    assert said.replace("{}", str(tmp_path)) in "\n".join(caught.value.messages)


def _topics(folder: Path, files: dict[str, str]) -> str:
    """Return the one-letter topics of the ACLs in the folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return "".join(sorted(each.acl.resource_name for each in read_located_acls([str(folder)])))
