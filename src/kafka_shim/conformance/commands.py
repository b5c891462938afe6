"""The commands of the driver contract, by name."""

from collections.abc import Mapping

from kafka_shim.conformance.shapes import (
    BOOLEAN,
    INTEGER,
    INTEGER_BY_NAME,
    INTEGERS,
    NUMBER,
    STRING,
    STRING_BY_NAME,
    STRINGS,
    Command,
    Shape,
    array_of,
    items_field_of_results_by_name,
    nullable,
    one_of_strings,
    shared_shape_reference,
)

_CLIENT = {
    "hello": Command(
        "Name the client, and list the commands of the driver and the capabilities of the client."
        " Without `capabilities`, the client has all.",
        ok={
            "name": STRING,
            "version": STRING,
            "contract_": INTEGER,
            "commands": STRINGS,
            "capabilities_": STRINGS,
        },
        has_client=False,
    ),
    "open": Command(
        "Create a client with this name, with or without authentication and TLS; `settings` have"
        " Kafka's names. The client may connect now or when it is first used.",
        {
            "servers": STRING,
            "login": nullable(shared_shape_reference("login")),
            "tls_": nullable(shared_shape_reference("tls")),
            "settings": STRING_BY_NAME,
        },
    ),
    "set_login": Command(
        "Use these credentials the next time that the client authenticates; do not open the client"
        " again.",
        {"login": shared_shape_reference("login")},
    ),
    "close": Command("Close the client, within 12 seconds."),
    "wait": Command(
        "Let the client run until one of the events happens: a member gets partitions"
        " (`assigned`), must give them back (`revoked`) or has lost them (`lost`), or the client"
        " reports an error outside of a call (`error`). `event` is null if none happens in time.",
        {
            "events": array_of(one_of_strings("assigned", "revoked", "lost", "error")),
            "seconds": NUMBER,
        },
        {"event": nullable(STRING), "error_": nullable(shared_shape_reference("error"))},
    ),
}

_OPERATIONS = nullable(STRINGS)
_TOPICS = {
    "create_topics": Command(
        "Create topics with these numbers of partitions and replication factor 1. `configs` apply"
        " to each of them.",
        {"topics": INTEGER_BY_NAME, "configs_": STRING_BY_NAME},
        items_field_of_results_by_name(),
    ),
    "delete_topics": Command(
        "Delete topics.", {"names": STRINGS}, items_field_of_results_by_name()
    ),
    "create_partitions": Command(
        "Increase the number of partitions of topics; the numbers are totals.",
        {"topics": INTEGER_BY_NAME},
        items_field_of_results_by_name(),
    ),
    "list_topics": Command("List the names of topics.", ok={"topics": STRINGS}),
    "describe_topics": Command(
        "Describe topics. In the answer, `operations` are the authorized operations, by Kafka's"
        " names; null if they were not requested, or not returned.",
        {"names": STRINGS, "operations": BOOLEAN},
        items_field_of_results_by_name(operations=_OPERATIONS, partitions_=INTEGER),
    ),
    "describe_cluster": Command(
        "Describe the cluster; `brokers` are the ids of its brokers.",
        {"operations": BOOLEAN},
        {"operations": _OPERATIONS, "brokers_": INTEGERS},
    ),
    "describe_configs": Command(
        "Return the settings of a `topic`, `broker` or `group`: values by name.",
        {"type": STRING, "names": STRINGS},
        items_field_of_results_by_name(settings={"type": "object"}),
    ),
    "alter_configs": Command(
        "Change one setting of topics, brokers or groups, and keep the others.",
        {"type": STRING, "names": STRINGS, "setting": STRING, "value": STRING},
        items_field_of_results_by_name(),
    ),
    "list_offsets": Command(
        "Return the latest offsets of partitions, written as `topic-partition`.",
        {"partitions": STRINGS},
        items_field_of_results_by_name(offset=INTEGER),
    ),
    "delete_records": Command(
        "Delete the records before an offset.",
        {"topic": STRING, "partition": INTEGER, "before": INTEGER},
    ),
}

