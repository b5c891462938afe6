"""The test classes of Kafka to run, the most important ones first.

A class is left out if all of its tests need internal objects of a broker, its files or its metrics,
if it tests several controllers, GSSAPI or remote storage, or if it sends requests of brokers to a
controller (AllocateProducerIdsRequestTest, BrokerRegistrationRequestTest). `outside` has the tests
of such a class with another mechanism.
"""


def _of(package: str, names: str) -> tuple[str, ...]:
    return tuple(f"{package}.{name}" for name in names.split())


CLASSES = (
    *_of("kafka.api", "AuthorizerIntegrationTest"),
    *_of("org.apache.kafka.clients.security", "GroupAuthorizerIntegrationTest"),
    *_of("org.apache.kafka.clients.admin", "DescribeAuthorizedOperationsTest"),
    *_of("kafka.api", "SaslClientsWithInvalidCredentialsTest"),
    *_of(
        "kafka.server",
        """DescribeUserScramCredentialsRequestNotAuthorizedTest
        DescribeUserScramCredentialsRequestTest
        AlterUserScramCredentialsRequestNotAuthorizedTest AlterUserScramCredentialsRequestTest""",
    ),
    *_of(
        "org.apache.kafka.clients.consumer",
        """PlaintextConsumerTest PlaintextConsumerAssignTest PlaintextConsumerCallbackTest
        PlaintextConsumerCloseTest PlaintextConsumerCommitTest PlaintextConsumerFetchTest
        PlaintextConsumerPollTest PlaintextConsumerSubscriptionTest
        SaslPlainPlaintextConsumerTest ConsumerIntegrationTest ConsumerTopicCreationTest
        ConsumerBounceTest ConsumerWithLegacyMessageFormatIntegrationTest ShareConsumerTest
        ShareConsumerRackAwareTest""",
    ),
    *_of(
        "kafka.api",
        """PlaintextConsumerTest PlaintextConsumerAssignorsTest PlaintextAdminIntegrationTest
        TransactionsTest""",
    ),
    *_of(
        "kafka.server",
        """ConsumerProtocolMigrationTest ConsumerGroupHeartbeatRequestTest
        ConsumerGroupDescribeRequestTest DescribeGroupsRequestTest DeleteGroupsRequestTest
        HeartbeatRequestTest JoinGroupRequestTest LeaveGroupRequestTest ListGroupsRequestTest
        SyncGroupRequestTest OffsetCommitRequestTest OffsetDeleteRequestTest
        OffsetFetchRequestTest TxnOffsetCommitRequestTest ShareFetchAcknowledgeRequestTest
        ShareGroupDescribeRequestTest ShareGroupHeartbeatRequestTest
        StreamsGroupDescribeRequestTest StreamsGroupHeartbeatRequestTest
        WriteTxnMarkersRequestTest AddPartitionsToTxnRequestServerTest ApiVersionsRequestTest
        SaslApiVersionsRequestTest CreateTopicsRequestTest DeleteTopicsRequestTest
        DeleteTopicsRequestWithDeletionDisabledTest DeleteRecordsRequestTest
        DescribeClusterRequestTest DescribeLogDirsRequestTest DescribeQuorumRequestTest
        DelegationTokenRequestsTest DelegationTokenRequestsOnPlainTextTest
        DelegationTokenRequestsWithDisableTokenFeatureTest FetchRequestTest
        FetchRequestMaxBytesTest ListOffsetsRequestTest OffsetsForLeaderEpochRequestTest
        ProduceRequestTest AlterReplicaLogDirsRequestTest ControllerMutationQuotaTest
        RequestQuotaTest EdgeCaseRequestTest LogOffsetTest DynamicConfigChangeTest""",
    ),
    *_of("kafka.network", "DynamicConnectionQuotaTest"),
    *_of(
        "org.apache.kafka.server",
        "MetadataRequestTest quota.ClientQuotasRequestTest config.DynamicConfigTest",
    ),
    *_of(
        "kafka.api",
        """DelegationTokenEndToEndAuthorizationTest
        DelegationTokenEndToEndAuthorizationWithOwnerTest PlaintextEndToEndAuthorizationTest
        SslEndToEndAuthorizationTest SaslPlainSslEndToEndAuthorizationTest
        SaslScramSslEndToEndAuthorizationTest SaslOAuthBearerSslEndToEndAuthorizationTest
        GroupEndToEndAuthorizationTest SslAdminIntegrationTest SslConsumerTest
        PlaintextProducerSendTest SslProducerSendTest GroupCoordinatorIntegrationTest
        ClientIdQuotaTest UserClientIdQuotaTest
        TransactionsBounceTest ConsumerBounceTest""",
    ),
    *_of("outside", "PlainAdminIntegrationTest"),
    *_of(
        "org.apache.kafka.clients.admin",
        """AdminFenceProducersTest AutoTopicCreationTest ClientTelemetryTest
        ConcurrentListOffsetsRequestTest DeleteTopicTest DescribeFeaturesTest
        DescribeProducersWithBrokerIdTest DynamicGroupConfigIntegrationTest
        ListOffsetsIntegrationTest RackAwareAutoTopicCreationTest StaticBrokerConfigTest""",
    ),
    *_of(
        "org.apache.kafka.clients.producer",
        """ProducerCompressionTest ProducerFailureHandlingTest ProducerIdExpirationTest
        ProducerIntegrationTest ProducerSendWhileDeletionTest""",
    ),
    *_of(
        "org.apache.kafka.clients",
        """TransactionsExpirationTest TransactionsWithMaxInFlightOneTest ClientRebootstrapTest
        MetadataVersionIntegrationTest""",
    ),
)
