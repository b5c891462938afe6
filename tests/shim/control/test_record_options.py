"""Records that are searched and cut, produced by key; offsets by time and shift; faults off."""

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from kafka.partitioner.default import murmur2

from kafka_shim.shim.control.topic_record_control import partition_of_key
from kafka_shim.testing import KafkaBroker
from tests.shim.control.plain_http import Http


@pytest.fixture
def records(process: KafkaBroker, api: Http) -> str:
    """Create a topic with ten records in partition 0; return the path of its records."""
    process.reset()
    process.topics.create("orders", partitions=3)
    path = "/topics/orders/records"
    for number in range(10):
        api.ask("POST", path, {"value": f"order {number}", "headers": {"n": str(number % 2)}})
    return path


@pytest.mark.parametrize("length", range(9))
def test_keys_have_the_partition_of_java_clients(length: int) -> None:
    for first in (0, 97, 200, 255):
        key = bytes((first + at * 31) % 256 for at in range(length))
        assert partition_of_key(key, 7) == (murmur2(key) & 0x7FFFFFFF) % 7


def test_records_are_searched_by_key_value_and_header(records: str, api: Http) -> None:
    def offsets(query: str) -> list[int]:
        return [row["offset"] for row in api.ask("GET", f"{records}?{query}")[1]["records"]]

    assert offsets("contains=order%203") == [3]
    assert offsets("contains=1&limit=3") == [1, 3, 5]  # in values and headers
    assert offsets("contains=nothing") == []
    times = [row["timestamp_ms"] for row in api.ask("GET", records)[1]["records"]]
    assert offsets(f"from_ms={times[-1] + 1}") == []
    assert offsets(f"from_ms={times[0]}") == list(range(10))


def test_a_value_is_cut_between_characters(records: str, api: Http) -> None:
    api.ask("POST", records, {"value": "aé", "partition": 1})
    [row] = api.ask("GET", f"{records}?partition=1&value_bytes_max=2")[1]["records"]
    assert (row["value"], row["value_hex"], row["value_bytes"]) == ("a", "61c3", 3)


def test_bytes_and_nulls_are_produced_by_key(records: str, api: Http) -> None:
    new = {"key": "k1", "value_hex": "00ff", "partition": None}
    status, stored = api.ask("POST", records, new)
    assert (status, stored["partition"]) == (200, partition_of_key(b"k1", 3))
    rows = api.ask("GET", f"{records}?partition={stored['partition']}")[1]["records"]
    assert (rows[-1]["key"], rows[-1]["value"], rows[-1]["value_hex"]) == ("k1", None, "00ff")
    assert api.ask("POST", records, {"value_hex": "0g"})[0] == 400
    assert api.ask("POST", records, {"value": "x", "partition": None})[0] == 400


def test_offsets_are_reset_by_time_and_shift_after_a_dry_run(records: str, api: Http) -> None:
    path = "/groups/billing/offsets"
    api.ask("POST", path, {"to": 4, "topic": "orders", "partition": 0})
    planned = api.ask("POST", path, {"shift": -3, "dry_run": True})[1]
    assert planned["changes"] == [{"topic": "orders", "partition": 0, "before": 4, "after": 1}]
    assert planned["offsets"][0]["offset"] == 4
    assert api.ask("POST", path, {"shift": 100})[1]["offsets"][0]["offset"] == 10
    times = [row["timestamp_ms"] for row in api.ask("GET", records)[1]["records"]]
    assert api.ask("POST", path, {"time_ms": times[0]})[1]["offsets"][0]["offset"] == 0
    assert api.ask("POST", path, {"time_ms": times[-1] + 1})[1]["offsets"][0]["offset"] == 10
    assert api.ask("POST", path, {})[0] == 400
    assert api.ask("POST", path, {"to": 1, "shift": 1})[0] == 400


def test_a_disabled_fault_matches_nothing(process: KafkaBroker, api: Http) -> None:
    process.reset()
    fault = process.faults.error("NOT_LEADER_OR_FOLLOWER", api="Metadata", every_time=True)
    row = api.ask("POST", f"/faults/{process.faults.list()[0].id}/disable")[1]
    assert row["is_disabled"] is True
    AdminClient(process.config()).list_topics(timeout=20)
    assert fault.calls == 0
    assert api.ask("POST", f"/faults/{row['id']}/enable")[1]["is_disabled"] is False
    with pytest.raises(KafkaException):
        AdminClient(process.config()).list_topics(timeout=20)
