"""Quorum, features and broker registration: responses as recorded from 3.9.1 and 4.3.1."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.add_raft_voter import AddRaftVoterRequest, Listener
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from kafka_shim.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    RequestPartitionData,
    RequestTopicData,
)
from kafka_shim.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.unregister_broker import UnregisterBrokerRequest
from kafka_shim.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from tests.shim.play import ADMIN, Stage

ALICE = "User:alice"
SAFE_DOWNGRADE = 2


def test_the_quorum_has_the_controller_as_its_only_voter() -> None:
    def partition(name: str, index: int) -> Any:
        request = DescribeQuorumRequest([RequestTopicData(name, [RequestPartitionData(index)])])
        ((row,),) = (
            topic.partitions for topic in Stage().ask(ApiKey.DESCRIBE_QUORUM, 2, request).topics
        )
        return row

    metadata = partition("__cluster_metadata", 0)
    assert metadata.error_code == 0
    assert [voter.replica_id for voter in metadata.current_voters] == [1]
    assert metadata.leader_id == 1
    assert partition("__cluster_metadata", 3).error_code == 3
    assert partition("other", 0).error_code == 3


def test_the_controller_has_no_listeners() -> None:
    request = DescribeQuorumRequest(
        topics=[RequestTopicData("__cluster_metadata", [RequestPartitionData(0)])],
    )
    (node,) = Stage().ask(ApiKey.DESCRIBE_QUORUM, 2, request).nodes
    assert (node.node_id, node.listeners) == (1, [])


def test_the_size_of_the_disk_is_unknown() -> None:
    stage = Stage()
    stage.topic("a")
    (log_dir,) = stage.ask(ApiKey.DESCRIBE_LOG_DIRS, 4, DescribeLogDirsRequest(topics=None)).results
    assert [topic.name for topic in log_dir.topics] == ["a"]
    assert (log_dir.total_bytes, log_dir.usable_bytes) == (-1, -1)


def test_running_brokers_are_observers_of_the_quorum() -> None:
    stage = Stage(brokers=3)
    stage.cluster.nodes[2].is_alive = False
    request = DescribeQuorumRequest(
        [RequestTopicData("__cluster_metadata", [RequestPartitionData(0)])]
    )
    response = stage.ask(ApiKey.DESCRIBE_QUORUM, 2, request)
    (partition,) = response.topics[0].partitions
    assert [voter.replica_id for voter in partition.current_voters] == [1]
    assert [observer.replica_id for observer in partition.observers] == [3]
    assert [node.node_id for node in response.nodes] == [1]
    older = stage.ask(ApiKey.DESCRIBE_QUORUM, 0, request)
    assert older.nodes == []


@pytest.mark.parametrize(
    ("api", "version", "request_", "denied"),
    [
        (ApiKey.DESCRIBE_QUORUM, 2, DescribeQuorumRequest(), 31),
        (ApiKey.UPDATE_FEATURES, 2, UpdateFeaturesRequest(), 31),
        (ApiKey.UNREGISTER_BROKER, 0, UnregisterBrokerRequest(1), 31),
        (ApiKey.ADD_RAFT_VOTER, 0, AddRaftVoterRequest(), 31),
        (ApiKey.REMOVE_RAFT_VOTER, 0, RemoveRaftVoterRequest(), 31),
    ],
)
def test_a_denial_is_a_top_level_error(
    api: ApiKey, version: int, request_: Any, denied: int
) -> None:
    assert Stage().ask(api, version, request_, ALICE).error_code == denied


@pytest.mark.parametrize(("broker", "error"), [(1, 0), (77, 102)])
def test_only_a_registered_broker_can_be_unregistered(broker: int, error: int) -> None:
    request = UnregisterBrokerRequest(broker)
    assert Stage().ask(ApiKey.UNREGISTER_BROKER, 0, request).error_code == error


@pytest.mark.parametrize(
    ("api", "kind"),
    [
        (ApiKey.ADD_RAFT_VOTER, AddRaftVoterRequest),
        (ApiKey.REMOVE_RAFT_VOTER, RemoveRaftVoterRequest),
    ],
)
def test_a_static_quorum_keeps_its_voters(api: ApiKey, kind: Any) -> None:
    stage = Stage()
    voter = kind(cluster_id=None, voter_id=7, voter_directory_id=b"\x22" * 16)
    if isinstance(voter, AddRaftVoterRequest):
        voter.listeners = [Listener(name="CONTROLLER", host="127.0.0.1", port=9)]
    assert stage.ask(api, 0, voter).error_code == 35
    assert stage.ask(api, 0, kind(cluster_id=None)).error_code == 42
    assert stage.ask(api, 0, kind(cluster_id="wrong")).error_code == 104


def update(stage: Stage, version: int, *updates: Any, validate: bool = False) -> Any:
    request = UpdateFeaturesRequest(feature_updates=list(updates), validate_only=validate)
    response = stage.ask(ApiKey.UPDATE_FEATURES, version, request, ADMIN)
    return response.error_code, [(result.feature, result.error_code) for result in response.results]


def level(stage: Stage, feature: str) -> int:
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    response = stage.ask(ApiKey.API_VERSIONS, 3, request)
    levels = {feature.name: feature.max_version_level for feature in response.finalized_features}
    return levels.get(feature, 0)


def key(name: str, to: int, upgrade_type: int = 1) -> FeatureUpdateKey:
    return FeatureUpdateKey(name, to, upgrade_type=upgrade_type)


def test_one_failed_update_fails_all_on_the_newest_release() -> None:
    stage = Stage()
    good, bad = key("group.version", 0, 2), key("nope.version", 1)
    assert update(stage, 1, good, bad) == (ErrorCode.INVALID_UPDATE_VERSION, [])
    assert level(stage, "group.version") == 1
    assert update(stage, 1, good) == (0, [("group.version", 0)])
    assert level(stage, "group.version") == 0


@pytest.mark.parametrize(
    "wrong",
    [
        key("transaction.version", 1),
        key("transaction.version", 3),
        key("metadata.version", 5),
        key("metadata.version", 99),
    ],
)
def test_invalid_feature_levels_are_rejected(wrong: FeatureUpdateKey) -> None:
    assert update(Stage(), 1, wrong) == (ErrorCode.INVALID_UPDATE_VERSION, [])


def test_version_2_returns_no_results() -> None:
    assert update(Stage(), 2, key("transaction.version", 1, 2)) == (0, [])


def test_validate_only_changes_nothing() -> None:
    stage = Stage()
    assert update(stage, 1, key("transaction.version", 1, 2), validate=True)[0] == 0
    assert level(stage, "transaction.version") == 2


def test_older_releases_return_an_error_for_each_feature() -> None:
    bad = key("nonsense.version", 1)
    assert update(Stage("3.9"), 1, bad) == (0, [("nonsense.version", 95)])
    assert update(Stage("2.7"), 0, FeatureUpdateKey("nonsense.version", 1)) == (
        0,
        [("nonsense.version", 42)],
    )


@pytest.mark.parametrize(
    ("feature", "key", "version", "request_"),
    [
        ("group.version", ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, ConsumerGroupHeartbeatRequest()),
        ("share.version", ApiKey.SHARE_GROUP_HEARTBEAT, 1, ShareGroupHeartbeatRequest()),
        ("streams.version", ApiKey.STREAMS_GROUP_HEARTBEAT, 0, StreamsGroupHeartbeatRequest()),
    ],
)
def test_disabling_a_feature_disables_its_group_protocol(
    feature: str, key: ApiKey, version: int, request_: Any
) -> None:
    stage = Stage("4.3")
    assert stage.ask(key, version, request_).error_code != ErrorCode.UNSUPPORTED_VERSION
    update = FeatureUpdateKey(feature=feature, max_version_level=0, upgrade_type=SAFE_DOWNGRADE)
    changed = stage.ask(ApiKey.UPDATE_FEATURES, 2, UpdateFeaturesRequest(feature_updates=[update]))
    assert changed.error_code == 0
    assert stage.ask(key, version, request_).error_code == ErrorCode.UNSUPPORTED_VERSION
