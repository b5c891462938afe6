"""Fields of messages by how a replay treats them, and the corresponding elements of lists.

Fields are identified by their names in snake_case, for all APIs and versions.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec
from kafka_shim.protocol.enums import ApiKey

IGNORED_FIELDS = frozenset(
    {
        # ids that a broker makes
        "cluster_id", "topic_id", "producer_id", "producer_epoch", "member_id", "leader",
        "generation_id", "member_epoch", "session_id", "client_instance_id", "replica_directory_id",
        "group_epoch", "assignment_epoch", "subscription_id",
        # where brokers are and who leads
        "brokers", "nodes", "node_endpoints", "host", "port", "node_id",
        "controller_id", "broker_id", "rack", "leader_id", "leader_epoch", "current_leader",
        "replica_nodes", "isr_nodes", "offline_replicas", "client_host",
        "eligible_leader_replicas", "last_known_elr", "preferred_read_replica",
        # offsets, times, sizes
        "offset", "base_offset", "committed_offset", "committed_leader_epoch", "end_offset",
        "high_watermark", "last_stable_offset", "log_start_offset", "log_end_offset",
        "start_offset", "low_watermark", "records", "aborted_transactions", "timestamp",
        "first_offset", "last_offset", "lag", "epoch", "issue_timestamp", "expiry_timestamp",
        "max_timestamp", "ongoing_txn_producer_id", "ongoing_txn_producer_epoch",
        "log_append_time_ms", "issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms",
        "transaction_start_time_ms", "last_timestamp", "last_sequence",
        "current_txn_start_offset", "last_fetch_timestamp", "last_caught_up_timestamp",
        "partition_size", "offset_lag", "usable_bytes", "total_bytes", "is_cordoned",
        "finalized_features_epoch", "heartbeat_interval_ms", "session_lifetime_ms",
        "throttle_time_ms", "push_interval_ms", "acquisition_lock_timeout_ms",
        # texts, and secrets that a trace does not have
        "error_message", "batch_index_error_message", "acknowledge_error_message",
        "auth_bytes", "hmac", "token_id", "log_dir", "unknown_tags",
    }
)  # fmt: skip
"""Present in both responses, but not compared: two runs never agree on them."""

ROW_NAMES = (
    "name", "topic_name", "topic", "group_id", "transactional_id", "resource_name", "key", "user",
    "api_key", "partition_index", "partition", "topic_id", "group", "feature",
    "index", "partition_id", "resource_type", "pattern_type",
)  # fmt: skip
"""What identifies a row of a list; lists without any are compared place by place."""

ACL_NAMES = (
    "resource_type", "resource_name", "pattern_type", "principal", "host", "operation",
    "permission_type",
)  # fmt: skip
"""What identifies a row that is an ACL."""

MEMBER_TRAITS = (
    "group_instance_id", "instance_id", "client_id", "metadata", "member_metadata", "rack_id",
    "subscribed_topic_names",
)  # fmt: skip
"""What tells members of a group apart before their ids are known."""

IDS = {
    "member_id": "member",
    "producer_id": "producer",
    "v3_and_below_producer_id": "producer",
    "producer_epoch": "producer epoch",
    "v3_and_below_producer_epoch": "producer epoch",
    "topic_id": "topic",
    "cluster_id": "cluster",
    "session_id": "session",
    "generation_id": "generation",
    "generation_id_or_member_epoch": "generation",
    "member_epoch": "generation",
    "client_instance_id": "instance",
    "subscription_id": "subscription",
}
"""Ids that a broker gives out and clients give back, with the kind of each."""

MEMBERSHIP = frozenset(name for name, kind in IDS.items() if kind in ("member", "generation"))
"""Ids of members of groups, and of their generations."""

BROKERS_POSITIONS = frozenset(
    {
        "session_epoch", "replica_directory_id", "current_leader_epoch", "leader_epoch",
        "last_fetched_epoch", "committed_leader_epoch", "log_start_offset", "high_watermark",
    }
)  # fmt: skip
"""Positions in a broker's sessions and logs."""

SECRETS = frozenset({"auth_bytes", "hmac", "salt", "salted_password"})

CLIENTS_OWN = frozenset(
    {"metrics", "client_software_name", "client_software_version", "unknown_tags"}
)
"""What a client measures, its version, and fields of later versions."""

NEVER_COMPARED = (IDS.keys() - MEMBERSHIP) | BROKERS_POSITIONS | SECRETS | CLIENTS_OWN
"""Fields of requests that differ between two runs by nature."""

