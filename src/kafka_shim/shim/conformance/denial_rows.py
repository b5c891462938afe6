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
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.shim.conformance.denial import (
    ALLOWED,
    DENIED,
    Denial,
    has_protocol,
    hides_topics,
    on_cluster,
    on_group,
    on_topic,
    on_transactions,
    requires_permission,
    supports_api,
)
from kafka_shim.shim.conformance.fixtures import Setup

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
_ALL = on_topic("All", name=ALLOWED)
_ALL_OF_GROUP = on_group("All", name=ALLOWED)
WITH_TOKENS = Setup(
    properties=(
        ("delegation.token.secret.key", "secret"),
        ("delegation.token.master.key", "secret"),  # its name up to 2.8
    )
)
_WITHOUT_TOKENS = Setup(
    properties=(("delegation.token.secret.key", ""), ("delegation.token.master.key", ""))
)
_OPEN = Setup(authorizer="none")
_CONSUME = {"topics": [DENIED], "count": 1, "seconds": 5}
_ASSIGNED = {"partitions": [f"{DENIED}-0"], "count": 1, "seconds": 5}
_OFFSET = {"topic": ALLOWED, "partition": 0, "offset": 0}
_TX = {"transactional_id": "tx", "enable_idempotence": "true"}
_TX_RIGHTS = on_transactions("Write", "Describe")
_NEXT_GEN = {"group_id": DENIED, "group_protocol": "consumer"}
_NOTHING = on_cluster("Describe")
_HMAC = "c2VjcmV0"


