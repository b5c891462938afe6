"""How Kafka releases differ about brokers, controllers, features and versions."""

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.change import Change


class ClusterFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about the cluster itself."""

    # controllers
    brokers_forward_admin_requests: bool = False
    """Brokers forward admin requests to the controller (False: only it accepts them)."""
    brokers_have_process_roles: bool = False  # brokers are configured by node.id and process.roles
    denied_replica_requests_list_each_partition: bool = False
    """A denied LeaderAndIsr or StopReplica lists each partition of the request."""
    stale_controller_error_lists_partitions: bool = False
    """STALE_CONTROLLER_EPOCH (11) to LeaderAndIsr lists the partitions."""
    # features
    feature_update_ok_message: str | None = None  # error message of an updated feature
    update_features_ok_message: str | None = None  # error message of a successful UpdateFeatures
    update_features_is_supported: bool = True  # UpdateFeatures works (False: it always fails)
    unknown_feature_accepts_level_zero: bool = False  # an unknown feature can be set to level 0
    unsupported_feature_level_error: ErrorCode = ErrorCode.INVALID_REQUEST
    """Error code of an unsupported feature or level."""
    one_failed_feature_update_fails_all: bool = False  # one failed update fails the whole request
    # brokers and versions
    unregister_has_message: bool = False  # UnregisterBroker returns error messages
    request_items_are_limited: bool = False
    """A request with over 10,000 tagged fields in one section, or over 1,000,000 elements in an
    array, closes the connection."""
    unsupported_version_returns_range: bool = False
    """The response to an unsupported ApiVersions version has the supported range."""


CHANGES: tuple[Change, ...] = (
    Change(
        "1.1",
        "responses to stale controllers list partitions",
        stale_controller_error_lists_partitions=True,
    ),
    Change(
        "2.4",
        "requests between brokers use generated messages",
        denied_replica_requests_list_each_partition=True,
    ),
    Change(
        "2.4",
        "KIP-511: ApiVersions reports the supported range",
        unsupported_version_returns_range=True,
    ),
    Change("3.0", "KRaft", brokers_forward_admin_requests=True, brokers_have_process_roles=True),
    Change(
        "3.0",
        "FeatureControlManager, recorded on 3.9.1",
        update_features_ok_message="",
        unsupported_feature_level_error=ErrorCode.INVALID_UPDATE_VERSION,
    ),
    Change(
        "3.2", "UpdateFeatures is offered, but fails (3.2.3)", update_features_is_supported=False
    ),
    Change("3.3", "UpdateFeatures", update_features_is_supported=True),
    Change("3.7", "features of brokers are not checked", unknown_feature_accepts_level_zero=True),
    Change(
        "4.0",
        "KIP-1022, recorded on 4.3.1",
        unknown_feature_accepts_level_zero=False,
        one_failed_feature_update_fails_all=True,
        feature_update_ok_message="none",
        update_features_ok_message=None,
    ),
    Change("4.1", "a failed UnregisterBroker has a message", unregister_has_message=True),
    Change("4.2.2", "limits of arrays and tagged fields", request_items_are_limited=True),
    Change("4.3", "no such limits, recorded on 4.3.1", request_items_are_limited=False),
    Change("4.4", "limits of arrays and tagged fields", request_items_are_limited=True),
)
