"""APIs by what their requests change, and how often a client may send them."""

from kafka_shim.protocol.enums import ApiKey

TOPIC_CHANGES = frozenset(
    {
        ApiKey.CREATE_TOPICS, ApiKey.DELETE_TOPICS, ApiKey.CREATE_PARTITIONS,
        ApiKey.DELETE_RECORDS,
    }
)  # fmt: skip
"""Requests that change only the topics that they name."""

ADMIN_CHANGES = TOPIC_CHANGES | frozenset(
    {
        ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS, ApiKey.ALTER_CONFIGS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS, ApiKey.DELETE_GROUPS, ApiKey.OFFSET_DELETE,
        ApiKey.ALTER_CLIENT_QUOTAS, ApiKey.ALTER_USER_SCRAM_CREDENTIALS, ApiKey.UPDATE_FEATURES,
        ApiKey.CREATE_DELEGATION_TOKEN, ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN, ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.ELECT_LEADERS, ApiKey.ALTER_REPLICA_LOG_DIRS,
        ApiKey.ALTER_SHARE_GROUP_OFFSETS, ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    }
)  # fmt: skip

GROUP_HEARTBEATS = frozenset(
    {
        ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_HEARTBEAT,
    }
)  # fmt: skip
"""Clients choose the ids of members in these."""

REBALANCES = frozenset({ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP})
"""Requests whose responses come when all members have sent one."""

COUNTED_CHANGES = ADMIN_CHANGES | frozenset(
    {
        ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.END_TXN,
        ApiKey.TXN_OFFSET_COMMIT,
    }
)  # fmt: skip
"""Requests that a client must not send more often than recorded, besides records."""

BEFORE_AUTHENTICATION = frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE})
"""Requests of a client that the broker does not know yet."""

REQUIRED_IN_STRICT = frozenset({ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT, ApiKey.LEAVE_GROUP})
"""Requests that a client may repeat, and must not omit if the recording is strict."""
