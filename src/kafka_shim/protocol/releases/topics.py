"""How Kafka releases differ about topics."""

import msgspec

from kafka_shim.protocol.releases.change import Change


class TopicFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about topics and partitions."""

    # CreateTopics, CreatePartitions, DeleteTopics, Metadata
    internal_topics: tuple[str, ...] = ("__consumer_offsets", "__transaction_state")
    """Topics that only coordinators write."""
    metadata_rejects_invalid_topic_names: bool = False
    """An invalid name is INVALID_TOPIC_EXCEPTION (17) even without auto-creation."""
    metadata_creates_internal_topics: bool = True
    """Metadata for an internal topic creates it, even without auto-creation."""
    auto_created_topic_error: int = 5
    """Error code of a topic that this Metadata request has created."""
    controller_auto_created_topic_error: int = 5  # the same, if the broker is the controller
    create_topics_checks_name_first: bool = False
    """CreateTopics checks the name, then settings, then replicas."""
    create_topics_checks_replication_factor_first: bool = False
    """-1 replicas are reported before -1 partitions."""
    create_topics_checks_existing_topic_first: bool = False
    """An existing topic is reported before other errors."""
    create_topics_checks_configs_before_partitions: bool = True
    """Settings are checked before partitions and replicas."""
    create_topics_accepts_default_counts: bool = False
    """-1 partitions or replicas mean the broker's default."""
    create_topics_denial_message: str | None = None  # error message of a denied CreateTopics
    topic_admin_lists_each_repeated_name: bool = False
    """A repeated name has a result for each time (CreateTopics, DeleteTopics)."""
    create_topics_honours_validate_only: bool = True  # CreateTopics honours validate_only
    create_partitions_honours_validate_only: bool = True  # CreatePartitions honours validate_only
    zookeeper_invalid_name_fails_create_partitions: bool = True
    """CreatePartitions fails for a name that ZooKeeper cannot have."""
    create_partitions_denial_has_message: bool = True
    """A denial or a missing topic has an error message."""
    assigned_replicas_must_exist: bool = False  # assigned replicas must be existing brokers
    stopped_brokers_receive_new_replicas: bool = False
    """Stopped brokers get replicas of new partitions if too few are running."""
    assignment_gap_error: int = 0
    """Error code of assignments that do not number the partitions from 0."""
    negative_assigned_partition_error: int = -1
    """Error code of an assignment for a negative partition, if that is checked."""
    remote_storage_requires_broker_support: bool = False
    """`remote.storage.enable` requires a broker with remote storage."""
    unparsable_topic_config_error: int = -1  # error code of a value that cannot be parsed
    create_topics_null_config_error: int = -1  # error code of a null value in CreateTopics
    create_metadata_topic_error: int = 0  # error code of creating `__cluster_metadata`
    every_page_lists_all_denials: bool = True
    """Each page of DescribeTopicPartitions has all denied topics."""
    create_topics_returns_configs: bool = True
    """The response to CreateTopics has the settings of the new topic."""
    create_topics_returns_configs_as_sent: bool = False
    """They are returned as sent (False: in canonical form)."""
    create_topics_returns_ids_without_configs: bool = False
    """Topic ids are returned even if settings are denied, or with validate_only."""
    topic_names_collide_by_dot_and_underscore: bool = True
    """Names that differ in `.` and `_` only cannot coexist."""
    disabled_topic_deletion_has_own_error: bool = False
    """Disabled topic deletion has its own error code."""
    delete_topics_rejects_repeated_topics: bool = False
    """DeleteTopics: a repeated topic is an error, and results are in any order."""
    # elections, reassignments and log directories
    election_not_needed_error: int = 0  # error code of an election that would change nothing
    elect_leaders_denial_message: str | None = None  # error message of a denied ElectLeaders
    elect_leaders_lists_partitions_as_requested: bool = False
    """Results are as requested (False: each partition once, no empty topics)."""
    empty_election_checks_type: bool = True
    """The election type is checked even if there are no topics."""
    unknown_election_type_error: int = -1  # error code of an unknown election type
    unknown_election_type_has_message: bool = True  # an unknown election type has an error message
    elect_leaders_is_supported: bool = True  # ElectLeaders works (False: UNSUPPORTED_VERSION (35))
    reassignment_lists_repeated_partitions: bool = False
    """A repeated partition has two results (False: the last one counts)."""
    reassignment_checks_topic_first: bool = False
    """A missing topic is reported before errors in replicas or a cancellation."""
    reassignment_raises_leader_epoch: bool = True  # a new leader epoch, though the leader stays
    reassignment_ok_message: str | None = ""  # error message of a successful reassignment
    alter_log_dir_missing_replica_error: int = 9
    """Error code of a replica that this broker does not have."""
    denied_alter_log_dirs_lists_each_partition: bool = False
    """A denied AlterReplicaLogDirs has a result for each repeated partition."""
    describe_log_dirs_lists_unrequested_topics: bool = False
    """DescribeLogDirs lists topics that were not requested, without partitions."""
    created_records_per_request_max: int | None = None
    """Maximum number of topics and partitions that one request creates."""


