"""Writes a record of any size to a broker with Kafka's own requests."""

import time
from itertools import cycle

from kafka_shim.client.client import ClientError, connect
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.records.batches import Record, encode_batch
from kafka_shim.shim.system_clock import SystemClock

_BY_NAME = 12
"""The newest version of Produce that identifies topics by name."""
_ELSEWHERE = {
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}
_WAIT_S, _PAUSE_S = 10.0, 0.1


def write_record(servers: str, topic: str, value: bytes) -> None:
    """Write to partition 0 without authentication. Raise ClientError if the broker reports an
    error.

    Ask the brokers in turn until one leads the topic, since the leader may just have moved.
    """
    batch = encode_batch([Record(0, SystemClock().now_ms(), None, value)])
    data = PartitionProduceData(index=0, records=batch)
    topics = [TopicProduceData(name=topic, partition_data=[data])]
    request = ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=topics)
    brokers = cycle(servers.split(","))
    ends = time.monotonic() + _WAIT_S
    while (
        code := _produce_error(next(brokers), request)
    ) in _ELSEWHERE and time.monotonic() < ends:
        time.sleep(_PAUSE_S)
    if code:
        raise ClientError(f"cannot write to {topic}: {error_name_with_code(code)}")


def _produce_error(server: str, request: ProduceRequest) -> int:
    """Return the partition's error; LEADER_NOT_AVAILABLE (5) if the broker does not answer."""
    try:
        with connect(server) as client:
            version = min(client.negotiated_version(ApiKey.PRODUCE), _BY_NAME)
            response = client.send_request(ApiKey.PRODUCE, request, version)
    except ClientError:
        return ErrorCode.LEADER_NOT_AVAILABLE
    code: int = response.responses[0].partition_responses[0].error_code
    return code
