"""How Kafka releases differ about records and transactions.

Unless a change names its KIP, it was found by sending the same requests to brokers of the release
and of the one before.
"""

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.change import Change

NEVER = 32767
"""Stands for no API version."""


class RecordFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about records and transactions."""

    # formats that Produce accepts
    unreadable_produce_closes_connection: bool = True
    """Produce without a readable batch closes the connection."""
    empty_produce_v0_to_v2_closes_connection: bool = False
    """Versions 0 to 2 without any message close the connection."""
    wrong_batch_format_closes_connection: bool = True
    """Another format than 2, or two batches, close the connection."""
    invalid_record_error: ErrorCode = ErrorCode.CORRUPT_MESSAGE  # error code of invalid records
    invalid_record_returns_log_start_offset: bool = False
    """Its response also has the log start offset."""
    every_rejected_record_is_listed: bool = False
    """All rejected records are listed with a reason (False: only the first)."""
    zstd_is_supported: bool = False
    null_records_fail_whole_produce: bool = False
    """Null records keep all others of a request from being stored."""
    append_time_from_producer_is_invalid: bool = True
    """Append times are INVALID_TIMESTAMP (32) if producers set times."""
    record_damage_is_checked_one_by_one: bool = True
    """Records are read one by one, without a check for all kinds of damage."""
    compressed_records_ignore_claimed_size: bool = True
    """Records of compressed batches are read whatever their size says."""
    oversized_header_name_fails_produce: bool = True
    """A header name that exceeds the record fails the request."""
    compressed_records_must_have_claimed_size: bool = True
    """Records of a compressed batch must have the size that they claim."""
    compressed_offset_gap_error: ErrorCode = ErrorCode.NONE
    """Error code of a compressed batch whose offsets are not 0, 1, 2 and so on."""
    # producers in Produce
    min_isr_is_capped_by_replicas: bool = False
    """`min.insync.replicas` is at most the number of replicas."""
    repeated_produce_partition_checks_all_batches: bool = False
    """Of a repeated partition, all batches are checked (False: one)."""
    last_partition_makes_produce_transactional: bool = True
    """The last partition decides if a request is transactional."""
    missing_transactional_id_error: ErrorCode = ErrorCode.NONE
    """Error code of batches without a transactional id; NONE: a denial."""
    unknown_producer_error: ErrorCode = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    """Error code of an unknown producer that does not begin at 0."""
    producer_batches_remembered: int = 1
    """Batches remembered for each producer, to recognise duplicates."""
    marker_replaces_last_producer_batch: bool = True
    """A marker takes the place of its producer's last batch."""
    # transactions in Produce and TxnOffsetCommit
    produce_verifies_transaction_partitions: bool = False
    """Partitions must have been added to the transaction."""
    transaction_is_verified_before_acks: bool = False
    """The partition of a producer is verified before the number of acks."""
    offset_commit_verifies_transaction_group: bool = False
    """Groups must have been added to the transaction."""
    open_transaction_verifies_producer_epoch: bool = False
    """Epochs are verified even if the producer's transaction is open."""
    unverified_partition_has_message: bool = False
    """Produce has an error message for unverified partitions."""
    produce_abortable_error_since: int = NEVER
    """First version of Produce with TRANSACTION_ABORTABLE (120)."""
    txn_offset_commit_abortable_error_since: int = NEVER
    """First version of TxnOffsetCommit with TRANSACTION_ABORTABLE (120)."""
    unverified_partition_error: ErrorCode = ErrorCode.INVALID_TXN_STATE
    """Error code of AddPartitionsToTxn with verify_only."""
    produce_adds_partitions_since: int = NEVER
    """First version of Produce that adds its partitions to the transaction."""
    unknown_producer_must_start_at_zero_since: int = NEVER
    """First version of Produce in which unknown producers must begin at 0."""
    txn_offset_commit_adds_group_since: int = NEVER
    """First version of TxnOffsetCommit that adds its group to the transaction."""
    txn_commit_rejects_missing_partition: bool = False
    """TxnOffsetCommit: a missing partition is an error."""
    txn_commit_rejects_empty_group_id: bool = False
    """TxnOffsetCommit: an empty group id is INVALID_GROUP_ID (24)."""
    denied_txn_commit_lists_each_partition: bool = False
    """TxnOffsetCommit: a repeated partition is denied twice."""
    txn_commit_rejects_older_epoch: bool = False
    """TxnOffsetCommit: an older epoch is INVALID_PRODUCER_EPOCH (47)."""
    # Fetch
    followers_require_topic_read: bool = True  # followers need READ on the topics, too
    fetch_always_returns_last_stable_offset: bool = False
    """The last stable offset is returned to read_uncommitted, too."""
    emptied_batches_are_returned_unconverted: bool = False
    """Batches that are empty after conversion are returned unconverted."""
    fetch_without_replica_error: ErrorCode = ErrorCode.NONE
    """Error code of brokers without a replica; NONE: an empty response."""
    fetch_keeps_missing_partitions_in_order: bool = True
    """Missing partitions are in place (False: after the readable ones)."""
    null_topic_id_fails_fetch_session: bool = True
    """Sessions cannot add or forget partitions of the null topic id."""
    unknown_replica_error: ErrorCode = ErrorCode.UNKNOWN_SERVER_ERROR
    """Fetch from an unknown replica id: error code of the whole request."""
    leader_fetches_itself_error: ErrorCode = ErrorCode.UNKNOWN_SERVER_ERROR
    """Fetch from the leader's own id: error code of the whole request."""
    negative_leader_epoch_is_fenced: bool = True
    """A leader epoch below -1 is an old one (False: none)."""
    unknown_isolation_level_closes_connection: bool = True
    """An unknown isolation level closes the connection."""
    missing_partition_is_unsupported_compression: bool = False
    """Versions without zstd get error 76 for a missing partition."""
    zstd_topic_is_unsupported_compression: bool = True
    """Versions without zstd get error 76 for topics with compression.type=zstd."""
    empty_fetch_lists_all_aborted_transactions: bool = True
    """All aborted transactions are listed if nothing can be read."""
    fetch_at_stable_offset_lists_all_aborted: bool = True
    """That also applies to readers at the last stable offset."""
    aborted_transactions_without_records_are_listed: bool = True
    """Aborted transactions without records are listed, too."""
    delete_records_forgets_producers: bool = True
    """DeleteRecords forgets producers whose records are deleted."""
    fetch_error_has_empty_aborted_list: bool = False
    """An unreadable partition has no aborted transactions, not null."""
    failed_fetch_has_empty_records: bool = True  # a failed request has empty records, not null
    # ListOffsets and OffsetForLeaderEpoch
    epoch_lookup_merges_repeated_partitions: bool = True
    """OffsetForLeaderEpoch lists a repeated partition once."""
    first_leader_epoch_starts_at_creation: bool = False
    """The first leader epoch begins before the first record."""
    unknown_isolation_level_fails_whole_list_offsets: bool = False
    """ListOffsets fails for all topics if one is permitted (False: for the permitted ones)."""
    list_offsets_returns_leader_epoch: bool = False  # ListOffsets returns leader epochs
    list_offsets_lists_each_repeated_partition: bool = False  # a repeated partition is listed twice
    list_offsets_lists_each_denied_partition: bool = False
    """A repeated and denied partition is listed twice."""
    list_offsets_v0_rejects_repeated_partitions: bool = False
    """Duplicates are errors in version 0, too."""
    max_timestamp_lookup_since: int = NEVER  # first version with timestamp -3 (largest timestamp)
    earliest_local_lookup_since: int = NEVER  # first version with timestamp -4
    latest_tiered_lookup_since: int = NEVER  # first version with timestamp -5
    pending_upload_lookup_since: int = NEVER  # first version with timestamp -6
    unknown_negative_timestamps_are_rejected: bool = False
    """Other negative timestamps are errors (False: very early times)."""
    max_timestamp_returns_last_record_of_batch: bool = True
    """Timestamp -3 finds the last record of a batch, not its newest."""
    # transactions
    denied_init_producer_epoch: int = 0  # producer epoch in a denied InitProducerId
    add_partitions_merges_repeated_partitions: bool = True
    """AddPartitionsToTxn lists repeated partitions once if all codes are equal."""
    transaction_accepts_missing_partitions: bool = False
    """Missing partitions of existing topics can be added."""
    add_internal_partition_error: ErrorCode = ErrorCode.OPERATION_NOT_ATTEMPTED
    """Error code of adding a partition of an internal topic."""
    fencing_raises_epoch_twice: bool = False  # fencing raises the epoch by two
    old_epoch_accepted_after_abort: bool = False
    """After an abort, the producer may ask for the new epoch by its old one."""
    new_transaction_has_no_start_time: bool = False
    """The transaction of a new producer has no start time."""
    # compaction
    tombstones_have_delete_horizon: bool = False
    """Tombstones and markers have the time when they may be deleted."""
    # DescribeProducers
    describe_producers_denial_message: str | None = None
    """Error message of a denial; None: a missing topic has no message either."""
    describe_producers_checks_name_first: bool = False
    """DescribeProducers checks the name before the permission."""


