"""Writes a record of any size to a broker with Kafka's own requests."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.names import error_text
from kafka_shim.protocol.records import Record, encode_batch
from kafka_shim.shim.client.client import ClientError, connect
from kafka_shim.shim.system_clock import SystemClock

_BY_NAME = 12
"""The newest version of Produce that identifies topics by name."""


def write_record(servers: str, topic: str, value: bytes) -> None:
    """Write to partition 0 without a log-in; ClientError if the broker reports an error."""
    batch = encode_batch([Record(0, SystemClock().now_ms(), None, value)])
    data = PartitionProduceData(index=0, records=batch)
    topics = [TopicProduceData(name=topic, partition_data=[data])]
    request = ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=topics)
    with connect(servers) as client:
        version = min(client.version_of(ApiKey.PRODUCE), _BY_NAME)
        answer = client.ask(ApiKey.PRODUCE, request, version)
    code = answer.responses[0].partition_responses[0].error_code
    if code:
        raise ClientError(f"cannot write to {topic}: {error_text(code)}")
