"""Random requests about brokers and the cluster; requests between brokers have old epochs."""

from kafka_shim.protocol.messages.add_raft_voter import AddRaftVoterRequest, Listener
from kafka_shim.protocol.messages.alter_partition import AlterPartitionRequest
from kafka_shim.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.controlled_shutdown import ControlledShutdownRequest
from kafka_shim.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_shim.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from kafka_shim.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    RequestPartitionData,
    RequestTopicData,
)
from kafka_shim.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from kafka_shim.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from kafka_shim.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from kafka_shim.protocol.messages.unregister_broker import UnregisterBrokerRequest
from kafka_shim.protocol.messages.unregister_controller import UnregisterControllerRequest
from kafka_shim.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from kafka_shim.protocol.messages.update_metadata import UpdateMetadataRequest
from tests.recordings.conformance.draw import Asked, Draw

NO_SUCH_BROKER = 77
LONG_AGO = -1
"""An outdated controller epoch."""

GROUPED_SINCE = 2
"""The first version of LeaderAndIsr with partitions grouped by topic."""
EPOCH_OF_SHUTDOWN_SINCE = 2

METADATA_LOG = "__cluster_metadata"


def api_versions(draw: Draw, version: int) -> Asked:
    name, software = draw.weighted({("shim", "1.0"): 80, ("", ""): 10, ("bad name!", "1"): 10})
    request = ApiVersionsRequest(
        client_software_name=name,
        client_software_version=software,
        cluster_id=draw.weighted({None: 60, "another-cluster": 40}),
        node_id=draw.weighted({-1: 60, 1: 20, NO_SUCH_BROKER: 20}),
    )
    return Asked(request)


def describe_cluster(draw: Draw, version: int) -> Asked:
    request = DescribeClusterRequest(
        include_cluster_authorized_operations=draw.chance(0.8),
        endpoint_type=draw.weighted({1: 85, 2: 10, 9: 5}),
        include_fenced_brokers=draw.chance(0.3),
    )
    return Asked(request)


def describe_quorum(draw: Draw, version: int) -> Asked:
    name = METADATA_LOG if draw.chance(0.8) else draw.topic()
    partitions = [RequestPartitionData(partition_index=draw.weighted({0: 85, 1: 15}))]
    return Asked(
        DescribeQuorumRequest(topics=[RequestTopicData(topic_name=name, partitions=partitions)])
    )


def update_features(draw: Draw, version: int) -> Asked:
    updates = [
        FeatureUpdateKey(
            feature=draw.weighted({"nonsense.version": 60, "metadata.version": 40}),
            max_version_level=draw.pick(1, 0, 999),
            allow_downgrade=draw.chance(0.3),
            upgrade_type=draw.weighted({1: 80, 2: 10, 9: 10}),
        )
        for _ in range(draw.number(0 if draw.chance(0.2) else 1, 1))
    ]
    return Asked(UpdateFeaturesRequest(feature_updates=updates, validate_only=True))


def unregister_broker(draw: Draw, version: int) -> Asked:
    return Asked(UnregisterBrokerRequest(broker_id=NO_SUCH_BROKER))


def unregister_controller(draw: Draw, version: int) -> Asked:
    return Asked(UnregisterControllerRequest(controller_id=draw.pick(NO_SUCH_BROKER, -1)))


def add_raft_voter(draw: Draw, version: int) -> Asked:
    request = AddRaftVoterRequest(
        cluster_id=draw.pick(None, "another-cluster"),
        timeout_ms=1000,
        voter_id=NO_SUCH_BROKER,
        voter_directory_id=b"\x22" * 16,
        listeners=[Listener(name="CONTROLLER", host="127.0.0.1", port=9)],
    )
    return Asked(request)


def remove_raft_voter(draw: Draw, version: int) -> Asked:
    request = RemoveRaftVoterRequest(
        cluster_id=draw.pick(None, "another-cluster"),
        voter_id=NO_SUCH_BROKER,
        voter_directory_id=b"\x22" * 16,
    )
    return Asked(request)


def describe_log_dirs(draw: Draw, version: int) -> Asked:
    topics = [
        DescribableLogDirTopic(topic=name, partitions=draw.some([0, 1, 7], 1, 2))
        for name in draw.topic_names()
    ]
    return Asked(DescribeLogDirsRequest(topics=None if draw.chance(0.3) else topics))


def alter_replica_log_dirs(draw: Draw, version: int) -> Asked:
    topics = [
        AlterReplicaLogDirTopic(name=name, partitions=draw.some([0, 1, 7], 1, 2))
        for name in draw.topic_names()
    ]
    return Asked(
        AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path="/no/such", topics=topics)])
    )


def leader_and_isr(draw: Draw, version: int) -> Asked:
    names = draw.some([*draw.topics, *draw.ghosts], 0, 3)
    states = [LeaderAndIsrPartitionState(topic_name=name, leader=1) for name in names]
    request = LeaderAndIsrRequest(
        controller_id=1, controller_epoch=LONG_AGO, broker_epoch=_broker_epoch(draw)
    )
    if version < GROUPED_SINCE:
        request.ungrouped_partition_states = states
    else:  # no duplicates: they crash a real broker in version 5
        request.topic_states = [
            LeaderAndIsrTopicState(topic_name=name, partition_states=[LeaderAndIsrPartitionState()])
            for name in dict.fromkeys(names)
        ]
    return Asked(request)


def stop_replica(draw: Draw, version: int) -> Asked:
    request = StopReplicaRequest(
        controller_id=1, controller_epoch=LONG_AGO, broker_epoch=_broker_epoch(draw)
    )
    names = draw.some([*draw.topics, *draw.ghosts], 0, 3)
    if version == 0:
        request.ungrouped_partitions = [StopReplicaPartitionV0(topic_name=name) for name in names]
    elif version < 3:
        request.topics = [StopReplicaTopicV1(name=name, partition_indexes=[0]) for name in names]
    else:
        state = StopReplicaPartitionState(delete_partition=True)
        request.topic_states = [
            StopReplicaTopicState(topic_name=name, partition_states=[state]) for name in names
        ]
    return Asked(request)


def update_metadata(draw: Draw, version: int) -> Asked:
    request = UpdateMetadataRequest(
        controller_id=1, controller_epoch=LONG_AGO, broker_epoch=_broker_epoch(draw)
    )
    return Asked(request)


def controlled_shutdown(draw: Draw, version: int) -> Asked:
    """Use an old epoch for the existing broker, since a real one would obey the current epoch."""
    epoch = _broker_epoch(draw) if version >= EPOCH_OF_SHUTDOWN_SINCE else LONG_AGO
    broker_id = NO_SUCH_BROKER if epoch == LONG_AGO else draw.pick(NO_SUCH_BROKER, 1)
    return Asked(ControlledShutdownRequest(broker_id=broker_id, broker_epoch=epoch))


def _broker_epoch(draw: Draw) -> int:
    """Return no broker epoch, or an outdated one."""
    return draw.weighted({LONG_AGO: 75, 0: 25})


def alter_partition(draw: Draw, version: int) -> Asked:
    return Asked(AlterPartitionRequest(broker_id=NO_SUCH_BROKER, broker_epoch=LONG_AGO))
