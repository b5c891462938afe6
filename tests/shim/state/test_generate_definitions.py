"""The generated table of settings agrees with the facts read from Kafka's jars."""

from pathlib import Path
from typing import Any

import pytest

from kafka_shim.schemas.releases import Facts
from kafka_shim.shim.state.settings import generate_definitions
from kafka_shim.shim.state.settings.generate_definitions import check_of_validator, definition_table
from tests.support.generated_files import outdated

BROKER = {"type": "list", "default": "", "valid": "distinct", "dynamic": True}
FACTS: Facts = {
    "broker": {
        "log.a": {"1.0": BROKER, "2.0": None},
        "config.providers": {"1.0": BROKER},
        "min": {"1.0": {"type": "int", "required": True}},
    },
    "topic": {
        "a": {
            "1.0": {"type": "string", "broker": "a"},
            "1.1": {"type": "string", "valid": "non-null string"},
            "2.0": {"type": "string", "broker": "log.a", "internal": True},
        }
    },
}


def test_the_table_of_a_small_history() -> None:
    assert definition_table(FACTS) == {
        "broker": {
            "log.a": {
                "1.0": {
                    "type": "list",
                    "default": "",
                    "check": {"distinct": True},
                    "dynamic": True,
                },
                "2.0": None,
            },
            "config.providers": {"1.0": {"type": "list", "default": "", "dynamic": True}},
            "min": {"1.0": {"type": "int"}},
        },
        "topic": {
            "a": {
                "1.0": {"type": "string"},  # brokers have no setting `a`; 1.1 changes nothing
                "2.0": {"type": "string", "internal": True, "broker": "log.a"},
            }
        },
    }


@pytest.mark.parametrize(
    ("valid", "kind", "check"),
    [
        ("[0,...]", "int", {"min": 0}),
        ("[...,9]", "int", {"max": 9}),
        ("[-131072,...,22]", "int", {"min": -131072, "max": 22}),
        ("[0,...,0.5]", "double", {"min": 0, "max": 0.5}),
        ("[1,...,9] or -1", "int", {"min": 1, "max": 9, "or": -1}),
        ("[a, b]", "string", {"one_of": ["a", "b"]}),
        ("[a, b]", "list", {"each_of": ["a", "b"]}),
        ("[a, b] distinct", "list", {"each_of": ["a", "b"], "distinct": True}),
        ("distinct, not empty", "list", {"distinct": True, "filled": True}),
        (
            "(case insensitive) [UP, DOWN]",
            "string",
            {"one_of": ["UP", "DOWN"], "ignore_case": True},
        ),
        ("[latest, by_duration:PnDTnHnMn.nS]", "string", {"one_of": ["latest"], "durations": True}),
        ("non-empty string", "string", {"filled": True}),
        ("MetadataVersionValidator", "string", {"release": True}),
        ("[partitionId]:[brokerId],[partitionId]:[brokerId],...", "list", {"replicas": True}),
    ],
)
def test_validators_are_translated(valid: str, kind: str, check: dict[str, Any]) -> None:
    assert check_of_validator(valid, kind) == check


def test_an_unknown_validator_stops_the_generator() -> None:
    with pytest.raises(ValueError, match="`a prime number` has no check yet"):
        check_of_validator("a prime number", "int")


def test_the_checked_in_table_is_up_to_date() -> None:
    hint = outdated("src/kafka_shim/shim/state/settings/config_definitions.json")
    assert generate_definitions.main(["--check"]) == 0, hint


def test_an_edited_table_fails_the_check_and_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = generate_definitions.TABLE.read_text()
    edited = tmp_path / "config_definitions.json"
    edited.write_text(whole.replace('"604800000"', '"604800001"'))
    monkeypatch.setattr(generate_definitions, "TABLE", edited)
    assert generate_definitions.main(["--check"]) == 1
    assert "config_definitions.json is out of date: run python -m " in capsys.readouterr().err
    assert generate_definitions.main([]) == 0
    assert edited.read_text() == whole
