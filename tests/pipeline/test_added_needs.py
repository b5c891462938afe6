"""Permission checks that an upgrade adds, verified by requests to both releases."""

import msgspec
import pytest

from kafka_shim.pipeline.rows.added_needs import new_needs_with_visible_denial
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
)
from kafka_shim.protocol.messages.produce import ProduceRequest, TopicProduceData
from tests.pipeline.traces import create_frame, frame
from tests.shim.play import Stage

ORDERS = [OffsetFetchRequestTopic(name="orders", partition_indexes=[0])]
REQUESTS = {
    "produce": (ApiKey.PRODUCE, 3, ProduceRequest(topic_data=[TopicProduceData(name="orders")])),
    "metadata": (ApiKey.METADATA, 4, MetadataRequest(topics=[MetadataRequestTopic(name="orders")])),
    "offsets": (ApiKey.OFFSET_FETCH, 1, OffsetFetchRequest(group_id="g", topics=ORDERS)),
    "groups": (ApiKey.LIST_GROUPS, 0, ListGroupsRequest()),
    "idempotent": (ApiKey.INIT_PRODUCER_ID, 0, InitProducerIdRequest(transaction_timeout_ms=1)),
}


def told(message_frame: bytes, present: str, target: str) -> list[str]:
    selection = Selection(release=target, present_release=present)
    return [
        f"{need.requirement_id}: {need.last_named_action.operation.name}"
        f" {need.last_named_action.resource_name}"
        for _, need in new_needs_with_visible_denial(message_frame, selection)
    ]


@pytest.mark.parametrize("name", REQUESTS)
def test_weaker_checks_are_not_reported(name: str) -> None:
    """Checks that became weaker in a newer release are not reported."""
    api, version, message = REQUESTS[name]
    for at, present in enumerate(RELEASES):
        for target in RELEASES[at:]:
            assert told(frame(api, version, message), present, target) == []


@pytest.mark.parametrize("target", RELEASES[RELEASES.index("3.9") :])
def test_readiness_reports_what_an_upgrade_breaks(target: str) -> None:
    """A consumer with only READ on its group, on 3.9 and on later releases."""
    message = ConsumerGroupHeartbeatRequest(
        *("g", "m", 0),
        subscribed_topic_names=["orders"],
        topic_partitions=[],
        rebalance_timeout_ms=1,
    )
    stage = Stage(release=target)
    stage.allow("User:a", Operation.READ, ResourceType.GROUP, "g")
    response = stage.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 0, message, "User:a")
    breaks = told(frame(ApiKey.CONSUMER_GROUP_HEARTBEAT, 0, message), "3.9", target)
    assert bool(breaks) == (response.error_code == 29), msgspec.to_builtins(response)
    assert bool(breaks) == (target != "3.9")


def test_creating_topics_needs_no_further_permission() -> None:
    assert told(create_frame("orders"), "1.1", "4.4") == []
