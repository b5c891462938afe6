"""Which of Kafka's test classes are run, the most telling ones first.

Left out are classes of which every test needs the inside of a broker, its files or its metrics, and
those about several controllers, GSSAPI and remote storage, and those that ask a controller as a
broker does (AllocateProducerIdsRequestTest, BrokerRegistrationRequestTest). `outside` has tests of
such a class, run with another mechanism.
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
