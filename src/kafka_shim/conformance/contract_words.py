"""What each field of the driver contract means, and an example of each command."""

from collections.abc import Mapping
from typing import Any

FIELDS: Mapping[str, str] = {
    "acls": "the ACLs",
    "before": "the first offset to keep; -1: delete all records",
    "brokers": "ids of the brokers",
    "capabilities": "capabilities of the client, from the table below; left out: all",
    "client": "the client that the command is for, by the name that `open` gave it",
    "commands": "the commands that the driver knows, without `hello`",
    "configs": "settings for each of the topics, with Kafka's names",
    "contract": "the version of the contract that the driver implements: 1; left out: the newest",
    "count": "answer as soon as this number of values is read",
    "error": "the error that the client reported, if `event` is `error`",
    "event": "the event that happened first, or null",
    "events": "what to wait for",
    "filter": "the ACLs to list",
    "filters": "the ACLs to delete",
    "group": "id of a consumer group",
    "groups": "ids of all groups that the client lists",
    "hmac": "the token's HMAC in Base64: the password for an authentication with the token",
    "items": "the result for each, under its name in the command",
    "login": "how to authenticate; null: without authentication",
    "mechanism": "a SASL mechanism, such as `SCRAM-SHA-256`",
    "mechanisms": "the SCRAM mechanisms for which the user has a password",
    "members": "number of members",
    "milliseconds": "when the token expires, in milliseconds from now",
    "name": "the client's name, as reports show it",
    "names": "names of the resources",
    "offset": "the offset to commit",
    "offsets": "the offset of each value, in their order; -1 if the client does not return it",
    "operations": "whether to request authorized operations",
    "owner": "owner of the token, such as `User:bob`; null or left out: the client's principal",
    "partition": "number of a partition",
    "partitions": "partitions as `topic-partition`, such as `orders-0`",
    "passwords": "the new password of each user; null: delete it",
    "renewers": "principals that may renew the token, such as `User:bob`",
    "seconds": "maximum number of seconds to wait",
    "servers": "bootstrap addresses separated by commas, such as `127.0.0.1:9092,127.0.0.1:9093`",
    "setting": "name of the setting",
    "settings": "settings with Kafka's names, from the table below; all values are strings",
    "tls": "certificates for TLS; null or left out: without TLS",
    "token_id": "the token's id: the user name for an authentication with the token",
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
    "create_partitions.topics": "the new number of partitions of each topic, by name",
    "describe_topics.ok.operations": "the authorized operations by Kafka's names, such as `READ`;"
    " null: not requested, or the broker did not return them",
    "describe_topics.ok.partitions": "number of partitions",
    "describe_cluster.ok.operations": "as for `describe_topics`",
    "describe_groups.ok.operations": "as for `describe_topics`",
    "describe_configs.ok.settings": "values of settings, by name",
    "group_offsets.ok.offset": "the committed offset; null: nothing was committed",
    "committed.ok.offset": "the committed offset; null: nothing was committed",
    "set_login.login": "how to authenticate from now on",
    "list_offsets.ok.offset": "the offset after the last record",
    "list_topics.ok.topics": "names of all topics that the client lists",
    "produce_to_several.value": "value of each record; the key is null",
    "produce_to_several.ok.offset": "the record's offset; -1 if the client does not return it",
    "open.client": "the new client's name, which all further commands for it have",
    "delete_acls.ok.acls": "the ACLs that the filter deleted",
    "describe_acls.ok.acls": "the ACLs that the filter matches",
    "produce.partition": "number of the partition; left out: the client chooses",
}
"""Meanings by `command.field` and `command.ok.field`, for names with several meanings."""

SHARED_FIELDS: Mapping[str, str] = {
    "error.class": "name of the exception or error",
    "error.code": "Kafka's error code; null if a user of the client cannot find one",
    "error.text": "the error's message",
    "error.retriable": "whether the client calls it retriable; null or left out: the client does"
    " not say",
    "error.fatal": "whether the client calls it fatal; null or left out: it does not say",
    "error.abortable": "whether the transaction must be aborted; null or left out: it does not say",
    "login.mechanism": "`PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`",
    "login.user": "the user name; not for `OAUTHBEARER`",
    "login.password": "the password; not for `OAUTHBEARER`",
    "login.token": "for `OAUTHBEARER`: the token itself",
    "login.is_delegation_token": "whether user and password belong to a delegation token"
    " (`tokenauth=true` in SCRAM)",
    "tls.ca": "path of a PEM file with the CA certificate to trust; null: those of the system",
    "tls.certificate": "path of a PEM file with the client's certificate; null: none",
    "tls.key": "path of a PEM file with its key",
    "acl.resource_type": "`TOPIC`, `GROUP`, `CLUSTER`, `TRANSACTIONAL_ID`, `DELEGATION_TOKEN` or"
    " `USER`; in an answer also `UNKNOWN`",
    "acl.name": "the resource's name",
    "acl.pattern_type": "`LITERAL` or `PREFIXED`; in an answer also `UNKNOWN`",
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
"""Meanings of the fields of shared shapes, by `shape.field`."""

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
    "produce_to_several": (
        {"topics": ["orders", "payments"], "value": "a"},
        {"items": {"orders": _DENIED, "payments": {"offset": 0}}},
    ),
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
"""An example for each command: its fields, and the `ok` of the answer."""


def field_meaning(command: str, field: str, *, is_response: bool = False) -> str:
    """Return the meaning of a command's field. Raise KeyError if it has none here."""
    cluster = f"{command}.ok.{field}" if is_response else f"{command}.{field}"
    return OF_COMMANDS.get(cluster) or FIELDS[field]