PARTS_OF_MEMBERS = frozenset(
    {
        "metadata", "assignment", "assignments", "topic_partitions", "process_id", "topology",
        "share_session_epoch", "acknowledgement_batches", "epoch", "committed_metadata",
    }
)  # fmt: skip
"""What a member of a group is and has: the second run's members get other parts."""

CLIENT_SETTINGS = frozenset(
    {
        "timeout_ms", "session_timeout_ms", "rebalance_timeout_ms", "transaction_timeout_ms",
        "max_wait_ms", "min_bytes", "max_bytes", "partition_max_bytes", "max_records",
        "batch_size", "rack_id", "reason", "allow_auto_topic_creation", "isolation_level",
        "replica_id", "user_endpoint", "client_tags", "acks",
    }
)  # fmt: skip
"""Settings of a client, which its next version may change."""

COMPARED_EXACTLY_ONLY = MEMBERSHIP | PARTS_OF_MEMBERS | CLIENT_SETTINGS
"""Fields that a request with the same meaning can have otherwise: a playback chooses by them."""

LONG_IDS = frozenset({"topic", "cluster", "member", "instance", "records"})
"""Kinds that a frame cannot hold by chance, and records, which teach nothing."""

NO_ID = frozenset({-1, "", bytes(16)})
"""Values that stand for no id, of whatever kind."""

NO_ID_EITHER = {"session": 0, "generation": 0, "subscription": 0}
"""Zero is a producer id and an epoch like any other, but no session, and a member that joins."""

NOT_READY_ERRORS = frozenset({14, 15, 16, 51})
"""Coordinators that load, are not there, or elsewhere, or still end the transaction before: the
client retries (retriable)."""

COORDINATOR_APIS = frozenset(
    {
        ApiKey.FIND_COORDINATOR, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT,
        ApiKey.LEAVE_GROUP, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH, ApiKey.OFFSET_DELETE,
        ApiKey.DESCRIBE_GROUPS, ApiKey.LIST_GROUPS, ApiKey.DELETE_GROUPS, ApiKey.INIT_PRODUCER_ID,
        ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.END_TXN,
        ApiKey.TXN_OFFSET_COMMIT, ApiKey.DESCRIBE_TRANSACTIONS, ApiKey.LIST_TRANSACTIONS,
        ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.CONSUMER_GROUP_DESCRIBE,
        ApiKey.SHARE_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_DESCRIBE,
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        ApiKey.DELETE_SHARE_GROUP_OFFSETS, ApiKey.STREAMS_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_DESCRIBE,
    }
)  # fmt: skip
"""A target may put these off (`NOT_READY_ERRORS`), so nothing is sent before they respond."""


class CorrespondingIds(NamedTuple):
    """The target's ids by the recorded ones, as far as known.

    `target_topics` are the target's topic ids.
    """

    member_ids: Mapping[str, str] = {}
    topics: Mapping[bytes, bytes] = {}
    target_topics: Container[bytes] = ()


NO_CORRESPONDING_IDS = CorrespondingIds()

UNKNOWN_TOPIC = "?"

_MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def paired_rows(
    recorded: list[Any],
    actual: list[Any],
    corresponding_ids: CorrespondingIds = NO_CORRESPONDING_IDS,
) -> Iterator[tuple[Any, Any]]:
    """Yield rows with the same name, in order, with None for missing ones; others by position.

    The name of a topic without one is its id, if that is known from other responses. Members of a
    group are matched by their known ids, and otherwise by their metadata.
    """
    if recorded and hasattr(recorded[0], "member_id"):
        yield from _paired_members(recorded, actual, corresponding_ids.member_ids)
        return
    target, topics = corresponding_ids.target_topics, corresponding_ids.topics
    yield from _rows_paired_by_identity(
        *(recorded, lambda row: row_identity(row, lambda topic_id: topics.get(topic_id, b""))),
        *(
            actual,
            lambda row: row_identity(row, lambda topic_id: topic_id if topic_id in target else b""),
        ),
    )


class PairedValue(NamedTuple):
    """A value in both messages, by its path such as `topics[].error_code`, and its structs.

    It contains no structs, unless a row (whose path ends in `[]`) or one of the values is missing.
    """

    path: str
    field: FieldSpec
    recorded_struct: Any
    actual_struct: Any
    recorded: Any
    actual: Any


