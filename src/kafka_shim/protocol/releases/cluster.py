"""How Kafka releases differ about brokers, controllers, features and versions."""

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.change import Change


class ClusterFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about the cluster itself."""

    # controllers
    brokers_forward: bool
    """Brokers forward admin requests to the controller (False: only it accepts them)."""
    has_process_roles: bool  # brokers are configured by node.id and process.roles
    orders_list_each_duplicate: bool
    """A denied LeaderAndIsr or StopReplica lists each partition of the request."""
    stale_controller_lists_partitions: bool
    """STALE_CONTROLLER_EPOCH (11) to LeaderAndIsr lists the partitions."""
    # features
    feature_update_message: str | None  # error message of an updated feature
    feature_updates_message: str | None  # error message of a successful UpdateFeatures
    updates_features: bool  # UpdateFeatures works (False: it always fails)
    unknown_feature_may_be_zero: bool  # an unknown feature can be set to level 0
    feature_update_error: ErrorCode  # error code of an unsupported feature or level
    feature_updates_fail_together: bool  # one failed update fails the whole request
    # brokers and versions
    unregistering_says_why: bool  # UnregisterBroker returns error messages
    refused_version_tells_range: bool
    """The response to an unsupported ApiVersions version has the supported range."""


OLDEST = ClusterFacts(
    brokers_forward=False,
    has_process_roles=False,
    orders_list_each_duplicate=False,
    stale_controller_lists_partitions=False,
    feature_update_message=None,
    feature_updates_message=None,
    updates_features=True,
    unknown_feature_may_be_zero=False,
    feature_update_error=ErrorCode.INVALID_REQUEST,
    feature_updates_fail_together=False,
    unregistering_says_why=False,
    refused_version_tells_range=False,
)
"""The facts of 0.11."""

CHANGES: tuple[Change, ...] = (
    Change("1.1", "partitions of stale controllers", stale_controller_lists_partitions=True),
    Change("2.4", "requests between brokers are generated", orders_list_each_duplicate=True),
    Change("2.4", "KIP-511: which versions there are", refused_version_tells_range=True),
    Change("3.0", "KRaft", brokers_forward=True, has_process_roles=True),
    Change(
        "3.0",
        "FeatureControlManager: as 3.9.1 answers",
        feature_updates_message="",
        feature_update_error=ErrorCode.INVALID_UPDATE_VERSION,
    ),
    Change("3.2", "UpdateFeatures is offered, and fails (3.2.3)", updates_features=False),
    Change("3.3", "UpdateFeatures", updates_features=True),
    Change("3.7", "features of brokers are not looked at", unknown_feature_may_be_zero=True),
    Change(
        "4.0",
        "KIP-1022; as 4.3.1 answers",
        unknown_feature_may_be_zero=False,
        feature_updates_fail_together=True,
        feature_update_message="none",
        feature_updates_message=None,
    ),
    Change("4.1", "unregistering says why not", unregistering_says_why=True),
)
