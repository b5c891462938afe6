"""Hints to another leader (KIP-951) contain the proxy's address for that leader."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.headers import RequestHeader, write_request_header, write_response_header
from kafka_shim.protocol.messages.fetch import FetchRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.produce import (
    ProduceRequest,
)
from kafka_shim.protocol.messages.share_acknowledge import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from kafka_shim.protocol.messages.share_fetch import (
    FetchPartition as SharePartition,
    FetchTopic as ShareTopic,
    ShareFetchRequest,
)
from kafka_shim.shim.config import InitialTopic
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.traces.proxy.proxied_connection import ProxiedConnection
from tests.recordings.records.batches import batch
from tests.shim.wire import PLAIN, serving, wired
from tests.support.record_requests import fetch_request, produce_request
from tests.traces.proxy.test_proxy import proxied

pytestmark = pytest.mark.asyncio

MEMBER = "AAAAAAAAAAAAAAAAAAAAAQ"
HINTS = [
    *((ApiKey.PRODUCE, version) for version in range(10, 14)),
    *((ApiKey.FETCH, version) for version in range(16, 19)),
    *((ApiKey.SHARE_FETCH, version) for version in (1, 2)),
]


def produce(version: int, topic_id: bytes) -> ProduceRequest:
    return produce_request("t" if version < 13 else topic_id, batch([b"v"]))


def fetch(_: int, topic_id: bytes) -> FetchRequest:
    return fetch_request(topic_id)


def share_fetch(_: int, topic_id: bytes) -> ShareFetchRequest:
    topic = ShareTopic(topic_id, [SharePartition(0)])
    return ShareFetchRequest(
        "g", MEMBER, max_wait_ms=0, max_records=1, batch_size=1, topics=[topic]
    )


REQUESTS = {ApiKey.PRODUCE: produce, ApiKey.FETCH: fetch, ApiKey.SHARE_FETCH: share_fetch}


def partitions(response: Any) -> Iterator[tuple[int, int]]:
    """Yield the error code and the leader id of each partition in a response."""
    for topic in response.responses:
        rows = topic.partitions if hasattr(topic, "partitions") else topic.partition_responses
        for row in rows:
            yield row.error_code, row.current_leader.leader_id


@pytest.mark.parametrize(("api", "version"), HINTS)
async def test_leader_hints_have_addresses_of_the_proxy(
    api: ApiKey, version: int, tmp_path: Path
) -> None:
    topics = (InitialTopic("t", 1),)
    async with (
        serving(brokers=2, topics=topics) as broker,
        proxied(broker, tmp_path) as (_, address),
    ):
        async with wired(address) as wire:
            named = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
            metadata = await wire.ask(ApiKey.METADATA, 12, named)
        told = {broker.node_id: (broker.host, broker.port) for broker in metadata.brokers}
        (topic,) = metadata.topics
        leader = topic.partitions[0].leader_id
        (other,) = told.keys() - {leader}
        async with wired("{}:{}".format(*told[other])) as wire:
            response = await wire.ask(api, version, REQUESTS[api](version, topic.topic_id))
    assert list(partitions(response)) == [(ErrorCode.NOT_LEADER_OR_FOLLOWER, leader)]
    hints = [
        (endpoint.node_id, endpoint.host, endpoint.port) for endpoint in response.node_endpoints
    ]
    assert hints == [(leader, *told[leader])]


@pytest.mark.parametrize("version", [1, 2])
async def test_leader_hints_of_share_acknowledge_have_addresses_of_the_proxy(
    version: int, tmp_path: Path
) -> None:
    """A broker returns such hints only while a leader moves, so this response is made up."""
    api = ApiKey.SHARE_ACKNOWLEDGE
    row = PartitionData(0, ErrorCode.NOT_LEADER_OR_FOLLOWER, current_leader=LeaderIdAndEpoch(2, 5))
    told = ShareAcknowledgeResponse(
        responses=[ShareAcknowledgeTopicResponse(bytes(16), [row])],
        node_endpoints=[NodeEndpoint(2, "real", 9092, "rack")],
    )
    session = Session(PLAIN, 1, "127.0.0.1", 5000)
    recorder = TraceRecorder(tmp_path, SystemClock())
    connection = ProxiedConnection(
        session, recorder, lambda node_id, host, port: (f"{host}-{node_id}", port + 1), 999
    )
    request = write_request_header(RequestHeader(api, version, 7, "c"))
    connection._observe_request(
        request + codecs.write_request(ShareAcknowledgeRequest("g", MEMBER, 1), version)
    )
    head = write_response_header(api, version, 7)
    frame = connection._readdress_response(head + codecs.write_response(api, version, told))
    recorder.close()
    response = codecs.read_response(api, version, frame, len(head))
    (hint,) = response.node_endpoints
    assert (hint.node_id, hint.host, hint.port, hint.rack) == (2, "real-2", 9093, "rack")
    assert list(partitions(response)) == [(ErrorCode.NOT_LEADER_OR_FOLLOWER, 2)]
