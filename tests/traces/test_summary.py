"""The time line of a trace's summary."""

import pytest

from kafka_shim.traces.summary import SLOTS_MAX, Summary

BEGAN_US = 1_700_000_000_123_456


def request(after_us: int) -> dict[str, object]:
    return {
        "time_us": BEGAN_US + after_us,
        "entry": "request",
        "api": "Fetch",
        "version": 4,
        "principal": "User:a",
        "software_name": "",
        "software_version": "",
        "client_id": "c",
    }


@pytest.mark.parametrize(
    ("seconds", "slot_seconds"),
    [(0, 0.1), (1.9, 0.1), (2, 0.2), (19.9, 1), (3600, 300), (86_400 * 400, 86_400 * 30)],
)
def test_the_time_line_has_few_slots_of_a_round_length(seconds: float, slot_seconds: float) -> None:
    summary = Summary([request(0), request(int(seconds * 1_000_000))])
    length_us, slots = summary.time_slots()
    assert length_us == slot_seconds * 1_000_000
    assert len(slots) <= SLOTS_MAX
    assert sum(slot.requests for slot in slots) == 2
    assert slots[-1].requests >= 1
    assert summary.seconds == seconds


def test_entries_need_not_be_in_order() -> None:
    summary = Summary([request(5_000_000), request(0), request(2_500_000)])
    _, slots = summary.time_slots()
    assert [slot.start_us for slot in slots if slot.requests] == [0, 2_500_000, 5_000_000]