_ACLS = {
    "create_acls": Command(
        "Create ACLs; the items are named 0, 1 and so on.",
        {"acls": array_of(shared_shape_reference("acl"))},
        items_field_of_results_by_name(),
    ),
    "describe_acls": Command(
        "List the ACLs that a filter matches. Null and ANY match any value; the pattern type can"
        " also be MATCH."
        " Report a type that the client does not know as UNKNOWN.",
        {"filter": shared_shape_reference("acl_filter")},
        {"acls": array_of(shared_shape_reference("acl"))},
    ),
    "delete_acls": Command(
        "Delete ACLs by filters in one call; the items are named 0, 1 and so on.",
        {"filters": array_of(shared_shape_reference("acl_filter"))},
        items_field_of_results_by_name(acls=array_of(shared_shape_reference("acl"))),
    ),
    "create_token": Command(
        "Create a delegation token; `owner` may be another principal (KIP-373).",
        {"renewers": STRINGS, "owner_": nullable(STRING)},
        {"token_id": STRING, "hmac": STRING},
    ),
    "renew_token": Command(
        "Renew a token: it then expires `milliseconds` from now.",
        {"hmac": STRING, "milliseconds": INTEGER},
    ),
    "expire_token": Command(
        "Let a token expire `milliseconds` from now; -1 expires it immediately.",
        {"hmac": STRING, "milliseconds": INTEGER},
    ),
    "describe_tokens": Command(
        "List tokens.", ok={"tokens": array_of(shared_shape_reference("token"))}
    ),
    "describe_scram_users": Command(
        "Return the SCRAM mechanisms of users.",
        {"users": STRINGS},
        items_field_of_results_by_name(mechanisms=STRINGS),
    ),
    "alter_scram_users": Command(
        "Set the SCRAM password of each user, or delete it (null).",
        {"passwords": {"type": "object", "additionalProperties": nullable(STRING)}}
        | {"mechanism": STRING},
        items_field_of_results_by_name(),
    ),
}

_PLACE = {"topic": STRING, "partition": INTEGER, "offset": INTEGER}
_GROUPS = {
    "list_groups": Command("List groups.", ok={"groups": STRINGS}),
    "describe_groups": Command(
        "Describe consumer groups of either protocol; `operations` are as for `describe_topics`.",
        {"names": STRINGS, "operations": BOOLEAN},
        items_field_of_results_by_name(operations=_OPERATIONS, members_=INTEGER),
    ),
    "delete_groups": Command(
        "Delete consumer groups.", {"names": STRINGS}, items_field_of_results_by_name()
    ),
    "group_offsets": Command(
        "Return the offsets that a group committed for partitions; null if none.",
        {"group": STRING, "partitions": STRINGS},
        items_field_of_results_by_name(offset=nullable(INTEGER)),
    ),
    "alter_group_offsets": Command(
        "Commit an offset for a group that has no members.", {"group": STRING, **_PLACE}
    ),
    "delete_group_offsets": Command(
        "Delete the offsets that a group committed for partitions.",
        {"group": STRING, "partitions": STRINGS},
        items_field_of_results_by_name(),
    ),
}

_FOR_A_WHILE: Mapping[str, Shape] = {"count": INTEGER, "seconds": NUMBER}
_VALUES = {"values": STRINGS}
_RECORDS = {
    "produce": Command(
        "Write values: idempotently if the settings say so, and in the transaction if one has"
        " begun. Wait until they are acknowledged.",
        {"topic": STRING, "values": STRINGS, "partition_": INTEGER},
        {"offsets": INTEGERS},
    ),
    "produce_to_several": Command(
        "Write a value to each of these topics without waiting in between, and wait until all are"
        " acknowledged or failed. Use one request if the client can.",
        {"topics": STRINGS, "value": STRING},
        items_field_of_results_by_name(offset=INTEGER),
    ),
    "begin": Command("Begin a transaction; the first one initialises the producer."),
    "send_offsets": Command(
        "Add an offset of a group to the transaction.", {"group": STRING, **_PLACE}
    ),
    "commit": Command("Commit the transaction."),
    "abort": Command("Abort the transaction."),
    "consume": Command(
        "Subscribe to topics if not yet subscribed, with the group and protocol of the settings,"
        " and poll until there are `count` values, `seconds` have passed, or an error occurs.",
        {"topics": STRINGS, **_FOR_A_WHILE},
        _VALUES,
    ),
    "consume_assigned": Command(
        "Assign partitions to the consumer if not yet assigned, and poll as `consume` does.",
        {"partitions": STRINGS, **_FOR_A_WHILE},
        _VALUES,
    ),
    "consume_share": Command(
        "Subscribe as a member of a share group, poll as `consume` does, and acknowledge.",
        {"topics": STRINGS, **_FOR_A_WHILE},
        _VALUES,
    ),
    "commit_offsets": Command("Commit the position of the consumer, and wait for the response."),
    "committed": Command(
        "Return the offsets that the consumer's group committed for partitions; null if none.",
        {"partitions": STRINGS},
        items_field_of_results_by_name(offset=nullable(INTEGER)),
    ),
}

COMMANDS: Mapping[str, Command] = {**_CLIENT, **_TOPICS, **_ACLS, **_GROUPS, **_RECORDS}
