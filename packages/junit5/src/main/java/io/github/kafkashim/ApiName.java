package io.github.kafkashim;

/** The APIs of Kafka. Generated from the protocol: do not edit. */
public enum ApiName {
    PRODUCE("Produce"), FETCH("Fetch"), LIST_OFFSETS("ListOffsets"), METADATA("Metadata"),
    LEADER_AND_ISR("LeaderAndIsr"), STOP_REPLICA("StopReplica"), UPDATE_METADATA("UpdateMetadata"),
    CONTROLLED_SHUTDOWN("ControlledShutdown"), OFFSET_COMMIT("OffsetCommit"), OFFSET_FETCH("OffsetFetch"),
    FIND_COORDINATOR("FindCoordinator"), JOIN_GROUP("JoinGroup"), HEARTBEAT("Heartbeat"),
    LEAVE_GROUP("LeaveGroup"), SYNC_GROUP("SyncGroup"), DESCRIBE_GROUPS("DescribeGroups"),
    LIST_GROUPS("ListGroups"), SASL_HANDSHAKE("SaslHandshake"), API_VERSIONS("ApiVersions"),
    CREATE_TOPICS("CreateTopics"), DELETE_TOPICS("DeleteTopics"), DELETE_RECORDS("DeleteRecords"),
    INIT_PRODUCER_ID("InitProducerId"), OFFSET_FOR_LEADER_EPOCH("OffsetForLeaderEpoch"),
    ADD_PARTITIONS_TO_TXN("AddPartitionsToTxn"), ADD_OFFSETS_TO_TXN("AddOffsetsToTxn"), END_TXN("EndTxn"),
    WRITE_TXN_MARKERS("WriteTxnMarkers"), TXN_OFFSET_COMMIT("TxnOffsetCommit"), DESCRIBE_ACLS("DescribeAcls"),
    CREATE_ACLS("CreateAcls"), DELETE_ACLS("DeleteAcls"), DESCRIBE_CONFIGS("DescribeConfigs"),
    ALTER_CONFIGS("AlterConfigs"), ALTER_REPLICA_LOG_DIRS("AlterReplicaLogDirs"),
    DESCRIBE_LOG_DIRS("DescribeLogDirs"), SASL_AUTHENTICATE("SaslAuthenticate"),
    CREATE_PARTITIONS("CreatePartitions"), CREATE_DELEGATION_TOKEN("CreateDelegationToken"),
    RENEW_DELEGATION_TOKEN("RenewDelegationToken"), EXPIRE_DELEGATION_TOKEN("ExpireDelegationToken"),
    DESCRIBE_DELEGATION_TOKEN("DescribeDelegationToken"), DELETE_GROUPS("DeleteGroups"),
    ELECT_LEADERS("ElectLeaders"), INCREMENTAL_ALTER_CONFIGS("IncrementalAlterConfigs"),
    ALTER_PARTITION_REASSIGNMENTS("AlterPartitionReassignments"),
    LIST_PARTITION_REASSIGNMENTS("ListPartitionReassignments"), OFFSET_DELETE("OffsetDelete"),
    DESCRIBE_CLIENT_QUOTAS("DescribeClientQuotas"), ALTER_CLIENT_QUOTAS("AlterClientQuotas"),
    DESCRIBE_USER_SCRAM_CREDENTIALS("DescribeUserScramCredentials"),
    ALTER_USER_SCRAM_CREDENTIALS("AlterUserScramCredentials"), VOTE("Vote"),
    BEGIN_QUORUM_EPOCH("BeginQuorumEpoch"), END_QUORUM_EPOCH("EndQuorumEpoch"), DESCRIBE_QUORUM("DescribeQuorum"),
    ALTER_PARTITION("AlterPartition"), UPDATE_FEATURES("UpdateFeatures"), ENVELOPE("Envelope"),
    FETCH_SNAPSHOT("FetchSnapshot"), DESCRIBE_CLUSTER("DescribeCluster"), DESCRIBE_PRODUCERS("DescribeProducers"),
    BROKER_REGISTRATION("BrokerRegistration"), BROKER_HEARTBEAT("BrokerHeartbeat"),
    UNREGISTER_BROKER("UnregisterBroker"), DESCRIBE_TRANSACTIONS("DescribeTransactions"),
    LIST_TRANSACTIONS("ListTransactions"), ALLOCATE_PRODUCER_IDS("AllocateProducerIds"),
    CONSUMER_GROUP_HEARTBEAT("ConsumerGroupHeartbeat"), CONSUMER_GROUP_DESCRIBE("ConsumerGroupDescribe"),
    CONTROLLER_REGISTRATION("ControllerRegistration"), GET_TELEMETRY_SUBSCRIPTIONS("GetTelemetrySubscriptions"),
    PUSH_TELEMETRY("PushTelemetry"), ASSIGN_REPLICAS_TO_DIRS("AssignReplicasToDirs"),
    LIST_CONFIG_RESOURCES("ListConfigResources"), DESCRIBE_TOPIC_PARTITIONS("DescribeTopicPartitions"),
    SHARE_GROUP_HEARTBEAT("ShareGroupHeartbeat"), SHARE_GROUP_DESCRIBE("ShareGroupDescribe"),
    SHARE_FETCH("ShareFetch"), SHARE_ACKNOWLEDGE("ShareAcknowledge"), ADD_RAFT_VOTER("AddRaftVoter"),
    REMOVE_RAFT_VOTER("RemoveRaftVoter"), UPDATE_RAFT_VOTER("UpdateRaftVoter"),
    INITIALIZE_SHARE_GROUP_STATE("InitializeShareGroupState"), READ_SHARE_GROUP_STATE("ReadShareGroupState"),
    WRITE_SHARE_GROUP_STATE("WriteShareGroupState"), DELETE_SHARE_GROUP_STATE("DeleteShareGroupState"),
    READ_SHARE_GROUP_STATE_SUMMARY("ReadShareGroupStateSummary"),
    STREAMS_GROUP_HEARTBEAT("StreamsGroupHeartbeat"), STREAMS_GROUP_DESCRIBE("StreamsGroupDescribe"),
    DESCRIBE_SHARE_GROUP_OFFSETS("DescribeShareGroupOffsets"),
    ALTER_SHARE_GROUP_OFFSETS("AlterShareGroupOffsets"), DELETE_SHARE_GROUP_OFFSETS("DeleteShareGroupOffsets"),
    STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE("StreamsGroupTopologyDescriptionUpdate"),
    UNREGISTER_CONTROLLER("UnregisterController");

    private final String text;

    ApiName(String text) {
        this.text = text;
    }

    /** Returns the name as Kafka writes it. */
    @Override
    public String toString() {
        return text;
    }
}
