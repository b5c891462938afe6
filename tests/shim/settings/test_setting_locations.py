from collections.abc import Mapping

import pytest

from kafka_shim.shim.settings.java_properties import parse_properties
from kafka_shim.shim.settings.setting_locations import SettingLocations

FILE = "--config b.properties"
LINES: Mapping[str, int] = {
    "num.partitions": 3,
    "listener.name.a.ssl.client.auth": 4,
    "listeners": 5,
    "broker.id": 6,
    "user": 7,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no number: num.partitions", "line 3: no number: num.partitions"),
        ("b: c of ssl.client.auth", "line 4: b: c of ssl.client.auth"),
        ("listeners: listener `x`: no", "line 5: listeners: listener `x`: no"),
        ("--user: expected NAME:PASSWORD", "line 7: --user: expected NAME:PASSWORD"),
        ("set ssl.keystore.location", "line 5: set ssl.keystore.location"),
        ("set ssl.truststore.location", "set ssl.truststore.location"),
        (f"{FILE}: invalid num.partitions", "line 3: invalid num.partitions"),
        (f"{FILE}: line 9: num.partitions", "line 9: num.partitions"),
    ],
)  # fmt: skip
def test_an_error_gets_the_line_of_the_setting_that_it_names(text: str, expected: str) -> None:
    locations = SettingLocations(FILE, LINES.keys(), LINES.__getitem__)
    assert locations.add_location(text) == f"{FILE}: {expected}"


@pytest.mark.parametrize(
    "text",
    [
        "topic `num.partition`: no",
        "unknown host a.b",
        "listener `x`: no",
        "invalid broker.id `x`",
        "topic `ssl.keystore.location` is unknown",
    ],
)
def test_an_error_about_something_else_is_unchanged(text: str) -> None:
    locations = SettingLocations(FILE, LINES.keys(), LINES.__getitem__, overridden={"broker.id"})
    assert locations.add_location(text) == text


def test_a_continued_line_counts_as_its_first() -> None:
    properties = parse_properties("# x\na=1\n\nb=2,\\\n  3\n\\\nc=4\na=5\n")
    assert properties == {"a": "5", "b": "2,3", "c": "4"}
    assert properties.lines == {"a": 8, "b": 4, "c": 6}
