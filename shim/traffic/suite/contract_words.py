"""What each field of the driver contract means, and an example of each command."""

from collections.abc import Mapping
from typing import Any

FIELDS: Mapping[str, str] = {
    "acls": "the ACLs",
    "before": "the first offset that stays; -1: delete all records",
    "brokers": "ids of the brokers",
    "capabilities": "what the client can do, of the table below; left out: everything",
    "client": "the client that the command is for, by the name that `open` gave it",
    "commands": "the commands that the driver knows, without `hello`",
    "configs": "settings for each of the topics, by Kafka's names",
    "contract": "the version of the contract that the driver keeps to: 1; left out: the newest",
    "count": "answer as soon as so many values are read",
    "error": "what the client told, if `event` is `error`",
    "event": "what happened first, or null if none of the events did",
    "events": "what to wait for",
    "filter": "which ACLs to list",
    "filters": "which ACLs to delete",
    "group": "id of a consumer group",
    "groups": "ids of all groups that the client lists",
    "hmac": "the token's HMAC in Base64: the password of who logs in by the token",
    "items": "what came of each, under the name that the command had",
    "login": "how to log in; null: without a log-in",
    "mechanism": "a SASL mechanism, such as `SCRAM-SHA-256`",
    "mechanisms": "the SCRAM mechanisms for which the user has a password",
    "members": "how many members the group has",
    "milliseconds": "from now on",
    "name": "the client's name, as reports show it",
    "names": "names of what the command is about",
    "offset": "an offset; null: nothing was committed",
    "offsets": "the offset of each value, in their order; -1 where the client does not tell it",
    "operations": "whether to ask for authorized operations",
    "owner": "whose token it is to be, such as `User:bob`; null or left out: the client's own",
    "partition": "number of a partition",
    "partitions": "partitions as `topic-partition`, such as `orders-0`",
    "passwords": "the new password of each user; null: delete it",
    "renewers": "principals that may renew the token, such as `User:bob`",
    "seconds": "how long to wait at most",
    "servers": "bootstrap addresses with commas between, such as `127.0.0.1:9092,127.0.0.1:9093`",
    "setting": "name of the setting",
    "settings": "settings by Kafka's names, of the table below; all values are strings",
    "tls": "how to check certificates; null or left out: without TLS",
    "token_id": "the token's id: the name of who logs in by the token",
    "tokens": "the tokens that the client lists",
    "topic": "name of a topic",
    "topics": "names of topics",
    "type": "`topic`, `broker` or `group`",
    "users": "names of users",
    "value": "the new value",
    "values": "values of records as text, in their order; keys are null",
    "version": "the client's version",
}
"""Meanings by the field's name."""

OF_COMMANDS: Mapping[str, str] = {
    "create_topics.topics": "the number of partitions of each new topic, by name",
    "create_partitions.topics": "the number of partitions that each topic is to have, by name",
    "describe_topics.ok.operations": "the authorized operations by Kafka's names, such as `READ`;"
    " null: not asked for, or the broker did not tell them",
    "describe_topics.ok.partitions": "how many partitions the topic has",
    "describe_cluster.ok.operations": "as of `describe_topics`",
    "describe_groups.ok.operations": "as of `describe_topics`",
    "describe_configs.ok.settings": "values of settings, by name",
    "list_offsets.ok.offset": "the offset after the last record",
    "list_topics.ok.topics": "names of all topics that the client lists",
    "open.client": "the new client's name, which all further commands for it have",
    "delete_acls.ok.acls": "the ACLs that the filter deleted",
    "describe_acls.ok.acls": "the ACLs that the filter matches",
    "produce.partition": "number of the partition; left out: the client chooses",
}
"""Meanings by `command.field` and `command.ok.field`, where those above are not enough."""

