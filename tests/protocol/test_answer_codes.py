"""Error codes anywhere in a response."""

from kafka_shim.protocol.answer_codes import error_codes
from kafka_shim.protocol.messages.metadata_response import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


def test_error_codes_are_found_at_every_depth() -> None:
    partition = MetadataResponsePartition(
        error_code=5, partition_index=0, leader_id=1, leader_epoch=0,
        replica_nodes=[], isr_nodes=[], offline_replicas=[],
    )  # fmt: skip
    topics = [
        MetadataResponseTopic(error_code=code, name="x", partitions=partitions)
        for code, partitions in ((0, [partition]), (29, []))
    ]
    assert error_codes(MetadataResponse(topics=topics)) == [5, 29]
    assert error_codes(MetadataResponse()) == []
