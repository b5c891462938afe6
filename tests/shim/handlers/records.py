"""Produce and Fetch requests for the tests of handlers."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.recordings.records.batches import batch
from tests.shim.play import ADMIN, Stage

ALICE = "User:alice"


def produce(
    stage: Stage,
    *topics: str,
    version: int = 9,
    principal: str = ADMIN,
    records: bytes | None = None,
    acks: int = -1,
    transactional_id: str | None = None,
) -> Any:
    """Produce one batch to partition 0 of each topic."""
    data = [PartitionProduceData(0, batch() if records is None else records)]
    request = ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        topic_data=[TopicProduceData(name=name, partition_data=data) for name in topics],
    )
    return stage.ask(ApiKey.PRODUCE, version, request, principal)


def produced(response: Any) -> dict[str, int]:
    """Return the error code of each topic's only partition."""
    return {topic.name: topic.partition_responses[0].error_code for topic in response.responses}


def fetch_request(*topics: str, offset: int = 0, **fields: Any) -> FetchRequest:
    """Return a request for partition 0 of each topic."""
    partition = FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20)
    rows = [FetchTopic(topic=name, partitions=[partition]) for name in topics]
    return FetchRequest(topics=rows, **{"max_wait_ms": 0, **fields})


def fetched(response: Any) -> dict[str, int]:
    """Return the error code of each topic's only partition."""
    return {topic.topic: topic.partitions[0].error_code for topic in response.responses}
