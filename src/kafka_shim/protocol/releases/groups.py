"""How Kafka releases differ about groups.

Unless a change names its KIP, it was found by sending the same requests to brokers of the release
and of the one before.
"""

import msgspec

from kafka_shim.protocol.releases.change import Change


class GroupFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about groups."""

    protocols: tuple[str, ...] = ("classic",)  # group protocols that are enabled by default
    java_group_coordinator: bool = False
    """The coordinator of KIP-848, in Java, which differs in details."""
    consumer_groups_are_preview: bool = False
    """A broker has that coordinator if the consumer protocol is enabled. Its consumer groups reject
    members without topics, transactions without a member and LeaveGroup of their members, and
    ConsumerGroupDescribe asks each partition of coordinators for all groups.
    """
    # classic groups
    awaiting_sync_state_name: str = "AwaitingSync"
    """Name of the state in which the leader must send the assignment."""
    session_timeout_ms_max: int = 300_000  # default of group.max.session.timeout.ms
    failed_join_generation: int = 0  # generation in the response to a failed JoinGroup
    empty_group_id_is_invalid_group_id: bool = False
    """An empty group id is INVALID_GROUP_ID (24) (False: UNKNOWN_MEMBER_ID)."""
    join_requires_protocol_type: bool = False
    """JoinGroup without a protocol type is INCONSISTENT_GROUP_PROTOCOL (23)."""
    unknown_instance_is_unknown_member: bool = False
    """Unknown instances, or a generation without a member, are UNKNOWN_MEMBER_ID (25)."""
    heartbeat_checks_generation_before_state: bool = False
    """A wrong generation is reported before REBALANCE_IN_PROGRESS (27)."""
    commit_checks_member_before_state: bool = False
    """An unknown member is reported before REBALANCE_IN_PROGRESS (27)."""
    heartbeat_succeeds_while_awaiting_assignment: bool = False
    """Heartbeat succeeds while the assignment is awaited (False: 27)."""
    member_without_sync_is_removed: bool = False
    """A member without SyncGroup within the rebalance timeout is removed."""
    rejoin_updates_member_timeouts: bool = False
    """The timeouts in the JoinGroup of a known member count."""
    static_rejoin_before_assignment_rebalances: bool = False
    """A static member that rejoins before the assignment starts a rebalance."""
    static_rejoin_with_other_protocol_rebalances: bool = False
    """A static member with other protocols can cause a rebalance."""
    # epochs, assignments, descriptions, offsets, coordinators
    empty_group_epoch: int = 0  # epoch of a group without members (KIP-848)
    upgraded_group_keeps_epoch: bool = False
    """A classic group that becomes a consumer group keeps its epoch if nothing changes."""
    downgraded_group_with_stale_target_rebalances: bool = False
    """A group that becomes classic with a stale target rebalances (KIP-848)."""
    classic_members_rejoin_after_target_exists: bool = False
    """Classic members rejoin only once the new target assignment exists (KIP-848)."""
    disabled_migration_rejects_classic_members: bool = False
    """No classic member can join a consumer group with members."""
    describe_lists_partitions_to_revoke: bool = False
    """ConsumerGroupDescribe shows partitions that a member has yet to revoke."""
    commit_accepts_epoch_since_assignment: bool = False
    """Commits with an older epoch succeed for partitions assigned by then."""
    new_preferred_assignor_raises_epoch: bool = False
    """Another assignor with most votes begins a group epoch."""
    uniform_keeps_surplus_with_owner: bool = False
    """Uniform: surplus partitions are left for later members that own them."""
    recomputes_target_when_empty: bool = False
    """The target is computed immediately when the last member leaves."""
    unsubscribed_partitions_are_revoked_immediately: bool = False
    """Unsubscribed partitions are revoked immediately (KIP-848)."""
    known_member_can_send_epoch_zero: bool = False
    """A known member may send epoch 0 (False: that epoch is checked)."""
    revoking_partitions_can_return: bool = False
    """A consumer gets back partitions that it was about to revoke immediately."""
    dropped_regex_changes_subscription: bool = False
    """Dropping a regular expression changes the subscription (KIP-848)."""
    describe_rejects_empty_group_id_alone: bool = False
    """An empty id in ConsumerGroupDescribe is INVALID_GROUP_ID (24), not -1 for all."""
    target_assignment_interval_ms: int = 0
    """Default of group.consumer.assignment.interval.ms and its like."""
    streams_task_offset_interval_ms: int = 0  # returned to members of streams groups; 0: no reports
    streams_acceptable_recovery_lag: int = -1
    """Acceptable lag returned to members of streams groups; -1: none."""
    streams_tasks_stay_with_current_owner: bool = False
    """Tasks stay with their owner (False: with the owner of the target)."""
    standby_prefers_other_owner: bool = False
    """Other owners of a standby task are preferred if the first has the task."""
    streams_assignor_uses_reported_offsets: bool = False
    """Reported offsets count, and tasks change their role immediately."""
    streams_supports_static_members: bool = False
    """Static members, reported offsets and warm-up tasks (False: INVALID_REQUEST)."""
    streams_members_learn_changed_endpoints: bool = False
    """All members learn a changed or removed endpoint of a member."""
    describe_groups_returns_member_metadata: bool = True
    """DescribeGroups returns a member's metadata (False: its assignment twice)."""
    describe_groups_lists_each_repeated_group: bool = False
    """A repeated group id is described twice."""
    list_groups_filters_ignore_case: bool = False
    """Filters of ListGroups by state and type ignore case."""
    offset_fetch_lists_each_repeated_group: bool = False
    """OffsetFetch lists a repeated group twice (False: once)."""
    offset_fetch_fails_for_repeated_group: bool = False
    """A repeated group fails the request with -1 unless it is denied."""
    denied_offset_fetch_lists_each_topic: bool = False
    """OffsetFetch lists denied topics as requested, also repeated ones."""
    failed_offset_fetch_v1_is_empty: bool = False
    """OffsetFetch v1 has no partitions if its group fails."""
    single_leave_error: int | None = None
    """Error code of LeaveGroup before v3 for an unknown member; None: none."""
    static_members_fail_old_leader: bool = False
    """UNSUPPORTED_VERSION (35) for a leader before JoinGroup v5 if a member is static."""
    delete_groups_accepts_empty_group_id: bool = False
    """DeleteGroups accepts an empty group id (False: INVALID_GROUP_ID)."""
    zookeeper_offset_commit_is_supported: bool = True
    """OffsetCommit and OffsetFetch v0 work (False: UNSUPPORTED_VERSION)."""
    commit_rejects_missing_partition: bool = False
    """OffsetCommit: a missing partition is an error, not only a missing topic."""
    denied_commit_lists_each_partition: bool = False
    """OffsetCommit: a repeated partition is denied twice."""
    failed_commit_lists_each_partition: bool = False
    """Repeated partitions of a missing topic fail twice; also in TxnOffsetCommit."""
    offset_delete_lists_topic_per_partition: bool = False
    """OffsetDelete: a topic with two partitions is listed twice."""
    offset_record_value_version: int = 1
    """Of the records of offsets; version 1 has the time when they expire."""
    all_offset_records_have_topic_ids: bool = False  # also of commits that name topics (version 4)
    classic_group_record_value_version: int = 1  # of the records of classic groups
    find_coordinator_ok_message: str | None = None
    """Error_message of a successful FindCoordinator; None: failures have none either."""
    find_coordinator_unknown_type_error: int | None = None
    """Error code of FindCoordinator for it; None: the connection is closed."""
    find_coordinator_share_key_error: int | None = None
    """Error code of FindCoordinator for share keys; 0: works, None: unknown type."""
    share_group_id_accepts_colons: bool = False  # group ids in share keys may contain colons
    share_offset_deletion_always_checks_group: bool = False
    """DeleteShareGroupOffsets checks the group even if no topic is left."""
    share_read_accepts_unknown_leader_epoch: bool = False
    """Leader epoch -1 of a share partition is not fenced."""
    share_write_accepts_unknown_leader_epoch: bool = False
    """The same when share group state is written."""
    share_delivery_count_starts_with_given_offset: bool = False
    """Delivery_complete_count is known if a start offset is given."""
    classic_unreadable_subscription_error: int = -1
    """Error code of a classic member that joins a consumer group with it."""
    share_start_offset_never_decreases: bool = False
    """The start offset never decreases, and negative epochs are errors."""
    share_coordinators_have_topic: bool = False
    """A state of a share partition creates the topic `__share_group_state`."""
    share_session_null_id_error: int = -1
    """Error code of a null group or member id in a share session."""
    share_limits_redelivered_records: bool = False
    """Records that were delivered often are returned in ever smaller parts."""
    share_new_partitions_start_at_zero: bool = False
    """Partitions added to a known topic begin at offset 0."""
    one_denied_share_key_fails_all: bool = False
    """One denied share key fails the whole FindCoordinator."""
    share_fetch_deleted_topic_fails_alone: bool = False
    """ShareFetch: a deleted topic of a session fails its own partitions, not the whole request."""


