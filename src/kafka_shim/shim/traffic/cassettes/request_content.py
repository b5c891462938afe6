"""What of a request decides which recorded response it gets, and what it reads and changes.

The content leaves out what differs between two runs by nature, and default values, so that a
request has the same content in each version of its API that can express it.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.records.batches import batch_bounds_and_magic, iterate_batches
from kafka_shim.protocol.records.message_sets import read_message_set

NEVER_COMPARED = frozenset(
    {
        # ids that a broker gives out, and positions in its logs
        "cluster_id", "topic_id", "producer_id", "producer_epoch", "v3_and_below_producer_id",
        "v3_and_below_producer_epoch", "session_id", "session_epoch", "client_instance_id",
        "subscription_id", "replica_directory_id", "current_leader_epoch", "leader_epoch",
        "last_fetched_epoch", "committed_leader_epoch", "log_start_offset", "high_watermark",
        # secrets, measurements and the client's own version
        "auth_bytes", "hmac", "salt", "salted_password", "metrics", "client_software_name",
        "client_software_version", "unknown_tags",
    }
)  # fmt: skip

COMPARED_EXACTLY_ONLY = frozenset(
    {
        # who a member is and what it has: the second run's members get other ids and parts
        "member_id", "member_epoch", "generation_id", "generation_id_or_member_epoch", "metadata",
        "assignment", "assignments", "topic_partitions", "process_id", "topology",
        "share_session_epoch", "acknowledgement_batches", "epoch",
        # where a consumer was when its timer fired
        "committed_offset", "committed_metadata", "offset",
        # a client's settings, which its next version may change
        "timeout_ms", "session_timeout_ms", "rebalance_timeout_ms", "transaction_timeout_ms",
        "max_wait_ms", "min_bytes", "max_bytes", "partition_max_bytes", "max_records",
        "batch_size", "rack_id", "reason", "allow_auto_topic_creation", "isolation_level",
        "replica_id", "user_endpoint", "client_tags", "acks",
    }
)  # fmt: skip
"""Fields that a request with the same meaning can have otherwise: used to choose, not to reject."""

ADMIN_CHANGES = frozenset(
    {
        ApiKey.CREATE_TOPICS, ApiKey.DELETE_TOPICS, ApiKey.CREATE_PARTITIONS,
        ApiKey.DELETE_RECORDS, ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS, ApiKey.ALTER_CONFIGS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS, ApiKey.DELETE_GROUPS, ApiKey.OFFSET_DELETE,
        ApiKey.ALTER_CLIENT_QUOTAS, ApiKey.ALTER_USER_SCRAM_CREDENTIALS, ApiKey.UPDATE_FEATURES,
        ApiKey.CREATE_DELEGATION_TOKEN, ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN, ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.ELECT_LEADERS, ApiKey.ALTER_REPLICA_LOG_DIRS,
        ApiKey.ALTER_SHARE_GROUP_OFFSETS, ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    }
)  # fmt: skip

TRANSACTION_STEPS = frozenset(
    {
        ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.END_TXN,
        ApiKey.TXN_OFFSET_COMMIT,
    }
)  # fmt: skip

GROUP_HEARTBEATS = frozenset(
    {
        ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_HEARTBEAT,
    }
)  # fmt: skip

CHANGES = ADMIN_CHANGES | TRANSACTION_STEPS | {ApiKey.PRODUCE}
"""Requests that a client must not send more often than recorded."""

BEFORE_AUTHENTICATION = frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE})
"""Requests of a client that the broker does not know yet."""

ADMIN = "admin"
TRANSACTIONS = "transactions"


class RecordContent(NamedTuple):
    """A record without its time and offset."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[bytes, bytes | None], ...]


def records_in_complete_batches(blob: bytes | None) -> list[RecordContent]:
    """Return the records of all batches of any format. Raise ProtocolError for damaged ones."""
    if not blob:
        return []
    records: list[RecordContent] = []
    for start, end, magic in batch_bounds_and_magic(blob, allows_truncated_end=True):
        part = blob[start:end]
        found = next(iterate_batches(part)).records() if magic == 2 else read_message_set(part)
        records += (
            RecordContent(
                _bytes_or_none(each.key),
                _bytes_or_none(each.value),
                tuple((_header_key(name), _bytes_or_none(value)) for name, value in each.headers),
            )
            for each in found
        )
    return records


def _bytes_or_none(value: Any) -> bytes | None:
    return None if value is None else bytes(value)


def _header_key(name: Any) -> bytes:
    return name.encode() if isinstance(name, str) else bytes(name)


class Content(NamedTuple):
    """A request's content by two measures, as hashes."""

    exact: bytes
    loose: bytes
    """Without the fields in COMPARED_EXACTLY_ONLY."""


def request_content(message: Any, topic_names: Mapping[bytes, str]) -> Content:
    """Return the content of a request; `topic_names` has the names of topic ids."""
    spec = load_message_spec(type(message).__name__).top_level_struct
    return Content(
        *(
            _digest(
                [spec.name, _comparable_non_default_fields(spec, message, topic_names, put_aside)]
            )
            for put_aside in (NEVER_COMPARED, NEVER_COMPARED | COMPARED_EXACTLY_ONLY)
        )
    )


