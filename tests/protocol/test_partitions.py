"""The partitions that a request names."""

from typing import Any

import pytest

from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.codec.codecs import message_writer
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.partitions import read_request_partitions

TOPIC_ID = bytes(range(16))


def made(message: str, struct: str, /, **fields: Any) -> Any:
    return message_classes_by_name(f"{message}Request")[struct](**fields)


def partitions_of(api: ApiKey, version: int, message: str, **fields: Any) -> list[Any]:
    request = made(message, f"{message}Request", **fields)
    body = message_writer(f"{message}Request", version)(request)
    return read_request_partitions(api, version, b"head" + body, 4)


@pytest.mark.parametrize(("version", "topic"), [(9, "orders"), (13, TOPIC_ID)])
def test_of_produce(version: int, topic: object) -> None:
    data = [made("Produce", "PartitionProduceData", index=index) for index in (2, 0)]
    topics = [
        made("Produce", "TopicProduceData", name="orders", topic_id=TOPIC_ID, partition_data=data)
    ]
    found = partitions_of(
        ApiKey.PRODUCE, version, "Produce", acks=-1, timeout_ms=1, topic_data=topics
    )
    assert found == [(topic, 2), (topic, 0)]


def test_of_numbers_in_a_list() -> None:
    topics = [
        made("OffsetFetch", "OffsetFetchRequestTopic", name="a", partition_indexes=[0, 3]),
        made("OffsetFetch", "OffsetFetchRequestTopic", name="b", partition_indexes=[]),
    ]
    found = partitions_of(ApiKey.OFFSET_FETCH, 5, "OffsetFetch", group_id="g", topics=topics)
    assert found == [("a", 0), ("a", 3)]
    everything = partitions_of(ApiKey.OFFSET_FETCH, 5, "OffsetFetch", group_id="g", topics=None)
    assert everything == []


def test_partitions_only_mentioned_are_left_out() -> None:
    forgotten = [made("Fetch", "ForgottenTopic", topic="gone", partitions=[1])]
    found = partitions_of(ApiKey.FETCH, 12, "Fetch", topics=[], forgotten_topics_data=forgotten)
    assert found == []


def test_of_a_request_without_any() -> None:
    assert partitions_of(ApiKey.HEARTBEAT, 4, "Heartbeat", group_id="g", member_id="m") == []


def test_damage_is_reported() -> None:
    with pytest.raises(DecodeError):
        read_request_partitions(ApiKey.FETCH, 12, b"\x00", 0)
