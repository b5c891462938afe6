"""A replay replaces recorded offsets by those of the target, for each partition."""

from kafka_shim.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_shim.protocol.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafka_shim.protocol.records.batches import Record, encode_batch
from kafka_shim.traces.replay.offset_mapping import OffsetMapping
from tests.support.record_requests import fetch_request, produce_request

TOPIC_ID = b"t" * 16


def produced(base: int, index: int = 0, topic: str = "t") -> ProduceResponse:
    row = PartitionProduceResponse(index=index, base_offset=base)
    return ProduceResponse([TopicProduceResponse(topic, partition_responses=[row])])


def write(offsets: OffsetMapping, recorded: int, actual: int, count: int = 1) -> None:
    """Learn the responses to a request with this number of records."""
    records = [Record(number, 0, None, b"x") for number in range(count)]
    request = produce_request("t", encode_batch(records))
    offsets.learn_written(request, produced(recorded), produced(actual))


def committing(offset: int, partition: int = 0, topic: str = "t") -> OffsetCommitRequest:
    row = OffsetCommitRequestPartition(partition, offset)
    return OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic(topic, partitions=[row])])


def committed(request: OffsetCommitRequest) -> int:
    return request.topics[0].partitions[0].committed_offset


def test_offsets_keep_their_distance_to_the_last_learned_one() -> None:
    offsets = OffsetMapping()
    write(offsets, 0, 100)
    write(offsets, 10, 150)
    assert offsets.differs_from_recording
    for old, new in ((0, 100), (9, 109), (10, 150), (12, 152)):
        request = committing(old)
        assert offsets.put_target_offsets(request)
        assert committed(request) == new


def test_offsets_are_learned_for_each_partition() -> None:
    offsets = OffsetMapping()
    write(offsets, 0, 100)
    for request in (committing(5, partition=1), committing(5, topic="u"), committing(-1)):
        before = committed(request)
        assert not offsets.put_target_offsets(request)
        assert committed(request) == before


def test_topic_ids_are_resolved_with_the_recorded_metadata() -> None:
    offsets = OffsetMapping()
    recorded = MetadataResponse(topics=[MetadataResponseTopic(name="t", topic_id=TOPIC_ID)])
    offsets.learn_topic_names(recorded)
    write(offsets, 0, 7)
    request = fetch_request(TOPIC_ID, offset=2)
    assert offsets.put_target_offsets(request)
    assert request.topics[0].partitions[0].fetch_offset == 9


def test_equal_offsets_change_nothing() -> None:
    offsets = OffsetMapping()
    write(offsets, 4, 4)
    assert not offsets.differs_from_recording
    assert not offsets.put_target_offsets(committing(4))


def test_acknowledged_offsets_are_those_of_the_target() -> None:
    offsets = OffsetMapping()
    recorded = MetadataResponse(topics=[MetadataResponseTopic(name="t", topic_id=TOPIC_ID)])
    offsets.learn_topic_names(recorded)
    write(offsets, 0, 7, count=3)
    write(offsets, 3, 20, count=3)
    batches = [AcknowledgementBatch(*ends, [1]) for ends in ((0, 2), (4, 4), (2, 3), (9, 9))]
    rows = [AcknowledgePartition(0, batches)]
    request = ShareAcknowledgeRequest("g", "m", 1, topics=[AcknowledgeTopic(TOPIC_ID, rows)])
    assert offsets.put_target_offsets(request)
    found = [(batch.first_offset, batch.last_offset) for batch in batches]
    assert found == [(7, 9), (21, 21), (2, 3), (9, 9)]  # what is not consecutive, or unknown, stays