SHARED_FIELDS: Mapping[str, str] = {
    "error.class": "name of the exception or error",
    "error.code": "Kafka's number of the error; null if a user of the client cannot find one",
    "error.text": "the error's message",
    "error.retriable": "whether the client calls it worth another try; left out or null: it does"
    " not say",
    "error.fatal": "whether the client calls it final for itself, likewise",
    "error.abortable": "whether the client asks to abort the transaction, likewise",
    "login.mechanism": "`PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`",
    "login.user": "for all but `OAUTHBEARER`",
    "login.password": "likewise",
    "login.token": "for `OAUTHBEARER`: the token itself",
    "login.is_delegation_token": "whether user and password are those of a delegation token"
    " (`tokenauth=true` in SCRAM)",
    "tls.ca": "path of a PEM file with the authority to trust; null: that of the system",
    "tls.certificate": "path of a PEM file with the client's certificate; null: none",
    "tls.key": "path of a PEM file with its key",
    "acl.resource_type": "`TOPIC`, `GROUP`, `CLUSTER`, `TRANSACTIONAL_ID`, `DELEGATION_TOKEN` or"
    " `USER`",
    "acl.name": "the resource's name",
    "acl.pattern_type": "`LITERAL` or `PREFIXED`",
    "acl.principal": "such as `User:alice`",
    "acl.host": "an address, or `*` for all",
    "acl.operation": "such as `READ` or `DESCRIBE_CONFIGS`",
    "acl.permission": "`ALLOW` or `DENY`",
    "acl_filter.resource_type": "as of an ACL, or `ANY`",
    "acl_filter.name": "the resource's name; null: any",
    "acl_filter.pattern_type": "as of an ACL, or `ANY` or `MATCH`",
    "acl_filter.principal": "as of an ACL; null: any",
    "acl_filter.host": "as of an ACL; null: any",
    "acl_filter.operation": "as of an ACL, or `ANY`",
    "acl_filter.permission": "as of an ACL, or `ANY`",
    "token.token_id": "the token's id",
    "token.hmac": "its HMAC in Base64",
    "token.owner": "its owner, such as `User:alice`",
}
"""Meanings of the fields of shapes that several commands have."""

