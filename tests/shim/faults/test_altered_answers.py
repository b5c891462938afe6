"""Responses altered by faults, read by kafka-python."""

from typing import Any

import pytest
from kafka.protocol.metadata import MetadataResponse

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.shim.faults.faults import Faults
from kafka_shim.shim.faults.spec import FaultError
from kafka_shim.shim.observing.request_history import History
from tests.shim.faults.sample_requests import HEARTBEAT, metadata
from tests.shim.play import Stage
from tests.support.record_requests import produce_request


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.topic("orders")
    return stage


def frame(stage: Stage, action: dict[str, Any]) -> bytes:
    stage.dispatcher.faults.add({"action": action, "match": {"api": "Metadata"}})
    sent = stage.send(ApiKey.METADATA, 12, metadata("orders"), stage.session("User:admin"))
    assert isinstance(sent, bytes)
    return sent


def test_an_unknown_error_code_is_returned_and_shown_as_a_number(stage: Stage) -> None:
    history = History()
    stage.dispatcher.set_history(history)
    stage.dispatcher.faults.add({"action": {"error": 4711}})
    assert stage.ask(ApiKey.METADATA, 12, metadata("orders")).topics[0].error_code == 4711
    (seen,) = history
    assert set(seen.request_row()["error_names"]) == {"4711"}


@pytest.mark.parametrize(
    ("fields", "error_codes"),
    [
        ({"topics.*.error_code": 9, "throttle_time_ms": 77}, {9}),
        ({"topics.0.partitions.0.errorCode": 9, "throttle_time_ms": 77}, {0}),
        ({"topics": [], "throttle_time_ms": 77}, set()),
    ],
)
def test_fields_of_a_response_are_set(
    stage: Stage, fields: dict[str, Any], error_codes: set[int]
) -> None:
    stage.dispatcher.faults.add({"action": {"set": fields}, "match": {"api": "Metadata"}})
    altered, own = [stage.ask(ApiKey.METADATA, 12, metadata("orders")) for _ in range(2)]
    assert altered.throttle_time_ms == 77
    assert {topic.error_code for topic in altered.topics} == error_codes
    assert (own.throttle_time_ms, own.topics[0].partitions[0].error_code) == (0, 0)


def test_a_field_that_the_version_lacks_is_left_out(stage: Stage) -> None:
    fields = {"cluster_authorized_operations": 8, "throttle_time_ms": 77}
    stage.dispatcher.faults.add({"action": {"set": fields}, "match": {"api": "Metadata"}})
    assert stage.ask(ApiKey.METADATA, 12, metadata("orders")).throttle_time_ms == 77


def test_an_unknown_error_code_is_returned_for_a_produce_request(stage: Stage) -> None:
    stage.dispatcher.faults.add({"action": {"error": 4711}})
    response = stage.ask(ApiKey.PRODUCE, 9, produce_request("orders", None))
    assert response.responses[0].partition_responses[0].error_code == 4711


def test_api_versions_lists_other_versions(stage: Stage) -> None:
    told = {"Fetch": [0, 3], "Produce": None, "4711": [1, 2]}
    stage.dispatcher.faults.add({"action": {"api_versions": told}})
    request = ApiVersionsRequest("client", "1")
    altered, own = [stage.ask(ApiKey.API_VERSIONS, 3, request).api_keys for _ in range(2)]
    found = {row.api_key: (row.min_version, row.max_version) for row in altered}
    assert found[ApiKey.FETCH] == (0, 3)
    assert found[4711] == (1, 2)
    assert found.keys() ^ {row.api_key for row in own} == {ApiKey.PRODUCE, 4711}


def test_a_response_has_another_correlation_id_and_size(stage: Stage) -> None:
    sent = frame(stage, {"correlation_id": 4711, "size": -2})
    assert sent[:8] == (-2).to_bytes(4, "big", signed=True) + (4711).to_bytes(4, "big")


@pytest.mark.parametrize("length", [0, 200, 20_000])
def test_unknown_tagged_fields_are_added(stage: Stage, length: int) -> None:
    sent = frame(stage, {"tagged_bytes": length})
    assert int.from_bytes(sent[:4], "big") == len(sent) - 4 > 2 * length
    read = MetadataResponse.decode(sent, version=12, header=True, framed=True)
    assert [topic.name for topic in read.topics] == ["orders"]


def test_an_inflexible_version_gets_no_tagged_fields(stage: Stage) -> None:
    stage.dispatcher.faults.add({"action": {"tagged_bytes": 9}})
    assert stage.ask(ApiKey.HEARTBEAT, 3, HEARTBEAT).error_code


@pytest.mark.parametrize(
    ("action", "api", "text"),
    [
        ({"error": 2**15}, None, "16 bits"),
        ({"correlation_id": 2**31}, None, "32 bits"),
        ({"tagged_bytes": -1}, None, "from 0"),
        ({"set": {"topics": []}}, None, "requires match.api"),
        (
            {"set": {"topic": []}},
            "Metadata",
            "unknown field `topic`; expected one of throttle_time_ms",
        ),
        ({"set": {"topics.error_code": 1}}, "Metadata", "a number or *"),
        ({"set": {"throttle_time_ms.a": 1}}, "Metadata", "no fields are below it"),
        ({"set": {"throttle_time_ms": "1"}}, "Metadata", "got `str`"),
        ({"api_versions": {"Fetch": [3]}}, None, "lowest"),
        ({"api_versions": {"Fetsch": None}}, None, "Fetsch"),
    ],
)
def test_invalid_alterations_are_rejected(action: Any, api: str | None, text: str) -> None:
    with pytest.raises(FaultError, match=text):
        Faults().add({"action": action, "match": {"api": api}})


def test_every_response_of_the_newest_release_can_be_altered() -> None:
    for api in Stage(RELEASES[-1]).dispatcher.apis.advertised:
        Faults().add({"action": {"set": {}, "corrupt": True}, "match": {"api": api.wire_name}})
        with pytest.raises(FaultError, match="unknown field `x`"):
            Faults().add({"action": {"set": {"x": 1}}, "match": {"api": api.wire_name}})
