"""A small request with a very large response does not block others."""

from typing import Any

import msgspec
import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
)
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kafka_shim.protocol.messages.describe_groups import DescribeGroupsRequest
from kafka_shim.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from kafka_shim.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from kafka_shim.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from kafka_shim.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafka_shim.protocol.messages.list_config_resources import ListConfigResourcesRequest
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
)
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from kafka_shim.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.handlers import share_group_heartbeat
from kafka_shim.shim.handlers.common import long_requests
from kafka_shim.shim.handlers.create_topics import MANY_CREATED
from kafka_shim.shim.request import time_slices
from kafka_shim.shim.state.groups.offsets import CommittedOffset
from kafka_shim.shim.state.groups.share.share_group import ShareHeartbeat
from tests.shim.handlers.long_handling import takes_long
from tests.shim.play import Stage
from tests.shim.state.groups.test_long_heartbeats import beat
from tests.shim.wire import connected, serving, until
from tests.support.acl_filters import ANY_ACL, deleted_acls

COUNT = 300
NAMES = [f"t{number:04}" for number in range(COUNT)]
JOINING = ShareHeartbeat(
    member_id="AAAAAAAAAAAAAAAAAAAAAQ",
    member_epoch=0,
    rack_id=None,
    topic_names=NAMES,
    client_id="c",
    client_host="/h",
)


def fill(broker: Broker) -> None:
    """Create topics, an ACL for each, and groups that read all of them."""
    cluster = broker.cluster
    for name in NAMES:
        topic = cluster.topics.create_topic(name, [[1]], {})
        cluster.groups.offsets.store_offset("offsets", topic.topic_id, 0, CommittedOffset(1))
    fill_acls(broker)
    cluster.member_requests.handle_consumer_heartbeat("consumers", beat("m", *NAMES))
    cluster.member_requests.handle_share_heartbeat("sharers", JOINING)
    for number in range(COUNT):
        cluster.groups.find_or_create_classic_replacing_other_type(f"classic {number}")


def fill_acls(broker: Broker) -> None:
    authorizer = broker.cluster.policy.authorizer
    assert isinstance(authorizer, StandardAuthorizer)
    allowed = (PatternType.LITERAL, "User:a", "*", Operation.READ, Permission.ALLOW)
    for name in NAMES:
        authorizer.store.add(Acl(ResourceType.TOPIC, name, *allowed))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("api", "version", "request_of_all"),
    [
        (ApiKey.METADATA, 9, MetadataRequest(topics=None)),
        (ApiKey.DESCRIBE_ACLS, 2, ANY_ACL),
        (ApiKey.DESCRIBE_LOG_DIRS, 4, DescribeLogDirsRequest(topics=None)),
        (ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, DescribeTopicPartitionsRequest(topics=[])),
        (ApiKey.ELECT_LEADERS, 2, ElectLeadersRequest(topic_partitions=None)),
        (ApiKey.LIST_CONFIG_RESOURCES, 1, ListConfigResourcesRequest(resource_types=[2])),
        (
            ApiKey.OFFSET_FETCH,
            8,
            OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="offsets", topics=None)]),
        ),
        (ApiKey.LIST_GROUPS, 5, ListGroupsRequest()),
        (ApiKey.DESCRIBE_GROUPS, 5, DescribeGroupsRequest([f"classic {n}" for n in range(COUNT)])),
        (ApiKey.CONSUMER_GROUP_DESCRIBE, 1, ConsumerGroupDescribeRequest(["consumers"])),
        (ApiKey.SHARE_GROUP_DESCRIBE, 1, ShareGroupDescribeRequest(["sharers"])),
        (
            ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
            0,
            DescribeShareGroupOffsetsRequest(
                [DescribeShareGroupOffsetsRequestGroup("sharers", None)]
            ),
        ),
        (ApiKey.DELETE_ACLS, 2, DeleteAclsRequest([deleted_acls()])),
    ],
)
async def test_a_request_for_much_data_is_handled_in_time_slices(
    api: ApiKey, version: int, request_of_all: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving() as broker, connected(broker) as busy, connected(broker) as other:
        fill(broker)
        large = broker._server.large_requests
        await busy.send(busy.request(api, version, request_of_all))
        in_one_slice = await busy.frame()
        fill_acls(broker)
        monkeypatch.setattr(time_slices, "SLICE_S", -1.0)
        monkeypatch.setattr(long_requests, "MANY_ROWS", COUNT - 100)
        monkeypatch.setattr(long_requests, "MANY_MEMBERS", COUNT)
        await busy.send(busy.request(api, version, request_of_all))
        await until(lambda: large.at_work == 1)
        await other.send(other.request(ApiKey.API_VERSIONS, 0, ApiVersionsRequest()))
        await other.frame()
        assert large.at_work == 1
        assert (await busy.frame())[4:] == in_one_slice[4:]


def test_a_request_that_creates_many_partitions_is_handled_in_time_slices() -> None:
    cluster = Stage("2.8").cluster

    def creates(topics: int, partitions: int) -> bool:
        rows = [CreatableTopic(f"t{number}", partitions, 1) for number in range(topics)]
        return takes_long(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=rows), cluster)

    assert not creates(1, MANY_CREATED)
    assert creates(1, MANY_CREATED + 1)
    assert creates(3, MANY_CREATED)
    assert not creates(3, -1)


