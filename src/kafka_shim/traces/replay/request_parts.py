"""Parts of requests for several brokers: splits requests by broker, and merges the responses."""

from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.traces.replay.topology import GROUP, TRANSACTION, TopicKey


class PartitionRows(NamedTuple):
    """Fields with the topics and partitions of a request, and of its response."""

    topics: str = "topics"
    partitions: str = "partitions"
    response_topics: str = "topics"
    response_partitions: str = "partitions"


LEADER_APIS: dict[int, PartitionRows] = {
    ApiKey.PRODUCE: PartitionRows(
        "topic_data", "partition_data", "responses", "partition_responses"
    ),
    ApiKey.FETCH: PartitionRows(response_topics="responses"),
    ApiKey.LIST_OFFSETS: PartitionRows(),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: PartitionRows(),
    ApiKey.DELETE_RECORDS: PartitionRows(),
    ApiKey.DESCRIBE_PRODUCERS: PartitionRows(partitions="partition_indexes"),
    ApiKey.SHARE_FETCH: PartitionRows(response_topics="responses"),
    ApiKey.SHARE_ACKNOWLEDGE: PartitionRows(response_topics="responses"),
}
"""Requests for the leaders of partitions."""


class CoordinatedRows(NamedTuple):
    """Type of a coordinator, and the fields with its keys in a request and in the response."""

    key_type: int
    keys: str
    response_rows: str


COORDINATED_LISTS: dict[int, CoordinatedRows] = {
    ApiKey.OFFSET_FETCH: CoordinatedRows(GROUP, "groups", "groups"),
    ApiKey.DESCRIBE_GROUPS: CoordinatedRows(GROUP, "groups", "groups"),
    ApiKey.DELETE_GROUPS: CoordinatedRows(GROUP, "groups_names", "results"),
    ApiKey.CONSUMER_GROUP_DESCRIBE: CoordinatedRows(GROUP, "group_ids", "groups"),
    ApiKey.SHARE_GROUP_DESCRIBE: CoordinatedRows(GROUP, "group_ids", "groups"),
    ApiKey.STREAMS_GROUP_DESCRIBE: CoordinatedRows(GROUP, "group_ids", "groups"),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: CoordinatedRows(GROUP, "groups", "groups"),
    ApiKey.DESCRIBE_TRANSACTIONS: CoordinatedRows(
        TRANSACTION, "transactional_ids", "transaction_states"
    ),
}
"""Requests for the coordinators of several keys."""

LISTS_OF_BROKERS: dict[int, CoordinatedRows] = {
    ApiKey.LIST_GROUPS: CoordinatedRows(GROUP, "", "groups"),
    ApiKey.LIST_TRANSACTIONS: CoordinatedRows(TRANSACTION, "", "transaction_states"),
}
"""Requests to which each broker returns what it coordinates."""

_GROUP_APIS = frozenset(
    {
        ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT, ApiKey.LEAVE_GROUP,
        ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH, ApiKey.OFFSET_DELETE, ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    }
)  # fmt: skip
_TRANSACTION_APIS = frozenset(
    {
        ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.END_TXN,
    }
)  # fmt: skip
ROUTED_APIS = frozenset(
    {*LEADER_APIS, *COORDINATED_LISTS, *LISTS_OF_BROKERS, *_GROUP_APIS, *_TRANSACTION_APIS}
)
"""Requests that not every broker can respond to."""


def coordinator_key(api_key: int, message: Any) -> tuple[int, str] | None:
    """Return type and key of the one coordinator of a request; None if it is for no single one."""
    if api_key in _GROUP_APIS and message.group_id:
        return GROUP, message.group_id
    if api_key in _TRANSACTION_APIS:
        name = getattr(message, "transactional_id", None) or getattr(
            message, "v3_and_below_transactional_id", None
        )
        return (TRANSACTION, name) if name else None
    return None


def request_partitions(api_key: int, message: Any) -> Iterator[tuple[TopicKey, int, Any]]:
    """Yield topic, number and row of the partitions in a request."""
    fields = LEADER_APIS[api_key]
    for topic in getattr(message, fields.topics):
        for row in getattr(topic, fields.partitions):
            yield topic_key(topic), partition_index(row), row


