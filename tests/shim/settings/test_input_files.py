import json
from pathlib import Path

import pytest

from kafka_shim.authorizer.model import acls_to_objects
from kafka_shim.policy.formats import kafka_list
from kafka_shim.protocol.enums import Operation, PatternType
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.input_files import read_acl_file_with_lines
from tests.support.acls import make_acl

ACL = make_acl(Operation.READ, "t", principal="User:a", pattern_type=PatternType.PREFIXED)
SHORT = "{principal: User:a, allow: Read, topic: t, pattern: prefixed}"


@pytest.mark.parametrize(
    "text",
    [
        f"- {SHORT}\n",
        f"acls:\n  - {SHORT}\n",
        f"topics: {{}}\nacls: [{SHORT}]\n",
        f"- {SHORT}\n- {SHORT}\n",
        json.dumps(acls_to_objects([ACL])),
        json.dumps({"acls": acls_to_objects([ACL])}, indent=2),
        kafka_list.format_acls([ACL]),
        "ACLs for principal `User:a`\n" + kafka_list.format_acls([ACL]),
        "\n" + kafka_list.format_acls([ACL]).replace("Current", "Adding"),
    ],
    ids=range(9),
)
def test_every_format_is_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "acls"
    path.write_text(text)
    assert {acl for acl, _ in read_acl_file_with_lines(str(path))} == {ACL}


@pytest.mark.parametrize("text", ["", "# nothing\n", "[]", "{acls: []}"])
def test_a_file_without_acls_is_valid(tmp_path: Path, text: str) -> None:
    path = tmp_path / "acls"
    path.write_text(text)
    assert read_acl_file_with_lines(str(path)) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- [", "line 2: not YAML"),
        ("hello", "not in a known format of ACLs"),
        ("topics: {}", "the key `acls` is missing"),
        ("a: 1\nacls:\n", "line 2: there is nothing below `acls`; write `acls: \\[\\]` if"),
        ("- {principal: User:a, allow: Read}", "line 1: acl 1: expected exactly one resource"),
        ("- {principal: User:a, allow: Fly, topic: t}", "`Fly`"),
        ('[{"resource_type": "TOPIC"}]', "`principal` is missing"),
        ("Current ACLs for resource `what`:\n", "line 1"),
        ("!!python/object/apply:os.system ['true']", "not YAML"),
    ],
)
def test_errors_are_reported(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "acls"
    path.write_text(text)
    with pytest.raises(ConfigError, match=complaint) as caught:
        read_acl_file_with_lines(str(path))
    assert str(caught.value).startswith(f"--acls {path}: ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_acl_file_with_lines(str(tmp_path / "none"))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not a text file"):
        read_acl_file_with_lines(str(tmp_path / "binary"))
