"""How Kafka releases differ about groups.

Unless a change names its KIP, it was found by sending the same requests to brokers of the release
and of the one before.
"""

import msgspec

from kafka_shim.protocol.releases.change import Change


class GroupFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about groups."""

    protocols: tuple[str, ...]  # group protocols that are enabled by default
    new_coordinator: bool  # the coordinator of KIP-848, in Java, which differs in details
    # classic groups
    awaiting_sync_name: str  # name of the state in which the leader must send the assignment
    session_timeout_ms_max: int  # default of group.max.session.timeout.ms
    failed_generation: int  # generation in the response to a failed JoinGroup
    checks_group_ids: bool  # an empty group id is INVALID_GROUP_ID (24) (False: UNKNOWN_MEMBER_ID)
    checks_protocol_type: bool
    """JoinGroup without a protocol type is INCONSISTENT_GROUP_PROTOCOL (23)."""
    strict_members: bool
    """Unknown instances, or a generation without a member, are UNKNOWN_MEMBER_ID (25)."""
    heartbeat_checks_generation: bool
    """A wrong generation is reported before REBALANCE_IN_PROGRESS (27)."""
    commit_checks_member: bool  # an unknown member is reported before REBALANCE_IN_PROGRESS (27)
    heartbeats_while_completing: bool
    """Heartbeat succeeds while the assignment is awaited (False: 27)."""
    sync_timeout: bool  # a member without SyncGroup within the rebalance timeout is removed
    rejoin_changes_timeouts: bool  # the timeouts in the JoinGroup of a known member count
    static_rejoin_breaks_syncs: bool
    """A static member that rejoins before the assignment starts a rebalance."""
    static_rejoin_checks_protocol: bool
    """A static member with other protocols can cause a rebalance."""
    # epochs, assignments, descriptions, offsets, coordinators
    new_group_epoch: int  # epoch of a group without members (KIP-848)
    upgrade_keeps_epoch: bool
    """A classic group that becomes a consumer group keeps its epoch if nothing changes."""
    downgrade_keeps_target: bool
    """A group that becomes classic with a stale target rebalances (KIP-848)."""
    classics_await_target: bool
    """Classic members rejoin only once the new target assignment exists (KIP-848)."""
    disabled_migration_is_strict: bool  # no classic member can join a consumer group with members
    describes_revoking: bool
    """ConsumerGroupDescribe shows partitions that a member has yet to revoke."""
    commits_since_assigned: bool
    """Commits with an older epoch succeed for partitions assigned by then."""
    assignor_counts: bool  # another assignor with most votes begins a group epoch
    saves_extra: bool  # uniform: surplus partitions are left for later members that own them
    assigns_to_nobody: bool  # the target is computed at once when the last member leaves
    revokes_unsubscribed: bool  # unsubscribed partitions are revoked at once (KIP-848)
    rejoins_anytime: bool  # a known member may send epoch 0 (False: that epoch is checked)
    takes_back: bool  # a consumer gets back partitions that it was about to revoke at once
    dropped_regex_counts: bool  # dropping a regular expression changes the subscription (KIP-848)
    describes_empty_group_id: bool
    """An empty id in ConsumerGroupDescribe is INVALID_GROUP_ID (24), not -1 for all."""
    assignment_interval_ms: int  # default of group.consumer.assignment.interval.ms and its like
    streams_task_offset_interval_ms: int  # returned to members of streams groups; 0: no reports
    streams_recovery_lag: int  # acceptable lag returned to members of streams groups; -1: none
    streams_tasks_stay: bool  # tasks stay with their owner (False: with the owner of the target)
    streams_passes_over: bool
    """Other owners of a standby task are preferred if the first has the task."""
    streams_states_count: bool  # reported offsets count, and tasks change their role at once
    streams_static_members: bool
    """Static members, reported offsets and warm-up tasks (False: INVALID_REQUEST)."""
    streams_endpoints_change: bool  # all members learn a changed or removed endpoint of a member
    describes_metadata: bool
    """DescribeGroups returns a member's metadata (False: its assignment twice)."""
    describes_each_duplicate: bool  # a repeated group id is described twice
    filters_ignore_case: bool  # filters of ListGroups by state and type ignore case
    fetches_group_twice: bool  # OffsetFetch answers a repeated group twice (False: once)
    fetching_twice_fails: bool  # a repeated group fails the request with -1 unless it is denied
    denied_fetches_repeat: bool  # OffsetFetch lists denied topics as requested, also repeated ones
    failed_fetch_is_empty: bool  # OffsetFetch v1 has no partitions if its group fails
    leaves_alone_error: int | None
    """Error code of LeaveGroup before v3 for an unknown member; None: none."""
    deletes_empty_group_id: bool  # DeleteGroups accepts an empty group id (False: INVALID_GROUP_ID)
    commits_to_zookeeper: bool  # OffsetCommit and OffsetFetch v0 work (False: UNSUPPORTED_VERSION)
    commit_checks_partition: bool
    """OffsetCommit: a missing partition is an error, not only a missing topic."""
    denied_commits_repeat: bool  # OffsetCommit: a repeated partition is denied twice
    failed_commits_repeat: bool
    """Repeated partitions of a missing topic fail twice; also in TxnOffsetCommit."""
    deleted_offsets_repeat: bool  # OffsetDelete: a topic with two partitions is answered twice
    offset_value_version: int  # of the records of offsets; version 1 has the time when they expire
    offset_records_have_ids: bool  # also of commits that name topics (version 4)
    group_value_version: int  # of the records of classic groups
    found_message: str | None
    """Error_message of a successful FindCoordinator; None: failures have none either."""
    unknown_key_type_error: int | None
    """Error code of FindCoordinator for it; None: the connection is closed."""
    share_key_error: int | None
    """Error code of FindCoordinator for share keys; 0: works, None: unknown type."""
    share_groups_with_colons: bool  # group ids in share keys may contain colons
    share_deletion_always_asks: bool
    """DeleteShareGroupOffsets checks the group even if no topic is left."""
    share_epochs_may_be_unknown: bool  # leader epoch -1 of a share partition is not fenced
    share_writers_may_be_unknown: bool  # the same when share group state is written
    share_counts_when_begun: bool  # delivery_complete_count is known if a start offset is given
    unreadable_subscription_error: int
    """Error code of a classic member that joins a consumer group with it."""
    share_states_go_forward: bool
    """The start offset never decreases, and negative epochs are errors."""
    share_records: bool  # share coordinators write records in today's form
    share_record_counts: bool  # these records have delivery_complete_count
    share_null_id_error: int  # error code of a null group or member id in a share session
    share_throttles: bool  # records that were delivered often are returned in ever smaller parts
    share_additions_miss_nothing: bool  # partitions added to a known topic begin at offset 0
    share_denial_refuses_all: bool  # one denied share key fails the whole FindCoordinator
    share_deleted_fail_alone: bool
    """ShareFetch: a deleted topic of a session fails its own partitions, not the whole request."""


