"""How Kafka releases differ about topics."""

import msgspec

from kafka_shim.protocol.releases.change import Change


class TopicFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the emulated release does about topics and partitions, by name."""

    # CreateTopics, CreatePartitions, DeleteTopics, Metadata
    internal_topics: tuple[str, ...]  # those that only coordinators write
    metadata_checks_names: bool  # an illegal name is 17 even where topics are not made
    metadata_creates_internal: bool  # asking for a coordinator's topic makes it, auto-create or not
    auto_create_error: int  # code of a topic that Metadata has just created
    controller_auto_create_error: int  # the same, where the broker is itself the controller
    create_topics_sees_name_first: bool  # then settings, then replicas; else as follows
    create_topics_sees_factor_first: bool  # -1 replicas are reported before -1 partitions
    create_topics_sees_existing_first: bool  # else only after what is wrong with a topic
    create_topics_sees_settings_first: bool  # else only after partitions and replicas
    create_topics_has_defaults: bool  # -1 partitions or replicas are the broker's default
    create_topics_denial: str | None  # the text of a denial
    answers_each_duplicate: bool  # a name given twice is answered twice, and see KIP-525's code
    create_topics_validates: bool  # validate_only is heeded
    create_partitions_validates: bool  # here, too
    unlikely_names_fail_all: bool  # CreatePartitions with a name that ZooKeeper cannot have
    create_partitions_says_why: bool  # a denial, or a missing topic, in words
    given_replicas_exist: bool  # else a partition may be where no broker is
    stopped_get_replicas: bool  # of new partitions, where too few other brokers are alive
    partition_gap_error: int  # code of given replicas that do not number the partitions from 0
    negative_partition_error: int  # where that is looked at, the code of one below 0
    remote_storage_is_checked: bool  # remote.storage.enable needs a broker with remote storage
    bad_config_error: int  # code of a setting that does not parse
    null_config_error: int  # code of a setting without a value, in CreateTopics
    metadata_topic_error: int  # code of making `__cluster_metadata`
    pages_tell_later_denials: bool  # DescribeTopicPartitions has all denied topics in every page
    create_topics_tells_configs: bool  # the settings of a topic just made are in the answer
    created_configs_are_as_given: bool  # these; else in their canonical form
    created_ids_are_told: bool  # also where settings may not be seen, or only validated
    topic_names_collide: bool  # names that differ in `.` and `_` only cannot coexist
    topic_deletion_has_code: bool  # that it is switched off has a code of its own
    deletes_topics_once: bool  # one named twice fails, and answers are in any order
    # partitions and where they are
    election_not_needed_error: int  # code of an election that would change nothing
    election_denial: str | None  # the text of a denied ElectLeaders
    elections_repeat: bool  # answered as asked; else each partition once, topics without any not
    empty_election_is_checked: bool  # the type of an election that is about no topic
    unknown_election_error: int  # error code of an unknown election type
    unknown_election_has_text: bool  # and why
    holds_elections: bool  # else ElectLeaders is 35
    reassignments_repeat: bool  # a partition named twice is answered twice; else the last counts
    reassignments_see_topic_first: bool  # before replicas, or that there is nothing to cancel
    reassignment_success_message: str | None  # error message of what succeeded
    missing_replica_error: int  # code of a replica that is not here
    log_dir_denials_repeat: bool  # a partition named twice in AlterReplicaLogDirs is denied twice
    log_dirs_list_all_topics: bool  # topics that were not asked for are listed, without partitions
    records_per_request_max: int | None  # topics and partitions that one request may make


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
    answers_each_duplicate=False,
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
    reassignment_success_message="",
    missing_replica_error=9,
    log_dir_denials_repeat=False,
    log_dirs_list_all_topics=False,
    records_per_request_max=None,
)
"""As 0.11 has it."""

CHANGES: tuple[Change, ...] = (
    Change("2.1", "replicas that are not here are missing partitions", missing_replica_error=3),
    Change("2.1", "KIP-322: deletion switched off is an answer", topic_deletion_has_code=True),
    Change("2.1", "a setting that does not parse has its own code", bad_config_error=40),
    Change(
        "2.3",
        "generated messages of CreateTopics",
        create_topics_denial="authorization failed",
        create_topics_sees_existing_first=True,
        answers_each_duplicate=True,
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
        answers_each_duplicate=False,
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
