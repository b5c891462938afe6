"""Values of settings are read as Kafka's ConfigDef reads them."""

import gzip
import struct
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kafka_shim.shim.state.settings.config_definitions import (
    CONFIG_TYPES,
    ConfigDefinition,
    ValueCheck,
    definitions_of_release,
)
from kafka_shim.shim.state.settings.config_values import (
    ConfigValueError,
    java_double,
    list_elements,
    validated_canonical_value,
)


def check(kind: str, value: str, **rules: object) -> str:
    value_check = ValueCheck(**rules)  # type: ignore[arg-type]
    return validated_canonical_value("a.setting", ConfigDefinition(kind, check=value_check), value)


@pytest.mark.parametrize(
    ("kind", "given_", "shown"),
    [
        ("boolean", " TRUE ", "true"),
        ("int", "+7", "7"),
        ("long", "-9223372036854775808", "-9223372036854775808"),
        ("short", " 32767", "32767"),
        ("double", "1", "1.0"),
        ("list", " a ,b,, c", "a,b,,c"),
        ("list", "  ", ""),
        ("string", " x ", "x"),
        ("password", "p", "p"),
    ],
)
def test_values_are_returned_in_canonical_form(kind: str, given_: str, shown: str) -> None:
    assert check(kind, given_) == shown


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("boolean", "yes"),
        ("int", "2147483648"),
        ("int", "1_000"),
        ("int", "٣"),
        ("long", "9223372036854775808"),
        ("short", "-32769"),
        ("double", "x"),
        ("int", ""),
    ],
)
def test_unparsable_values_are_rejected(kind: str, value: str) -> None:
    with pytest.raises(ConfigValueError, match=r"a\.setting"):
        check(kind, value)


@pytest.mark.parametrize(
    ("kind", "value", "rules"),
    [
        ("int", "0", {"min": 1}),
        ("double", "1.5", {"min": 0, "max": 1}),
        ("int", "0", {"min": 1, "max": 9, "also_allowed": -1}),
        ("string", "b", {"one_of": ("a",)}),
        ("list", "a,b", {"each_of": ("a",)}),
        ("string", "", {"must_not_be_empty": True}),
        ("list", "", {"is_list_of_distinct": True, "must_not_be_empty": True}),
        ("list", "a,,b", {"is_list_of_distinct": True}),
        ("list", ",", {"is_list_of_distinct": True}),
        ("string", "c", {"one_of": ("a",), "allows_by_duration": True}),
        ("string", "by_duration", {"one_of": ("a",), "allows_by_duration": True}),
        ("string", "by_duration:", {"one_of": ("a",), "allows_by_duration": True}),
        ("string", "by_duration:P1Y", {"one_of": ("a",), "allows_by_duration": True}),
        ("string", "by_duration:-PT1H", {"one_of": ("a",), "allows_by_duration": True}),
        ("string", "by_duration:PT", {"one_of": ("a",), "allows_by_duration": True}),
        ("list", "0:a", {"is_partition_replica_list": True}),
        ("string", "9.9", {"is_release": True}),
    ],
)
def test_invalid_values_are_rejected(kind: str, value: str, rules: dict[str, object]) -> None:
    with pytest.raises(ConfigValueError):
        check(kind, value, **rules)


@pytest.mark.parametrize(
    ("kind", "value", "rules"),
    [
        ("int", "-1", {"min": 1, "max": 9, "also_allowed": -1}),
        ("string", "Upgrade", {"one_of": ("UPGRADE",), "ignore_case": True}),
        ("string", "a", {"one_of": ("a",), "allows_by_duration": True}),
        ("string", "by_duration:PT0S", {"one_of": ("a",), "allows_by_duration": True}),
        ("string", "by_duration:P1DT2H3M4.5S", {"one_of": ("a",), "allows_by_duration": True}),
        ("list", "0:1, 1:1", {"is_partition_replica_list": True}),
        ("list", "*", {"is_partition_replica_list": True}),
        ("string", "0.10.2-IV0", {"is_release": True}),
        ("string", "2.8-IV1", {"is_release": True}),
        ("long", "9223372036854775807", {"min": 1}),
    ],
)
def test_valid_values_are_accepted(kind: str, value: str, rules: dict[str, object]) -> None:
    assert check(kind, value, **rules)


def test_an_error_shows_all_digits_of_a_limit() -> None:
    with pytest.raises(ConfigValueError, match=r"expected at least 1048576$"):
        check("int", "1000", min=1048576.0)
    with pytest.raises(ConfigValueError, match=r"expected at most 2147483647$"):
        check("long", "2147483648", max=2147483647.0)


def test_duplicates_in_a_distinct_list_are_dropped() -> None:
    assert check("list", "b, a,b", is_list_of_distinct=True) == "b,a"
    assert check("list", "b, a,b") == "b,a,b"
    assert check("list", " ", is_list_of_distinct=True) == ""


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_longs_are_not_rounded(number: int) -> None:
    assert check("long", str(number)) == str(number)


@given(st.lists(st.text("abc", min_size=1)))
def test_elements_of_a_list_are_separated_by_commas(parts: list[str]) -> None:
    assert list_elements(" , ".join(parts)) == parts


@pytest.mark.parametrize("release", ["0.11", "1.1", "2.7", "3.9", "4.0", "4.3"])
def test_every_default_is_a_valid_value(release: str) -> None:
    found = definitions_of_release(release)
    for settings in (found.topic_configs, found.broker, found.group, found.client_metrics):
        for name, definition in settings.items():
            assert definition.type in CONFIG_TYPES
            if definition.default is not None:
                assert validated_canonical_value(name, definition, definition.default) is not None


def test_a_number_with_more_digits_than_python_reads_is_refused() -> None:
    with pytest.raises(ConfigValueError, match="64-bit integer"):
        validated_canonical_value("retention.ms", ConfigDefinition("long"), "1" * 5000)


# Doubles are written as Java writes them, by a recording of JDK 17. JDK 18 and earlier write
# more digits than needed for some values (JDK-4511638); later ones do not.
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