OLDEST = GroupFacts(
    protocols=("classic",),
    new_coordinator=False,
    awaiting_sync_name="AwaitingSync",
    session_timeout_ms_max=300_000,
    failed_generation=0,
    checks_group_ids=False,
    checks_protocol_type=False,
    strict_members=False,
    heartbeat_checks_generation=False,
    commit_checks_member=False,
    heartbeats_while_completing=False,
    sync_timeout=False,
    rejoin_changes_timeouts=False,
    static_rejoin_breaks_syncs=False,
    static_rejoin_checks_protocol=False,
    new_group_epoch=0,
    disabled_migration_is_strict=False,
    downgrade_keeps_target=False,
    classics_await_target=False,
    upgrade_keeps_epoch=False,
    describes_revoking=False,
    commits_since_assigned=False,
    assignor_counts=False,
    saves_extra=False,
    assigns_to_nobody=False,
    revokes_unsubscribed=False,
    rejoins_anytime=False,
    takes_back=False,
    dropped_regex_counts=False,
    describes_empty_group_id=False,
    assignment_interval_ms=0,
    streams_task_offset_interval_ms=0,
    streams_recovery_lag=-1,
    streams_tasks_stay=False,
    streams_passes_over=False,
    streams_states_count=False,
    streams_static_members=False,
    streams_endpoints_change=False,
    describes_metadata=True,
    describes_each_duplicate=False,
    filters_ignore_case=False,
    fetches_group_twice=False,
    fetching_twice_fails=False,
    denied_fetches_repeat=False,
    failed_fetch_is_empty=False,
    leaves_alone_error=None,
    deletes_empty_group_id=False,
    commits_to_zookeeper=True,
    commit_checks_partition=False,
    denied_commits_repeat=False,
    failed_commits_repeat=False,
    deleted_offsets_repeat=False,
    offset_value_version=1,
    offset_records_have_ids=False,
    group_value_version=1,
    found_message=None,
    unknown_key_type_error=None,
    share_key_error=None,
    share_groups_with_colons=False,
    share_deletion_always_asks=False,
    share_epochs_may_be_unknown=False,
    share_writers_may_be_unknown=False,
    share_counts_when_begun=False,
    unreadable_subscription_error=-1,
    share_states_go_forward=False,
    share_records=False,
    share_record_counts=False,
    share_null_id_error=-1,
    share_throttles=False,
    share_additions_miss_nothing=False,
    share_denial_refuses_all=False,
    share_deleted_fail_alone=False,
)
"""The facts of 0.11."""

