"""What responses show to exist: topics, groups, transactional ids, topics with a group's offsets.

These are the rows of the table `sightings`. A thing certainly existed from the first response that
shows it to the last request whose response shows it, unless it was deleted in between. Topics with
ids show that by their ids, which are never reused; for everything else, no request in the trace
deletes it. Responses to CreateTopics are not used: they come from the controller, and
brokers learn about the topic later.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from kafka_shim.pipeline.rows.columns import (
    ColumnBuilder,
    SplitState,
    connections_by_number,
)
from kafka_shim.pipeline.rows.existence import (
    CONSUMER_GROUP,
    CONSUMER_TYPES,
    GROUP,
    OFFSETS,
    TOPIC,
    TRANSACTION,
    ObservedEntity,
    broker_of_connection,
)
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.responses import error_codes_by_name
from kafka_shim.trace_format.entries import DERIVED, Request, Response, decode_response_entry
from kafka_shim.trace_format.segments import Block

_IN_USE: Final = (0, 5)
"""Errors of a topic that exists: none, and that it has no leader yet."""
_NO_ID: Final = bytes(16)
_CONSUMING: Final = (GROUP, CONSUMER_GROUP)


def add_entity_rows(
    columns: ColumnBuilder, block: Block, _: Selection, pending: SplitState
) -> None:
    """Add a row for each thing that a response shows, and for each that a request deletes."""
    who = connections_by_number(block)
    for entry in block.body.entries:
        connection, connection_values = who.get(entry.connection, (None, {}))
        if connection is None or connection.access_source != DERIVED:
            continue
        key = (connection.writer_connection, entry.sequence)
        if isinstance(entry, Request):
            in_request = _entities_in_request(entry)
            if in_request is None:
                continue
            first = last = entry.time_us
            pending.named_entities[key] = entry.time_us, in_request.named
            found = in_request.to_delete
        elif isinstance(entry, Response) and key in pending.named_entities:
            first, (last, named) = entry.time_us, pending.named_entities.pop(key)
            found = list(_entities_in_response(entry, named))
        else:
            continue
        for sighting in found:
            columns.add_row(
                {
                    "broker": broker_of_connection(connection),
                    **sighting._asdict(),
                    "is_end": isinstance(entry, Request),
                    "requests": 1,
                    "first_seen": first,
                    "last_seen": last,
                },
                connection_values,
            )


class _RequestEntities(NamedTuple):
    to_delete: list[ObservedEntity]
    named: list[ObservedEntity]
    """Those that exist if the response has no error."""


def _entities_in_request(entry: Request) -> _RequestEntities | None:
    """Return what a request deletes and names.

    The result is None if neither the request nor its response shows what exists, or if the request
    cannot be read.
    """
    api = int.from_bytes(entry.frame[:2], "big", signed=True)
    entities = _RequestEntities([], [])
    if not (api in _SHOWN or api in _NAMED or api in _ENDED):
        return None
    try:
        header, at = read_request_header(entry.frame)
        if not (api in _NAMED or api in _ENDED):
            return entities
        message = codecs.read_request(header.api_key, header.api_version, entry.frame, at)
    except ProtocolError:
        return None
    if api in _ENDED:
        entities.to_delete.extend(_ENDED[ApiKey(api)](message))
    if api in _NAMED:
        kinds, field = _NAMED[ApiKey(api)]
        name = getattr(message, field)
        entities.named.extend(ObservedEntity(kind, name) for kind in kinds if name)
    return entities


def _entities_in_response(entry: Response, named: list[ObservedEntity]) -> Iterator[ObservedEntity]:
    response = decode_response_entry(entry)
    if response is None:
        return
    if entry.api_key in _SHOWN:
        yield from dict.fromkeys(_SHOWN[ApiKey(entry.api_key)](response))
    elif _has_no_error_anywhere(response):
        yield from named


def _has_no_error_anywhere(response: Any) -> bool:
    """Return whether the response has no error, so that the request's names exist."""
    return not set().union(*error_codes_by_name(response).values())


def _existing_topics(response: Any) -> Iterator[ObservedEntity]:
    for topic in response.topics:
        if topic.name and topic.topic_id != _NO_ID and topic.error_code in _IN_USE:
            yield ObservedEntity(TOPIC, topic.name, topic_id=bytes(topic.topic_id).hex())


def _topics_without_error(response: Any) -> Iterator[ObservedEntity]:
    """Yield topics without an error, by name or id, depending on the version."""
    for key, codes in error_codes_by_name(response).items():
        if isinstance(key, bytes) and not codes:
            yield ObservedEntity(TOPIC, "", topic_id=key.hex())
        elif key is not None and not codes:
            yield ObservedEntity(TOPIC, str(key))


