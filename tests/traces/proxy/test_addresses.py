"""Addresses of brokers in responses are replaced by those of the proxy."""

from typing import Any

import pytest

from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from kafka_shim.protocol.messages.fetch import FetchResponse, NodeEndpoint as FetchEndpoint
from kafka_shim.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorResponse,
)
from kafka_shim.protocol.messages.metadata import MetadataResponse, MetadataResponseBroker
from kafka_shim.protocol.messages.produce import (
    NodeEndpoint as ProduceEndpoint,
    ProduceResponse,
)
from kafka_shim.protocol.messages.share_acknowledge import (
    NodeEndpoint as ShareAcknowledgeEndpoint,
    ShareAcknowledgeResponse,
)
from kafka_shim.protocol.messages.share_fetch import (
    NodeEndpoint as ShareFetchEndpoint,
    ShareFetchResponse,
)
from kafka_shim.traces.proxy.response_addresses import (
    advertised_brokers,
    is_valid_address,
    replace_broker_addresses,
    response_contains_broker_addresses,
)

REAL = ("real", 9092)
OF_CONTROLLERS = {
    ApiKey.VOTE,
    ApiKey.BEGIN_QUORUM_EPOCH,
    ApiKey.END_QUORUM_EPOCH,
    ApiKey.DESCRIBE_QUORUM,
    ApiKey.FETCH_SNAPSHOT,
    ApiKey.UPDATE_RAFT_VOTER,
}
OF_PROGRAMS = {ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_DESCRIBE}
"""APIs with addresses of Kafka Streams applications (`application.server`), not of brokers."""


@pytest.mark.parametrize(
    ("api", "response"),
    [
        (ApiKey.METADATA, MetadataResponse(brokers=[MetadataResponseBroker(3, *REAL)])),
        (
            ApiKey.DESCRIBE_CLUSTER,
            DescribeClusterResponse(brokers=[DescribeClusterBroker(3, *REAL)]),
        ),
        (ApiKey.FIND_COORDINATOR, FindCoordinatorResponse(node_id=3, host="real", port=9092)),
        (
            ApiKey.FIND_COORDINATOR,
            FindCoordinatorResponse(coordinators=[Coordinator("g", 3, *REAL)]),
        ),
        (ApiKey.PRODUCE, ProduceResponse(node_endpoints=[ProduceEndpoint(3, *REAL)])),
        (ApiKey.FETCH, FetchResponse(node_endpoints=[FetchEndpoint(3, *REAL)])),
        (ApiKey.SHARE_FETCH, ShareFetchResponse(node_endpoints=[ShareFetchEndpoint(3, *REAL)])),
        (
            ApiKey.SHARE_ACKNOWLEDGE,
            ShareAcknowledgeResponse(node_endpoints=[ShareAcknowledgeEndpoint(3, *REAL)]),
        ),
    ],
)
def test_addresses_are_rewritten(api: ApiKey, response: Any) -> None:
    assert response_contains_broker_addresses(api)
    assert list(advertised_brokers(api, response)) == [(3, *REAL)]
    assert replace_broker_addresses(
        api, response, lambda node_id, host, port: (f"{host}-{node_id}", port + 1)
    )
    assert list(advertised_brokers(api, response)) == [(3, "real-3", 9093)]


def test_a_response_without_coordinator_is_not_rewritten() -> None:
    refused = FindCoordinatorResponse(
        error_code=15, coordinators=[Coordinator("g", -1, "", -1, error_code=15)]
    )
    assert not replace_broker_addresses(ApiKey.FIND_COORDINATOR, refused, lambda *_: ("proxy", 1))


def test_all_apis_with_addresses_of_brokers_are_rewritten() -> None:
    found = {
        api
        for api in ApiKey
        for struct in load_message_spec(f"{api.wire_name}Response").structs_inner_first
        if {"host", "port"} <= {field.attribute for field in struct.fields}
    }
    rewritten = {api for api in ApiKey if response_contains_broker_addresses(api)}
    assert found - OF_CONTROLLERS - OF_PROGRAMS == rewritten


@pytest.mark.parametrize("api", [ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.SHARE_FETCH])
def test_versions_without_addresses_are_not_read(api: ApiKey) -> None:
    root = load_message_spec(f"{api.wire_name}Response").structs_inner_first[-1]
    [first] = [field.versions.low for field in root.fields if field.attribute == "node_endpoints"]
    assert response_contains_broker_addresses(api, first)
    assert not response_contains_broker_addresses(api, first - 1) or not first


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [
        ("kafka-1.example.com", 9092, True),
        ("kafka_1", 1, True),
        ("10.0.0.1", 65535, True),
        ("::1", 9092, True),
        ("fe80::1%eth0", 9092, True),
        ("bücher.example", 9092, True),
        ("kafka.", 9092, True),
        ("kafka", 0, False),
        ("kafka", -5, False),
        ("kafka", 99999, False),
        ("", 9092, False),
        ("..", 9092, False),
        ("a\0b", 9092, False),
        ("a\nb", 9092, False),
        ("\x1b[31mX", 9092, False),
        ("a" * 64, 9092, False),
        ("a." * 15000, 9092, False),
        ("\ud800", 9092, False),
        (":\n", 9092, False),
    ],
)
def test_only_valid_addresses_get_a_listener(host: str, port: int, expected: bool) -> None:
    assert is_valid_address(host, port) is expected
