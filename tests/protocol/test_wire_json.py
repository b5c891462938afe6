"""kafka_shim.protocol.wire_json: messages as JSON, in the form of Kafka's request log."""

import json

from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.wire_json import lower_first_letter, message_json, uuid_text


def test_names_are_lower_camel_case() -> None:
    assert lower_first_letter("TopicData") == "topicData"
    assert lower_first_letter("timeoutMs") == "timeoutMs"
    assert lower_first_letter("V3AndBelowTopics") == "v3AndBelowTopics"


def test_records_are_their_size_and_names_kafkas() -> None:
    partition = PartitionProduceData(index=3, records=b"12345")
    request = ProduceRequest(
        acks=-1,
        timeout_ms=5,
        topic_data=[TopicProduceData(name="orders", partition_data=[partition])],
    )
    assert message_json(request, 9) == {
        "transactionalId": None,
        "acks": -1,
        "timeoutMs": 5,
        "topicData": [{"name": "orders", "partitionData": [{"index": 3, "recordsSizeInBytes": 5}]}],
    }


def test_only_fields_of_the_version_are_written() -> None:
    response = MetadataResponse(topics=[MetadataResponseTopic(name="t", topic_id=bytes(range(16)))])
    old = message_json(response, 0)
    assert set(old) == {"brokers", "topics"}
    assert set(old["topics"][0]) == {"errorCode", "name", "partitions"}
    new = message_json(response, 12)["topics"][0]
    assert new["topicId"] == "AAECAwQFBgcICQoLDA0ODw"
    assert uuid_text(bytes(16)) == "AAAAAAAAAAAAAAAAAAAAAA"


def test_tagged_fields_are_shown_unless_default() -> None:
    partition = FetchPartition(partition=0, partition_max_bytes=1)
    request = FetchRequest(topics=[FetchTopic(topic="t", partitions=[partition])])
    assert "clusterId" not in message_json(request, 12)
    request.cluster_id = "abc"
    assert message_json(request, 12)["clusterId"] == "abc"


def test_the_outcome_is_json() -> None:
    json.dumps(message_json(MetadataResponse(), 13))