def _existing_groups(response: Any) -> Iterator[ObservedEntity]:
    for group in response.groups:
        if not getattr(group, "error_code", 0) and getattr(group, "group_state", "") != "Dead":
            yield ObservedEntity(GROUP, group.group_id)
            if getattr(group, "group_type", "").lower() in CONSUMER_TYPES:
                yield ObservedEntity(CONSUMER_GROUP, group.group_id)


def _existing_transactions(response: Any) -> Iterator[ObservedEntity]:
    for state in response.transaction_states:
        if not getattr(state, "error_code", 0):
            yield ObservedEntity(TRANSACTION, state.transactional_id)


def _existing_offsets(response: Any) -> Iterator[ObservedEntity]:
    for group in response.groups:
        for topic in group.topics:
            if topic.name and any(part.committed_offset >= 0 for part in topic.partitions):
                yield ObservedEntity(OFFSETS, topic.name, owner=group.group_id)


def _deleted_topics(response: Any) -> Iterator[ObservedEntity]:
    for topic in response.responses:
        if topic.name and topic.topic_id != _NO_ID and not topic.error_code:
            yield ObservedEntity(TOPIC, topic.name, topic_id=bytes(topic.topic_id).hex())


def _deleted_groups(response: Any) -> Iterator[ObservedEntity]:
    for result in response.results:
        if not result.error_code:
            yield ObservedEntity(GROUP, result.group_id)


_SHOWN: Final[dict[int, Callable[[Any], Iterator[ObservedEntity]]]] = {
    ApiKey.PRODUCE: _topics_without_error,
    ApiKey.FETCH: _topics_without_error,
    ApiKey.LIST_OFFSETS: _topics_without_error,
    ApiKey.METADATA: _existing_topics,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: _existing_topics,
    ApiKey.DELETE_TOPICS: _deleted_topics,
    ApiKey.LIST_GROUPS: _existing_groups,
    ApiKey.DESCRIBE_GROUPS: _existing_groups,
    ApiKey.CONSUMER_GROUP_DESCRIBE: _existing_groups,
    ApiKey.DELETE_GROUPS: _deleted_groups,
    ApiKey.LIST_TRANSACTIONS: _existing_transactions,
    ApiKey.DESCRIBE_TRANSACTIONS: _existing_transactions,
    ApiKey.OFFSET_FETCH: _existing_offsets,
}
"""APIs whose responses name what is there, or was until it was deleted."""
_NAMED: Final = {
    ApiKey.JOIN_GROUP: (_CONSUMING, "group_id"),
    ApiKey.SYNC_GROUP: (_CONSUMING, "group_id"),
    ApiKey.HEARTBEAT: (_CONSUMING, "group_id"),
    ApiKey.OFFSET_COMMIT: (_CONSUMING, "group_id"),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: (_CONSUMING, "group_id"),
    ApiKey.SHARE_GROUP_HEARTBEAT: ((GROUP,), "group_id"),
    ApiKey.STREAMS_GROUP_HEARTBEAT: ((GROUP,), "group_id"),
    ApiKey.INIT_PRODUCER_ID: ((TRANSACTION,), "transactional_id"),
    ApiKey.ADD_OFFSETS_TO_TXN: ((TRANSACTION,), "transactional_id"),
    ApiKey.END_TXN: ((TRANSACTION,), "transactional_id"),
}
"""APIs whose requests name it: it is there if they succeed."""


def _topics_to_delete(message: Any) -> Iterator[ObservedEntity]:
    for topic in message.topics:
        yield ObservedEntity(TOPIC, topic.name or "", topic_id=bytes(topic.topic_id).hex())
    yield from (ObservedEntity(TOPIC, name) for name in message.topic_names)


def _deleted_entities(message: Any) -> Iterator[ObservedEntity]:
    for group in message.groups_names:
        yield from (ObservedEntity(kind, group) for kind in _CONSUMING)
        yield ObservedEntity(OFFSETS, "", owner=group)


def _all_offsets_of_group_to_delete(message: Any) -> Iterator[ObservedEntity]:
    yield ObservedEntity(OFFSETS, "", owner=message.group_id)


_ENDED: Final[dict[ApiKey, Callable[[Any], Iterator[ObservedEntity]]]] = {
    ApiKey.DELETE_TOPICS: _topics_to_delete,
    ApiKey.DELETE_GROUPS: _deleted_entities,
    ApiKey.OFFSET_DELETE: _all_offsets_of_group_to_delete,
}
"""What requests delete, whether or not they may."""