CHANGES: tuple[Change, ...] = (
    Change(
        "2.1",
        "a missing replica is an unknown partition",
        alter_log_dir_missing_replica_error=3,
    ),
    Change(
        "2.1",
        "KIP-322: disabled topic deletion has an error code",
        disabled_topic_deletion_has_own_error=True,
    ),
    Change("2.1", "an unparsable setting has its own error code", unparsable_topic_config_error=40),
    Change(
        "2.3",
        "CreateTopics in generated messages",
        create_topics_denial_message="authorization failed",
        create_topics_checks_existing_topic_first=True,
        topic_admin_lists_each_repeated_name=True,
    ),
    Change("2.3", "assigned replicas must be complete", assignment_gap_error=39),
    Change("2.4", "KIP-460: preferred and unclean elections", election_not_needed_error=84),
    Change(
        "2.4",
        "KIP-464: the broker's defaults for new topics",
        create_topics_accepts_default_counts=True,
    ),
    Change(
        "2.6",
        "DescribeLogDirs in generated messages",
        describe_log_dirs_lists_unrequested_topics=True,
    ),
    Change("2.6", "unexpected errors have no message", unknown_election_type_has_message=False),
    Change("2.6", "null settings are INVALID_REQUEST (42)", create_topics_null_config_error=42),
    Change(
        "2.7",
        "settings of new topics are checked last",
        create_topics_checks_configs_before_partitions=False,
    ),
    Change(
        "2.7",
        "AlterReplicaLogDirs in generated messages",
        denied_alter_log_dirs_lists_each_partition=True,
    ),
    Change(
        "2.8",
        "KAFKA-9751: the controller creates topics",
        auto_created_topic_error=3,
        metadata_rejects_invalid_topic_names=True,
        metadata_creates_internal_topics=False,
    ),
    Change(
        "3.0",
        "KRaft controllers create topics",
        controller_auto_created_topic_error=3,
        create_topics_checks_name_first=True,
        create_topics_checks_replication_factor_first=True,
        create_topics_denial_message="",
        create_topics_returns_configs=False,
        create_topics_returns_configs_as_sent=True,
        create_topics_returns_ids_without_configs=True,
        create_topics_honours_validate_only=False,
        create_partitions_honours_validate_only=False,
        zookeeper_invalid_name_fails_create_partitions=False,
        create_partitions_denial_has_message=False,
        topic_names_collide_by_dot_and_underscore=False,
        delete_topics_rejects_repeated_topics=True,
        assigned_replicas_must_exist=True,
        stopped_brokers_receive_new_replicas=True,
        topic_admin_lists_each_repeated_name=False,
        assignment_gap_error=-1,
        create_topics_null_config_error=0,
    ),
    Change(
        "3.0",
        "KRaft controllers move replicas",
        elect_leaders_denial_message="cluster authorization failed",
        elect_leaders_lists_partitions_as_requested=True,
        empty_election_checks_type=False,
        unknown_election_type_error=42,
        unknown_election_type_has_message=True,
        elect_leaders_is_supported=False,
        reassignment_lists_repeated_partitions=True,
        reassignment_checks_topic_first=True,
        reassignment_raises_leader_epoch=False,
        reassignment_ok_message=None,
    ),
    Change("3.1", "elections on KRaft", elect_leaders_is_supported=True),
    Change("3.1", "validate_only on KRaft", create_topics_honours_validate_only=True),
    Change(
        "3.2",
        "validate_only on KRaft, partitions too",
        create_partitions_honours_validate_only=True,
    ),
    Change(
        "3.3",
        "KRaft catches up with ZooKeeper",
        create_topics_denial_message="authorization failed",
        create_topics_returns_configs=True,
        topic_names_collide_by_dot_and_underscore=True,
        assignment_gap_error=39,
        negative_assigned_partition_error=39,
        create_topics_null_config_error=40,
    ),
    Change("3.3", "creating the metadata log as a topic is denied", create_metadata_topic_error=29),
    Change("3.5", "KAFKA-14996: a limit for one request", created_records_per_request_max=10_000),
    Change(
        "3.6",
        "KIP-405: remote storage must be supported",
        remote_storage_requires_broker_support=True,
    ),
    Change(
        "3.7",
        "DescribeLogDirs lists requested topics only",
        describe_log_dirs_lists_unrequested_topics=False,
    ),
    Change("3.9", "the metadata log is an invalid topic name", create_metadata_topic_error=42),
    Change(
        "3.9",
        "KIP-932: the topic with the state of share groups",
        internal_topics=("__consumer_offsets", "__transaction_state", "__share_group_state"),
    ),
    Change("4.1", "topics are filtered page by page", every_page_lists_all_denials=False),
    Change("4.2", "topics are filtered before they are sorted", every_page_lists_all_denials=True),
)
