"""Tests that pass on a real broker and fail on the shim on purpose, by the reason."""

from collections.abc import Iterable, Mapping

WORDS = "compares the words of a message, and the shim has its own ([deviations.md](deviations.md))"
COORDINATORS = "asks a coordinator before its topic exists ([deviations.md](deviations.md))"
CONTROLLER = (
    "connects to the controller's own listener, and the shim has none"
    " ([deviations.md](deviations.md))"
)
QUORUM = "expects a controller that is no broker ([deviations.md](deviations.md))"
OWN_SETTINGS = (
    "gives the controller other settings than the brokers, and a shim's controller is one of its"
    " brokers ([deviations.md](deviations.md))"
)
LEVEL = (
    "runs at another metadata.version (unreleased, or old); a shim has that of its release"
    " ([deviations.md](deviations.md))"
)
NODES = (
    "gives only the brokers an authorizer, not the controller; a shim has one for all"
    " ([deviations.md](deviations.md))"
)
FILES = "damages files of a log, and the shim has none ([deviations.md](deviations.md))"
ASSIGNOR = "brings an assignor of its own, a Java class ([deviations.md](deviations.md))"
INSTANT = (
    "needs an answer that takes longer than the millisecond in it, and the shim's often does not"
)
SHARED = "expects that a leader lacks records that it missed ([deviations.md](deviations.md))"

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
    """Return why a test fails, `Class.test(...)`; None if that is not known."""
    test = name.partition("(")[0]
    return next((reason for reason, tests in KNOWN.items() if test in tests), None)


def unexplained(names: Iterable[str]) -> list[str]:
    return [name for name in names if reason(name) is None]
