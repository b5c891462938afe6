"""Questions for rows about topics, settings, users, brokers and the cluster."""

import base64
from typing import Any, Final

from kafka_shim.authorizer.requirement import NeedAlternative
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from tests.recordings.conformance.matrix.question import Asker, Asking, Names, Question
from tests.recordings.conformance.scenario import topic_id_of

TOPIC, BROKER, GROUP = 2, 4, 32
NO_SUCH_BROKER: Final = 77
UNKNOWN_ID: Final = base64.b64encode(b"\x22" * 16).decode()
ANY_ACL: Final[dict[str, Any]] = {
    "resource_type_filter": 1,
    "resource_name_filter": None,
    "pattern_type_filter": 1,
    "principal_filter": "User:nobody",
    "host_filter": None,
    "operation": 1,
    "permission_type": 1,
}
ACL: Final[dict[str, Any]] = {
    "resource_type": 2,
    "resource_name": "nothing",
    "principal": "User:nobody",
    "host": "*",
    "operation": 3,
    "permission_type": 3,
}


def _fixed(**request: Any) -> Asker:
    return lambda _: Question(request)


def _creating(names: Names) -> Question:
    topic = {"name": names.missing_topic, "num_partitions": 1, "replication_factor": 1}
    return Question({"topics": [topic], "timeout_ms": 5000})


def _deleting(names: Names) -> Question:
    request = {"topics": [{"name": names.topic}], "topic_names": [names.topic], "timeout_ms": 5000}
    return Question(request)


def _deleting_unseen(names: Names) -> Question:
    """Delete by id without DELETE; with DESCRIBE, the response has the topic's name."""
    topic = {"topic_id": base64.b64encode(topic_id_of(names.topic)).decode()}
    request = {"topics": [topic], "topic_names": [names.topic], "timeout_ms": 5000}
    return Question(request, denied=[NeedAlternative(Operation.DELETE, ResourceType.TOPIC)])


def _configs(kind: int, name: str, **more: Any) -> dict[str, Any]:
    return {"resources": [{"resource_type": kind, "resource_name": name} | more]}


def _describing(kind: int) -> Asker:
    keys = {TOPIC: "retention.ms", BROKER: "log.retention.hours", GROUP: "share.session.timeout.ms"}
    return lambda names: Question(_configs(kind, _of(kind, names), configuration_keys=[keys[kind]]))


def _altering(kind: int) -> Asker:
    keys = {
        TOPIC: ("retention.ms", "100"),
        BROKER: ("log.cleaner.backoff.ms", "20000"),
        GROUP: ("consumer.session.timeout.ms", "50000"),
    }
    name, value = keys[kind]
    return lambda names: Question(
        _configs(kind, _of(kind, names), configs=[{"name": name, "value": value}])
        | {"validate_only": True}
    )


def _of(kind: int, names: Names) -> str:
    return {TOPIC: names.topic, BROKER: "1", GROUP: names.group}[kind]


def _token(names: Names) -> Question:
    created = Asking(ApiKey.CREATE_DELEGATION_TOKEN, {"max_lifetime_ms": -1}, {}, "token", "admin")
    return Question({"owners": None}, [created])


def _partitions(names: Names) -> Question:
    topic = {"name": names.topic, "count": 4, "assignments": None}
    return Question({"topics": [topic], "timeout_ms": 5000})


def _log_dirs(names: Names) -> Question:
    topic = {"name": names.topic, "partitions": [0]}
    return Question({"dirs": [{"path": "/no/such", "topics": [topic]}]})


def _features(names: Names) -> Question:
    update = {"feature": "nonsense.version", "max_version_level": 1}
    return Question({"feature_updates": [update], "validate_only": True})


def _quotas(names: Names) -> Question:
    entity = [{"entity_type": "user", "entity_name": "nobody"}]
    ops = [{"key": "producer_byte_rate", "value": 1e9}]
    return Question({"entries": [{"entity": entity, "ops": ops}], "validate_only": True})


