"""Doubles are written as Java writes them, by a recording of JDK 17.

JDK 18 and earlier write more digits than needed for some values (JDK-4511638); later ones do not.
"""

import gzip
import struct
from pathlib import Path

import pytest

from kafka_shim.shim.state.settings.config_definitions import ConfigDefinition, ValueCheck
from kafka_shim.shim.state.settings.config_values import java_double, validated_canonical_value

RECORDED = Path(__file__).parent / "doubles_recorded.txt.gz"


def test_recorded_doubles_are_written_as_java_writes_them() -> None:
    rows = [line.split() for line in gzip.decompress(RECORDED.read_bytes()).decode().splitlines()]
    different = []
    for bits, text in rows:
        (value,) = struct.unpack(">d", bytes.fromhex(bits))
        if java_double(value) != text:
            different.append(text)
            assert float(text) == float(java_double(value))
            assert _digits(text) > _digits(java_double(value))
    assert (len(rows), len(different)) == (6000, 332)


def _digits(text: str) -> int:
    return len(text.partition("E")[0].replace(".", "").strip("-0"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0.0001", "1.0E-4"),
        ("0.00099", "9.9E-4"),
        ("1e-07", "1.0E-7"),
        ("0.001", "0.001"),
        ("1", "1.0"),
        ("12345678", "1.2345678E7"),
        ("-0.0", "-0.0"),
        ("2e23", "2.0E23"),
        ("Infinity", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("NaN", "NaN"),
    ],
)
def test_settings_of_type_double_are_shown_as_java_writes_them(value: str, text: str) -> None:
    assert (
        validated_canonical_value(
            "a.setting", ConfigDefinition("double", check=ValueCheck()), value
        )
        == text
    )