_ACL = {
    "resource_type": "TOPIC",
    "name": "orders",
    "pattern_type": "LITERAL",
    "principal": "User:bob",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
_ANY = {
    "resource_type": "TOPIC",
    "name": None,
    "pattern_type": "ANY",
    "principal": "User:bob",
    "host": None,
    "operation": "ANY",
    "permission": "ANY",
}
_PLAIN = {"mechanism": "PLAIN", "user": "alice", "password": "alice-secret"}
_DENIED = {"class": "TopicAuthorizationException", "code": 29, "text": "Not authorized"}
_DONE: Mapping[str, Any] = {"items": {"orders": {}}}
_WHILE = {"count": 2, "seconds": 5}
_AT = {"topic": "orders", "partition": 0, "offset": 7}

EXAMPLES: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "hello": (
        {},
        {
            "name": "my-client",
            "version": "v7",
            "contract": 1,
            "commands": ["open", "close", "produce"],
            "capabilities": ["plain", "idempotence"],
        },
    ),
    "open": (
        {
            "servers": "127.0.0.1:9092",
            "login": _PLAIN,
            "settings": {"request.timeout.ms": "3000", "enable.idempotence": "false"},
        },
        {},
    ),
    "set_login": ({"login": {"mechanism": "OAUTHBEARER", "token": "eyJhbGci..."}}, {}),
    "close": ({}, {}),
    "wait": ({"events": ["assigned", "error"], "seconds": 5}, {"event": "assigned"}),
    "create_topics": (
        {"topics": {"orders": 1, "payments": 3}, "configs": {"retention.ms": "1000"}},
        {"items": {"orders": _DENIED, "payments": {}}},
    ),
    "delete_topics": ({"names": ["orders"]}, _DONE),
    "create_partitions": ({"topics": {"orders": 3}}, _DONE),
    "list_topics": ({}, {"topics": ["orders", "payments"]}),
    "describe_topics": (
        {"names": ["orders"], "operations": True},
        {"items": {"orders": {"operations": ["READ", "DESCRIBE"], "partitions": 3}}},
    ),
    "describe_cluster": ({"operations": False}, {"operations": None, "brokers": [1, 2]}),
    "describe_configs": (
        {"type": "topic", "names": ["orders"]},
        {"items": {"orders": {"settings": {"retention.ms": "604800000"}}}},
    ),
    "alter_configs": (
        {"type": "topic", "names": ["orders"], "setting": "retention.ms", "value": "1000"},
        _DONE,
    ),
    "list_offsets": ({"partitions": ["orders-0"]}, {"items": {"orders-0": {"offset": 12}}}),
    "delete_records": ({"topic": "orders", "partition": 0, "before": 7}, {}),
    "create_acls": ({"acls": [_ACL]}, {"items": {"0": {}}}),
    "describe_acls": ({"filter": _ANY}, {"acls": [_ACL]}),
    "delete_acls": ({"filters": [_ANY]}, {"items": {"0": {"acls": [_ACL]}}}),
    "create_token": (
        {"renewers": ["User:bob"]},
        {"token_id": "Wk0yKmIOQGq9bg", "hmac": "c2VjcmV0"},
    ),
    "renew_token": ({"hmac": "c2VjcmV0", "milliseconds": 60000}, {}),
    "expire_token": ({"hmac": "c2VjcmV0", "milliseconds": -1}, {}),
    "describe_tokens": (
        {},
        {"tokens": [{"token_id": "Wk0yKmIOQGq9bg", "owner": "User:alice"}]},
    ),
    "describe_scram_users": (
        {"users": ["alice"]},
        {"items": {"alice": {"mechanisms": ["SCRAM-SHA-256"]}}},
    ),
    "alter_scram_users": (
        {"passwords": {"carol": "carol-secret"}, "mechanism": "SCRAM-SHA-256"},
        {"items": {"carol": {}}},
    ),
    "list_groups": ({}, {"groups": ["workers"]}),
    "describe_groups": (
        {"names": ["workers"], "operations": False},
        {"items": {"workers": {"operations": None, "members": 2}}},
    ),
    "delete_groups": ({"names": ["workers"]}, {"items": {"workers": {}}}),
    "group_offsets": (
        {"group": "workers", "partitions": ["orders-0", "orders-1"]},
        {"items": {"orders-0": {"offset": 7}, "orders-1": {"offset": None}}},
    ),
    "alter_group_offsets": ({"group": "workers", **_AT}, {}),
    "delete_group_offsets": (
        {"group": "workers", "partitions": ["orders-0"]},
        {"items": {"orders-0": {}}},
    ),
    "produce": ({"topic": "orders", "values": ["a", "b"]}, {"offsets": [0, 1]}),
    "begin": ({}, {}),
    "send_offsets": ({"group": "workers", **_AT}, {}),
    "commit": ({}, {}),
    "abort": ({}, {}),
    "consume": ({"topics": ["orders"], **_WHILE}, {"values": ["a", "b"]}),
    "consume_assigned": ({"partitions": ["orders-0"], **_WHILE}, {"values": ["a", "b"]}),
    "consume_share": ({"topics": ["orders"], **_WHILE}, {"values": ["a", "b"]}),
    "commit_offsets": ({}, {}),
    "committed": ({"partitions": ["orders-0"]}, {"items": {"orders-0": {"offset": 2}}}),
}
"""For each command the fields that it comes with, and the `ok` of the answer."""


def meaning(command: str, field: str, *, is_answer: bool = False) -> str:
    """Return what a field of a command means; KeyError if that is not written down."""
    place = f"{command}.ok.{field}" if is_answer else f"{command}.{field}"
    return OF_COMMANDS.get(place) or FIELDS[field]
