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
    unreadable_closes: bool  # Produce without a readable batch closes the connection
    unreadable_old_closes: bool  # versions 0 to 2 without any message close the connection
    wrong_format_closes: bool  # another format than 2, or two batches, close the connection
    invalid_record_error: ErrorCode  # error code of invalid records
    invalid_record_tells_start: bool  # its response also has the log start offset
    lists_every_record: bool
    """All rejected records are listed with a reason (False: only the first)."""
    knows_zstd: bool
    null_records_stop_all: bool  # null records keep all others of a request from being stored
    refuses_append_time: bool  # append times are INVALID_TIMESTAMP (32) if producers set times
    reads_one_by_one: bool  # records are read one by one, without a check for all kinds of damage
    builds_compressed: bool  # records of compressed batches are read whatever their size says
    header_names_fail: bool  # a header name that exceeds the record fails the request
    checks_compressed_sizes: bool
    """Records of a compressed batch must have the size that they claim."""
    other_offsets_error: ErrorCode
    """Error code of a compressed batch whose offsets are not 0, 1, 2 and so on."""
    # producers in Produce
    caps_min_isr: bool  # min.insync.replicas is at most the number of replicas
    reads_duplicates: bool  # of a repeated partition, all batches are checked (False: one)
    last_batch_counts: bool  # the last partition decides if a request is transactional
    nameless_transaction_error: ErrorCode
    """Error code of batches without a transactional id; NONE: a denial."""
    lost_producer_error: ErrorCode  # error code of an unknown producer that does not begin at 0
    batches_remembered: int  # batches remembered for each producer, to recognise duplicates
    markers_are_last_batches: bool  # a marker takes the place of its producer's last batch
    # transactions in Produce and TxnOffsetCommit
    verifies_partitions: bool  # partitions must have been added to the transaction
    verifies_before_acks: bool  # the partition of a producer is verified before the number of acks
    verifies_offsets: bool  # groups must have been added to the transaction
    verifies_epochs: bool  # epochs are verified even if the producer's transaction is open
    says_what_is_unverified: bool  # Produce has an error message for unverified partitions
    abortable_since: int  # first version of Produce with TRANSACTION_ABORTABLE (120)
    abortable_offsets_since: int
    """First version of TxnOffsetCommit with TRANSACTION_ABORTABLE (120)."""
    unverified_error: ErrorCode  # error code of AddPartitionsToTxn with verify_only
    adds_partitions_since: int
    """First version of Produce that adds its partitions to the transaction."""
    begins_at_zero_since: int  # first version of Produce in which unknown producers must begin at 0
    adds_offsets_since: int
    """First version of TxnOffsetCommit that adds its group to the transaction."""
    checks_committed_partition: bool  # TxnOffsetCommit: a missing partition is an error
    checks_committed_group: bool  # TxnOffsetCommit: an empty group id is INVALID_GROUP_ID (24)
    denied_txn_commits_repeat: bool  # TxnOffsetCommit: a repeated partition is denied twice
    checks_committed_epoch: bool  # TxnOffsetCommit: an older epoch is INVALID_PRODUCER_EPOCH (47)
    # Fetch
    followers_read_topics: bool  # followers need READ on the topics, too
    always_tells_stable: bool  # the last stable offset is returned to read_uncommitted, too
    unconverted_is_whole: bool  # batches that are empty after conversion are returned unconverted
    no_replica_error: ErrorCode  # error code of brokers without a replica; NONE: an empty response
    missing_partitions_in_place: bool
    """Missing partitions are in place (False: after the readable ones)."""
    stranger_error: ErrorCode  # Fetch from an unknown replica id: error code of the whole request
    leader_as_replica_error: ErrorCode
    """Fetch from the leader's own id: error code of the whole request."""
    fences_negative_epochs: bool  # a leader epoch below -1 is an old one (False: none)
    odd_isolation_closes: bool  # an unknown isolation level closes the connection
    missing_looks_compressed: bool  # versions without zstd get error 76 for a missing partition
    hides_zstd_topics: bool
    """Versions without zstd get error 76 for topics with compression.type=zstd."""
    aborted_beyond_stable: bool  # all aborted transactions are listed if nothing can be read
    aborted_at_stable: bool  # that also applies to readers at the last stable offset
    lists_empty_aborted: bool  # aborted transactions without records are listed, too
    deletion_forgets_producers: bool  # DeleteRecords forgets producers whose records are deleted
    errors_list_aborted: bool  # an unreadable partition has no aborted transactions, not null
    refusals_have_records: bool  # a failed request has empty records, not null
    # ListOffsets and OffsetForLeaderEpoch
    epochs_by_partition: bool  # OffsetForLeaderEpoch answers a repeated partition once
    epochs_from_creation: bool  # the first leader epoch begins before the first record
    lists_epochs: bool  # ListOffsets returns leader epochs
    lists_each_duplicate: bool  # a repeated partition is answered twice
    lists_denied_duplicates: bool  # a repeated and denied partition is answered twice
    duplicates_always_refused: bool  # duplicates are errors in version 0, too
    newest_since: int  # first version with timestamp -3 (largest timestamp)
    earliest_local_since: int  # first version with timestamp -4
    latest_tiered_since: int  # first version with timestamp -5
    pending_upload_since: int  # first version with timestamp -6
    refuses_unknown_times: bool  # other negative timestamps are errors (False: very early times)
    newest_is_last: bool  # timestamp -3 finds the last record of a batch, not its newest
    # transactions
    denied_producer_epoch: int  # producer epoch in a denied InitProducerId
    merges_added_partitions: bool
    """AddPartitionsToTxn lists repeated partitions once if all codes are equal."""
    adds_missing_partitions: bool  # missing partitions of existing topics can be added
    internal_partition_error: ErrorCode  # error code of adding a partition of an internal topic
    fencing_bumps_twice: bool  # fencing raises the epoch by two
    fencing_remembers: bool  # after an abort, the producer may ask for the new epoch by its old one
    forgets_start: bool  # the transaction of a new producer has no start time
    # compaction
    stamps_delete_horizon: bool  # tombstones and markers have the time when they may be deleted
    # DescribeProducers
    producers_denial: str | None  # error message of a denial; None: a missing topic has none, too
    describes_legal_names: bool  # DescribeProducers checks the name before the permission


