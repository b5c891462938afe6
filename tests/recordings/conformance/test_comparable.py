"""The parts of responses that are compared, and the names of generated values."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_acls import AclCreationResult, CreateAclsResponse
from kafka_shim.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kafka_shim.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdResponse
from kafka_shim.protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from kafka_shim.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
from kafka_shim.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenResponse,
)
from tests.recordings.conformance.comparable import Comparing
from tests.recordings.conformance.scenario import Scenario
from tests.recordings.conformance.symbols import SOME, Symbols, moment
from tests.recordings.records.batches import T0, batch

NOW_MS = 1_700_000_000_000
EMPTY = Scenario("s1", [], [], [], [])


def plain(api: ApiKey, version: int, response: Any, symbols: Symbols | None = None) -> Any:
    return Comparing(EMPTY, symbols or Symbols({}), NOW_MS).plain(api, version, response)


@pytest.mark.parametrize(
    ("message", "kept"), [(None, None), ("", ""), ("Cluster authorization failed.", "<text>")]
)
def test_only_the_presence_of_messages_is_compared(message: str | None, kept: str | None) -> None:
    response = CreateAclsResponse(results=[AclCreationResult(error_message=message)])
    assert plain(ApiKey.CREATE_ACLS, 3, response)["results"][0]["error_message"] == kept


def test_results_of_created_acls_keep_their_order_but_matches_do_not() -> None:
    results = [AclCreationResult(error_code=code) for code in (42, 0)]
    kept = plain(ApiKey.CREATE_ACLS, 3, CreateAclsResponse(results=results))["results"]
    assert [result["error_code"] for result in kept] == [42, 0]
    matches = [DeleteAclsMatchingAcl(resource_name=name) for name in "ba"]
    response = DeleteAclsResponse(filter_results=[DeleteAclsFilterResult(matching_acls=matches)])
    found = plain(ApiKey.DELETE_ACLS, 3, response)["filter_results"][0]["matching_acls"]
    assert [acl["resource_name"] for acl in found] == ["a", "b"]


def test_topic_ids_have_their_topics_names() -> None:
    symbols = Symbols({"s1-a": b"\x01" * 15 + b"\x02"})
    ids = [b"\x01" * 15 + b"\x02", bytes(16), b"\x22" * 16, b"\x07" * 15 + b"\x08"]
    topics = [
        MetadataResponseTopic(name="s1-a", topic_id=topic_id, error_code=3) for topic_id in ids
    ]
    found = plain(ApiKey.METADATA, 12, MetadataResponse(topics=topics), symbols)["topics"]
    assert {topic["topic_id"] for topic in found} == {"s1-a", "", "22" * 16, SOME}


def test_producer_ids_are_named_after_the_step_that_returned_them() -> None:
    symbols = Symbols({})
    response = InitProducerIdResponse(producer_id=17)
    assert plain(ApiKey.INIT_PRODUCER_ID, 4, response, symbols)["producer_id"] == SOME
    symbols.learn("5", response)
    assert (
        plain(ApiKey.INIT_PRODUCER_ID, 4, response, symbols)["producer_id"] == "<producer_id of 5>"
    )
    assert plain(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdResponse())["producer_id"] == -1
    made_up = InitProducerIdResponse(producer_id=424_242)
    assert plain(ApiKey.INIT_PRODUCER_ID, 4, made_up)["producer_id"] == 424_242


def test_values_from_requests_are_kept() -> None:
    symbols = Symbols({}, ["nobody"])
    assert [symbols.of("member_id", member_id) for member_id in ("nobody", "", "m-1")] == [
        "nobody",
        "",
        SOME,
    ]


def test_entries_of_other_scenarios_are_left_out_unless_requested() -> None:
    groups = [ListedGroup(group_id=name) for name in ("s1-a", "s10-b", "mine")]
    response = ListGroupsResponse(groups=groups)
    found = plain(ApiKey.LIST_GROUPS, 4, response, Symbols({}, ["mine"]))["groups"]
    assert [group["group_id"] for group in found] == ["mine", "s1-a"]


def test_times_are_shown_by_their_distance_from_now() -> None:
    hour_ms = 3_600_000
    assert moment(NOW_MS + 400, NOW_MS) == "<now>"
    assert moment(NOW_MS + hour_ms, NOW_MS) == "<now+60min>"
    assert [moment(time_ms, NOW_MS) for time_ms in (-1, T0)] == [-1, T0]
    response = RenewDelegationTokenResponse(expiry_timestamp_ms=NOW_MS + 24 * hour_ms)
    found = plain(ApiKey.RENEW_DELEGATION_TOKEN, 2, response)
    assert found == {"error_code": 0, "expiry_timestamp_ms": "<now+1440min>"}


def fetched(name: str) -> Any:
    rows = [PartitionData(records=batch([b"v"]), high_watermark=1)]
    response = FetchResponse(responses=[FetchableTopicResponse(topic=name, partitions=rows)])
    return plain(ApiKey.FETCH, 4, response)["responses"][0]["partitions"][0]


def test_records_are_shown_by_batch_except_those_of_coordinators() -> None:
    assert fetched("s1-a")["high_watermark"] == 1
    (line,) = fetched("s1-a")["records"]
    assert line.startswith("v2 base=0 last=0")
    assert line.endswith(f"[0@{T0}:null=v]")
    internal = fetched("__consumer_offsets")
    assert (internal["records"], internal["high_watermark"]) == (SOME, SOME)
    assert internal["error_code"] == 0


def test_settings_with_addresses_compare_by_presence() -> None:
    configs = [
        DescribeConfigsResourceResult(name=name, value=value)
        for name, value in (("log.dirs", "/tmp/x"), ("zookeeper.connect", None), ("a", "1"))
    ]
    response = DescribeConfigsResponse(results=[DescribeConfigsResult(configs=configs)])
    found = plain(ApiKey.DESCRIBE_CONFIGS, 1, response)["results"][0]["configs"]
    values = {config["name"]: config["value"] for config in found}
    assert values == {"log.dirs": SOME, "zookeeper.connect": None, "a": "1"}
