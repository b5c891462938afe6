"""How Kafka releases differ about records and transactions.

Unless a change names its KIP, it was found by asking a broker of the release and of the one
before the same things.
"""

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.change import Change

NEVER = 32767
"""As an API version: none there is."""


class RecordFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the emulated release does about records and transactions, by name."""

    # formats that Produce takes
    unreadable_closes: bool  # a partition without a readable batch cannot be parsed
    unreadable_old_closes: bool  # nor one without any message, in versions 0 to 2
    wrong_format_closes: bool  # nor one with another format than 2, or with two batches
    invalid_record_error: ErrorCode  # of invalid records
    invalid_record_tells_start: bool  # and the answer says where the log starts
    lists_every_record: bool  # all records that are refused, and why; else only the first
    knows_zstd: bool
    null_records_stop_all: bool  # null records keep all others of a request from being stored
    refuses_append_time: bool  # a batch that claims an append time is 32 where producers set times
    reads_one_by_one: bool  # records of a batch, and is not ready for all damage to them
    builds_compressed: bool  # records of compressed batches, whatever size they say
    header_names_fail: bool  # such as names of headers that go on behind the records
    checks_compressed_sizes: bool  # records of a compressed batch are as long as they say
    other_offsets_error: ErrorCode  # of a compressed batch whose offsets are not 0, 1, 2...
    # producers in Produce
    caps_min_isr: bool  # min.insync.replicas counts only up to the number of replicas
    reads_duplicates: bool  # of a partition that is in a request twice all are looked at, not one
    last_batch_counts: bool  # a request is transactional, or idempotent, as its last partition is
    nameless_transaction_error: ErrorCode  # of batches without a transactional id; NONE: a denial
    lost_producer_error: ErrorCode  # of a producer that is not known, and does not start from 0
    batches_remembered: int  # of each producer, to recognise duplicates
    # transactions in Produce and TxnOffsetCommit
    verifies_partitions: bool  # a partition that was not added to the transaction takes nothing
    verifies_before_acks: bool  # of a partition's producer, before the number of acks is looked at
    verifies_offsets: bool  # and neither does a group
    verifies_epochs: bool  # also of producers that have a transaction open
    says_what_is_unverified: bool  # in Produce
    abortable_since: int  # first version of Produce with TRANSACTION_ABORTABLE
    abortable_offsets_since: int  # the same of TxnOffsetCommit
    unverified_error: ErrorCode  # of AddPartitionsToTxn that only verifies
    adds_partitions_since: int  # version of Produce that adds its partitions to the transaction
    begins_at_zero_since: int  # version of Produce whose numbers begin at 0 where none are known
    adds_offsets_since: int  # version of TxnOffsetCommit that adds its group to the transaction
    checks_committed_partition: bool  # TxnOffsetCommit: a missing partition is 3
    checks_committed_group: bool  # and an empty group 24
    denied_txn_commits_repeat: bool  # and if it is denied, a partition named twice is refused twice
    checks_committed_epoch: bool  # and an older epoch than the last 47
    # Fetch
    followers_read_topics: bool  # READ on the topics is asked of them too
    always_tells_stable: bool  # the last stable offset, also to who reads all
    unconverted_is_whole: bool  # for old clients: what leaves nothing when converted comes as it is
    no_replica_error: ErrorCode  # of brokers that hold no replica; NONE: nothing but the end
    missing_partitions_in_place: bool  # of topics that there are; else behind what can be read
    stranger_error: ErrorCode  # Fetch from an unknown replica id: error of the whole request
    leader_as_replica_error: ErrorCode  # of the leader itself, likewise
    fences_negative_epochs: bool  # a leader epoch below -1 is an old one, and not none
    odd_isolation_closes: bool  # an unknown isolation level closes the connection
    missing_looks_compressed: bool  # a missing partition is 76 to versions that know no zstd
    hides_zstd_topics: bool  # topics of compression.type=zstd, from versions that know no zstd: 76
    aborted_beyond_stable: bool  # if nothing can be read, all aborted transactions are listed
    aborted_at_stable: bool  # that is so where readers have come to what they may not read yet
    lists_empty_aborted: bool  # also aborted transactions without records
    deletion_forgets_producers: bool  # DeleteRecords, those whose records are gone
    errors_list_aborted: bool  # an unreadable partition has no aborted transactions, not null
    refusals_have_records: bool  # a request that fails as a whole has no records, not null
    # ListOffsets and OffsetForLeaderEpoch
    epochs_by_partition: bool  # OffsetForLeaderEpoch answers a partition once, however often asked
    epochs_from_creation: bool  # the first leader epoch begins before the first record
    lists_epochs: bool  # with offsets
    lists_each_duplicate: bool  # a partition named twice is answered twice
    lists_denied_duplicates: bool  # the same where it is denied
    duplicates_always_refused: bool  # also in version 0
    newest_since: int  # first version with timestamp -3
    earliest_local_since: int  # -4
    latest_tiered_since: int  # -5
    pending_upload_since: int  # -6
    refuses_unknown_times: bool  # else a negative time is but a very early one
    newest_is_last: bool  # the last record of a batch stands for its newest
    # transactions
    denied_producer_epoch: int  # in a denied InitProducerId
    merges_added_partitions: bool  # AddPartitionsToTxn with one code for all has each but once
    adds_missing_partitions: bool  # of a topic that there is
    internal_partition_error: ErrorCode  # of AddPartitionsToTxn
    fencing_bumps_twice: bool  # to the epoch after next
    fencing_remembers: bool  # whose transaction was aborted may ask for the new epoch by the old
    forgets_start: bool  # a new producer's transaction has no start time
    # compaction
    stamps_delete_horizon: bool  # batches with tombstones or markers say when these may go
    # DescribeProducers
    producers_denial: str | None  # the text of a denied one; None: nor of a missing topic
    describes_legal_names: bool  # looks at a name before it asks for permission


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
"""As 0.11 has it."""

CHANGES: tuple[Change, ...] = (
    Change(
        "1.0",
        "KIP-192: answers to producers, and five of their batches",
        lost_producer_error=ErrorCode.UNKNOWN_PRODUCER_ID,
        batches_remembered=5,
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