CHANGES: tuple[Change, ...] = (
    Change("1.0", "JoinGroup checks the member's protocols", join_requires_protocol_type=True),
    Change(
        "1.1", "the state AwaitingSync is renamed", awaiting_sync_state_name="CompletingRebalance"
    ),
    Change(
        "2.0",
        "group ids are checked, and partitions before commits",
        empty_group_id_is_invalid_group_id=True,
        commit_rejects_missing_partition=True,
        delete_groups_accepts_empty_group_id=True,
    ),
    Change(
        "2.1",
        "KIP-211, KIP-320: offsets expire with their group, and have leader epochs",
        offset_record_value_version=3,
        classic_group_record_value_version=2,
    ),
    Change("2.2", "a failed JoinGroup has no generation", failed_join_generation=-1),
    Change(
        "2.3",
        "Heartbeat checks generations before states",
        heartbeat_checks_generation_before_state=True,
    ),
    Change("2.3", "KIP-345: sessions may be longer", session_timeout_ms_max=1_800_000),
    Change("2.3", "KIP-345: records of static members", classic_group_record_value_version=3),
    Change(
        "2.3",
        "DescribeGroups returns the assignment as metadata",
        describe_groups_returns_member_metadata=False,
    ),
    Change(
        "2.3",
        "DescribeGroups and FindCoordinator in generated messages",
        describe_groups_lists_each_repeated_group=True,
        find_coordinator_ok_message="NONE",
        find_coordinator_unknown_type_error=-1,
        denied_commit_lists_each_partition=True,
    ),
    Change(
        "2.4", "DescribeGroups returns metadata again", describe_groups_returns_member_metadata=True
    ),
    Change(
        "2.4", "OffsetCommit checks members before states", commit_checks_member_before_state=True
    ),
    Change(
        "2.4",
        "KIP-496: the first version of OffsetDelete",
        offset_delete_lists_topic_per_partition=True,
    ),
    Change(
        "2.5",
        "static members while the leader assigns",
        static_rejoin_before_assignment_rebalances=True,
    ),
    Change(
        "2.5",
        "old responses to JoinGroup cannot list static members",
        static_members_fail_old_leader=True,
    ),
    Change(
        "2.6",
        "heartbeats while the leader assigns, static members with other protocols",
        heartbeat_succeeds_while_awaiting_assignment=True,
        static_rejoin_with_other_protocol_rebalances=True,
        offset_delete_lists_topic_per_partition=False,
    ),
    Change("2.8", "KAFKA-12890: SyncGroup has a time limit", member_without_sync_is_removed=True),
    Change(
        "2.8",
        "an unknown coordinator type is INVALID_REQUEST (42)",
        find_coordinator_unknown_type_error=42,
    ),
    Change("3.0", "one check for members in all APIs", unknown_instance_is_unknown_member=True),
    Change("3.0", "KRaft: there is no ZooKeeper", zookeeper_offset_commit_is_supported=False),
    Change("3.2", "a repeated group fails OffsetFetch", offset_fetch_fails_for_repeated_group=True),
    Change("3.3", "members may change their timeouts", rejoin_updates_member_timeouts=True),
    Change(
        "3.3",
        "old responses to JoinGroup list static members without their ids",
        static_members_fail_old_leader=False,
    ),
    Change("3.4", "responses to LeaveGroup require a member", single_leave_error=35),
    Change(
        "3.5",
        "failed commits list partitions as requested",
        failed_commit_lists_each_partition=True,
    ),
    Change(
        "3.5",
        "OffsetFetch accepts repeated groups, responses to LeaveGroup require no member",
        offset_fetch_lists_each_repeated_group=True,
        offset_fetch_fails_for_repeated_group=False,
        denied_offset_fetch_lists_each_topic=True,
        failed_offset_fetch_v1_is_empty=True,
        single_leave_error=None,
    ),
    Change("3.7", "KIP-848: ListGroups by type", list_groups_filters_ignore_case=True),
    Change(
        "3.7",
        "KIP-848: consumer groups are a preview, on the new coordinator",
        consumer_groups_are_preview=True,
    ),
    Change(
        "3.9", "KIP-932: share keys are known, but unavailable", find_coordinator_share_key_error=15
    ),
    Change(
        "3.9.2",
        "the first version of OffsetFetch lists errors",
        failed_offset_fetch_v1_is_empty=False,
    ),
    Change(
        "4.0",
        "KIP-848, KIP-932: the new coordinators",
        protocols=("classic", "consumer"),
        java_group_coordinator=True,
        consumer_groups_are_preview=False,
        find_coordinator_share_key_error=42,
        one_denied_share_key_fails_all=True,
    ),
    Change(
        "4.0.2",
        "KIP-848: upgraded groups know their topics; empty group ids",
        upgraded_group_keeps_epoch=True,
        describe_rejects_empty_group_id_alone=True,
    ),
    Change(
        "4.1",
        "KIP-932: share coordinators",
        find_coordinator_share_key_error=0,
        share_coordinators_have_topic=True,
    ),
    Change("4.1", "KIP-848: records of offsets can have topic ids", offset_record_value_version=4),
    Change(
        "4.1",
        "the uniform assignor leaves surplus partitions with their owners",
        uniform_keeps_surplus_with_owner=True,
    ),
    Change(
        "4.2",
        "KIP-848: dropped expressions change subscriptions, members can restart with epoch 0",
        revoking_partitions_can_return=True,
        dropped_regex_changes_subscription=True,
        known_member_can_send_epoch_zero=True,
    ),
    Change(
        "4.2",
        "KIP-932, KIP-1071: two more kinds of groups",
        protocols=("classic", "consumer", "share", "streams"),
        share_offset_deletion_always_checks_group=True,
        share_limits_redelivered_records=True,
    ),
    Change(
        "4.2",
        "unsubscribed partitions are revoked immediately",
        unsubscribed_partitions_are_revoked_immediately=True,
    ),
    Change(
        "4.2.2",
        "share group ids with colons, unknown leader epochs in writes",
        share_group_id_accepts_colons=True,
        share_write_accepts_unknown_leader_epoch=True,
        share_delivery_count_starts_with_given_offset=True,
    ),
    Change(
        "4.2.2",
        "an unreadable classic subscription has its own error",
        classic_unreadable_subscription_error=23,
    ),
    Change(
        "4.2.2",
        "a deleted topic does not fail a whole share fetch",
        share_fetch_deleted_topic_fails_alone=True,
    ),
    Change(
        "4.2.2", "standby tasks prefer another previous owner", standby_prefers_other_owner=True
    ),
    Change(
        "4.3",
        "4.3.1 lacks these fixes of 4.2.2",
        classic_unreadable_subscription_error=-1,
        standby_prefers_other_owner=False,
        share_fetch_deleted_topic_fails_alone=False,
    ),
    Change(
        "4.3",
        "KIP-1263: assignments are computed at intervals",
        empty_group_epoch=1,
        downgraded_group_with_stale_target_rebalances=True,
        classic_members_rejoin_after_target_exists=True,
        disabled_migration_rejects_classic_members=True,
        describe_lists_partitions_to_revoke=True,
        target_assignment_interval_ms=1000,
    ),
    Change(
        "4.3",
        "null ids in share sessions, unknown leader epochs in reads",
        share_session_null_id_error=42,
        share_read_accepts_unknown_leader_epoch=True,
    ),
    Change(
        "4.3", "records of offsets always have topic ids", all_offset_records_have_topic_ids=True
    ),
    Change(
        "4.3", "KIP-1251: commits with older epochs", commit_accepts_epoch_since_assignment=True
    ),
    Change(
        "4.4",
        "KIP-1071: static members, endpoints, and reported task offsets",
        streams_task_offset_interval_ms=60_000,
        streams_acceptable_recovery_lag=10_000,
        streams_supports_static_members=True,
        streams_members_learn_changed_endpoints=True,
    ),
    Change(
        "4.4",
        "the assignor uses the current tasks of streams members",
        streams_tasks_stay_with_current_owner=True,
        standby_prefers_other_owner=True,
        streams_assignor_uses_reported_offsets=True,
    ),
    Change(
        "4.4",
        "an unreadable classic subscription has its own error",
        classic_unreadable_subscription_error=23,
    ),
    Change(
        "4.4",
        "a deleted topic does not fail a whole share fetch",
        share_fetch_deleted_topic_fails_alone=True,
    ),
    Change(
        "4.4", "states of share groups, recorded on 4.4.0", share_start_offset_never_decreases=True
    ),
    Change(
        "4.4",
        "new partitions of a share group's topic are read from the start",
        share_new_partitions_start_at_zero=True,
    ),
    Change(
        "4.4",
        "another preferred assignor takes effect immediately",
        new_preferred_assignor_raises_epoch=True,
    ),
    Change(
        "4.4",
        "the assignment is computed when the last member leaves",
        recomputes_target_when_empty=True,
    ),
)
