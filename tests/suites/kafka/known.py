"""Tests that pass on a real broker and fail on the shim by intention, by the reason."""

from collections.abc import Iterable, Mapping

_PAGE = "[differences](../../../docs/explanation/differences.md)"
WORDS = f"compares an error message with Kafka's; the shim's differ ({_PAGE})"
COORDINATORS = f"expects an error of a coordinator until its internal topic exists ({_PAGE})"
CONTROLLER = f"connects to the controller's listener, which the shim does not have ({_PAGE})"
QUORUM = f"expects a controller that is not a broker ({_PAGE})"
OWN_SETTINGS = (
    "sets different settings for controller and brokers; in the shim a broker is the controller"
    f" ({_PAGE})"
)
LEVEL = (
    "runs with an unreleased or older metadata.version; the shim always has that of its release"
    f" ({_PAGE})"
)
NODES = (
    "configures an authorizer for the brokers only; in the shim it applies to the controller too"
    f" ({_PAGE})"
)
FILES = f"damages log files, which the shim does not have ({_PAGE})"
ASSIGNOR = f"configures its own assignor, a Java class ({_PAGE})"
INSTANT = "expects that a response takes more than a millisecond; the shim is often faster"
SHARED = f"expects that a restarted leader lacks the records that it missed ({_PAGE})"

_STREAMS = "StreamsGroupHeartbeatRequestTest.testStreamsGroupHeartbeat"

KNOWN: Mapping[str, tuple[str, ...]] = {
    WORDS: (
        "AuthorizerIntegrationTest.testStreamsGroupHeartbeatWithInternalTopicCreateAcl",
        "AuthorizerIntegrationTest.testStreamsGroupHeartbeatWithoutInternalTopicCreateAcl",
        "DescribeUserScramCredentialsRequestTest.testDescribeSameUserTwice",
        "DescribeUserScramCredentialsRequestTest.testUnknownUser",
        "AlterUserScramCredentialsRequestTest.testAlterEmptyUser",
        "AlterUserScramCredentialsRequestTest.testAlterTooFewIterations",
        "AlterUserScramCredentialsRequestTest.testAlterTooManyIterations",
        "AlterUserScramCredentialsRequestTest.testAlterUnknownMechanism",
        "ClientQuotasRequestTest.testAlterClientQuotasBadIp",
        "ClientQuotasRequestTest.testAlterClientQuotasInvalidEntityCombination",
        "ClientQuotasRequestTest.testDescribeClientQuotasInvalidFilterCombination",
        "ConsumerGroupHeartbeatRequestTest.testEmptyConsumerGroupId",
        "ConsumerProtocolMigrationTest.testOnlineMigrationWithNonEmptyUserDataInAssignment",
        "CreateTopicsRequestTest.testCreateClusterMetadataTopic",
        "CreateTopicsRequestTest.testErrorCreateTopicsRequests",
        "DeleteGroupsRequestTest.testDeleteGroupsWithOldConsumerGroupProtocol",
        "DescribeGroupsRequestTest.testDescribeGroupsWithOldConsumerGroupProtocol",
        "ProduceRequestTest.testProduceWithInvalidTimestamp",
        "StreamsGroupHeartbeatRequestTest.testEmptyStreamsGroupId",
        "StreamsGroupHeartbeatRequestTest.testInvalidMemberEpoch",
        "StreamsGroupHeartbeatRequestTest.testMemberJoiningAndExpiring",
        f"{_STREAMS}IsAccessibleWhenNewGroupCoordinatorIsEnabledTopicNotExistFirst",
        "PlaintextConsumerAssignorsTest.testRemoteAssignorInvalid",
        "PlaintextAdminIntegrationTest.testConsumerGroupsDeprecatedConsumerGroupState",
        "PlaintextAdminIntegrationTest.testCreatePartitions",
        "PlaintextAdminIntegrationTest.testDescribeGroups",
        "PlaintextAdminIntegrationTest.testElectPreferredLeaders",
        "PlaintextAdminIntegrationTest.testIncrementalAlterAndDescribeGroupConfigs",
        "PlaintextAdminIntegrationTest.testInvalidAlterPartitionReassignments",
        "PlaintextAdminIntegrationTest.testInvalidIncrementalAlterConfigs",
        "PlaintextAdminIntegrationTest.testShareGroups",
        "PlaintextAdminIntegrationTest.testValidIncrementalAlterConfigs",
    ),
    COORDINATORS: (
        "OffsetFetchRequestTest.testGroupErrors",
        f"{_STREAMS}IsInaccessibleWhenOffsetTopicNotExist",
    ),
    QUORUM: ("DescribeQuorumRequestTest.testDescribeQuorum",),
    CONTROLLER: (
        "DeleteTopicsRequestWithDeletionDisabledTest.testDeleteRecordsRequest",
        "ApiVersionsRequestTest.testApiVersionsRequestValidationV0ThroughControllerListener",
    ),
    LEVEL: (
        "ApiVersionsRequestTest.testApiVersionsRequest",
        "AlterUserScramCredentialsRequestTest.testMetadataVersionTooLow",
        "MetadataVersionIntegrationTest.testBasicMetadataVersionUpgrade",
        "MetadataVersionIntegrationTest.testDefaultIsLatestVersion",
        "MetadataVersionIntegrationTest.testUpgradeSameVersion",
    ),
    ASSIGNOR: (
        "ConsumerIntegrationTest.testRackAwareAssignment",
        "ShareConsumerRackAwareTest.testShareConsumerWithRackAwareAssignor",
    ),
    SHARED: ("ClientRebootstrapTest.testProducerRebootstrap",),
    INSTANT: ("SslAdminIntegrationTest.testExpireDelegationToken",),
    FILES: ("PlaintextAdminIntegrationTest.testDeleteRecordsAfterCorruptRecords",),
    OWN_SETTINGS: (
        "StaticBrokerConfigTest.testTopicConfigsGetImpactedIfStaticConfigsAddToBroker",
        "StaticBrokerConfigTest.testTopicConfigsGetImpactedIfStaticConfigsAddToController",
    ),
    NODES: ("DescribeUserScramCredentialsRequestNotAuthorizedTest.testDescribeNotAuthorized",),
}


def reason(name: str) -> str | None:
    """Return why a test, `Class.test(...)`, fails; None if the reason is unknown."""
    test = name.partition("(")[0]
    return next((reason for reason, tests in KNOWN.items() if test in tests), None)


def unexplained(names: Iterable[str]) -> list[str]:
    return [name for name in names if reason(name) is None]