OLDEST = RecordFacts(
    unreadable_closes=True,
    unreadable_old_closes=False,
    wrong_format_closes=True,
    invalid_record_error=ErrorCode.CORRUPT_MESSAGE,
    invalid_record_tells_start=False,
    lists_every_record=False,
    knows_zstd=False,
    null_records_stop_all=False,
    refuses_append_time=True,
    reads_one_by_one=True,
    builds_compressed=True,
    header_names_fail=True,
    checks_compressed_sizes=True,
    other_offsets_error=ErrorCode.NONE,
    caps_min_isr=False,
    reads_duplicates=False,
    last_batch_counts=True,
    nameless_transaction_error=ErrorCode.NONE,
    lost_producer_error=ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    batches_remembered=1,
    markers_are_last_batches=True,
    verifies_partitions=False,
    verifies_before_acks=False,
    verifies_offsets=False,
    verifies_epochs=False,
    says_what_is_unverified=False,
    abortable_since=NEVER,
    abortable_offsets_since=NEVER,
    unverified_error=ErrorCode.INVALID_TXN_STATE,
    adds_partitions_since=NEVER,
    begins_at_zero_since=NEVER,
    adds_offsets_since=NEVER,
    checks_committed_partition=False,
    checks_committed_group=False,
    denied_txn_commits_repeat=False,
    checks_committed_epoch=False,
    followers_read_topics=True,
    always_tells_stable=False,
    unconverted_is_whole=False,
    no_replica_error=ErrorCode.NONE,
    missing_partitions_in_place=True,
    stranger_error=ErrorCode.UNKNOWN_SERVER_ERROR,
    leader_as_replica_error=ErrorCode.UNKNOWN_SERVER_ERROR,
    fences_negative_epochs=True,
    odd_isolation_closes=True,
    missing_looks_compressed=False,
    hides_zstd_topics=True,
    aborted_beyond_stable=True,
    aborted_at_stable=True,
    lists_empty_aborted=True,
    deletion_forgets_producers=True,
    errors_list_aborted=False,
    refusals_have_records=True,
    epochs_by_partition=True,
    epochs_from_creation=False,
    lists_epochs=False,
    lists_each_duplicate=False,
    lists_denied_duplicates=False,
    duplicates_always_refused=False,
    newest_since=NEVER,
    earliest_local_since=NEVER,
    latest_tiered_since=NEVER,
    pending_upload_since=NEVER,
    refuses_unknown_times=False,
    newest_is_last=True,
    denied_producer_epoch=0,
    merges_added_partitions=True,
    adds_missing_partitions=False,
    internal_partition_error=ErrorCode.OPERATION_NOT_ATTEMPTED,
    fencing_bumps_twice=False,
    fencing_remembers=False,
    forgets_start=False,
    stamps_delete_horizon=False,
    producers_denial=None,
    describes_legal_names=False,
)
"""The facts of 0.11."""

