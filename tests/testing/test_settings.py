"""Invalid settings are reported when `start` is called."""

from typing import Any

import pytest

from kafka_shim.testing.settings import Settings


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"topics": "orders"}, "topics is the string 'orders': expected a list"),
        ({"listeners": "PLAINTEXT://:0"}, "expected a list"),
        ({"super_users": "User:a"}, "expected a list"),
        ({"users": ["alice"]}, r"users is \['alice'\]: expected a mapping"),
        ({"properties": "a=b"}, "properties is 'a=b': expected a mapping"),
        ({"kafka_version": 3.9}, "kafka_version is 3.9: expected a string, as in '3.9'"),
    ],
)
def test_ambiguous_values_are_rejected(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        Settings(**settings)