def coordinated_keys(api_key: int, message: Any) -> Iterator[tuple[int, str]]:
    """Yield type and key of each coordinator that a request for several keys is for."""
    fields = COORDINATED_LISTS[api_key]
    for row in getattr(message, fields.keys):
        yield fields.key_type, _coordinated_name(row)


def select_partitions(api_key: int, message: Any, keys: Container[object]) -> Any:
    """Return a request with these partitions only, each a topic and a number."""
    fields = LEADER_APIS[api_key]
    topics = []
    for topic in getattr(message, fields.topics):
        rows = [
            row
            for row in getattr(topic, fields.partitions)
            if (topic_key(topic), partition_index(row)) in keys
        ]
        if rows:
            topics.append(msgspec.structs.replace(topic, **{fields.partitions: rows}))
    return msgspec.structs.replace(message, **{fields.topics: topics})


def select_keys(api_key: int, message: Any, keys: Container[object]) -> Any:
    """Return a request with these groups or transactions only, each a type and a name."""
    fields = COORDINATED_LISTS[api_key]
    rows = [
        row
        for row in getattr(message, fields.keys)
        if (fields.key_type, _coordinated_name(row)) in keys
    ]
    return msgspec.structs.replace(message, **{fields.keys: rows})


def merge_responses(api_key: int, responses: Sequence[Any]) -> Any:
    """Return one response with the rows of all; a later row replaces one with the same key."""
    first, *others = responses
    if not others:
        return first
    merged = msgspec.structs.replace(first)
    if hasattr(merged, "error_code"):
        merged.error_code = next((each.error_code for each in responses if each.error_code), 0)
    if api_key in LEADER_APIS:
        _merge_partitions(LEADER_APIS[api_key], merged, responses)
    else:
        fields = COORDINATED_LISTS.get(api_key) or LISTS_OF_BROKERS[api_key]
        rows = {
            _coordinated_name(row): row
            for response in responses
            for row in getattr(response, fields.response_rows)
        }
        setattr(merged, fields.response_rows, list(rows.values()))
    return merged


def _merge_partitions(fields: PartitionRows, merged: Any, responses: Sequence[Any]) -> None:
    topics: dict[TopicKey, Any] = {}
    rows_by_topic: dict[TopicKey, dict[int, Any]] = {}
    for response in responses:
        for topic in getattr(response, fields.response_topics):
            key = topic_key(topic)
            topics.setdefault(key, topic)
            rows = rows_by_topic.setdefault(key, {})
            rows |= {
                partition_index(row): row for row in getattr(topic, fields.response_partitions)
            }
    merged_topics = [
        msgspec.structs.replace(
            topic, **{fields.response_partitions: list(rows_by_topic[key].values())}
        )
        for key, topic in topics.items()
    ]
    setattr(merged, fields.response_topics, merged_topics)


def response_partitions(api_key: int, response: Any) -> Iterator[tuple[TopicKey, int, Any]]:
    """Yield topic, number and row of the partitions in a response."""
    fields = LEADER_APIS[api_key]
    for topic in getattr(response, fields.response_topics):
        for row in getattr(topic, fields.response_partitions):
            yield topic_key(topic), partition_index(row), row


def coordinated_rows(api_key: int, response: Any) -> Iterator[tuple[tuple[int, str], Any]]:
    """Yield the coordinator's key and the row of the groups or transactions in a response."""
    fields = COORDINATED_LISTS.get(api_key) or LISTS_OF_BROKERS[api_key]
    for row in getattr(response, fields.response_rows):
        yield (fields.key_type, _coordinated_name(row)), row


def topic_key(topic: Any) -> TopicKey:
    """Return the name of a topic's row, or its id if the version has no names."""
    name: str = getattr(topic, "name", "") or getattr(topic, "topic", "")
    topic_id: bytes = getattr(topic, "topic_id", b"")
    return name or topic_id


def partition_index(row: Any) -> int:
    """Return the number of a partition's row."""
    if isinstance(row, int):
        return row
    for name in ("index", "partition", "partition_index"):
        if hasattr(row, name):
            return int(getattr(row, name))
    raise AttributeError(f"{type(row).__name__} has no number of a partition")


def _coordinated_name(row: Any) -> str:
    if isinstance(row, str):
        return row
    return str(getattr(row, "group_id", "") or getattr(row, "transactional_id", ""))