def test_metadata_is_handled_in_time_slices_if_the_topics_have_many_partitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_requests, "MANY_ROWS", 10)
    stage = Stage("4.3")
    for number in range(2):
        stage.topic(f"small {number}", 1)
    large = stage.topic("large", 11)
    named = [
        (MetadataRequest(topics=None), True),
        (MetadataRequest(topics=[MetadataRequestTopic(name="small 1")]), False),
        (MetadataRequest(topics=[MetadataRequestTopic(name="missing")]), False),
        (MetadataRequest(topics=[MetadataRequestTopic(name="large")]), True),
        (MetadataRequest(topics=[MetadataRequestTopic(topic_id=large.topic_id, name=None)]), True),
    ]
    for request, is_long in named:
        assert takes_long(ApiKey.METADATA, request, stage.cluster) == is_long, request


@pytest.mark.parametrize(("release", "visits_all"), [("2.5", False), ("2.8", True), ("4.3", False)])
def test_log_directories_are_described_in_time_slices_if_the_topics_have_many_partitions(
    release: str, visits_all: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_requests, "MANY_ROWS", 10)
    stage = Stage(release)
    stage.topic("small", 1)
    stage.topic("large", 11)
    named = [
        (DescribeLogDirsRequest(topics=None), True),
        (DescribeLogDirsRequest(topics=[DescribableLogDirTopic("large", [0])]), True),
        (DescribeLogDirsRequest(topics=[DescribableLogDirTopic("small", [0])] * 12), visits_all),
        (DescribeLogDirsRequest(topics=[DescribableLogDirTopic("missing", [0])]), visits_all),
    ]
    for request, is_long in named:
        assert takes_long(ApiKey.DESCRIBE_LOG_DIRS, request, stage.cluster) == is_long, request


def test_acl_filters_are_handled_in_time_slices_if_many_acls_may_match(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_requests, "MANY_ROWS", 10)
    cluster = Stage("4.3").cluster
    authorizer = cluster.policy.authorizer
    assert isinstance(authorizer, StandardAuthorizer)
    for number in range(12):
        for name, principal in (("crowd", f"User:{number}"), (f"t{number}", "User:a")):
            allowed = (PatternType.LITERAL, principal, "*", Operation.READ, Permission.ALLOW)
            authorizer.store.add(Acl(ResourceType.TOPIC, name, *allowed))
    named: list[tuple[int, str | None, bool]] = [
        (ResourceType.TOPIC, "t1", False),
        (ResourceType.TOPIC, "missing", False),
        (ResourceType.TOPIC, "crowd", True),
        (ResourceType.TOPIC, None, True),
        (ResourceType.ANY, "t1", True),
        (99, "t1", True),
    ]
    for kind, resource, is_long in named:
        wanted = msgspec.structs.replace(
            ANY_ACL, resource_type_filter=kind, resource_name_filter=resource
        )
        assert takes_long(ApiKey.DESCRIBE_ACLS, wanted, cluster) == is_long, resource
        fields = {field: getattr(wanted, field) for field in DeleteAclsFilter.__struct_fields__}
        several = DeleteAclsRequest([DeleteAclsFilter(**fields)])
        assert takes_long(ApiKey.DELETE_ACLS, several, cluster) == is_long, resource


def test_requests_for_little_of_a_large_cluster_are_handled_in_one_slice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_requests, "MANY_ROWS", 10)
    monkeypatch.setattr(long_requests, "MANY_MEMBERS", 3)
    monkeypatch.setattr(share_group_heartbeat, "MANY_SHARED", 10)
    cluster = (stage := Stage("4.3")).cluster
    stage.topic("large", 11)
    small = stage.topic("small", 1)
    cluster.groups.offsets.store_offset("g", small.topic_id, 0, CommittedOffset(1))
    cluster.member_requests.handle_consumer_heartbeat("consumers", beat("m", "small"))
    sharing = msgspec.structs.replace(JOINING, topic_names=["small"])
    cluster.member_requests.handle_share_heartbeat("sharers", sharing)
    for number in range(5):
        cluster.member_requests.handle_consumer_heartbeat("crowd", beat(f"m{number}", "large"))
    offsets = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)])
    shares = DescribeShareGroupOffsetsRequestGroup("sharers", None)
    stays = ShareGroupHeartbeatRequest("sharers", sharing.member_id, 1)
    joins = ConsumerGroupHeartbeatRequest("new", "m", 0, subscribed_topic_names=["small"])
    named = TopicPartitions("small", [0])
    requests = [
        (ApiKey.OFFSET_FETCH, offsets),
        (ApiKey.CONSUMER_GROUP_DESCRIBE, ConsumerGroupDescribeRequest(["consumers"])),
        (ApiKey.SHARE_GROUP_DESCRIBE, ShareGroupDescribeRequest(["sharers"])),
        (ApiKey.DESCRIBE_GROUPS, DescribeGroupsRequest(["consumers"])),
        (ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, DescribeShareGroupOffsetsRequest([shares])),
        (ApiKey.ELECT_LEADERS, ElectLeadersRequest(topic_partitions=[named])),
        (ApiKey.DESCRIBE_TOPIC_PARTITIONS, DescribeTopicPartitionsRequest([TopicRequest("small")])),
        (ApiKey.SHARE_GROUP_HEARTBEAT, stays),
        (ApiKey.CONSUMER_GROUP_HEARTBEAT, joins),
    ]
    for api, request in requests:
        assert not takes_long(api, request, cluster), api.name
    crowd = ConsumerGroupDescribeRequest(["crowd"])
    assert takes_long(ApiKey.CONSUMER_GROUP_DESCRIBE, crowd, cluster)
