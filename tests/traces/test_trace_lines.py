"""Entries as text lines."""

from typing import Any

import pytest

from kafka_shim.traces.trace_rows import MESSAGE_CHARACTERS, row_as_text_line

WHO = {"time_us": 1_714_557_600_250_999, "connection": 3, "sequence": 12, "principal": "User:a"}
REQUEST = {"entry": "request", "api": "Fetch", "version": 17}
ACCESS = {
    "entry": "access",
    "api": "Fetch",
    "version": 17,
    "operation": "READ",
    "resource_type": "TOPIC",
    "resource_name": "t",
    "allowed": True,
    "rule": "SuperUser",
    "count": 1,
}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (REQUEST | {"request": {"maxBytes": 1}}, '-> Fetch v17 {"maxBytes": 1}'),
        (REQUEST | {"undecoded": "no v99"}, "-> Fetch v17 cannot be decoded: no v99"),
        (REQUEST | {"entry": "response", "response": {}}, "<- Fetch v17 {}"),
        (
            REQUEST | {"entry": "response", "response": {}, "error_codes": [29, 999]},
            "<- Fetch v17 TOPIC_AUTHORIZATION_FAILED (29) error 999 {}",
        ),
        (ACCESS, "allowed READ TOPIC:t for Fetch v17 by SuperUser"),
        (
            ACCESS | {"allowed": False, "count": 2, "resource_name": "a\nb\x1b[2J"},
            "denied READ TOPIC:a\\nb\\x1b[2J x2 for Fetch v17 by SuperUser",
        ),
        ({"entry": "closed", "reason": ""}, "closed"),
        ({"entry": "closed", "reason": "idle"}, "closed: idle"),
    ],
)
def test_every_kind_of_entry_is_printed(row: dict[str, Any], text: str) -> None:
    assert row_as_text_line(WHO | row) == f"2024-05-01 10:00:00.250     3/12  User:a  {text}"


def test_long_messages_are_shortened() -> None:
    text = row_as_text_line(WHO | REQUEST | {"request": {"clientId": "x" * 1000}})
    assert text.endswith("xxx...")
    assert len(text.partition("v17 ")[2]) == MESSAGE_CHARACTERS + 3
