"""The target's counterparts of recorded ids and offsets, and its brokers' addresses."""

from bisect import bisect_right, insort
from collections.abc import Iterator
from typing import Any, NamedTuple

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header, write_request_header
from kafka_shim.traces.identities.id_mapping import GroupLeaderExchanges, IdMapping
from kafka_shim.traces.identities.message_fields import paired_rows
from kafka_shim.traces.proxy.response_addresses import (
    advertised_brokers,
    response_contains_broker_addresses,
)
from kafka_shim.traces.replay.events import ConnectionId, Event

RESPONSES_WITH_OFFSETS = frozenset({ApiKey.PRODUCE, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FETCH})
"""Responses that offsets are learned from."""

REQUESTS_WITH_OFFSETS = frozenset(
    {ApiKey.FETCH, ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT, ApiKey.DELETE_RECORDS}
)
"""Requests that offsets are put into."""

OFFSET_FIELDS_IN_RESPONSES = ("base_offset", "offset", "committed_offset")
OFFSET_FIELDS_IN_REQUESTS = ("fetch_offset", "committed_offset", "offset")
_TOPIC_NAME_FIELDS = ("name", "topic", "topic_name")
_PARTITION_FIELDS = ("partition_index", "partition", "index")

_TopicNameOrId = str | bytes
_TopicPartition = tuple[_TopicNameOrId, int]


class OffsetMapping:
    """Maps recorded offsets of a partition to the target's, learned from pairs of responses."""

    def __init__(self) -> None:
        self._offset_pairs: dict[_TopicPartition, list[tuple[int, int]]] = {}
        self._topic_names: dict[bytes, str] = {}
        self.change_count = 0
        """How often something new was learned."""
        self.differs_from_recording = False

    def learn_topic_names(self, metadata: Any) -> None:
        """Learn the names of topic ids from recorded metadata."""
        for topic in metadata.topics:
            self._topic_key(topic)

    def learn(self, recorded: Any, actual: Any) -> None:
        """Learn the offsets from two responses to the same request."""
        spec = load_message_spec(type(recorded).__name__).top_level_struct
        for topic_partition, recorded_row, actual_row in self._partition_rows(
            spec, recorded, actual, ""
        ):
            for name in OFFSET_FIELDS_IN_RESPONSES:
                recorded_value, actual_value = (
                    getattr(recorded_row, name, -1),
                    getattr(actual_row, name, -1),
                )
                if recorded_value >= 0 and actual_value >= 0:
                    self._learn_offset(topic_partition, recorded_value, actual_value)

    def put_target_offsets(self, request: Any) -> bool:
        """Put the target's offsets into a request, in place; return whether anything changed."""
        changed = False
        spec = load_message_spec(type(request).__name__).top_level_struct
        for topic_partition, row, _ in self._partition_rows(spec, request, request, ""):
            for name in OFFSET_FIELDS_IN_REQUESTS:
                recorded_value = getattr(row, name, -1)
                actual_value = (
                    self._target_offset_by_nearest_known_pair(topic_partition, recorded_value)
                    if recorded_value >= 0
                    else recorded_value
                )
                if actual_value != recorded_value:
                    setattr(row, name, actual_value)
                    changed = True
        return changed

    def _learn_offset(
        self, topic_partition: _TopicPartition, recorded_value: int, actual_value: int
    ) -> None:
        offset_pairs = self._offset_pairs.setdefault(topic_partition, [])
        if not offset_pairs or offset_pairs[
            bisect_right(offset_pairs, (recorded_value, actual_value)) - 1
        ] != (recorded_value, actual_value):
            insort(offset_pairs, (recorded_value, actual_value))
            self.change_count += 1
            if offset_pairs[-1] == (
                recorded_value,
                actual_value,
            ) and three_pairs_have_same_distance(offset_pairs[-3:]):
                del offset_pairs[-2]  # the ends of a range determine all of it
        self.differs_from_recording |= recorded_value != actual_value

    def _target_offset_by_nearest_known_pair(
        self, topic_partition: _TopicPartition, recorded_value: int
    ) -> int:
        offset_pairs = self._offset_pairs.get(topic_partition)
        if not offset_pairs:
            return recorded_value
        nearest = offset_pairs[
            max(0, bisect_right(offset_pairs, recorded_value, key=lambda pair: pair[0]) - 1)
        ]
        return max(0, recorded_value + nearest[1] - nearest[0])

    def _partition_rows(
        self, spec: StructSpec, recorded_row: Any, actual_row: Any, topic: _TopicNameOrId
    ) -> Iterator[tuple[_TopicPartition, Any, Any]]:
        """Yield the partitions in both messages, each with its topic and number."""
        topic = self._topic_key(recorded_row) or topic
        number = next(
            (
                getattr(recorded_row, name)
                for name in _PARTITION_FIELDS
                if hasattr(recorded_row, name)
            ),
            None,
        )
        if topic and isinstance(number, int):
            yield (topic, number), recorded_row, actual_row
        for field in spec.fields:
            if field.struct is None:
                continue
            recorded_rows, actual_rows = (
                getattr(recorded_row, field.attribute),
                getattr(actual_row, field.attribute),
            )
            if field.is_array and recorded_rows is not None and actual_rows is not None:
                for recorded_value, actual_value in paired_rows(recorded_rows, actual_rows):
                    if recorded_value is not None and actual_value is not None:
                        yield from self._partition_rows(
                            field.struct, recorded_value, actual_value, topic
                        )

    def _topic_key(self, row: Any) -> _TopicNameOrId:
        """Return a topic's name, or its id while the name is unknown; learn the name of the id."""
        name = next(
            (getattr(row, name) for name in _TOPIC_NAME_FIELDS if getattr(row, name, None)), ""
        )
        topic_id = getattr(row, "topic_id", b"")
        if name and topic_id:
            self.change_count += self._topic_names.get(topic_id) != name
            self._topic_names[topic_id] = name
        return name or self._topic_names.get(topic_id, topic_id)