def digest_of_record(record: RecordContent) -> bytes:
    """Return a hash of a record's key, value and headers."""
    return _digest(list(record))


def _digest(content: Any) -> bytes:
    return hashlib.blake2b(msgspec.msgpack.encode(content), digest_size=12).digest()


def _comparable_non_default_fields(
    spec: StructSpec, value: Any, topic_names: Mapping[bytes, str], ignored_fields: frozenset[str]
) -> list[Any]:
    """Return the names and values of the fields that count, rows in the order of their names."""
    content: list[Any] = []
    for field in spec.fields:
        field_value = getattr(value, field.attribute)
        if field.attribute == "topic_id" and field_value in topic_names:
            content.append(("topic", topic_names[field_value]))
        if field.attribute in ignored_fields or _is_default(field, field_value):
            continue
        name = "topic" if field.entity_type == "topicName" and not field.is_array else field.name
        content.append((name, _comparable_value(field, field_value, topic_names, ignored_fields)))
    return content


def _comparable_value(
    field: FieldSpec, value: Any, topic_names: Mapping[bytes, str], ignored_fields: frozenset[str]
) -> Any:
    if field.element_kind == "records":
        try:
            return [list(record) for record in records_in_complete_batches(value)]
        except ProtocolError:
            return bytes(value)
    if value is None:
        return None
    if field.struct is None:
        return sorted(value) if field.is_array and _has_unordered_scalars(field) else value
    struct = field.struct
    if not field.is_array:
        return _comparable_non_default_fields(struct, value, topic_names, ignored_fields)
    rows = [
        _comparable_non_default_fields(struct, row, topic_names, ignored_fields) for row in value
    ]
    return rows if _has_ordered_rows(field) else sorted(rows, key=repr)


def _has_unordered_scalars(field: FieldSpec) -> bool:
    return field.element_kind in ("string", "int32", "int16", "int8")


def _has_ordered_rows(field: FieldSpec) -> bool:
    """Return whether the order of rows has a meaning: a group's protocols by preference."""
    return field.attribute == "protocols"


def _is_default(field: FieldSpec, value: Any) -> bool:
    return field.default is not ... and bool(value == field.default)


class TouchedState(NamedTuple):
    """Names of the parts of a cluster's state that a request depends on, and that it changes.

    A change counts the number of changes, such as the records of a Produce request.
    """

    reads: frozenset[str]
    changes: Mapping[str, int]


def touched_state(api_key: int, message: Any, topic_names: Mapping[bytes, str]) -> TouchedState:
    """Return what a request depends on and changes, as far as later responses show it."""
    if api_key in BEFORE_AUTHENTICATION:
        return TouchedState(frozenset(), {})
    if api_key in ADMIN_CHANGES:
        return TouchedState(frozenset({ADMIN}), {ADMIN: 1})
    changes: dict[str, int] = {}
    reads = {ADMIN, *_group_state_names_in(message)}
    if _can_begin_or_end_rebalance(api_key, message):
        changes[f"group {message.group_id}"] = 1
    if getattr(message, "transactional_id", None):
        reads.add(f"transactional id {message.transactional_id}")
    if api_key == ApiKey.END_TXN:
        changes[TRANSACTIONS] = 1
    if api_key in (ApiKey.LIST_OFFSETS, ApiKey.FETCH, ApiKey.SHARE_FETCH):
        reads.add(TRANSACTIONS)
    if api_key in (ApiKey.LIST_OFFSETS, ApiKey.SHARE_FETCH):
        topics = topic_partitions(message.topics, topic_names, "partitions")
        reads.update(state_name_of_topic_records(name) for name, _, _ in topics)
    return TouchedState(frozenset(reads), changes)


def state_name_of_topic_records(topic: str) -> str:
    """Return the name of the state that Produce requests to a topic change."""
    return f"topic {topic}"


def _group_state_names_in(message: Any) -> Iterator[str]:
    for name in ("group_id", "group_ids", "groups"):
        value = getattr(message, name, None)
        for group in value if isinstance(value, list) else (value,):
            group_id = getattr(group, "group_id", group)
            if isinstance(group_id, str) and group_id:
                yield f"group {group_id}"


def _can_begin_or_end_rebalance(api_key: int, message: Any) -> bool:
    """Return whether a request can begin or end a rebalance."""
    if api_key in (ApiKey.JOIN_GROUP, ApiKey.LEAVE_GROUP):
        return True
    if api_key == ApiKey.SYNC_GROUP:
        return bool(message.assignments)
    return api_key in GROUP_HEARTBEATS and message.member_epoch <= 0


def topic_partitions(
    rows: list[Any], topic_names: Mapping[bytes, str], partitions_field: str
) -> Iterator[tuple[str, Any, Any]]:
    """Yield topic name (`?` for an unknown id), topic row and partition row."""
    for topic in rows:
        name = getattr(topic, "name", "") or getattr(topic, "topic", "")
        name = name or topic_names.get(getattr(topic, "topic_id", b""), "?")
        for partition in getattr(topic, partitions_field):
            yield name, topic, partition
