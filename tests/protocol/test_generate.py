"""The generated classes match the definitions."""

from pathlib import Path
from typing import Any

import pytest

from kafka_shim.protocol import generate
from kafka_shim.protocol.codec.catalogue import (
    api_key,
    api_name,
    is_flexible,
    message_classes_by_name,
    message_spec_of_version,
)
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.errors import UnsupportedVersionError
from kafka_shim.protocol.messages.apis import APIS, NEVER
from kafka_shim.protocol.messages.create_acls import AclCreationResult, CreateAclsResponse
from kafka_shim.protocol.messages.fetch import LeaderIdAndEpoch, PartitionData
from tests.protocol.values import ALL_NAMES, default_of
from tests.support.generated_files import outdated


def test_checked_in_modules_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    hint = outdated("src/kafka_shim/protocol/api_key.py")
    assert generate.main(["--check"]) == 0, capsys.readouterr().err + hint


def test_stale_modules_are_reported_and_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = {"messages/a.py": "a = 1\n", "messages/b.py": "b = 1\n", "api_key.py": "c = 1\n"}
    monkeypatch.setattr(generate, "FOLDER", tmp_path)
    monkeypatch.setattr(generate, "generated_texts_by_path", lambda: wanted)
    assert generate.main(["--check"]) == 1
    said = "protocol/messages/b.py is out of date: run python -m kafka_shim.protocol.generate\n"
    assert said in capsys.readouterr().err
    assert generate.main([]) == 0
    (tmp_path / "messages" / "gone.py").write_text("")
    (tmp_path / "messages" / "a.py").write_text("a = 2\n")
    (tmp_path / "api_key.py").write_text("c = 2\n")
    assert generate.main(["--check"]) == 1
    assert generate.main([]) == 0
    found = {
        path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*.py")
    }
    assert found == wanted


def test_keywords_defaults_and_equality() -> None:
    empty = CreateAclsResponse(throttle_time_ms=0, results=[])
    assert empty == CreateAclsResponse()
    CreateAclsResponse().results.append(AclCreationResult(error_code=7))
    assert CreateAclsResponse().results == []
    assert AclCreationResult().error_message == ""
    assert PartitionData().current_leader == LeaderIdAndEpoch(-1, -1)
    assert PartitionData().records is None
    assert PartitionData().unknown_tags == ()


def test_defaults_are_those_of_the_definitions() -> None:
    for name in ALL_NAMES:
        spec, types = load_message_spec(name), message_classes_by_name(name)
        assert list(types) == [struct.name for struct in reversed(spec.structs_inner_first)]
        for struct in spec.structs_inner_first:
            message: Any = types[struct.name]()
            for field in struct.fields:
                wanted = default_of(field, types)
                assert getattr(message, field.attribute) == wanted, (name, field.name)
            assert message.__struct_fields__ == (
                *(field.attribute for field in struct.fields),
                "unknown_tags",
            )


def test_the_table_of_apis() -> None:
    requests = {
        load_message_spec(name).api_key: load_message_spec(name)
        for name in ALL_NAMES
        if name.endswith("Request")
    }
    assert APIS.keys() == requests.keys()
    assert list(APIS) == sorted(APIS)
    for key, (name, low, high, flexible) in APIS.items():
        spec = requests[key]
        assert (spec.name, spec.versions) == (f"{name}Request", (low, high))
        for version in range(low, high + 1):
            assert is_flexible(key, version) == spec.flexible_versions.has(version)
        assert (flexible == NEVER) == (spec.flexible_versions == (0, -1))
        assert api_name(key) == name
        assert api_key(name) == key
        assert is_flexible(key, high + 1) == (flexible != NEVER)


def test_unknown_names_are_an_error() -> None:
    assert not is_flexible(999, 0)
    with pytest.raises(UnsupportedVersionError, match="unknown API key 999"):
        api_name(999)
    with pytest.raises(UnsupportedVersionError, match="unknown API `Nothing`"):
        api_key("Nothing")
    with pytest.raises(
        UnsupportedVersionError, match="`HeartbeatRequest` has versions 0-4, and not 5"
    ):
        message_spec_of_version("HeartbeatRequest", 5)
