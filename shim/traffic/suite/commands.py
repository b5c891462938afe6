"""The commands of the driver contract, by name."""

from collections.abc import Mapping

from kafka_shim.shim.traffic.suite.shapes import (
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
    items_of,
    named,
    nullable,
    one_of,
)

_CLIENT = {
    "hello": Command(
        "Say what is driven. `commands` and `capabilities` are what it can do; without"
        " `capabilities` it has all.",
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
        "Make a client by that name, with a log-in or none, over TLS or not; `settings` have"
        " Kafka's names. It may connect now or when it is used first.",
        {
            "servers": STRING,
            "login": nullable(named("login")),
            "tls_": nullable(named("tls")),
            "settings": STRING_BY_NAME,
        },
    ),
    "set_login": Command(
        "Log in with this from the next time on, without opening the client anew.",
        {"login": named("login")},
    ),
    "close": Command("End the client, within a second or two."),
    "wait": Command(
        "Have the client run until one of the events happens: a member is given partitions"
        " (`assigned`), has to give them back (`revoked`) or lost them (`lost`), or the client"
        " tells an error outside of a call (`error`). `event` is null if none did in time.",
        {"events": array_of(one_of("assigned", "revoked", "lost", "error")), "seconds": NUMBER},
        {"event": nullable(STRING), "error_": nullable(named("error"))},
    ),
}

_OPERATIONS = nullable(STRINGS)
_TOPICS = {
    "create_topics": Command(
        "Create topics: how many partitions, by name. `configs` are for each of them.",
        {"topics": INTEGER_BY_NAME, "configs_": STRING_BY_NAME},
        items_of(),
    ),
    "delete_topics": Command("Delete topics.", {"names": STRINGS}, items_of()),
    "create_partitions": Command(
        "Have topics grow: how many partitions in all, by name.",
        {"topics": INTEGER_BY_NAME},
        items_of(),
    ),
    "list_topics": Command("List the names of topics.", ok={"topics": STRINGS}),
    "describe_topics": Command(
        "Describe topics; `operations` are the authorized ones by Kafka's names, null if they were"
        " not asked for or the broker did not tell them.",
        {"names": STRINGS, "operations": BOOLEAN},
        items_of(operations=_OPERATIONS, partitions_=INTEGER),
    ),
    "describe_cluster": Command(
        "Describe the cluster; `brokers` are their ids.",
        {"operations": BOOLEAN},
        {"operations": _OPERATIONS, "brokers_": INTEGERS},
    ),
    "describe_configs": Command(
        "Tell the settings of a `topic`, `broker` or `group`: values by name.",
        {"type": STRING, "names": STRINGS},
        items_of(settings={"type": "object"}),
    ),
    "alter_configs": Command(
        "Set one setting of topics, brokers or groups, and leave the others.",
        {"type": STRING, "names": STRINGS, "setting": STRING, "value": STRING},
        items_of(),
    ),
    "list_offsets": Command(
        "Tell the latest offsets of partitions, `topic-partition` each.",
        {"partitions": STRINGS},
        items_of(offset=INTEGER),
    ),
    "delete_records": Command(
        "Delete the records before an offset.",
        {"topic": STRING, "partition": INTEGER, "before": INTEGER},
    ),
}

