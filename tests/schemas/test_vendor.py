"""Vendored definitions contain only facts, and match the pinned jars."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from kafka_shim.schemas import definition_text, message_names, vendor
from kafka_shim.schemas.facts import (
    ENUMS,
    parse_definition,
    read_jar_definitions,
    render_message_definition,
)
from kafka_shim.schemas.merge import (
    fields_on_wire,
    merge_definitions,
    parse_versions,
    versions_text,
)
from kafka_shim.schemas.pins import Jar, Pins, read_pins, sha256_of
from tests.schemas.class_files import class_of_enum

PROSE = {"about"}
JSON_WITH_COMMENTS = """
// a comment
{
  "apiKey": 0, // the key
  "type": "request", "listeners": ["broker"], "name": "FooRequest",
  "validVersions": "0-2", "flexibleVersions": "2+", "latestVersionUnstable": false,
  "fields": [
    { "name": "Url", "type": "string", "versions": "0+", "default": "http://x", "about": "said" },
    { "name": "Flag", "type": "bool", "versions": "1+", "default": false, "ignorable": true },
    { "name": "Late", "type": "int32", "taggedVersions": "2+", "tag": "0", "default": -1 },
    { "name": "Items", "type": "[]Item", "versions": "0+", "about": "x", "fields": [
      { "name": "Id", "type": "uuid", "versions": "0+", "mapKey": true, "about": "y" } ] }
  ]
}
"""


def test_stored_definitions_match_the_pins_and_available_jars() -> None:
    assert vendor.main(["--check"]) == 0


def test_definitions_contain_no_text_of_kafka() -> None:
    def keys(value: object) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*map(keys, value.values()))
        return set().union(*map(keys, value)) if isinstance(value, list) else set()

    for name in message_names():
        text = definition_text(name)
        assert b"//" not in text
        assert not keys(json.loads(text)) & PROSE


def test_every_request_has_its_response() -> None:
    for name in message_names():
        if name.endswith("Request"):
            other = json.loads(definition_text(name.replace("Request", "Response")))
            own = json.loads(definition_text(name))
            assert own["apiKey"] == other["apiKey"]
            assert own["validVersions"] == other["validVersions"]
            assert own["flexibleVersions"] == other["flexibleVersions"]


def test_facts_out_of_a_definition() -> None:
    assert parse_definition(JSON_WITH_COMMENTS) == {
        "apiKey": 0,
        "type": "request",
        "listeners": ["broker"],
        "name": "FooRequest",
        "validVersions": "0-2",
        "flexibleVersions": "2+",
        "fields": [
            {"name": "Url", "type": "string", "versions": "0+", "default": "http://x"},
            {
                "name": "Flag",
                "type": "bool",
                "versions": "1+",
                "default": "false",
                "ignorable": True,
            },
            {
                "name": "Late",
                "type": "int32",
                "versions": "2+",
                "taggedVersions": "2+",
                "tag": 0,
                "default": "-1",
            },
            {
                "name": "Items",
                "type": "[]Item",
                "versions": "0+",
                "fields": [{"name": "Id", "type": "uuid", "versions": "0+", "mapKey": True}],
            },
        ],
    }


def test_rendered_definitions_read_back() -> None:
    definition = parse_definition(JSON_WITH_COMMENTS)
    definition["commonStructs"] = [{"name": "S", "versions": "0+", "fields": []}]
    assert json.loads(render_message_definition(definition)) == definition


@pytest.mark.parametrize(
    ("text", "versions"),
    [("none", []), ("3", [3]), ("0-2", [0, 1, 2]), ("4+", [4, 5]), (None, [])],
)
def test_versions(text: str | None, versions: list[int]) -> None:
    assert list(parse_versions(text, 5)) == versions
    assert versions_text(versions, 5) == (text or "none")


def test_versions_with_a_gap_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"versions \[1, 3\] have a gap"):
        versions_text([1, 3], 3)


def field(name: str, versions: str, **more: object) -> dict[str, object]:
    return {"name": name, "type": "int32", "versions": versions, **more}


def message(valid: str, *fields: dict[str, object]) -> dict[str, object]:
    return {
        "name": "M",
        "type": "request",
        "validVersions": valid,
        "flexibleVersions": "2+",
        "fields": list(fields),
    }


def test_merging_takes_old_versions_from_the_older_one() -> None:
    older = message("0-3", field("A", "0-1"), field("B", "0+"), field("C", "1-2"), field("D", "3+"))
    newer = message("2-4", field("B", "2+"), field("C", "2"), field("D", "3+"), field("E", "4+"))
    merged = merge_definitions(older, newer)
    assert merged["validVersions"] == "0-4"
    assert merged["flexibleVersions"] == "2+"
    assert [(f["name"], f["versions"]) for f in merged["fields"]] == [
        ("A", "0-1"),
        ("B", "0+"),
        ("C", "1-2"),
        ("D", "3+"),
        ("E", "4+"),
    ]
    for version in range(5):
        source = older if version < 2 else newer
        assert list(fields_on_wire(merged, version)) == list(fields_on_wire(source, version))


def test_merging_where_one_has_all() -> None:
    older, newer = message("0-1", field("A", "0+")), message("0-2", field("A", "0+"))
    assert merge_definitions(older, newer) is newer
    dropped = message("none")
    assert merge_definitions(older, dropped) is older


def test_contradicting_definitions_are_not_merged() -> None:
    older = message("0-1", field("A", "0+"), field("B", "0+"))
    newer = message("1-2", field("B", "1+"), field("A", "1+"))
    with pytest.raises(ValueError, match="merged `M` differs in version 0"):
        merge_definitions(older, newer)


def jar_with(path: Path, **definitions: str) -> Jar:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in definitions.items():
            archive.writestr(f"common/message/{name}.json", text)
        archive.writestr("common/other.json", "{}")
    return Jar("org.example:foo:1", sha256_of(path), frozenset())


def test_from_jar_to_files_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "foo-1.jar"
    jar = jar_with(path, FooRequest=JSON_WITH_COMMENTS)
    pins = Pins((jar,), frozenset())
    monkeypatch.setattr(vendor, "KAFKA", tmp_path / "kafka")
    monkeypatch.setattr(vendor, "CODES", tmp_path / "codes.json")
    monkeypatch.setattr(vendor, "MANIFEST", tmp_path / "manifest.json")
    monkeypatch.setattr(vendor, "LOCAL_REPOSITORY", tmp_path / "none")
    monkeypatch.setattr(vendor, "read_pins", lambda: pins)
    assert vendor.main(["--jar", str(path)]) == 0
    assert json.loads((tmp_path / "kafka/FooRequest.json").read_text()) == parse_definition(
        JSON_WITH_COMMENTS
    )
    assert vendor.main(["--check", "--jar", str(path)]) == 0
    assert vendor.main(["--check"]) == 0
    assert "the pinned jars are not at hand" in capsys.readouterr().out

    changed = (tmp_path / "kafka/FooRequest.json").read_text().replace("Url", "Uri")
    (tmp_path / "kafka/FooRequest.json").write_text(changed)
    assert vendor.main(["--check"]) == 1
    assert "manifest.json does not match" in capsys.readouterr().err

    files = {"FooRequest.json": changed}
    (tmp_path / "manifest.json").write_text(
        vendor.manifest_text(pins, files, (tmp_path / "codes.json").read_text())
    )
    assert vendor.main(["--check", "--jar", str(path)]) == 1
    assert "FooRequest.json is not what the pinned jars give" in capsys.readouterr().err


def test_codes_are_compared_with_the_pinned_jars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "foo-1.jar"
    jar_with(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(ENUMS["Errors"], class_of_enum({"NONE": 0, "BAD": 300}))
    pins = Pins((Jar("org.example:foo:1", sha256_of(path), frozenset()),), frozenset())
    for name in ("KAFKA", "CODES", "MANIFEST"):
        monkeypatch.setattr(vendor, name, tmp_path / name)
    monkeypatch.setattr(vendor, "LOCAL_REPOSITORY", tmp_path / "none")
    monkeypatch.setattr(vendor, "read_pins", lambda: pins)
    assert vendor.main(["--jar", str(path)]) == 0
    assert json.loads((tmp_path / "CODES").read_text()) == {"Errors": {"NONE": 0, "BAD": 300}}
    assert vendor.main(["--check", "--jar", str(path)]) == 0

    changed = (tmp_path / "CODES").read_text().replace("300", "301")
    (tmp_path / "CODES").write_text(changed)
    assert vendor.main(["--check"]) == 1
    assert "manifest.json does not match" in capsys.readouterr().err
    (tmp_path / "MANIFEST").write_text(vendor.manifest_text(pins, {}, changed))
    assert vendor.main(["--check"]) == 0
    assert vendor.main(["--check", "--jar", str(path)]) == 1
    assert "codes.json is not what the pinned jars give" in capsys.readouterr().err


def test_a_jar_with_another_checksum_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "foo-1.jar"
    jar = jar_with(path, FooRequest=JSON_WITH_COMMENTS)
    jar_with(path, FooRequest=JSON_WITH_COMMENTS, Another=JSON_WITH_COMMENTS)
    with pytest.raises(ValueError, match=r"`foo-1.jar` does not have the pinned sha256"):
        vendor.find_jar(jar, [path])


def test_a_message_missing_in_a_jar_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "foo-1.jar"
    jar = jar_with(path, FooRequest=JSON_WITH_COMMENTS)._replace(only=frozenset({"Gone"}))
    with pytest.raises(LookupError, match="does not define Gone"):
        read_jar_definitions(path, jar)


def test_without_maven_the_alternative_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vendor, "LOCAL_REPOSITORY", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(FileNotFoundError, match=r"no mvn to fetch `org\.example:foo:1`"):
        vendor.fetch_jar(Jar("org.example:foo:1", "", frozenset()), [])


def test_pins_of_this_project() -> None:
    pins = read_pins()
    assert all(len(jar.sha256) == 64 for jar in pins.jars)
    assert pins.jars[0].file_name.startswith("kafka-clients-")
    assert pins.without.isdisjoint(message_names())
    assert len(message_names()) == len(list(vendor.KAFKA.iterdir()))