def paired_values(
    spec: StructSpec,
    recorded: Any,
    actual: Any,
    fields_of: Callable[[StructSpec], Iterable[FieldSpec]],
    corresponding_ids: CorrespondingIds = NO_CORRESPONDING_IDS,
    path: str = "",
) -> Iterator[PairedValue]:
    """Yield the values of two messages of the same type, in the order of its fields."""
    for field in fields_of(spec):
        field_path = f"{path}.{field.attribute}" if path else field.attribute
        values = getattr(recorded, field.attribute), getattr(actual, field.attribute)
        if field.struct is None or None in values:
            yield PairedValue(field_path, field, recorded, actual, *values)
            continue
        pairs: Iterable[tuple[Any, Any]] = (values,)
        if field.is_array:
            field_path, pairs = f"{field_path}[]", paired_rows(*values, corresponding_ids)
        for pair in pairs:
            if None in pair:
                yield PairedValue(field_path, field, recorded, actual, *pair)
            else:
                yield from paired_values(
                    field.struct, *pair, fields_of, corresponding_ids, field_path
                )


def _paired_members(
    recorded: list[Any], actual: list[Any], member_ids: Mapping[str, str]
) -> Iterator[tuple[Any, Any]]:
    by_id = {row.member_id: row for row in actual}
    unknown_members = []
    for row in recorded:
        if row.member_id in member_ids:
            yield row, by_id.pop(member_ids[row.member_id], None)
        else:
            unknown_members.append(row)
    known_target_members = set(member_ids.values())
    unassigned_rows = [row for row in by_id.values() if row.member_id not in known_target_members]
    member_pairs = list(
        _rows_paired_by_identity(unknown_members, _member_traits, unassigned_rows, _member_traits)
    )
    yield from (pair for pair in member_pairs if None not in pair)
    yield from _rows_paired_by_identity(
        *([old for old, new in member_pairs if new is None], lambda _: None),
        *([new for old, new in member_pairs if old is None], lambda _: None),
    )
    yield from ((None, row) for row in by_id.values() if row.member_id in known_target_members)


def _member_traits(row: Any) -> object:
    """Return the properties of a member that do not depend on the run."""
    values = (getattr(row, name, None) for name in MEMBER_TRAITS)
    return _MADE_UP.sub("", row.member_id), *(str(value) for value in values)


_RowIdentity = Callable[[Any], object]


def _rows_paired_by_identity(
    recorded: list[Any],
    recorded_identity: _RowIdentity,
    actual: list[Any],
    actual_identity: _RowIdentity,
) -> Iterator[tuple[Any, Any]]:
    rows_by_identity: dict[object, list[Any]] = {}
    for row in actual:
        rows_by_identity.setdefault(actual_identity(row), []).append(row)
    for row in recorded:
        corresponding_ids = rows_by_identity.get(recorded_identity(row))
        yield row, corresponding_ids.pop(0) if corresponding_ids else None
    for rows in rows_by_identity.values():
        for row in rows:
            yield None, row


def row_identity(
    row: Any, topic_id_or_counterpart: Callable[[bytes], object]
) -> tuple[object, ...]:
    """Return the name of a row; topic ids only if there is no name.

    Topic ids differ between runs, so an unknown one is not a name.
    """
    if hasattr(row, "permission_type"):  # the name of an ACL is all its fields
        return tuple(getattr(row, attribute, None) for attribute in ACL_NAMES)
    identity: list[object] = []
    for attribute in ROW_NAMES:
        value = getattr(row, attribute, None)
        if value is None or (isinstance(value, bytes) and (identity or value in NO_ID)):
            continue
        identity.append(topic_id_or_counterpart(value) if isinstance(value, bytes) else value)
    return tuple(identity)


def topic_name(topic: Any, topic_names: Mapping[bytes, str]) -> str:
    """Return the name of a topic's row, which may have an id instead: UNKNOWN_TOPIC if unknown."""
    name = getattr(topic, "name", "") or getattr(topic, "topic", "")
    return name or topic_names.get(getattr(topic, "topic_id", b""), UNKNOWN_TOPIC)


def topic_partitions(
    message: Any, topic_names: Mapping[bytes, str]
) -> Iterator[tuple[str, int, Any]]:
    """Yield topic, partition number and row of the partitions in a Produce or Fetch message."""
    for topic in _first_attribute(message, "topic_data", "responses", "topics"):
        name = topic_name(topic, topic_names)
        for row in _first_attribute(topic, "partitions", "partition_data", "partition_responses"):
            yield name, _first_attribute(row, "index", "partition", "partition_index"), row


def _first_attribute(row: Any, *names: str) -> Any:
    return next(getattr(row, name) for name in names if hasattr(row, name))
