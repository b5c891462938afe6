"""How Kafka releases differ about groups.

Unless a change names its KIP, it was found by asking a broker of the release and of the one
before the same things.
"""

import msgspec

from kafka_shim.protocol.releases.change import Change


class GroupFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the emulated release does about groups, by name."""

    protocols: tuple[str, ...]  # those that are switched on by default
    new_coordinator: bool  # KIP-848's, in Java, with small differences of its own
    # classic groups
    awaiting_sync_name: str  # the state in which the leader has to assign
    session_timeout_ms_max: int  # default of group.max.session.timeout.ms
    failed_generation: int  # generation of a JoinGroup that failed
    checks_group_ids: bool  # an empty group id is 24 and not just an unknown member
    checks_protocol_type: bool  # JoinGroup without a protocol type is 23
    strict_members: bool  # unknown instances and a generation without a member are 25
    heartbeat_checks_generation: bool  # before the state, so that a wrong one is never 27
    commit_checks_member: bool  # before the state, so that a stranger's is never 27
    heartbeats_while_completing: bool  # and not 27
    sync_timeout: bool  # who has not sent SyncGroup by the rebalance timeout is out
    static_rejoin_breaks_syncs: bool  # a returning static member, while the leader has to assign
    static_rejoin_checks_protocol: bool  # and with other protocols: it can cause a rebalance
    # looking at them, their offsets, their coordinators
    new_group_epoch: int  # of a group that has no members yet (KIP-848)
    upgrade_keeps_epoch: bool  # of a group that becomes a consumer group, if nothing else changes
    downgrade_keeps_target: bool  # a group that turns classic with a stale one rebalances (KIP-848)
    classics_await_target: (
        bool  # classic members rejoin only once the new target assignment exists (KIP-848)
    )
    disabled_migration_is_strict: bool  # no classic member joins a consumer group with members then
    describes_revoking: bool  # ConsumerGroupDescribe shows what a member has not yet given up
    commits_since_assigned: bool  # a consumer's older epoch will do for what it had then already
    assignor_counts: bool  # another one that most members ask for begins an epoch
    saves_extra: bool  # uniform: a partition more is left for who has it, while others come after
    assigns_to_nobody: bool  # a group whose last member left has its target at once
    revokes_unsubscribed: bool  # at once, also while the next assignment is not made (KIP-848)
    rejoins_anytime: bool  # a known member may come with epoch 0; else that epoch is one to check
    takes_back: bool  # a consumer gets at once what it was to give up, if it shall have it again
    dropped_regex_counts: bool  # as a changed subscription (KIP-848)
    describes_empty_group_id: bool  # ConsumerGroupDescribe of an empty id is 24, and not -1 for all
    assignment_interval_ms: int  # default of group.consumer.assignment.interval.ms and its kin
    streams_task_offset_interval_ms: int  # returned to members of streams groups; 0: no reports
    streams_recovery_lag: int  # acceptable lag returned to them; -1: none
    streams_tasks_stay: bool  # with who has them; or with who was meant to have them
    streams_passes_over: bool  # a member whose process has the task, for others with a standby task
    streams_states_count: bool  # reported offsets count, and tasks become active or standby at once
    streams_static_members: bool  # and reported offsets and warm-up tasks; else they are 42
    streams_endpoints_change: (
        bool  # all members learn a changed endpoint of a member, or its removal
    )
    describes_metadata: bool  # the member's protocol metadata, not its assignment again
    describes_each_duplicate: bool  # a group id given twice is described twice
    filters_ignore_case: bool  # ListGroups by state and type
    fetches_group_twice: bool  # OffsetFetch answers a group listed twice twice, else once
    fetching_twice_fails: bool  # and the whole request is -1 unless that group is denied
    denied_fetches_repeat: bool  # OffsetFetch: what is denied is listed as it was asked for
    failed_fetch_is_empty: bool  # OffsetFetch 1 that fails for its group has no partitions
    leaves_alone_error: int | None  # of LeaveGroup before v3 for what concerns no member
    deletes_empty_group_id: bool  # DeleteGroups of an empty id is not 24
    commits_to_zookeeper: bool  # version 0 of OffsetCommit and OffsetFetch; else they are 35
    commit_checks_partition: bool  # OffsetCommit: a missing partition is 3, not only a topic
    denied_commits_repeat: bool  # OffsetCommit: a partition named twice is refused twice
    failed_commits_repeat: (
        bool  # also by the topic's error; in TxnOffsetCommit and OffsetDelete too
    )
    deleted_offsets_repeat: bool  # OffsetDelete: a topic with two partitions is answered twice
    found_message: str | None  # error message of a FindCoordinator that found one; None: nor else
    unknown_key_type_error: int | None  # of FindCoordinator; None closes the connection
    share_key_error: int | None  # of FindCoordinator for every share partition; 0: there is one,
    # None: the type is unknown
    share_groups_with_colons: bool  # in the keys of share partitions
    share_deletion_always_asks: bool  # DeleteShareGroupOffsets: also with no topic left
    share_epochs_may_be_unknown: bool  # -1 is not an old epoch of a share partition
    share_writers_may_be_unknown: bool  # the same, of who writes its state
    share_counts_when_begun: bool  # what is done with is known where the start is given
    unreadable_subscription_error: int  # of a classic member that joins a consumer group
    share_states_go_forward: bool  # never to an earlier offset; negative epochs are refused
    share_records: bool  # coordinators write them in today's form
    share_record_counts: bool  # they say how many deliveries are complete
    share_null_id_error: int  # of a share session's group or member that is null
    share_throttles: bool  # what was delivered often goes out in ever smaller parts
    share_additions_miss_nothing: bool  # partitions added to a known topic begin at offset 0
    share_denial_refuses_all: bool  # one denied share key fails the whole FindCoordinator


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
)
"""As 0.11 has it."""

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
    Change("2.2", "a failed JoinGroup has no generation", failed_generation=-1),
    Change("2.3", "generations before states in heartbeats", heartbeat_checks_generation=True),
    Change("2.3", "KIP-345: sessions may be longer", session_timeout_ms_max=1_800_000),
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
    Change("4.2.2", "the next of those with a standby task", streams_passes_over=True),
    Change(
        "4.3",
        "which 4.3.1 does not know yet",
        unreadable_subscription_error=-1,
        streams_passes_over=False,
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
    Change("4.4", "states of share groups, as 4.4.0 answers", share_states_go_forward=True),
    Change(
        "4.4",
        "partitions that a share group's topic gets are read from their start",
        share_additions_miss_nothing=True,
    ),
    Change("4.4", "another assignor takes effect at once", assignor_counts=True),
    Change("4.4", "groups without members have their assignment", assigns_to_nobody=True),
)