CHANGES: tuple[Change, ...] = (
    Change(
        "1.0",
        "KIP-192: answers to producers, and five of their batches",
        lost_producer_error=ErrorCode.UNKNOWN_PRODUCER_ID,
        batches_remembered=5,
        markers_are_last_batches=False,
        stranger_error=ErrorCode.NONE,
        internal_partition_error=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        adds_missing_partitions=True,
    ),
    Change("1.1", "KIP-227: followers are not users", followers_read_topics=False),
    Change("1.1", "records that cannot be converted come as they are", unconverted_is_whole=True),
    Change("2.0", "KIP-283: records are converted one by one", unconverted_is_whole=False),
    Change(
        "2.0",
        "checks of transactions",
        nameless_transaction_error=ErrorCode.UNKNOWN_SERVER_ERROR,
        checks_committed_partition=True,
        checks_committed_group=True,
        adds_missing_partitions=False,
        missing_partitions_in_place=False,
        epochs_from_creation=True,
    ),
    Change(
        "2.1",
        "KIP-110, KIP-320: zstd, leader epochs",
        knows_zstd=True,
        unreadable_old_closes=True,
        wrong_format_closes=False,
        always_tells_stable=True,
        nameless_transaction_error=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        last_batch_counts=False,
        missing_looks_compressed=True,
    ),
    Change("2.2", "leader epochs", lists_epochs=True, missing_looks_compressed=False),
    Change("2.3", "InitProducerId in generated messages", denied_producer_epoch=-1),
    Change(
        "2.4",
        "KIP-467 and more: records that are refused",
        invalid_record_error=ErrorCode.INVALID_RECORD,
        invalid_record_tells_start=True,
        other_offsets_error=ErrorCode.INVALID_RECORD,
        checks_committed_epoch=True,
        denied_txn_commits_repeat=True,
        leader_as_replica_error=ErrorCode.NONE,
        aborted_beyond_stable=False,
        deletion_forgets_producers=False,
    ),
    Change(
        "2.5",
        "KIP-360: producers may go on where they were forgotten",
        lost_producer_error=ErrorCode.NONE,
        lists_every_record=True,
        other_offsets_error=ErrorCode.NONE,
        aborted_at_stable=False,
        lists_empty_aborted=False,
    ),
    Change(
        "2.6",
        "compressed batches are numbered from 0 without gaps",
        other_offsets_error=ErrorCode.UNKNOWN_SERVER_ERROR,
    ),
    Change("2.6", "records of compressed batches are skipped", builds_compressed=False),
    Change("2.7", "names of headers are sliced", header_names_fail=False),
    Change(
        "2.7",
        "generated messages of Fetch and ListOffsets",
        fences_negative_epochs=False,
        odd_isolation_closes=False,
        lists_each_duplicate=True,
        lists_denied_duplicates=True,
    ),
    Change(
        "2.8",
        "generated messages of Produce and OffsetForLeaderEpoch",
        reads_duplicates=True,
        epochs_by_partition=False,
        unreadable_closes=False,
        unreadable_old_closes=False,
    ),
    Change("3.0", "batches that end early are expected", reads_one_by_one=False),
    Change("3.0", "KIP-734: the newest record", newest_since=0),
    Change(
        "3.0",
        "DescribeProducers: names before permissions",
        describes_legal_names=True,
        producers_denial="topic authorization failed",
    ),
    Change(
        "3.0",
        "errors of Fetch in a common form",
        errors_list_aborted=True,
        refusals_have_records=False,
    ),
    Change("3.1", "KIP-534: tombstones that go in time", stamps_delete_horizon=True),
    Change(
        "3.3",
        "KIP-841: replicas that are none",
        no_replica_error=ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ),
    Change("3.5", "KIP-405: the start of what is local", earliest_local_since=0),
    Change("3.5", "KIP-890: AddPartitionsToTxn in batches", merges_added_partitions=False),
    Change(
        "3.6",
        "KIP-890: partitions are verified",
        verifies_partitions=True,
        says_what_is_unverified=True,
    ),
    Change(
        "3.6",
        "KAFKA-14633: records of compressed batches are skipped by what they hold",
        checks_compressed_sizes=False,
    ),
    Change("3.6", "batches are stamped as the topic says", refuses_append_time=False),
    Change(
        "3.7",
        "KIP-890: so are groups",
        verifies_offsets=True,
        says_what_is_unverified=False,
    ),
    Change("3.7", "KIP-966: fewer replicas than min.insync.replicas", caps_min_isr=True),
    Change(
        "3.8",
        "KIP-890: abortable errors",
        verifies_before_acks=True,
        abortable_since=11,
        abortable_offsets_since=4,
        unverified_error=ErrorCode.TRANSACTION_ABORTABLE,
    ),
    Change("3.8", "KAFKA-16310: the newest record itself", newest_is_last=False),
    Change("3.8", "sizes of records are summed up first", null_records_stop_all=True),
    Change(
        "3.9",
        "KIP-1005: each special time has its version",
        newest_since=7,
        earliest_local_since=8,
        latest_tiered_since=9,
        refuses_unknown_times=True,
    ),
    Change(
        "4.0",
        "KIP-890: transactions of version 2",
        adds_partitions_since=12,
        adds_offsets_since=5,
        fencing_bumps_twice=True,
        fencing_remembers=True,
        verifies_epochs=True,
    ),
    Change(
        "4.0",
        "ListOffsets has a class of its own",
        lists_each_duplicate=False,
        duplicates_always_refused=True,
    ),
    Change("4.0", "errors of Fetch with empty records again", refusals_have_records=True),
    Change("4.0", "KIP-896: no format is too old for zstd", hides_zstd_topics=False),
    Change("4.1", "transactions that never began", forgets_start=True),
    Change(
        "4.1",
        "KIP-890: no gap before a producer's first batch, one new epoch for who fences it",
        begins_at_zero_since=12,
        fencing_bumps_twice=False,
    ),
    Change("4.2", "KIP-1023: what is not yet in tiered storage", pending_upload_since=11),
)