DENIALS: tuple[Denial, ...] = (
    Denial(
        "create-topic",
        "create_topics",
        {"topics": {DENIED: 1, ALLOWED: 1}},
        on_topic("Create"),
        29,
        (_ALL,),
        _ITEMS,
        topics=(),
        possible=requires_permission(CREATE_TOPICS, Operation.CREATE, ResourceType.TOPIC),
    ),
    Denial(
        "delete-topic",
        "delete_topics",
        _BOTH,
        on_topic("Delete"),
        29,
        (_ALL, on_topic("Describe")),
        _ITEMS,
    ),
    Denial(
        "create-partitions",
        "create_partitions",
        {"topics": {DENIED: 2, ALLOWED: 2}},
        on_topic("Alter"),
        29,
        (_ALL, on_topic("Describe")),
        _ITEMS,
        possible=lambda release: (
            supports_api(ApiKey.CREATE_PARTITIONS)(release)
            and requires_permission(CREATE_PARTITIONS_TOPIC, Operation.ALTER, ResourceType.TOPIC)(
                release
            )
        ),
    ),
    Denial(
        "describe-topic",
        "describe_topics",
        _BOTH | {"operations": False},
        on_topic("Describe"),
        29,
        (_ALL,),
        _ITEMS,
    ),
    Denial(
        "describe-topic-configs",
        "describe_configs",
        _BOTH | {"type": "topic"},
        on_topic("DescribeConfigs"),
        29,
        (_ALL,),
        _ITEMS,
    ),
    Denial(
        "alter-topic-configs",
        "alter_configs",
        _BOTH | {"type": "topic", "setting": "retention.ms", "value": "1000"},
        on_topic("AlterConfigs"),
        29,
        (_ALL,),
        _ITEMS,
        possible=supports_api(ApiKey.INCREMENTAL_ALTER_CONFIGS),
    ),
    Denial(
        "describe-broker-configs",
        "describe_configs",
        {"type": "broker", "names": ["1"]},
        on_cluster("DescribeConfigs"),
        31,
        items=("1", ""),
    ),
    Denial(
        "alter-broker-configs",
        "alter_configs",
        {"type": "broker", "names": ["1"], "setting": "log.cleaner.threads", "value": "2"},
        on_cluster("AlterConfigs"),
        31,
        items=("1", ""),
        possible=supports_api(ApiKey.INCREMENTAL_ALTER_CONFIGS),
    ),
    Denial(
        "create-acls",
        "create_acls",
        {"acls": [_ACL]},
        on_cluster("Alter"),
        31,
        items=("0", ""),
        origin="KIP-140",
    ),
    Denial(
        "describe-acls",
        "describe_acls",
        {"filter": _ACL},
        on_cluster("Describe"),
        31,
        origin="KIP-140",
    ),
    Denial(
        "delete-acls",
        "delete_acls",
        {"filters": [_ACL]},
        on_cluster("Alter"),
        31,
        items=("0", ""),
        origin="KIP-140",
    ),
    Denial(
        "describe-group",
        "describe_groups",
        _BOTH | {"operations": False},
        on_group("Describe"),
        30,
        (_ALL_OF_GROUP,),
        _ITEMS,
        groups=_ITEMS,
    ),
    Denial(
        "delete-group",
        "delete_groups",
        _BOTH,
        on_group("Delete"),
        30,
        (_ALL_OF_GROUP,),
        _ITEMS,
        groups=_ITEMS,
        possible=supports_api(ApiKey.DELETE_GROUPS),
    ),
    Denial(
        "group-offsets",
        "group_offsets",
        {"group": DENIED, "partitions": ["allowed-0"]},
        on_group("Describe"),
        30,
        (_ALL,),
        origin="KIP-163",
        possible=requires_permission(OFFSET_FETCH_GROUP, Operation.DESCRIBE, ResourceType.GROUP),
    ),
    Denial(
        "alter-group-offsets-by-group",
        "alter_group_offsets",
        _COMMIT,
        on_group("Read"),
        30,
        (on_topic("Read"), on_group("Describe")),
    ),
    Denial(
        "alter-group-offsets-by-topic",
        "alter_group_offsets",
        _COMMIT,
        on_topic("Read"),
        29,
        (on_group("Read"), on_topic("Describe")),
    ),
    Denial(
        "list-offsets",
        "list_offsets",
        _LATEST,
        on_topic("Describe"),
        29,
        (_ALL,),
        ("denied-0", "allowed-0"),
    ),
    Denial(
        "delete-records",
        "delete_records",
        {"topic": DENIED, "partition": 0, "before": 0},
        on_topic("Delete"),
        29,
        (on_topic("Describe"),),
    ),
    Denial(
        "produce",
        "produce",
        {"topic": DENIED, "values": ["a"]},
        on_topic("Write"),
        29,
        (on_topic("Describe"),),
    ),
    Denial(
        "produce-unseen",
        "produce",
        {"topic": DENIED, "values": ["a"]},
        on_topic("Write"),
        29,
        possible=lambda release: not hides_topics(release),
    ),
    Denial(
        "produce-idempotent",
        "produce",
        {"topic": DENIED, "values": ["a"]},
        on_topic("Write"),
        29,
        (on_topic("Describe"), on_cluster("IdempotentWrite")),
        settings={"enable_idempotence": "true"},
        origin="KIP-98",
    ),
    Denial(
        "transactional-id",
        "begin",
        {},
        on_transactions("Write", "Describe"),
        53,
        (on_topic("Write"),),
        settings={"transactional_id": "tx", "enable_idempotence": "true"},
        origin="KIP-98",
        is_fatal=True,
    ),
    Denial(
        "consume-by-topic",
        "consume",
        {"topics": [DENIED], "count": 1, "seconds": 5},
        on_topic("Read"),
        29,
        (on_group("Read"), on_topic("Describe")),
        settings={"group_id": DENIED},
    ),
    Denial(
        "consume-by-group",
        "consume",
        {"topics": [DENIED], "count": 1, "seconds": 5},
        on_group("Read"),
        30,
        (on_topic("Read"),),
        settings={"group_id": DENIED},
    ),
    Denial(
        "delete-group-offsets-by-group",
        "delete_group_offsets",
        {"group": DENIED, "partitions": [f"{ALLOWED}-0"]},
        on_group("Delete"),
        30,
        (on_topic("Read", name=ALLOWED),),
        (f"{ALLOWED}-0", ""),
        groups=(DENIED,),
        origin="KIP-496",
        possible=supports_api(ApiKey.OFFSET_DELETE),
    ),
    Denial(
        "delete-group-offsets-by-topic",
        "delete_group_offsets",
        {"group": ALLOWED, "partitions": [f"{DENIED}-0"]},
        on_topic("Read"),
        29,
        (on_group("Delete", name=ALLOWED), on_topic("Describe")),
        items=(f"{DENIED}-0", ""),
        groups=(ALLOWED,),
        origin="KIP-496",
        possible=supports_api(ApiKey.OFFSET_DELETE),
    ),
    Denial(
        "group-configs",
        "describe_configs",
        {"type": "group", "names": [DENIED]},
        on_group("DescribeConfigs"),
        30,
        items=(DENIED, ""),
        origin="KIP-848",
        possible=lambda release: (
            supports_api(ApiKey.CONSUMER_GROUP_HEARTBEAT)(release)
            and supports_api(ApiKey.SHARE_GROUP_HEARTBEAT)(release)
        ),
    ),
    Denial(
        "describe-scram-users",
        "describe_scram_users",
        {"users": ["bob"]},
        _NOTHING,
        31,
        items=("bob", ""),
        origin="KIP-554",
        possible=supports_api(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS),
        is_fatal=True,
    ),
    Denial(
        "alter-scram-users",
        "alter_scram_users",
        {"passwords": {"bob": "secret"}, "mechanism": "SCRAM-SHA-256"},
        on_cluster("Alter"),
        31,
        items=("bob", ""),
        origin="KIP-554",
        possible=supports_api(ApiKey.ALTER_USER_SCRAM_CREDENTIALS),
    ),
    Denial(
        "transaction-by-topic",
        "produce",
        {"topic": DENIED, "values": ["a"]},
        on_topic("Write"),
        29,
        (_TX_RIGHTS, on_topic("Describe")),
        settings=_TX,
        before=(("begin", {}),),
        then="commit",
        capabilities="transactions",
        origin="KIP-98",
        is_fatal=True,
    ),
    Denial(
        "transaction-by-group",
        "send_offsets",
        {"group": DENIED, **_OFFSET},
        on_group("Read"),
        30,
        (_TX_RIGHTS, on_topic("All", name=ALLOWED)),
        settings=_TX,
        before=(("begin", {}),),
        then="commit",
        capabilities="transactions",
        origin="KIP-98",
        is_fatal=True,
    ),
    Denial(
        "consume-assigned",
        "consume_assigned",
        _ASSIGNED,
        on_topic("Read"),
        29,
        (on_topic("Describe"),),
    ),
    Denial(
        "committed",
        "committed",
        {"partitions": [f"{ALLOWED}-0"]},
        on_group("Describe"),
        30,
        (on_topic("All", name=ALLOWED),),
        (f"{ALLOWED}-0", ""),
        settings={"group_id": DENIED},
        groups=(DENIED,),
        origin="KIP-163",
        possible=requires_permission(OFFSET_FETCH_GROUP, Operation.DESCRIBE, ResourceType.GROUP),
    ),
    Denial(
        "consumer-protocol-by-group",
        "consume",
        _CONSUME,
        on_group("Read"),
        30,
        (on_topic("Read"),),
        settings=_NEXT_GEN,
        capabilities="consumer-groups",
        origin="KIP-848",
        possible=has_protocol("consumer"),
    ),
    Denial(
        "consumer-protocol-by-topic",
        "consume",
        _CONSUME,
        on_topic("Read", "Describe"),
        29,
        (on_group("Read"),),
        settings=_NEXT_GEN,
        capabilities="consumer-groups",
        origin="KIP-848",
        possible=has_protocol("consumer"),
    ),
    Denial(
        "share-by-group",
        "consume_share",
        _CONSUME,
        on_group("Read"),
        30,
        (on_topic("Read"),),
        settings={"group_id": DENIED},
        capabilities="share-groups",
        origin="KIP-932",
        possible=has_protocol("share"),
    ),
    Denial(
        "share-by-topic",
        "consume_share",
        _CONSUME,
        on_topic("Read", "Describe"),
        29,
        (on_group("Read"),),
        settings={"group_id": DENIED},
        capabilities="share-groups",
        origin="KIP-932",
        possible=has_protocol("share"),
    ),
    *(
        Denial(
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
        Denial(
            f"tokens-disabled-{command.partition('_')[0]}",
            command,
            fields,
            _NOTHING,
            61,
            setup=_WITHOUT_TOKENS,
            origin="KIP-48",
            possible=supports_api(ApiKey.CREATE_DELEGATION_TOKEN),
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
        Denial(
            f"unknown-token-{command.partition('_')[0]}",
            command,
            {"hmac": _HMAC, "milliseconds": 60_000},
            _NOTHING,
            62,
            setup=WITH_TOKENS,
            origin="KIP-48",
            possible=supports_api(ApiKey.CREATE_DELEGATION_TOKEN),
            is_fatal=True,
        )
        for command in ("renew_token", "expire_token")
    ),
    Denial(
        "token-of-wrong-renewer",
        "create_token",
        {"renewers": ["Group:admins"], "owner": None},
        _NOTHING,
        67,
        setup=WITH_TOKENS,
        origin="KIP-48",
        possible=supports_api(ApiKey.CREATE_DELEGATION_TOKEN),
        is_fatal=True,
    ),
    Denial(
        "token-for-another",
        "create_token",
        {"renewers": [], "owner": "User:carol"},
        {"allow": ["CreateTokens"], "user": "User:carol"},
        65,
        setup=WITH_TOKENS,
        origin="KIP-373",
        possible=supports_api(ApiKey.CREATE_DELEGATION_TOKEN, 3),
    ),
)