CHANGES: tuple[Change, ...] = (
    Change("1.0", "JoinGroup checks the member's protocols", checks_protocol_type=True),
    Change("1.1", "a clearer name of a state", awaiting_sync_name="CompletingRebalance"),
    Change(
        "2.0",
        "group ids are checked, and partitions before commits",
        checks_group_ids=True,
        commit_checks_partition=True,
        deletes_empty_group_id=True,
    ),
    Change(
        "2.1",
        "KIP-211, KIP-320: offsets expire with their group, and have leader epochs",
        offset_value_version=3,
        group_value_version=2,
    ),
    Change("2.2", "a failed JoinGroup has no generation", failed_generation=-1),
    Change("2.3", "generations before states in heartbeats", heartbeat_checks_generation=True),
    Change("2.3", "KIP-345: sessions may be longer", session_timeout_ms_max=1_800_000),
    Change("2.3", "KIP-345: records of static members", group_value_version=3),
    Change("2.3", "a member's assignment is shown as its metadata", describes_metadata=False),
    Change(
        "2.3",
        "DescribeGroups and FindCoordinator in generated messages",
        describes_each_duplicate=True,
        found_message="NONE",
        unknown_key_type_error=-1,
        denied_commits_repeat=True,
    ),
    Change("2.4", "a member's metadata is shown again", describes_metadata=True),
    Change("2.4", "members before states in commits", commit_checks_member=True),
    Change("2.4", "KIP-496: its first form", deleted_offsets_repeat=True),
    Change("2.5", "static members while the leader assigns", static_rejoin_breaks_syncs=True),
    Change(
        "2.6",
        "heartbeats while the leader assigns, static members with other protocols",
        heartbeats_while_completing=True,
        static_rejoin_checks_protocol=True,
        deleted_offsets_repeat=False,
    ),
    Change("2.8", "KAFKA-12890: a limit for SyncGroup", sync_timeout=True),
    Change("2.8", "unknown types of coordinators", unknown_key_type_error=42),
    Change("3.0", "one check for members in all APIs", strict_members=True),
    Change("3.0", "KRaft: there is no ZooKeeper", commits_to_zookeeper=False),
    Change("3.2", "a group twice in OffsetFetch", fetching_twice_fails=True),
    Change("3.3", "members may change their timeouts", rejoin_changes_timeouts=True),
    Change("3.4", "answers of LeaveGroup want a member", leaves_alone_error=35),
    Change("3.5", "what fails before a commit is listed as asked", failed_commits_repeat=True),
    Change(
        "3.5",
        "a group may be twice in OffsetFetch, and answers of LeaveGroup need no member",
        fetches_group_twice=True,
        fetching_twice_fails=False,
        denied_fetches_repeat=True,
        failed_fetch_is_empty=True,
        leaves_alone_error=None,
    ),
    Change("3.7", "KIP-848: ListGroups by type", filters_ignore_case=True),
    Change("3.9", "KIP-932: share partitions are known, to nobody", share_key_error=15),
    Change("3.9.2", "the first version of OffsetFetch has errors", failed_fetch_is_empty=False),
    Change(
        "4.0",
        "KIP-848, KIP-932: the new coordinators",
        protocols=("classic", "consumer"),
        new_coordinator=True,
        share_key_error=42,
        share_denial_refuses_all=True,
    ),
    Change(
        "4.0.2",
        "KIP-848: groups that are upgraded know their topics; an empty id of a consumer group",
        upgrade_keeps_epoch=True,
        describes_empty_group_id=True,
    ),
    Change("4.1", "KIP-932: share coordinators", share_key_error=0, share_records=True),
    Change("4.1", "KIP-848: records of offsets can have topic ids", offset_value_version=4),
    Change("4.1", "uniform: extra partitions stay where they are", saves_extra=True),
    Change(
        "4.2",
        "KIP-848: dropped expressions change subscriptions, members begin again with epoch 0",
        takes_back=True,
        dropped_regex_counts=True,
        rejoins_anytime=True,
    ),
    Change(
        "4.2",
        "KIP-932, KIP-1071: two more kinds of groups",
        protocols=("classic", "consumer", "share", "streams"),
        share_deletion_always_asks=True,
        share_record_counts=True,
        share_throttles=True,
    ),
    Change("4.2", "members give up at once what they unsubscribed from", revokes_unsubscribed=True),
    Change(
        "4.2.2",
        "share groups of any name, unknown epochs of who writes",
        share_groups_with_colons=True,
        share_writers_may_be_unknown=True,
        share_counts_when_begun=True,
    ),
    Change("4.2.2", "members without a subscription", unreadable_subscription_error=23),
    Change("4.2.2", "deleted topics in share sessions", share_deleted_fail_alone=True),
    Change("4.2.2", "the next of those with a standby task", streams_passes_over=True),
    Change(
        "4.3",
        "which 4.3.1 does not know yet",
        unreadable_subscription_error=-1,
        streams_passes_over=False,
        share_deleted_fail_alone=False,
    ),
    Change(
        "4.3",
        "KIP-1263: assignments are made at intervals",
        new_group_epoch=1,
        downgrade_keeps_target=True,
        classics_await_target=True,
        disabled_migration_is_strict=True,
        describes_revoking=True,
        assignment_interval_ms=1000,
    ),
    Change(
        "4.3",
        "null names in share sessions, unknown epochs of who reads",
        share_null_id_error=42,
        share_epochs_may_be_unknown=True,
    ),
    Change("4.3", "records of offsets always have topic ids", offset_records_have_ids=True),
    Change("4.3", "KIP-1251: commits in older epochs", commits_since_assigned=True),
    Change(
        "4.4",
        "KIP-1071: static members, endpoints, and what members report of their tasks",
        streams_task_offset_interval_ms=60_000,
        streams_recovery_lag=10_000,
        streams_static_members=True,
        streams_endpoints_change=True,
    ),
    Change(
        "4.4",
        "the assignor sees what streams members have",
        streams_tasks_stay=True,
        streams_passes_over=True,
        streams_states_count=True,
    ),
    Change("4.4", "members without a subscription", unreadable_subscription_error=23),
    Change("4.4", "deleted topics in share sessions", share_deleted_fail_alone=True),
    Change("4.4", "states of share groups, as 4.4.0 answers", share_states_go_forward=True),
    Change(
        "4.4",
        "partitions that a share group's topic gets are read from their start",
        share_additions_miss_nothing=True,
    ),
    Change("4.4", "another assignor takes effect at once", assignor_counts=True),
    Change("4.4", "groups without members have their assignment", assigns_to_nobody=True),
)
