"""How Kafka releases differ about topics: the same chain of changes as in `releases.py`."""

from functools import cache

import msgspec

from protocol.releases import Change, fold


class TopicBehaviour(msgspec.Struct, frozen=True, kw_only=True):
    """What the emulated release does about topics and partitions, by name."""

    # CreateTopics, CreatePartitions, DeleteTopics, Metadata
    internal_topics: tuple[str, ...]  # those that only coordinators write
    metadata_checks_names: bool  # an illegal name is 17 even where topics are not made
    metadata_creates_internal: bool  # asking for a coordinator's topic makes it, auto-create or not
    auto_create_error: int  # code of a topic that Metadata has just created
    controller_auto_create_error: int  # the same, where the broker is itself the controller
    create_topics_sees_existing_first: bool  # else only after what is wrong with a topic
    create_topics_sees_settings_first: bool  # else only after partitions and replicas
    create_topics_has_defaults: bool  # -1 partitions or replicas are the broker's default
    create_topics_denial: str | None  # the text of a denial
    answers_each_duplicate: bool  # a name given twice is answered twice, and see KIP-525's code
    create_topics_validates: bool  # validate_only is heeded
    create_partitions_validates: bool  # here, too
    partition_gap_error: int  # code of given replicas that do not number the partitions from 0
    remote_storage_is_checked: bool  # remote.storage.enable needs a broker with remote storage
    bad_config_error: int  # code of a setting that does not parse
    null_config_error: int  # code of a setting without a value, in CreateTopics
    metadata_topic_error: int  # code of making `__cluster_metadata`
    pages_tell_later_denials: bool  # DescribeTopicPartitions has all denied topics in every page
    create_topics_tells_configs: bool  # the settings of a topic just made are in the answer
    topic_names_collide: bool  # names that differ in `.` and `_` only cannot coexist
    topic_deletion_has_code: bool  # that it is switched off has a code of its own
    # partitions and where they are
    election_not_needed_error: int  # code of an election that would change nothing
    missing_replica_error: int  # code of a replica that is not here
    log_dir_denials_repeat: bool  # a partition named twice in AlterReplicaLogDirs is denied twice
    log_dirs_list_all_topics: bool  # topics that were not asked for are listed, without partitions
    records_per_request_max: int | None  # topics and partitions that one request may make


OLDEST = TopicBehaviour(
    internal_topics=("__consumer_offsets", "__transaction_state"),
    metadata_checks_names=False,
    metadata_creates_internal=True,
    auto_create_error=5,
    controller_auto_create_error=5,
    create_topics_sees_existing_first=False,
    create_topics_sees_settings_first=True,
    create_topics_has_defaults=False,
    create_topics_denial=None,
    answers_each_duplicate=False,
    create_topics_validates=True,
    create_partitions_validates=True,
    partition_gap_error=0,
    remote_storage_is_checked=False,
    bad_config_error=-1,
    null_config_error=-1,
    metadata_topic_error=0,
    pages_tell_later_denials=True,
    create_topics_tells_configs=True,
    topic_names_collide=True,
    topic_deletion_has_code=False,
    election_not_needed_error=0,
    missing_replica_error=3,
    log_dir_denials_repeat=False,
    log_dirs_list_all_topics=False,
    records_per_request_max=None,
)
"""As 0.11 has it."""

CHANGES: tuple[Change, ...] = (
    Change("1.0", "replicas that are not here", missing_replica_error=9),
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
        create_topics_denial="",
        create_topics_tells_configs=False,
        create_topics_validates=False,
        create_partitions_validates=False,
        topic_names_collide=False,
        answers_each_duplicate=False,
        partition_gap_error=-1,
        null_config_error=0,
    ),
    Change("3.1", "validate_only on KRaft", create_topics_validates=True),
    Change("3.2", "validate_only on KRaft, partitions too", create_partitions_validates=True),
    Change(
        "3.3",
        "KRaft catches up with ZooKeeper",
        create_topics_denial="authorization failed",
        create_topics_tells_configs=True,
        topic_names_collide=True,
        partition_gap_error=39,
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


@cache
def topic_behaviour_of(release: str) -> TopicBehaviour:
    """The behaviour of a release such as `2.8` or `4.3.1`; ValueError lists the known ones."""
    return fold(OLDEST, CHANGES, release)
