"""How Kafka releases differ about topics."""

import msgspec

from kafka_shim.protocol.releases.change import Change


class TopicFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about topics and partitions."""

    # CreateTopics, CreatePartitions, DeleteTopics, Metadata
    internal_topics: tuple[str, ...]  # topics that only coordinators write
    metadata_checks_names: bool
    """An invalid name is INVALID_TOPIC_EXCEPTION (17) even without auto-creation."""
    metadata_creates_internal: bool
    """Metadata for an internal topic creates it, even without auto-creation."""
    auto_create_error: int  # error code of a topic that this Metadata request has created
    controller_auto_create_error: int  # the same, if the broker is the controller
    create_topics_sees_name_first: bool
    """CreateTopics checks the name, then settings, then replicas."""
    create_topics_sees_factor_first: bool  # -1 replicas are reported before -1 partitions
    create_topics_sees_existing_first: bool  # an existing topic is reported before other errors
    create_topics_sees_settings_first: bool  # settings are checked before partitions and replicas
    create_topics_has_defaults: bool  # -1 partitions or replicas mean the broker's default
    create_topics_denial: str | None  # error message of a denied CreateTopics
    responds_to_each_duplicate: bool
    """A repeated name has a result for each time (CreateTopics, DeleteTopics)."""
    create_topics_validates: bool  # CreateTopics honours validate_only
    create_partitions_validates: bool  # CreatePartitions honours validate_only
    unlikely_names_fail_all: bool  # CreatePartitions fails for a name that ZooKeeper cannot have
    create_partitions_says_why: bool  # a denial or a missing topic has an error message
    given_replicas_exist: bool  # assigned replicas must be existing brokers
    stopped_get_replicas: bool
    """Stopped brokers get replicas of new partitions if too few are running."""
    partition_gap_error: int  # error code of assignments that do not number the partitions from 0
    negative_partition_error: int
    """Error code of an assignment for a negative partition, if that is checked."""
    remote_storage_is_checked: bool  # remote.storage.enable requires a broker with remote storage
    bad_config_error: int  # error code of a value that cannot be parsed
    null_config_error: int  # error code of a null value in CreateTopics
    metadata_topic_error: int  # error code of creating `__cluster_metadata`
    pages_tell_later_denials: bool  # each page of DescribeTopicPartitions has all denied topics
    create_topics_tells_configs: bool
    """The response to CreateTopics has the settings of the new topic."""
    created_configs_are_as_given: bool  # they are returned as sent (False: in canonical form)
    created_ids_are_told: bool
    """Topic ids are returned even if settings are denied, or with validate_only."""
    topic_names_collide: bool  # names that differ in `.` and `_` only cannot coexist
    topic_deletion_has_code: bool  # disabled topic deletion has its own error code
    deletes_topics_once: bool
    """DeleteTopics: a repeated topic is an error, and results are in any order."""
    # elections, reassignments and log directories
    election_not_needed_error: int  # error code of an election that would change nothing
    election_denial: str | None  # error message of a denied ElectLeaders
    elections_repeat: bool  # results are as requested (False: each partition once, no empty topics)
    empty_election_is_checked: bool  # the election type is checked even if there are no topics
    unknown_election_error: int  # error code of an unknown election type
    unknown_election_has_text: bool  # an unknown election type has an error message
    holds_elections: bool  # ElectLeaders works (False: UNSUPPORTED_VERSION (35))
    reassignments_repeat: bool  # a repeated partition has two results (False: the last one counts)
    reassignments_see_topic_first: bool
    """A missing topic is reported before errors in replicas or a cancellation."""
    reassignments_begin_epochs: bool  # a new leader epoch, though the leader stays
    reassignment_success_message: str | None  # error message of a successful reassignment
    missing_replica_error: int  # error code of a replica that this broker does not have
    log_dir_denials_repeat: bool
    """A denied AlterReplicaLogDirs has a result for each repeated partition."""
    log_dirs_list_all_topics: bool
    """DescribeLogDirs lists topics that were not requested, without partitions."""
    records_per_request_max: int | None
    """Maximum number of topics and partitions that one request creates."""


OLDEST = TopicFacts(
    internal_topics=("__consumer_offsets", "__transaction_state"),
    metadata_checks_names=False,
    metadata_creates_internal=True,
    auto_create_error=5,
    controller_auto_create_error=5,
    create_topics_sees_name_first=False,
    create_topics_sees_factor_first=False,
    create_topics_sees_existing_first=False,
    create_topics_sees_settings_first=True,
    create_topics_has_defaults=False,
    create_topics_denial=None,
    responds_to_each_duplicate=False,
    create_topics_validates=True,
    create_partitions_validates=True,
    unlikely_names_fail_all=True,
    create_partitions_says_why=True,
    stopped_get_replicas=False,
    given_replicas_exist=False,
    partition_gap_error=0,
    negative_partition_error=-1,
    remote_storage_is_checked=False,
    bad_config_error=-1,
    null_config_error=-1,
    metadata_topic_error=0,
    pages_tell_later_denials=True,
    create_topics_tells_configs=True,
    created_configs_are_as_given=False,
    created_ids_are_told=False,
    topic_names_collide=True,
    topic_deletion_has_code=False,
    deletes_topics_once=False,
    election_not_needed_error=0,
    election_denial=None,
    elections_repeat=False,
    empty_election_is_checked=True,
    unknown_election_error=-1,
    unknown_election_has_text=True,
    holds_elections=True,
    reassignments_repeat=False,
    reassignments_see_topic_first=False,
    reassignments_begin_epochs=True,
    reassignment_success_message="",
    missing_replica_error=9,
    log_dir_denials_repeat=False,
    log_dirs_list_all_topics=False,
    records_per_request_max=None,
)
"""The facts of 0.11."""

CHANGES: tuple[Change, ...] = (
    Change("2.1", "replicas that are not here are missing partitions", missing_replica_error=3),
    Change("2.1", "KIP-322: deletion switched off is an answer", topic_deletion_has_code=True),
    Change("2.1", "a setting that does not parse has its own code", bad_config_error=40),
    Change(
        "2.3",
        "generated messages of CreateTopics",
        create_topics_denial="authorization failed",
        create_topics_sees_existing_first=True,
        responds_to_each_duplicate=True,
    ),
    Change("2.3", "given replicas have to be complete", partition_gap_error=39),
    Change("2.4", "KIP-460: elections of any kind", election_not_needed_error=84),
    Change("2.4", "KIP-464: the broker's defaults for topics", create_topics_has_defaults=True),
    Change("2.6", "DescribeLogDirs in generated messages", log_dirs_list_all_topics=True),
    Change("2.6", "texts of unexpected errors are kept", unknown_election_has_text=False),
    Change("2.6", "null settings are a bad request", null_config_error=42),
    Change(
        "2.7",
        "settings of new topics are looked at last",
        create_topics_sees_settings_first=False,
    ),
    Change("2.7", "AlterReplicaLogDirs in generated messages", log_dir_denials_repeat=True),
    Change(
        "2.8",
        "KAFKA-9751: creation goes through the controller",
        auto_create_error=3,
        metadata_checks_names=True,
        metadata_creates_internal=False,
    ),
    Change(
        "3.0",
        "topics are made by KRaft controllers",
        controller_auto_create_error=3,
        create_topics_sees_name_first=True,
        create_topics_sees_factor_first=True,
        create_topics_denial="",
        create_topics_tells_configs=False,
        created_configs_are_as_given=True,
        created_ids_are_told=True,
        create_topics_validates=False,
        create_partitions_validates=False,
        unlikely_names_fail_all=False,
        create_partitions_says_why=False,
        topic_names_collide=False,
        deletes_topics_once=True,
        given_replicas_exist=True,
        stopped_get_replicas=True,
        responds_to_each_duplicate=False,
        partition_gap_error=-1,
        null_config_error=0,
    ),
    Change(
        "3.0",
        "replicas are moved by KRaft controllers",
        election_denial="cluster authorization failed",
        elections_repeat=True,
        empty_election_is_checked=False,
        unknown_election_error=42,
        unknown_election_has_text=True,
        holds_elections=False,
        reassignments_repeat=True,
        reassignments_see_topic_first=True,
        reassignments_begin_epochs=False,
        reassignment_success_message=None,
    ),
    Change("3.1", "elections on KRaft", holds_elections=True),
    Change("3.1", "validate_only on KRaft", create_topics_validates=True),
    Change("3.2", "validate_only on KRaft, partitions too", create_partitions_validates=True),
    Change(
        "3.3",
        "KRaft catches up with ZooKeeper",
        create_topics_denial="authorization failed",
        create_topics_tells_configs=True,
        topic_names_collide=True,
        partition_gap_error=39,
        negative_partition_error=39,
        null_config_error=40,
    ),
    Change("3.3", "the metadata log cannot be made as a topic", metadata_topic_error=29),
    Change("3.5", "KAFKA-14996: a limit for one request", records_per_request_max=10_000),
    Change("3.6", "KIP-405: remote storage, where there is one", remote_storage_is_checked=True),
    Change("3.7", "only topics asked for", log_dirs_list_all_topics=False),
    Change("3.9", "the metadata log is no topic at all", metadata_topic_error=42),
    Change(
        "3.9",
        "KIP-932: the state of share groups",
        internal_topics=("__consumer_offsets", "__transaction_state", "__share_group_state"),
    ),
    Change("4.1", "topics are filtered page by page", pages_tell_later_denials=False),
    Change("4.2", "topics are filtered before they are sorted", pages_tell_later_denials=True),
)
