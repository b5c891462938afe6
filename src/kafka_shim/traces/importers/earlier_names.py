"""Fields that Kafka renamed: their names in logs of earlier releases (the bytes are the same).

They were found by comparing the message definitions of 2.7 to 4.4.
"""

from collections.abc import Mapping
from types import MappingProxyType

_BY_MESSAGE = {
    "AddPartitionsToTxnRequest": {
        "v3AndBelowTransactionalId": "transactionalId",
        "v3AndBelowProducerId": "producerId",
        "v3AndBelowProducerEpoch": "producerEpoch",
        "v3AndBelowTopics": "topics",
    },
    "AddPartitionsToTxnResponse": {
        "resultsByTopicV3AndBelow": "results",
        "resultsByTopicV3AndBelow.resultsByPartition": "results",
        "resultsByTopicV3AndBelow.resultsByPartition.partitionErrorCode": "errorCode",
    },
    "AlterPartitionRequest": {
        "topics.topicName": "name",
    },
    "AlterPartitionResponse": {
        "topics.topicName": "name",
    },
    "DescribeLogDirsRequest": {
        "topics.partitions": "partitionIndex",
    },
    "ElectLeadersRequest": {
        "topicPartitions.partitions": "partitionId",
    },
    "FetchResponse": {
        "responses.partitions": "partitionResponses",
        "responses.partitions.partitionIndex": "partition",
        "responses.partitions.records": "recordSet",
    },
    "LeaderAndIsrRequest": {
        "topicStates.partitionStates.partitionEpoch": "zkVersion",
        "ungroupedPartitionStates.partitionEpoch": "zkVersion",
    },
    "OffsetCommitRequest": {
        "generationIdOrMemberEpoch": "generationId",
    },
    "OffsetForLeaderEpochRequest": {
        "topics.topic": "name",
        "topics.partitions.partition": "partitionIndex",
    },
    "OffsetForLeaderEpochResponse": {
        "topics.topic": "name",
        "topics.partitions.partition": "partitionIndex",
    },
    "ProduceRequest": {
        "topicData": "topics",
        "topicData.partitionData": "partitions",
        "topicData.partitionData.index": "partitionIndex",
    },
    "ProduceResponse": {
        "responses.partitionResponses": "partitions",
        "responses.partitionResponses.index": "partitionIndex",
    },
    "StreamsGroupHeartbeatResponse": {
        "acceptableRecoveryLagLegacy": "acceptableRecoveryLag",
    },
    "TxnOffsetCommitRequest": {
        "generationIdOrMemberEpoch": "generationId",
    },
    "VoteRequest": {
        "topics.partitions.replicaDirectoryId": "candidateDirectoryId",
        "topics.partitions.replicaEpoch": "candidateEpoch",
        "topics.partitions.replicaId": "candidateId",
    },
}
EARLIER: Mapping[str, str] = MappingProxyType(
    {
        f"{message}.{path}": name
        for message, names in _BY_MESSAGE.items()
        for path, name in names.items()
    }
)
"""By message and path, both as they are now."""