def _voter(names: Names) -> Question:
    listener = {"name": "CONTROLLER", "host": "127.0.0.1", "port": 9}
    voter = {"voter_id": NO_SUCH_BROKER, "voter_directory_id": UNKNOWN_ID}
    return Question({"cluster_id": None, "timeout_ms": 1000, "listeners": [listener]} | voter)


ADMIN: Final[dict[str, Asker]] = {
    "LeaderAndIsr.cluster": _fixed(controller_id=1, controller_epoch=-1),
    "StopReplica.cluster": _fixed(controller_id=1, controller_epoch=-1),
    "UpdateMetadata.cluster": _fixed(controller_id=1, controller_epoch=-1),
    "ControlledShutdown.cluster": _fixed(broker_id=NO_SUCH_BROKER),
    "AlterPartition.cluster": _fixed(broker_id=NO_SUCH_BROKER),
    "CreateTopics.topic": _creating,
    "CreateTopics.configs": _creating,
    "DeleteTopics.describe": _deleting_unseen,
    "DeleteTopics.topic": _deleting,
    "DescribeAcls.cluster": _fixed(**ANY_ACL),
    "CreateAcls.cluster": _fixed(creations=[ACL]),
    "DeleteAcls.cluster": _fixed(filters=[ANY_ACL]),
    "DescribeConfigs.cluster": _describing(BROKER),
    "DescribeConfigs.topic": _describing(TOPIC),
    "DescribeConfigs.group": _describing(GROUP),
    "AlterConfigs.cluster": _altering(BROKER),
    "AlterConfigs.topic": _altering(TOPIC),
    "AlterConfigs.group": _altering(GROUP),
    "IncrementalAlterConfigs.cluster": _altering(BROKER),
    "IncrementalAlterConfigs.topic": _altering(TOPIC),
    "IncrementalAlterConfigs.group": _altering(GROUP),
    "AlterReplicaLogDirs.cluster": _log_dirs,
    "DescribeLogDirs.cluster": lambda names: Question(
        {"topics": [{"topic": names.topic, "partitions": [0]}]}
    ),
    "CreatePartitions.topic": _partitions,
    "CreateDelegationToken.owner": _fixed(
        owner_principal_type="User", owner_principal_name="alice", max_lifetime_ms=-1
    ),
    "DescribeDelegationToken.token": _token,
    "ElectLeaders.cluster": lambda names: Question(
        {"topic_partitions": [{"topic": names.topic, "partitions": [0]}], "timeout_ms": 5000}
    ),
    "AlterPartitionReassignments.cluster": lambda names: Question(
        {"topics": [{"name": names.topic, "partitions": [{"replicas": [1]}]}]}
    ),
    "ListPartitionReassignments.cluster": lambda names: Question(
        {"topics": [{"name": names.topic, "partition_indexes": [0]}]}
    ),
    "DescribeClientQuotas.cluster": _fixed(),
    "AlterClientQuotas.cluster": _quotas,
    "DescribeUserScramCredentials.cluster": _fixed(users=[{"name": "nobody"}]),
    "AlterUserScramCredentials.cluster": _fixed(deletions=[{"name": "nobody", "mechanism": 1}]),
    "DescribeQuorum.cluster": _fixed(
        topics=[{"topic_name": "__cluster_metadata", "partitions": [{}]}]
    ),
    "UpdateFeatures.cluster": _features,
    "DescribeCluster.cluster_operations": _fixed(include_cluster_authorized_operations=True),
    "UnregisterBroker.cluster": _fixed(broker_id=NO_SUCH_BROKER),
    "UnregisterController.cluster": _fixed(controller_id=NO_SUCH_BROKER),
    "ListConfigResources.cluster": _fixed(),
    "DescribeTopicPartitions.topic": lambda names: Question({"topics": [{"name": names.topic}]}),
    "DescribeTopicPartitions.all_topics": _fixed(),
    "AddRaftVoter.cluster": _voter,
    "RemoveRaftVoter.cluster": lambda names: Question(
        {key: value for key, value in _voter(names).request.items() if "voter_" in key}
        | {"cluster_id": None}
    ),
}
"""Questions by the row's id."""
