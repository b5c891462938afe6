"""The Kafka improvement proposals about what clients and tools can observe, and their state."""

from typing import Final, Literal, NamedTuple


class Kip(NamedTuple):
    """A proposal; `test` is a path that shows the state, and `note` what differs or is absent."""

    number: int
    subject: str
    state: Literal["exact", "differs", "absent"]
    test: str = ""
    note: str = ""


_HANDLERS: Final = "tests/shim/handlers/"
_STORIES: Final = "tests/recordings/conformance/stories/"
_GROUPS: Final = "tests/recordings/groups/"

KIPS: Final = (
    Kip(4, "administration over the protocol", "exact", f"{_HANDLERS}test_create_topics.py"),
    Kip(11, "authorizer and ACLs", "exact", "tests/authorizer/"),
    Kip(12, "SASL with Kerberos", "absent", note="tests would need a Kerberos server"),
    Kip(35, "ApiVersions", "exact", "tests/protocol/test_api_versions.py"),
    Kip(43, "SASL mechanisms", "exact", "tests/recordings/log_ins/"),
    Kip(48, "delegation tokens", "exact", f"{_HANDLERS}test_delegation_tokens.py"),
    Kip(84, "SCRAM", "exact", "tests/shim/sasl/test_scram.py"),
    Kip(98, "idempotent and transactional producers", "exact", f"{_HANDLERS}test_producer_ids.py"),
    Kip(107, "DeleteRecords", "exact", f"{_HANDLERS}test_offsets_and_deletion.py"),
    Kip(113, "replicas in log directories", "differs", note="brokers have no log directories"),
    Kip(133, "DescribeConfigs, AlterConfigs", "exact", f"{_HANDLERS}test_describe_configs.py"),
    Kip(140, "ACLs over the protocol", "exact", f"{_HANDLERS}test_acl_apis.py"),
    Kip(152, "errors of failed authentications", "exact", "tests/recordings/log_ins/"),
    Kip(163, "DESCRIBE for OffsetFetch", "exact", "tests/authorizer/test_requirements.py"),
    Kip(195, "CreatePartitions", "exact", f"{_HANDLERS}test_create_partitions.py"),
    Kip(219, "throttling by muted channels", "exact", "tests/recordings/quotas/"),
    Kip(227, "fetch sessions", "exact", "tests/shim/state/test_fetch_sessions.py"),
    Kip(229, "DeleteGroups", "exact", f"{_HANDLERS}test_offsets_and_deletion.py"),
    Kip(231, "DESCRIBE for ListGroups", "exact", "tests/authorizer/test_requirements.py"),
    Kip(255, "OAUTHBEARER", "exact", "tests/shim/sasl/test_oauthbearer.py"),
    Kip(277, "CREATE on topics", "exact", f"{_HANDLERS}test_metadata.py"),
    Kip(290, "prefixed ACLs", "exact", "tests/clients/acl_behaviours.py"),
    Kip(320, "leader epochs", "exact", f"{_HANDLERS}test_offset_for_leader_epoch.py"),
    Kip(339, "IncrementalAlterConfigs", "exact", f"{_HANDLERS}test_alter_configs.py"),
    Kip(345, "static members", "exact", f"{_GROUPS}static_scenarios.py"),
    Kip(360, "recovery of producers", "exact", f"{_STORIES}fencing.py"),
    Kip(368, "re-authentication", "exact", "tests/recordings/log_ins/"),
    Kip(371, "rules for names of certificates", "exact", "tests/shim/tls/"),
    Kip(373, "tokens for other users", "exact", f"{_HANDLERS}test_delegation_tokens.py"),
    Kip(392, "reading from the nearest replica", "exact", "tests/clients/test_moving_leaders.py"),
    Kip(394, "member ids before joining", "exact", f"{_STORIES}consuming.py"),
    Kip(405, "tiered storage", "absent", note="there is no storage of segments"),
    Kip(430, "authorized operations", "exact", "tests/authorizer/test_requirements.py"),
    Kip(447, "transactional offsets by group", "exact", f"{_STORIES}fencing.py"),
    Kip(455, "reassignments", "differs", f"{_HANDLERS}test_cancelled_reassignments.py",
        "complete immediately"),
    Kip(460, "ElectLeaders", "exact", f"{_HANDLERS}test_partition_places.py"),
    Kip(467, "errors of single records", "exact", f"{_HANDLERS}test_produced_content.py"),
    Kip(482, "tagged fields", "exact", "tests/protocol/"),
    Kip(496, "OffsetDelete", "exact", f"{_HANDLERS}test_offset_delete.py"),
    Kip(511, "names of client software", "exact", "tests/traces/test_trace_rows.py"),
    Kip(516, "topic ids", "exact", f"{_HANDLERS}test_delete_topics.py"),
    Kip(525, "settings in CreateTopics", "exact", f"{_HANDLERS}test_create_topics.py"),
    Kip(546, "client quotas", "exact", f"{_HANDLERS}test_client_quotas.py"),
    Kip(554, "SCRAM credentials", "exact", f"{_HANDLERS}test_user_scram_credentials.py"),
    Kip(584, "feature levels", "differs", f"{_HANDLERS}test_quorum_and_features.py",
        "`metadata.version` is fixed by the release"),
    Kip(595, "quorum of controllers", "differs", f"{_HANDLERS}test_quorum_and_features.py",
        "one of the brokers is the controller"),
    Kip(599, "quotas of topic changes", "exact", "tests/recordings/quotas/"),
    Kip(612, "quotas of connections", "exact", "tests/recordings/connections/"),
    Kip(664, "hanging transactions", "exact", f"{_HANDLERS}test_transaction_apis.py"),
    Kip(679, "idempotence without IDEMPOTENT_WRITE", "exact", f"{_HANDLERS}test_producer_ids.py"),
    Kip(714, "client metrics", "differs", "tests/recordings/telemetry/",
        "enabled by an option, and only their size is shown"),
    Kip(734, "offset of the greatest time", "exact", f"{_HANDLERS}test_offsets_and_deletion.py"),
    Kip(768, "signed tokens", "exact", "tests/shim/sasl/test_oauthbearer.py"),
    Kip(848, "consumer groups", "exact", f"{_GROUPS}consumer_scenarios.py",
        "since 4.0; in 3.7 to 3.9 a preview, which newer clients may not speak, with "
        "`group.coordinator.rebalance.protocols=classic,consumer`"),
    Kip(853, "changes of the quorum", "absent", note="the quorum of controllers is static"),
    Kip(890, "transactions, second part", "exact",
        "tests/recordings/records/transaction_scenarios.py"),
    Kip(896, "removed old versions", "exact", "tests/protocol/test_api_versions.py"),
    Kip(932, "share groups", "exact", f"{_HANDLERS}test_share_fetch.py",
        "since 4.2; 4.1 with `group.coordinator.rebalance.protocols=classic,consumer,share`"),
    Kip(951, "leaders in errors of Produce and Fetch", "exact",
        "tests/traces/proxy/test_leader_hints.py"),
    Kip(966, "DescribeTopicPartitions, eligible leaders", "exact",
        f"{_HANDLERS}test_describe_topic_partitions.py"),
    Kip(1071, "streams groups", "exact", f"{_GROUPS}streams_scenarios.py", "since 4.2"),
    Kip(1142, "ListConfigResources", "exact", f"{_HANDLERS}test_list_config_resources.py"),
    Kip(1191, "dead-letter queues of share groups", "differs", f"{_GROUPS}dead_letter_scenarios.py",
        "brokers do not authenticate to each other"),
    Kip(1206, "acquisition mode of share groups", "exact", f"{_GROUPS}sharing_scenarios.py"),
    Kip(1263, "delayed assignments", "exact", f"{_GROUPS}modern_play.py"),
    Kip(1331, "descriptions of topologies", "differs", f"{_GROUPS}description_scenarios.py",
        "always in memory, whatever the plug-in"),
)  # fmt: skip
