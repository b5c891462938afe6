"""Error codes anywhere in a response."""

from kafka_shim.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_shim.protocol.responses import nonzero_error_codes


def test_error_codes_are_found_at_every_depth() -> None:
    partition = MetadataResponsePartition(
        error_code=5, partition_index=0, leader_id=1, leader_epoch=0,
        replica_nodes=[], isr_nodes=[], offline_replicas=[],
    )  # fmt: skip
    topics = [
        MetadataResponseTopic(error_code=code, name="x", partitions=partitions)
        for code, partitions in ((0, [partition]), (29, []))
    ]
    assert nonzero_error_codes(MetadataResponse(topics=topics), 12) == [5, 29]
    assert nonzero_error_codes(MetadataResponse(), 12) == []


def test_codes_that_a_version_does_not_have_are_not_found() -> None:
    topics = [MetadataResponseTopic(error_code=34, name="x")]
    refused = MetadataResponse(topics=topics, error_code=34)
    assert nonzero_error_codes(refused, 12) == [34]
    assert nonzero_error_codes(refused, 13) == [34, 34]
