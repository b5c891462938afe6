"""Produce and Fetch requests for one topic, which is given by its name or id."""

from collections.abc import Iterable, Sequence
from typing import Any

from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)


def produce_request(
    topic: str | bytes, *records: bytes | None, indexes: Iterable[int] = (), **fields: Any
) -> ProduceRequest:
    """Return a request with records for each of the partitions, which are 0, 1 and so on."""
    rows = [
        PartitionProduceData(index, content)
        for index, content in zip(indexes or range(len(records)), records, strict=True)
    ]
    data = TopicProduceData(*_name_and_id(topic), rows)
    return ProduceRequest(**{"acks": -1, "timeout_ms": 1_000, "topic_data": [data], **fields})


def fetch_request(
    topic: str | bytes, *, offset: int = 0, indexes: Sequence[int] = (0,), **fields: Any
) -> FetchRequest:
    """Return a request for these partitions from an offset on; it does not wait."""
    rows = [
        FetchPartition(index, fetch_offset=offset, partition_max_bytes=1 << 20) for index in indexes
    ]
    topics = [FetchTopic(*_name_and_id(topic), rows)]
    return FetchRequest(**{"max_wait_ms": 0, "topics": topics, **fields})


def _name_and_id(topic: str | bytes) -> tuple[str, bytes]:
    return (topic, bytes(16)) if isinstance(topic, str) else ("", topic)
