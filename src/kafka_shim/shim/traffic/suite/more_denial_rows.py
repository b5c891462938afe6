"""Denials of offsets, transactions, other kinds of consumers, delegation tokens and users."""

from kafka_shim.authorizer.requirements import OFFSET_FETCH_GROUP
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.shim.traffic.suite.denial import (
    ALLOWED,
    DENIED,
    Denial,
    asks,
    has_protocol,
    on_cluster,
    on_group,
    on_topic,
    on_transactions,
    serves,
)
from kafka_shim.shim.traffic.suite.stages import Setup

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
_ACL = {
    "resource_type": "TOPIC",
    "name": DENIED,
    "pattern_type": "LITERAL",
    "principal": "User:bob",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
_CONSUME = {"topics": [DENIED], "count": 1, "seconds": 5}
_ASSIGNED = {"partitions": [f"{DENIED}-0"], "count": 1, "seconds": 5}
_OFFSET = {"topic": ALLOWED, "partition": 0, "offset": 0}
_TX = {"transactional_id": "tx", "enable_idempotence": "true"}
_TX_RIGHTS = on_transactions("Write", "Describe")
_NEXT_GEN = {"group_id": DENIED, "group_protocol": "consumer"}
_NOTHING = on_cluster("Describe")
_HMAC = "c2VjcmV0"

MORE_DENIALS: tuple[Denial, ...] = (
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
        possible=serves(ApiKey.OFFSET_DELETE),
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
        possible=serves(ApiKey.OFFSET_DELETE),
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
            serves(ApiKey.CONSUMER_GROUP_HEARTBEAT)(release)
            and serves(ApiKey.SHARE_GROUP_HEARTBEAT)(release)
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
        possible=serves(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS),
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
        possible=serves(ApiKey.ALTER_USER_SCRAM_CREDENTIALS),
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
        possible=asks(OFFSET_FETCH_GROUP, Operation.DESCRIBE, ResourceType.GROUP),
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
            possible=serves(ApiKey.CREATE_DELEGATION_TOKEN),
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
            possible=serves(ApiKey.CREATE_DELEGATION_TOKEN),
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
        possible=serves(ApiKey.CREATE_DELEGATION_TOKEN),
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
        possible=serves(ApiKey.CREATE_DELEGATION_TOKEN, 3),
    ),
)