def three_pairs_have_same_distance(offset_pairs: list[tuple[int, int]]) -> bool:
    """Return whether these are three offsets with the same distance to their counterparts."""
    return (
        len(offset_pairs) == 3
        and len({actual_value - recorded_value for recorded_value, actual_value in offset_pairs})
        == 1
    )


class RequestWithBothResponses(NamedTuple):
    """A request and its two responses, as bytes without the correlation ids."""

    connection_id: ConnectionId
    api_key: int
    api_version: int
    request: bytes
    recorded_response: bytes
    target_response: bytes


class RecordedToTargetMapping:
    """Learns from pairs of responses, recorded and actual, to the same request."""

    def __init__(self) -> None:
        self.ids = IdMapping()
        self._leaders = GroupLeaderExchanges(self.ids)
        self.offsets = OffsetMapping()
        self._broker_addresses: dict[tuple[str, int], tuple[str, int]] = {}
        self._address_changes = 0
        self._equal_pairs: dict[
            tuple[ConnectionId, int, int], tuple[int, RequestWithBothResponses]
        ] = {}

    def is_known_to_be_equal(self, pair: RequestWithBothResponses) -> bool:
        """Return whether the pair is known to be equal and to teach nothing new."""
        return self._equal_pairs.get(pair[:3]) == (self._total_change_count, pair)

    def remember_as_equal(self, pair: RequestWithBothResponses) -> None:
        """Remember an equal pair, which need not be decoded again until something else changes."""
        self._equal_pairs[pair[:3]] = self._total_change_count, pair

    @property
    def _total_change_count(self) -> int:
        return self.ids.change_count + self.offsets.change_count + self._address_changes

    @property
    def requests_need_rewriting(self) -> bool:
        """Return whether any id or offset of the target is another one."""
        return self.ids.differs_from_recording or self.offsets.differs_from_recording

    def learn(self, event: Event, request: bytes, recorded: Any, actual: Any) -> bool:
        """Learn ids, offsets and addresses; return whether another member leads the group."""
        header, message = _header_and_request_or_none(request)
        if response_contains_broker_addresses(header.api_key):
            for node_id, host, port in advertised_brokers(header.api_key, actual):
                known_address = self._broker_addresses.get((event.listener, node_id))
                self._address_changes += known_address != (host, port)
                self._broker_addresses[event.listener, node_id] = host, port
        if header.api_key == ApiKey.METADATA:
            self.offsets.learn_topic_names(recorded)
        elif header.api_key in RESPONSES_WITH_OFFSETS:
            self.offsets.learn(recorded, actual)
        if header.api_key != ApiKey.JOIN_GROUP or message is None:
            self.ids.learn(event.connection_id, message, recorded, actual)
            return False
        if self._leaders.has_exchanged_members(message.group_id, recorded.generation_id):
            return True
        self.ids.learn(event.connection_id, message, recorded, actual)
        return self._leaders.exchange_leaders(message, recorded, actual)

    def target_address_advertised_for(self, event: Event) -> tuple[str, int] | None:
        """Return the address that the target advertises for the broker of this connection."""
        return self._broker_addresses.get((event.listener, event.node_id))

    def request_with_target_values(
        self, connection_id: ConnectionId, header: RequestHeader, frame: bytes, at: int
    ) -> bytes:
        """Return a recorded request with the target's ids and offsets.

        It is unchanged if it cannot be decoded; the target's response to it is still compared.
        """
        try:
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
            # first the offsets, while the message still has recorded topic ids
            has_new_offsets = self.offsets.put_target_offsets(message)
            if not self.ids.put_target_ids(connection_id, message) and not has_new_offsets:
                return frame
            return write_request_header(header) + codecs.write_request(message, header.api_version)
        except ProtocolError:
            return frame


def _header_and_request_or_none(frame: bytes) -> tuple[RequestHeader, Any]:
    """Return a decoded request; its message is None if it cannot be decoded."""
    header, at = read_request_header(frame)
    try:
        return header, codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return header, None
