"""Histories of settings and features, checked against jars."""

import json
from pathlib import Path

import pytest

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.schemas.releases import (
    FEATURES,
    SETTINGS,
    Facts,
    Release,
    extract,
    features,
    group_facts,
    merge_releases,
    minor_release,
    render_history,
    settings,
)

NUMBER = {"type": "int", "default": "1"}
OTHER = {"type": "int", "default": "2"}
FACTS: Facts = {
    "broker": {"a": {"1.0": NUMBER, "1.1": OTHER, "2.0": None}, "b": {"1.1": NUMBER}},
    "topic": {"a": {"1.0": NUMBER}},
}
RELEASE: dict[str, Release] = {
    "1.0.2": {"broker": {"a": NUMBER}, "topic": {"a": NUMBER}},
    "1.1.1": {"broker": {"b": NUMBER, "a": OTHER}, "topic": {"a": NUMBER}},
    "2.0.1": {"topic": {"a": NUMBER}, "broker": {"b": NUMBER}},
}


def test_rows_have_a_kind_and_a_name() -> None:
    row = {"kind": "topic", "name": "a", "type": "int"}
    assert group_facts([row, row | {"name": "b"}]) == {
        "topic": {"a": {"type": "int"}, "b": {"type": "int"}}
    }


def test_a_history_has_what_changed() -> None:
    assert merge_releases(RELEASE) == FACTS


def test_names_have_the_order_of_the_newest_release() -> None:
    assert list(
        merge_releases({"1.0.2": RELEASE["1.0.2"], "1.1.1": RELEASE["1.1.1"]})["broker"]
    ) == [
        "b",
        "a",
    ]


def test_a_history_survives_a_round_trip_with_one_change_per_line() -> None:
    text = render_history(FACTS)
    assert json.loads(text) == FACTS
    assert '    "2.0": null\n' in text
    assert '  "b": {"1.1": {"type": "int", "default": "1"}}\n' in text


@pytest.mark.parametrize(("version", "release"), [("0.11.0.3", "0.11"), ("4.4.0", "4.4")])
def test_the_minor_release_of_a_version(version: str, release: str) -> None:
    assert minor_release(version) == release


def test_every_release_has_pinned_jars() -> None:
    assert tuple(map(minor_release, extract.pinned_jars())) == RELEASES
    artifacts = {jar.artifact for jars in extract.pinned_jars().values() for jar in jars}
    assert artifacts == json.loads(extract.JARS.read_text())["sha256"].keys()


def test_stored_facts_match_their_checksums() -> None:
    assert extract.main(["--check"]) == 0
    assert {*settings(), *features()} == {"broker", "client_metrics", "feature", "group", "topic"}


def test_facts_edited_by_hand_fail_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edited = tmp_path / "settings.json"
    edited.write_text(SETTINGS.read_text().replace('"604800000"', '"604800001"'))
    monkeypatch.setattr(extract, "SETTINGS", edited)
    assert extract.main(["--check"]) == 1
    assert "manifest.json does not match its files" in capsys.readouterr().err


def test_differences_from_jars_are_reported_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract, "pinned_jars", lambda: {version: [] for version in RELEASE})
    assert extract.differences_from_facts("1.1.1", RELEASE["1.1.1"], FACTS) == []
    found = {"broker": {"a": NUMBER, "c": NUMBER}, "topic": {"a": NUMBER}}
    assert extract.differences_from_facts("1.1.1", found, FACTS) == [
        f"1.1.1 broker a: {OTHER} is said, the jars have {NUMBER}",
        f"1.1.1 broker b: {NUMBER} is said, the jars have None",
        f"1.1.1 broker c: None is said, the jars have {NUMBER}",
    ]


def test_the_check_with_jars_reads_each_release(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extract, "pinned_jars", lambda: {version: [] for version in RELEASE})
    monkeypatch.setattr(extract, "extract_facts", lambda _: RELEASE["2.0.1"])
    monkeypatch.setattr(extract, "settings", lambda: FACTS)
    monkeypatch.setattr(extract, "features", dict)
    assert extract.main(["--check", "--jars", "2.0.1"]) == 0
    assert capsys.readouterr().out == "2.0.1: same\n"
    assert extract.main(["--check", "--jars"]) == 1
    assert capsys.readouterr().out == "1.0.2: differs\n1.1.1: differs\n2.0.1: same\n"


def test_writing_gives_settings_by_name_and_features_in_the_brokers_order() -> None:
    row = {"min": 0, "max": 1, "level": 1}
    release: Release = {"topic": {"b": NUMBER, "a": NUMBER}, "feature": {"z": row, "y": row}}
    written = extract.fact_file_texts({"4.3.1": release})
    assert list(json.loads(written[SETTINGS])["topic"]) == ["a", "b"]
    assert list(json.loads(written[FEATURES])["feature"]) == ["z", "y"]


@pytest.mark.parametrize(
    "arguments", [["--jars"], ["--check", "4.3.1"], ["--check", "--jars", "9.9"]]
)
def test_usage_errors_exit(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        extract.main(arguments)
