"""Values of fields with which requests succeed."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.protocol.codec.message_spec import INTEGERS, FieldSpec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.records.batches import Record, encode_batch

_NUMBERS = {
    "resource_type": 2,
    "resource_type_filter": 2,
    "resource_pattern_type": 3,
    "pattern_type": 3,
    "pattern_type_filter": 3,
    "operation": 3,
    "permission_type": 3,
    "permission_type_filter": 3,
    "timeout_ms": 1000,
    "transaction_timeout_ms": 1000,
    "session_timeout_ms": 10_000,
    "rebalance_timeout_ms": 10_000,
    "validate_only": 0,
    "acks": -1,
    "replication_factor": 1,
    "num_partitions": 1,
    "timestamp": -1,
    "replica_id": -1,
    "current_leader_epoch": -1,
    "partition_max_bytes": 1000,
    "max_bytes": 1000,
    "max_num_offsets": 1,
    "generation_id_or_member_epoch": -1,
    "generation_id": -1,
    "session_epoch": -1,
    "count": 3,
    "mechanism": 1,
    "iterations": 4096,
    "broker_id": 1,
}
_TEXTS = {
    "group_id": "g",
    "transactional_id": "tx",
    "principal": "User:u",
    "principal_filter": "User:u",
    "principal_type": "User",
    "host": "*",
    "host_filter": "*",
    "member_id": "",
    "protocol_type": "consumer",
    "entity_type": "user",
    "value": "1",
}
_FIXED = ("*", "", "1", "user", "User", "consumer")
_COUNTED = ("partition", "index", "broker", "node", "replica", "producer", "id")
_BATCH = encode_batch([Record(0, 0, None, b"v", ())])
_MEMBER = {"member_id": "m", "instance_id": None, "subscribed_topic_regex": None}
_JOINING: Mapping[str, Any] = {
    "active_tasks": [],
    "standby_tasks": [],
    "warmup_tasks": [],
    "topic_partitions": [],
}
_SETTING = {"name": "retention.ms", "value": "100000", "config_operation": 0}
_SHARE = {"member_id": "AAAAAAAAAAAAAAAAAAAAAQ", "acknowledgement_batches": []}
OF_API: Mapping[ApiKey, Mapping[str, Any]] = {
    ApiKey.PRODUCE: {"transactional_id": None, "records": _BATCH},
    ApiKey.CREATE_TOPICS: {"assignments": [], "configs": []},
    ApiKey.DELETE_TOPICS: {"name": None},
    ApiKey.CREATE_PARTITIONS: {"assignments": None},
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: {"replicas": [1]},
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: {
        "deletions": [],
        "upsertions": [],
        "salt": b"salt",
        "salted_password": bytes(32),
    },
    ApiKey.CONSUMER_GROUP_HEARTBEAT: {**_MEMBER, **_JOINING, "server_assignor": None},
    ApiKey.SHARE_GROUP_HEARTBEAT: _MEMBER,
    ApiKey.STREAMS_GROUP_HEARTBEAT: {**_MEMBER, **_JOINING, "source_topic_regex": []},
    ApiKey.SHARE_FETCH: {**_SHARE, "share_session_epoch": 0, "forgotten_topics_data": []},
    ApiKey.SHARE_ACKNOWLEDGE: {**_SHARE, "share_session_epoch": 1},
    ApiKey.ALTER_CLIENT_QUOTAS: {"key": "producer_byte_rate"},
    ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: {"member_id": "m", "node_type": 1},
}
"""Values of fields by API, at any depth. Arrays have this content unless the array is the long one.
"""
BEFORE: Mapping[ApiKey, tuple[ApiKey, ...]] = {
    ApiKey.ADD_PARTITIONS_TO_TXN: (ApiKey.INIT_PRODUCER_ID,),
    ApiKey.TXN_OFFSET_COMMIT: (ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_OFFSETS_TO_TXN),
    ApiKey.OFFSET_FETCH: (ApiKey.OFFSET_COMMIT,),
    ApiKey.OFFSET_DELETE: (ApiKey.OFFSET_COMMIT,),
    ApiKey.SHARE_ACKNOWLEDGE: (ApiKey.SHARE_FETCH,),
    ApiKey.READ_SHARE_GROUP_STATE: (ApiKey.INITIALIZE_SHARE_GROUP_STATE,),
    ApiKey.WRITE_SHARE_GROUP_STATE: (ApiKey.INITIALIZE_SHARE_GROUP_STATE,),
    ApiKey.DELETE_SHARE_GROUP_STATE: (ApiKey.INITIALIZE_SHARE_GROUP_STATE,),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: (ApiKey.INITIALIZE_SHARE_GROUP_STATE,),
    ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: (ApiKey.STREAMS_GROUP_HEARTBEAT,),
}
"""The API that must be called first, with an equally long array if it has one of that name."""
_SETTINGS_OF = (ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS)


def value(api: ApiKey, field: FieldSpec, number: int, path: tuple[str, ...]) -> Any:
    """Return the value of a plain field for the element with this number; `path` leads to the
    field's struct.
    """
    special = OF_API.get(api, {})
    if field.attribute in special and not field.is_array:
        return special[field.attribute]
    if path[-1:] == ("configs",) and api in _SETTINGS_OF and number == 0:
        return _SETTING[field.attribute]
    if field.attribute == "node_type" and path[-1:] == ("processor",):
        return 2
    if field.element_kind == "string":
        text = _TEXTS.get(field.attribute, "new" if api is ApiKey.CREATE_TOPICS else "t")
        return text if text in _FIXED else f"{text}{number}"
    if field.element_kind in INTEGERS:
        return _integer(field, number)
    others = {"bool": False, "float64": 1.0, "uuid": topic_id(number)}
    return others.get(field.element_kind, b"")


def topic_id(number: int) -> bytes:
    """Return the id of topic `t{number}`; zero means no topic."""
    return (number + 1).to_bytes(16, "big")


def _integer(field: FieldSpec, number: int) -> int:
    name = field.attribute
    if name in _NUMBERS:
        return _NUMBERS[name]
    counts = any(part in name for part in _COUNTED)
    return number % (1 << (8 * INTEGERS[field.element_kind] - 1)) if counts else 0
