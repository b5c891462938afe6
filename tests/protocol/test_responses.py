"""Responses with headers, and the error codes in them."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import read_response_with_version, write_response_frame
from kafka_shim.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from kafka_shim.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_shim.protocol.responses import nonzero_error_codes

REFUSED = ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(18, 0, 4)])
REFUSAL = bytes.fromhex("00000007 0023 00000001 0012 0000 0004")
"""The response to an unsupported version of ApiVersions, as in KIP-511."""


@pytest.mark.parametrize("version", [0, 4, 99])
def test_a_refusal_of_api_versions_is_in_version_0(version: int) -> None:
    assert write_response_frame(RequestHeader(ApiKey.API_VERSIONS, version, 7), REFUSED) == REFUSAL
    assert read_response_with_version(ApiKey.API_VERSIONS, version, REFUSAL) == (REFUSED, 0)


def test_all_other_responses_are_in_the_requested_version() -> None:
    granted = ApiVersionsResponse(api_keys=[ApiVersion(18, 0, 4)])
    frame = write_response_frame(RequestHeader(ApiKey.API_VERSIONS, 4, 7), granted)
    assert read_response_with_version(ApiKey.API_VERSIONS, 4, frame) == (granted, 4)


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
