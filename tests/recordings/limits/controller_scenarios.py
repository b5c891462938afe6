"""Requests that change more than a controller writes at once, by rows or by bytes."""

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.classic_play import NEWEST
from tests.recordings.limits.play import LimitsPlay

RECORDS_MAX = 10_000
THROTTLED = "leader.replication.throttled.replicas"


def client_quotas(play: LimitsPlay) -> None:
    """Quotas of many users in one request."""
    for count in (RECORDS_MAX, RECORDS_MAX + 1):
        rows = [
            {
                "entity": [{"entity_type": "user", "entity_name": play.text(f"u{number}")}],
                "ops": [{"key": "producer_byte_rate", "value": 1e9, "remove": False}],
            }
            for number in range(count)
        ]
        request = {"entries": rows, "validate_only": True}
        play.codes(str(count), ApiKey.ALTER_CLIENT_QUOTAS, NEWEST, request)


def scram_credentials(play: LimitsPlay) -> None:
    """Credentials of many users in one request."""
    for count in (RECORDS_MAX, RECORDS_MAX + 1):
        rows = [
            {
                "name": play.text(f"u{number}"),
                "mechanism": 1,
                "iterations": 4096,
                "salt": b"salt",
                "salted_password": b"x" * 32,
            }
            for number in range(count)
        ]
        request = {"deletions": [], "upsertions": rows}
        play.codes(f"{count}", ApiKey.ALTER_USER_SCRAM_CREDENTIALS, NEWEST, request)
        rows = [{"name": row["name"], "mechanism": 1} for row in rows]
        request = {"deletions": rows, "upsertions": []}
        play.codes(f"{count} deleted", ApiKey.ALTER_USER_SCRAM_CREDENTIALS, NEWEST, request)


def scram_iterations(play: LimitsPlay) -> None:
    """Iterations beyond both ends."""
    for iterations in (4095, 4096, 16384, 16385):
        row = {
            "name": play.text("u"),
            "mechanism": 1,
            "iterations": iterations,
            "salt": b"salt",
            "salted_password": b"x" * 32,
        }
        request = {"deletions": [], "upsertions": [row]}
        play.codes(str(iterations), ApiKey.ALTER_USER_SCRAM_CREDENTIALS, NEWEST, request)


def appended_values(play: LimitsPlay) -> None:
    """A list that appending makes longer than a string may be."""
    (topic,) = play.topic("t")
    for turn in range(3):
        value = ",".join(f"{turn * 2000 + number}:1" for number in range(2000))
        config = {"name": THROTTLED, "value": value, "config_operation": 2}
        rows = [{"resource_type": 2, "resource_name": topic, "configs": [config]}]
        request = {"resources": rows, "validate_only": True}
        play.codes(f"{turn} checked", ApiKey.INCREMENTAL_ALTER_CONFIGS, NEWEST, request)
        request["validate_only"] = False
        play.codes(f"{turn}", ApiKey.INCREMENTAL_ALTER_CONFIGS, NEWEST, request)
    value = ",".join(f"{number}:1" for number in range(5000))[:32_760]
    config = {"name": THROTTLED, "value": value.rpartition(",")[0]}
    rows = [{"resource_type": 2, "resource_name": topic, "configs": [config]}]
    play.codes("set by AlterConfigs", ApiKey.ALTER_CONFIGS, NEWEST, {"resources": rows})


def large_acls(play: LimitsPlay) -> None:
    """ACLs with long names, together larger than a batch of the metadata log."""
    for count in (100, 300):
        rows = [
            {
                "resource_type": 2,
                "resource_name": f"{number}" + "t" * 30_000,
                "resource_pattern_type": 3,
                "principal": "User:u",
                "host": "*",
                "operation": 3,
                "permission_type": 3,
            }
            for number in range(count)
        ]
        play.codes(f"{count}", ApiKey.CREATE_ACLS, NEWEST, {"creations": rows})
        filters = [
            {
                "resource_type_filter": 2,
                "resource_name_filter": row["resource_name"],
                "pattern_type_filter": 3,
                "principal_filter": None,
                "host_filter": None,
                "operation": 1,
                "permission_type": 1,
            }
            for row in rows
        ]
        play.codes(f"{count} deleted", ApiKey.DELETE_ACLS, NEWEST, {"filters": filters})


def topic_names(play: LimitsPlay) -> None:
    """The longest name of a topic, and a longer one, to each API that takes names."""
    for length in (249, 250):
        name = play.text("t").ljust(length, "t")
        metadata = {"topics": [{"name": name}], "allow_auto_topic_creation": True}
        config = {"resources": [{"resource_type": 2, "resource_name": name}]}
        creation = {
            "topics": [{"name": name, "num_partitions": 1, "replication_factor": 1}],
            "timeout_ms": 5_000,
            "validate_only": True,
        }
        play.codes(f"create {length}", ApiKey.CREATE_TOPICS, NEWEST, creation)
        play.codes(f"configs {length}", ApiKey.DESCRIBE_CONFIGS, NEWEST, config)
        play.codes(f"metadata {length}", ApiKey.METADATA, NEWEST, metadata)


def long_texts(play: LimitsPlay) -> None:
    """The longest strings of the protocol as names of groups, transactions, users and tokens."""
    for length in (1_000, 32_767):
        text = play.text("x").ljust(length, "x")
        play.codes(
            f"coordinator {length}",
            ApiKey.FIND_COORDINATOR,
            3,
            {"key": text, "key_type": 0},
        )
        play.codes(
            f"producer {length}",
            ApiKey.INIT_PRODUCER_ID,
            1,
            {"transactional_id": text, "transaction_timeout_ms": 60_000},
        )
        commit = {
            "group_id": text,
            "generation_id_or_member_epoch": -1,
            "member_id": "",
            "topics": [],
        }
        play.codes(f"commit {length}", ApiKey.OFFSET_COMMIT, 5, commit)
        join = play.join_request(text)
        play.codes(f"join {length}", ApiKey.JOIN_GROUP, 2, join)
        play.codes(
            f"protocol {length}",
            ApiKey.JOIN_GROUP,
            2,
            play.join_request(play.text(f"p{length}"), protocols=((text, b""),)),
        )
        acl = {
            "resource_type": 2,
            "resource_name": text,
            "resource_pattern_type": 3,
            "principal": f"User:{text[:-5]}",
            "host": "*",
            "operation": 3,
            "permission_type": 3,
        }
        play.codes(f"acl {length}", ApiKey.CREATE_ACLS, NEWEST, {"creations": [acl]})
        quota = {
            "entity": [{"entity_type": "client-id", "entity_name": text}],
            "ops": [{"key": "producer_byte_rate", "value": 1e9, "remove": False}],
        }
        play.codes(f"quota {length}", ApiKey.ALTER_CLIENT_QUOTAS, NEWEST, {"entries": [quota]})
        if length == 1_000:
            deleted = {
                "resource_type_filter": 2,
                "resource_name_filter": text,
                "pattern_type_filter": 3,
                "operation": 1,
                "permission_type": 1,
            }
            play.codes("delete", ApiKey.DELETE_ACLS, NEWEST, {"filters": [deleted]})


SCENARIOS = (
    client_quotas,
    scram_credentials,
    scram_iterations,
    appended_values,
    large_acls,
    topic_names,
    long_texts,
)