_ACLS = {
    "create_acls": Command(
        "Create ACLs; the items are named 0, 1 and so on.",
        {"acls": array_of(named("acl"))},
        items_of(),
    ),
    "describe_acls": Command(
        "List the ACLs that a filter matches; null is any, types may be ANY and MATCH. A type that"
        " the client does not know is told as UNKNOWN.",
        {"filter": named("acl_filter")},
        {"acls": array_of(named("acl"))},
    ),
    "delete_acls": Command(
        "Delete ACLs by filters in one call; the items are named 0, 1 and so on.",
        {"filters": array_of(named("acl_filter"))},
        items_of(acls=array_of(named("acl"))),
    ),
    "create_token": Command(
        "Create a delegation token; `owner` may be another principal (KIP-373).",
        {"renewers": STRINGS, "owner_": nullable(STRING)},
        {"token_id": STRING, "hmac": STRING},
    ),
    "renew_token": Command("Renew a token.", {"hmac": STRING, "milliseconds": INTEGER}),
    "expire_token": Command(
        "Have a token expire; -1 ends it now.", {"hmac": STRING, "milliseconds": INTEGER}
    ),
    "describe_tokens": Command("List tokens.", ok={"tokens": array_of(named("token"))}),
    "describe_scram_users": Command(
        "Tell the SCRAM mechanisms of users.", {"users": STRINGS}, items_of(mechanisms=STRINGS)
    ),
    "alter_scram_users": Command(
        "Set a SCRAM password of each user, or delete it (null).",
        {"passwords": {"type": "object", "additionalProperties": nullable(STRING)}}
        | {"mechanism": STRING},
        items_of(),
    ),
}

_PLACE = {"topic": STRING, "partition": INTEGER, "offset": INTEGER}
_GROUPS = {
    "list_groups": Command("List groups.", ok={"groups": STRINGS}),
    "describe_groups": Command(
        "Describe consumer groups of either protocol, as topics are described.",
        {"names": STRINGS, "operations": BOOLEAN},
        items_of(operations=_OPERATIONS, members_=INTEGER),
    ),
    "delete_groups": Command("Delete consumer groups.", {"names": STRINGS}, items_of()),
    "group_offsets": Command(
        "Tell what a group committed for partitions, `topic-partition` each; null if nothing.",
        {"group": STRING, "partitions": STRINGS},
        items_of(offset=nullable(INTEGER)),
    ),
    "alter_group_offsets": Command(
        "Commit an offset for a group that has no members.", {"group": STRING, **_PLACE}
    ),
    "delete_group_offsets": Command(
        "Delete what a group committed for partitions.",
        {"group": STRING, "partitions": STRINGS},
        items_of(),
    ),
}

_FOR_A_WHILE: Mapping[str, Shape] = {"count": INTEGER, "seconds": NUMBER}
_VALUES = {"values": STRINGS}
_RECORDS = {
    "produce": Command(
        "Write values, and wait until they are acknowledged; the settings say whether idempotent,"
        " and inside a transaction once it has begun.",
        {"topic": STRING, "values": STRINGS, "partition_": INTEGER},
        {"offsets": INTEGERS},
    ),
    "begin": Command("Begin a transaction; the first one initialises the producer."),
    "send_offsets": Command(
        "Add an offset of a group to the transaction.", {"group": STRING, **_PLACE}
    ),
    "commit": Command("Commit the transaction."),
    "abort": Command("Abort the transaction."),
    "consume": Command(
        "Subscribe to topics if that is not done, and poll until `count` values or `seconds`, in"
        " the group and by the protocol of the settings, or until an error.",
        {"topics": STRINGS, **_FOR_A_WHILE},
        _VALUES,
    ),
    "consume_assigned": Command(
        "Be assigned partitions, `topic-partition` each, if that is not done, and poll likewise.",
        {"partitions": STRINGS, **_FOR_A_WHILE},
        _VALUES,
    ),
    "consume_share": Command(
        "Subscribe as a member of a share group, poll likewise, and acknowledge.",
        {"topics": STRINGS, **_FOR_A_WHILE},
        _VALUES,
    ),
    "commit_offsets": Command("Commit what was consumed, and wait for the answer."),
    "committed": Command(
        "Tell what the consumer's group committed for partitions; null if nothing.",
        {"partitions": STRINGS},
        items_of(offset=nullable(INTEGER)),
    ),
}

COMMANDS: Mapping[str, Command] = {**_CLIENT, **_TOPICS, **_ACLS, **_GROUPS, **_RECORDS}
