"""Responses with headers; only ApiVersions responds in another version than the requested one."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import read_response_with_version, write_response_frame
from kafka_shim.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse

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