CHANGES: tuple[Change, ...] = (
    Change(
        "1.0",
        "KIP-192: duplicate detection over five batches",
        unknown_producer_error=ErrorCode.UNKNOWN_PRODUCER_ID,
        producer_batches_remembered=5,
        marker_replaces_last_producer_batch=False,
        unknown_replica_error=ErrorCode.NONE,
        add_internal_partition_error=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        transaction_accepts_missing_partitions=True,
    ),
    Change("1.1", "KIP-227: followers need no READ on topics", followers_require_topic_read=False),
    Change(
        "1.1",
        "inconvertible batches are returned unconverted",
        emptied_batches_are_returned_unconverted=True,
    ),
    Change(
        "2.0",
        "KIP-283: records are converted one by one",
        emptied_batches_are_returned_unconverted=False,
    ),
    Change(
        "2.0",
        "TxnOffsetCommit checks partitions and groups",
        missing_transactional_id_error=ErrorCode.UNKNOWN_SERVER_ERROR,
        txn_commit_rejects_missing_partition=True,
        txn_commit_rejects_empty_group_id=True,
        transaction_accepts_missing_partitions=False,
        fetch_keeps_missing_partitions_in_order=False,
        first_leader_epoch_starts_at_creation=True,
    ),
    Change(
        "2.1",
        "KIP-110, KIP-320: zstd, leader epochs",
        zstd_is_supported=True,
        empty_produce_v0_to_v2_closes_connection=True,
        wrong_batch_format_closes_connection=False,
        fetch_always_returns_last_stable_offset=True,
        missing_transactional_id_error=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        last_partition_makes_produce_transactional=False,
        missing_partition_is_unsupported_compression=True,
    ),
    Change(
        "2.2",
        "ListOffsets returns leader epochs",
        list_offsets_returns_leader_epoch=True,
        missing_partition_is_unsupported_compression=False,
    ),
    Change("2.3", "InitProducerId in generated messages", denied_init_producer_epoch=-1),
    Change(
        "2.4",
        "KIP-467: details of rejected records",
        invalid_record_error=ErrorCode.INVALID_RECORD,
        invalid_record_returns_log_start_offset=True,
        compressed_offset_gap_error=ErrorCode.INVALID_RECORD,
        txn_commit_rejects_older_epoch=True,
        denied_txn_commit_lists_each_partition=True,
        leader_fetches_itself_error=ErrorCode.NONE,
        empty_fetch_lists_all_aborted_transactions=False,
        delete_records_forgets_producers=False,
    ),
    Change(
        "2.5",
        "KIP-360: forgotten producers can continue",
        unknown_producer_error=ErrorCode.NONE,
        every_rejected_record_is_listed=True,
        compressed_offset_gap_error=ErrorCode.NONE,
        fetch_at_stable_offset_lists_all_aborted=False,
        aborted_transactions_without_records_are_listed=False,
    ),
    Change(
        "2.6",
        "compressed batches are numbered from 0 without gaps",
        compressed_offset_gap_error=ErrorCode.UNKNOWN_SERVER_ERROR,
    ),
    Change(
        "2.6",
        "records of compressed batches are not decoded",
        compressed_records_ignore_claimed_size=False,
    ),
    Change("2.7", "header names are not decoded", oversized_header_name_fails_produce=False),
    Change(
        "2.7",
        "Fetch and ListOffsets in generated messages",
        negative_leader_epoch_is_fenced=False,
        unknown_isolation_level_closes_connection=False,
        list_offsets_lists_each_repeated_partition=True,
        list_offsets_lists_each_denied_partition=True,
    ),
    Change(
        "2.8",
        "Produce and OffsetForLeaderEpoch in generated messages",
        repeated_produce_partition_checks_all_batches=True,
        epoch_lookup_merges_repeated_partitions=False,
        unreadable_produce_closes_connection=False,
        empty_produce_v0_to_v2_closes_connection=False,
    ),
    Change("3.0", "truncated batches are detected", record_damage_is_checked_one_by_one=False),
    Change("3.0", "KIP-734: lookup of the largest timestamp", max_timestamp_lookup_since=0),
    Change(
        "3.0",
        "DescribeProducers checks names before permissions",
        describe_producers_checks_name_first=True,
        describe_producers_denial_message="topic authorization failed",
    ),
    Change(
        "3.0",
        "errors of Fetch have one form",
        fetch_error_has_empty_aborted_list=True,
        failed_fetch_has_empty_records=False,
    ),
    Change("3.1", "KIP-534: tombstones have a delete horizon", tombstones_have_delete_horizon=True),
    Change(
        "3.3",
        "KIP-841: brokers without a replica",
        fetch_without_replica_error=ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ),
    Change("3.5", "KIP-405: lookup of the earliest local offset", earliest_local_lookup_since=0),
    Change(
        "3.5",
        "KIP-890: AddPartitionsToTxn in batches",
        add_partitions_merges_repeated_partitions=False,
    ),
    Change(
        "3.6",
        "KIP-890: Produce verifies partitions",
        produce_verifies_transaction_partitions=True,
        unverified_partition_has_message=True,
    ),
    Change(
        "3.6",
        "KAFKA-14633: claimed sizes in compressed batches are not checked",
        compressed_records_must_have_claimed_size=False,
    ),
    Change(
        "3.6", "batches get the topic's timestamp type", append_time_from_producer_is_invalid=False
    ),
    Change(
        "3.7",
        "KIP-890: TxnOffsetCommit verifies groups",
        offset_commit_verifies_transaction_group=True,
        unverified_partition_has_message=False,
    ),
    Change(
        "3.7",
        "KIP-966: fewer replicas than min.insync.replicas",
        min_isr_is_capped_by_replicas=True,
    ),
    Change(
        "3.8",
        "KIP-890: abortable errors",
        transaction_is_verified_before_acks=True,
        produce_abortable_error_since=11,
        txn_offset_commit_abortable_error_since=4,
        unverified_partition_error=ErrorCode.TRANSACTION_ABORTABLE,
    ),
    Change(
        "3.8",
        "KAFKA-16310: the record with the largest timestamp is returned",
        max_timestamp_returns_last_record_of_batch=False,
    ),
    Change("3.8", "sizes of records are added up first", null_records_fail_whole_produce=True),
    Change(
        "3.9",
        "KIP-1005: each special timestamp requires a version",
        max_timestamp_lookup_since=7,
        earliest_local_lookup_since=8,
        latest_tiered_lookup_since=9,
        unknown_negative_timestamps_are_rejected=True,
    ),
    Change(
        "4.0",
        "KIP-890: transactions of version 2",
        produce_adds_partitions_since=12,
        txn_offset_commit_adds_group_since=5,
        fencing_raises_epoch_twice=True,
        old_epoch_accepted_after_abort=True,
        open_transaction_verifies_producer_epoch=True,
    ),
    Change(
        "4.0",
        "ListOffsets has its own class",
        unknown_isolation_level_fails_whole_list_offsets=True,
        list_offsets_lists_each_repeated_partition=False,
        list_offsets_v0_rejects_repeated_partitions=True,
    ),
    Change("4.0", "errors of Fetch with empty records again", failed_fetch_has_empty_records=True),
    Change(
        "4.0",
        "KIP-896: all remaining versions support zstd",
        zstd_topic_is_unsupported_compression=False,
    ),
    Change("4.1", "new transactions have no start time", new_transaction_has_no_start_time=True),
    Change(
        "4.1",
        "KIP-890: no gap before a producer's first batch, fencing raises the epoch once",
        unknown_producer_must_start_at_zero_since=12,
        fencing_raises_epoch_twice=False,
    ),
    Change(
        "4.2",
        "KIP-1023: lookup of the earliest offset not in tiered storage",
        pending_upload_lookup_since=11,
    ),
    Change(
        "4.3",
        "fetch sessions accept the null topic id",
        null_topic_id_fails_fetch_session=False,
    ),
)
