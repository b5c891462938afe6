"""Denials of topics, groups, the cluster, transactions, delegation tokens and users.

Each row denies something about the topic or group `denied`. Many rows also use `allowed`, for
which the user has all permissions. The permissions are those of the requirements table
(authorizer/requirements/), which is compared with real brokers.
"""

from kafka_shim.authorizer.requirements import (
    CREATE_PARTITIONS_TOPIC,
    CREATE_TOPICS,
    OFFSET_FETCH_GROUP,
)
from kafka_shim.conformance.case_context import IDEMPOTENT_PRODUCER, TRANSACTIONAL_PRODUCER
from kafka_shim.conformance.denied_command import (
    ALLOWED,
    DENIED,
    DeniedCommand,
    RecommendedCheck,
    allow_on_cluster,
    allow_on_group,
    allow_on_topic,
    allow_on_transactional_id,
    enables_group_protocol,
    hides_topics_without_describe,
    requires_permission,
    supports_api,
)
from kafka_shim.conformance.fixtures import ClusterSetup
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType

_ACL = {
    "resource_type": "TOPIC",
    "name": "denied",
    "pattern_type": "LITERAL",
    "principal": "User:bob",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
_LATEST = {"partitions": ["denied-0", "allowed-0"]}
_COMMIT = {"group": DENIED, "topic": DENIED, "partition": 0, "offset": 0}
_BOTH = {"names": [DENIED, ALLOWED]}
_ITEMS = (DENIED, ALLOWED)
_ALL = allow_on_topic("All", name=ALLOWED)
_ALL_OF_GROUP = allow_on_group("All", name=ALLOWED)
WITH_TOKENS = ClusterSetup(
    properties=(
        ("delegation.token.secret.key", "secret"),
        ("delegation.token.master.key", "secret"),  # its name up to 2.8
    )
)
_WITHOUT_TOKENS = ClusterSetup(
    properties=(("delegation.token.secret.key", ""), ("delegation.token.master.key", ""))
)
_OPEN = ClusterSetup(authorizer="none")
_CONSUME = {"topics": [DENIED], "count": 1, "seconds": 5}
_ASSIGNED = {"partitions": [f"{DENIED}-0"], "count": 1, "seconds": 5}
_OFFSET = {"topic": ALLOWED, "partition": 0, "offset": 0}
_TX_RIGHTS = allow_on_transactional_id("Write", "Describe")
_NEXT_GEN = {"group_id": DENIED, "group_protocol": "consumer"}
_NOTHING = allow_on_cluster("Describe")
_HMAC = "c2VjcmV0"


DENIALS: tuple[DeniedCommand, ...] = (
    DeniedCommand(
        "create-topic",
        "create_topics",
        {"topics": {DENIED: 1, ALLOWED: 1}},
        allow_on_topic("Create"),
        29,
        (_ALL,),
        _ITEMS,
        topics=(),
        supports_release=requires_permission(CREATE_TOPICS, Operation.CREATE, ResourceType.TOPIC),
    ),
    DeniedCommand(
        "delete-topic",
        "delete_topics",
        _BOTH,
        allow_on_topic("Delete"),
        29,
        (_ALL, allow_on_topic("Describe")),
        _ITEMS,
    ),
    DeniedCommand(
        "create-partitions",
        "create_partitions",
        {"topics": {DENIED: 2, ALLOWED: 2}},
        allow_on_topic("Alter"),
        29,
        (_ALL, allow_on_topic("Describe")),
        _ITEMS,
        supports_release=lambda release: (
            supports_api(ApiKey.CREATE_PARTITIONS)(release)
            and requires_permission(CREATE_PARTITIONS_TOPIC, Operation.ALTER, ResourceType.TOPIC)(
                release
            )
        ),
    ),
    DeniedCommand(
        "describe-topic",
        "describe_topics",
        _BOTH | {"operations": False},
        allow_on_topic("Describe"),
        29,
        (_ALL,),
        _ITEMS,
    ),
    DeniedCommand(
        "describe-topic-configs",
        "describe_configs",
        _BOTH | {"type": "topic"},
        allow_on_topic("DescribeConfigs"),
        29,
        (_ALL,),
        _ITEMS,
    ),
    DeniedCommand(
        "alter-topic-configs",
        "alter_configs",
        _BOTH | {"type": "topic", "setting": "retention.ms", "value": "1000"},
        allow_on_topic("AlterConfigs"),
        29,
        (_ALL,),
        _ITEMS,
        supports_release=supports_api(ApiKey.INCREMENTAL_ALTER_CONFIGS),
    ),
    DeniedCommand(
        "describe-broker-configs",
        "describe_configs",
        {"type": "broker", "names": ["1"]},
        allow_on_cluster("DescribeConfigs"),
        31,
        items=("1", ""),
    ),
    DeniedCommand(
        "alter-broker-configs",
        "alter_configs",
        {"type": "broker", "names": ["1"], "setting": "log.cleaner.threads", "value": "2"},
        allow_on_cluster("AlterConfigs"),
        31,
        items=("1", ""),
        supports_release=supports_api(ApiKey.INCREMENTAL_ALTER_CONFIGS),
    ),
    DeniedCommand(
        "create-acls",
        "create_acls",
        {"acls": [_ACL]},
        allow_on_cluster("Alter"),
        31,
        items=("0", ""),
        origin="KIP-140",
    ),
    DeniedCommand(
        "describe-acls",
        "describe_acls",
        {"filter": _ACL},
        allow_on_cluster("Describe"),
        31,
        origin="KIP-140",
    ),
    DeniedCommand(
        "delete-acls",
        "delete_acls",
        {"filters": [_ACL]},
        allow_on_cluster("Alter"),
        31,
        items=("0", ""),
        origin="KIP-140",
    ),
    DeniedCommand(
        "describe-group",
        "describe_groups",
        _BOTH | {"operations": False},
        allow_on_group("Describe"),
        30,
        (_ALL_OF_GROUP,),
        _ITEMS,
        groups=_ITEMS,
    ),
    DeniedCommand(
        "delete-group",
        "delete_groups",
        _BOTH,
        allow_on_group("Delete"),
        30,
        (_ALL_OF_GROUP,),
        _ITEMS,
        groups=_ITEMS,
        supports_release=supports_api(ApiKey.DELETE_GROUPS),
    ),
    DeniedCommand(
        "group-offsets",
        "group_offsets",
        {"group": DENIED, "partitions": ["allowed-0"]},
        allow_on_group("Describe"),
        30,
        (_ALL,),
        origin="KIP-163",
        supports_release=requires_permission(
            OFFSET_FETCH_GROUP, Operation.DESCRIBE, ResourceType.GROUP
        ),
    ),
    DeniedCommand(
        "alter-group-offsets-by-group",
        "alter_group_offsets",
        _COMMIT,
        allow_on_group("Read"),
        30,
        (allow_on_topic("Read"), allow_on_group("Describe")),
    ),
    DeniedCommand(
        "alter-group-offsets-by-topic",
        "alter_group_offsets",
        _COMMIT,
        allow_on_topic("Read"),
        29,
        (allow_on_group("Read"), allow_on_topic("Describe")),
    ),
    DeniedCommand(
        "list-offsets",
        "list_offsets",
        _LATEST,
        allow_on_topic("Describe"),
        29,
        (_ALL,),
        ("denied-0", "allowed-0"),
    ),
    DeniedCommand(
        "delete-records",
        "delete_records",
        {"topic": DENIED, "partition": 0, "before": 0},
        allow_on_topic("Delete"),
        29,
        (allow_on_topic("Describe"),),
    ),
    DeniedCommand(
        "produce",
        "produce",
        {"topic": DENIED, "values": ["a"]},
        allow_on_topic("Write"),
        29,
        (allow_on_topic("Describe"),),
    ),
    DeniedCommand(
        "produce-unseen",
        "produce",
        {"topic": DENIED, "values": ["a"]},
        allow_on_topic("Write"),
        29,
        supports_release=lambda release: not hides_topics_without_describe(release),
    ),
    DeniedCommand(
        "produce-idempotent",
        "produce",
        {"topic": DENIED, "values": ["a"]},
        allow_on_topic("Write"),
        29,
        (allow_on_topic("Describe"), allow_on_cluster("IdempotentWrite")),
        settings=IDEMPOTENT_PRODUCER,
        origin="KIP-98",
    ),
    DeniedCommand(
        "transactional-id",
        "begin",
        {},
        allow_on_transactional_id("Write", "Describe"),
        53,
        (allow_on_topic("Write"),),
        settings=TRANSACTIONAL_PRODUCER,
        origin="KIP-98",
        is_fatal=True,
    ),
    DeniedCommand(
        "consume-by-topic",
        "consume",
        {"topics": [DENIED], "count": 1, "seconds": 5},
        allow_on_topic("Read"),
        29,
        (allow_on_group("Read"), allow_on_topic("Describe")),
        settings={"group_id": DENIED},
    ),
    DeniedCommand(
        "consume-by-group",
        "consume",
        {"topics": [DENIED], "count": 1, "seconds": 5},
        allow_on_group("Read"),
        30,
        (allow_on_topic("Read"),),
        settings={"group_id": DENIED},
    ),
    DeniedCommand(
        "delete-group-offsets-by-group",
        "delete_group_offsets",
        {"group": DENIED, "partitions": [f"{ALLOWED}-0"]},
        allow_on_group("Delete"),
        30,
        (allow_on_topic("Read", name=ALLOWED),),
        (f"{ALLOWED}-0", ""),
        groups=(DENIED,),
        origin="KIP-496",
        supports_release=supports_api(ApiKey.OFFSET_DELETE),
    ),
    DeniedCommand(
        "delete-group-offsets-by-topic",
        "delete_group_offsets",
        {"group": ALLOWED, "partitions": [f"{DENIED}-0"]},
        allow_on_topic("Read"),
        29,
        (allow_on_group("Delete", name=ALLOWED), allow_on_topic("Describe")),
        items=(f"{DENIED}-0", ""),
        groups=(ALLOWED,),
        origin="KIP-496",
        supports_release=supports_api(ApiKey.OFFSET_DELETE),
    ),
    DeniedCommand(
        "group-configs",
        "describe_configs",
        {"type": "group", "names": [DENIED]},
        allow_on_group("DescribeConfigs"),
        30,
        items=(DENIED, ""),
        origin="KIP-848",
        supports_release=lambda release: (
            supports_api(ApiKey.CONSUMER_GROUP_HEARTBEAT)(release)
            and supports_api(ApiKey.SHARE_GROUP_HEARTBEAT)(release)
        ),
    ),
    DeniedCommand(
        "describe-scram-users",
        "describe_scram_users",
        {"users": ["bob"]},
        _NOTHING,
        31,
        items=("bob", ""),
        origin="KIP-554",
        supports_release=supports_api(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS),
        is_fatal=True,
    ),
    DeniedCommand(
        "alter-scram-users",
        "alter_scram_users",
        {"passwords": {"bob": "secret"}, "mechanism": "SCRAM-SHA-256"},
        allow_on_cluster("Alter"),
        31,
        items=("bob", ""),
        origin="KIP-554",
        supports_release=supports_api(ApiKey.ALTER_USER_SCRAM_CREDENTIALS),
    ),
    DeniedCommand(
        "transaction-by-topic",
        "produce",
        {"topic": DENIED, "values": ["a"]},
        allow_on_topic("Write"),
        29,
        (_TX_RIGHTS, allow_on_topic("Describe")),
        settings=TRANSACTIONAL_PRODUCER,
        before=(("begin", {}),),
        then="commit",
        capabilities="transactions",
        origin="KIP-98",
        is_fatal=True,
    ),
    DeniedCommand(
        "transaction-by-group",
        "send_offsets",
        {"group": DENIED, **_OFFSET},
        allow_on_group("Read"),
        30,
        (_TX_RIGHTS, allow_on_topic("All", name=ALLOWED)),
        settings=TRANSACTIONAL_PRODUCER,
        before=(("begin", {}),),
        then="commit",
        capabilities="transactions",
        origin="KIP-98",
        is_fatal=True,
    ),
    DeniedCommand(
        "consume-assigned",
        "consume_assigned",
        _ASSIGNED,
        allow_on_topic("Read"),
        29,
        (allow_on_topic("Describe"),),
    ),
    DeniedCommand(
        "committed",
        "committed",
        {"partitions": [f"{ALLOWED}-0"]},
        allow_on_group("Describe"),
        30,
        (allow_on_topic("All", name=ALLOWED),),
        (f"{ALLOWED}-0", ""),
        settings={"group_id": DENIED},
        groups=(DENIED,),
        origin="KIP-163",
        supports_release=requires_permission(
            OFFSET_FETCH_GROUP, Operation.DESCRIBE, ResourceType.GROUP
        ),
    ),
    DeniedCommand(
        "consumer-protocol-by-group",
        "consume",
        _CONSUME,
        allow_on_group("Read"),
        30,
        (allow_on_topic("Read"),),
        settings=_NEXT_GEN,
        capabilities="consumer-groups",
        origin="KIP-848",
        supports_release=enables_group_protocol("consumer"),
    ),
    DeniedCommand(
        "consumer-protocol-by-topic",
        "consume",
        _CONSUME,
        allow_on_topic("Read", "Describe"),
        29,
        (allow_on_group("Read"),),
        settings=_NEXT_GEN,
        capabilities="consumer-groups",
        origin="KIP-848",
        supports_release=enables_group_protocol("consumer"),
        recommended_check=RecommendedCheck.NO_RETRY_STORM,
        recommendation_origin="KAFKA-18813",  # while joining, its heartbeats have no backoff
    ),
    DeniedCommand(
        "share-by-group",
        "consume_share",
        _CONSUME,
        allow_on_group("Read"),
        30,
        (allow_on_topic("Read"),),
        settings={"group_id": DENIED},
        capabilities="share-groups",
        origin="KIP-932",
        supports_release=enables_group_protocol("share"),
    ),
    DeniedCommand(
        "share-by-topic",
        "consume_share",
        _CONSUME,
        allow_on_topic("Read", "Describe"),
        29,
        (allow_on_group("Read"),),
        settings={"group_id": DENIED},
        capabilities="share-groups",
        origin="KIP-932",
        supports_release=enables_group_protocol("share"),
        recommended_check=RecommendedCheck.NO_RETRY_STORM,
        recommendation_origin="KAFKA-18817",  # while joining, its heartbeats have no backoff
    ),
    *(
        DeniedCommand(
            f"no-authorizer-{command.partition('_')[0]}",
            command,
            fields,
            _NOTHING,
            54,
            items=items,
            setup=_OPEN,
            origin="KIP-140",
            is_fatal=True,
        )
        for command, fields, items in (
            ("create_acls", {"acls": [_ACL]}, ("0", "")),
            ("describe_acls", {"filter": _ACL}, None),
            ("delete_acls", {"filters": [_ACL]}, ("0", "")),
        )
    ),
    *(
        DeniedCommand(
            f"tokens-disabled-{command.partition('_')[0]}",
            command,
            fields,
            _NOTHING,
            61,
            setup=_WITHOUT_TOKENS,
            origin="KIP-48",
            supports_release=supports_api(ApiKey.CREATE_DELEGATION_TOKEN),
            is_fatal=True,
        )
        for command, fields in (
            ("create_token", {"renewers": [], "owner": None}),
            ("renew_token", {"hmac": _HMAC, "milliseconds": 60_000}),
            ("expire_token", {"hmac": _HMAC, "milliseconds": -1}),
            ("describe_tokens", {}),
        )
    ),
    *(
        DeniedCommand(
            f"unknown-token-{command.partition('_')[0]}",
            command,
            {"hmac": _HMAC, "milliseconds": 60_000},
            _NOTHING,
            62,
            setup=WITH_TOKENS,
            origin="KIP-48",
            supports_release=supports_api(ApiKey.CREATE_DELEGATION_TOKEN),
            is_fatal=True,
        )
        for command in ("renew_token", "expire_token")
    ),
    DeniedCommand(
        "token-of-wrong-renewer",
        "create_token",
        {"renewers": ["Group:admins"], "owner": None},
        _NOTHING,
        67,
        setup=WITH_TOKENS,
        origin="KIP-48",
        supports_release=supports_api(ApiKey.CREATE_DELEGATION_TOKEN),
        is_fatal=True,
    ),
    DeniedCommand(
        "token-for-another",
        "create_token",
        {"renewers": [], "owner": "User:carol"},
        {"allow": ["CreateTokens"], "user": "User:carol"},
        65,
        setup=WITH_TOKENS,
        origin="KIP-373",
        supports_release=supports_api(ApiKey.CREATE_DELEGATION_TOKEN, 3),
    ),
)
