"""The target's counterparts of recorded ids and offsets, and its brokers' addresses."""

from bisect import bisect_right, insort
from collections.abc import Iterator
from typing import Any, NamedTuple

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header, write_request_header
from kafka_shim.shim.traffic.proxy.addresses import advertised, has_addresses
from kafka_shim.shim.traffic.replay.events import ConnectionId, Event
from kafka_shim.shim.traffic.replay.fields import pairs
from kafka_shim.shim.traffic.replay.ids import Ids, LeaderExchanges

RESPONSES_WITH_OFFSETS = frozenset({ApiKey.PRODUCE, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FETCH})
"""Answers that offsets are learned from."""

REQUESTS_WITH_OFFSETS = frozenset(
    {ApiKey.FETCH, ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT, ApiKey.DELETE_RECORDS}
)
"""Requests that offsets are put into."""

OFFSET_FIELDS_IN_RESPONSES = ("base_offset", "offset", "committed_offset")
OFFSET_FIELDS_IN_REQUESTS = ("fetch_offset", "committed_offset", "offset")
_NAMES = ("name", "topic", "topic_name")
_PARTITIONS = ("partition_index", "partition", "index")

_Topic = str | bytes
_Place = tuple[_Topic, int]


class Offsets:
    """The offsets learned so far in a replay."""

    def __init__(self) -> None:
        self._known: dict[_Place, list[tuple[int, int]]] = {}
        self._names: dict[bytes, str] = {}
        self.changes = 0
        """How often something new was learned."""
        self.differ = False

    def name_topics(self, metadata: Any) -> None:
        """Learn the names of topic ids from recorded metadata."""
        for topic in metadata.topics:
            self._topic(topic)

    def learn(self, recorded: Any, actual: Any) -> None:
        """Learn the offsets from two responses to the same request."""
        spec = load_message_spec(type(recorded).__name__).struct
        for place, old_row, new_row in self._rows(spec, recorded, actual, ""):
            for name in OFFSET_FIELDS_IN_RESPONSES:
                old, new = getattr(old_row, name, -1), getattr(new_row, name, -1)
                if old >= 0 and new >= 0:
                    self._note(place, old, new)

    def rewrite(self, request: Any) -> bool:
        """Put the target's offsets into a request, in place; return whether anything changed."""
        changed = False
        spec = load_message_spec(type(request).__name__).struct
        for place, row, _ in self._rows(spec, request, request, ""):
            for name in OFFSET_FIELDS_IN_REQUESTS:
                old = getattr(row, name, -1)
                new = self._actual(place, old) if old >= 0 else old
                if new != old:
                    setattr(row, name, new)
                    changed = True
        return changed

    def _note(self, place: _Place, old: int, new: int) -> None:
        known = self._known.setdefault(place, [])
        if not known or known[bisect_right(known, (old, new)) - 1] != (old, new):
            insort(known, (old, new))
            self.changes += 1
            if known[-1] == (old, new) and are_consecutive(known[-3:]):
                del known[-2]  # the ends of a range determine all of it
        self.differ |= old != new

    def _actual(self, place: _Place, old: int) -> int:
        known = self._known.get(place)
        if not known:
            return old
        nearest = known[max(0, bisect_right(known, old, key=lambda pair: pair[0]) - 1)]
        return max(0, old + nearest[1] - nearest[0])

    def _rows(
        self, spec: StructSpec, old_row: Any, new_row: Any, topic: _Topic
    ) -> Iterator[tuple[_Place, Any, Any]]:
        """Yield the partitions in both messages, each with its topic and number."""
        topic = self._topic(old_row) or topic
        number = next(
            (getattr(old_row, name) for name in _PARTITIONS if hasattr(old_row, name)), None
        )
        if topic and isinstance(number, int):
            yield (topic, number), old_row, new_row
        for field in spec.fields:
            if field.struct is None:
                continue
            olds, news = getattr(old_row, field.attribute), getattr(new_row, field.attribute)
            if field.is_array and olds is not None and news is not None:
                for old, new in pairs(olds, news):
                    if old is not None and new is not None:
                        yield from self._rows(field.struct, old, new, topic)

    def _topic(self, row: Any) -> _Topic:
        """Return a topic's name, or its id while the name is unknown."""
        name = next((getattr(row, name) for name in _NAMES if getattr(row, name, None)), "")
        topic_id = getattr(row, "topic_id", b"")
        if name and topic_id:
            self.changes += self._names.get(topic_id) != name
            self._names[topic_id] = name
        return name or self._names.get(topic_id, topic_id)


def are_consecutive(known: list[tuple[int, int]]) -> bool:
    """Return whether three consecutive offsets have the same distance to their counterparts."""
    return len(known) == 3 and len({new - old for old, new in known}) == 1


class Pair(NamedTuple):
    """A request and its two responses, as bytes without the correlation ids."""

    connection_id: ConnectionId
    api_key: int
    api_version: int
    request: bytes
    recorded: bytes
    actual: bytes


class Counterparts:
    """Learns from pairs of responses, recorded and actual, to the same request."""

    def __init__(self) -> None:
        self.ids = Ids()
        self._leaders = LeaderExchanges(self.ids)
        self.offsets = Offsets()
        self._nodes: dict[tuple[str, int], tuple[str, int]] = {}
        self._moves = 0
        self._alike: dict[tuple[ConnectionId, int, int], tuple[int, Pair]] = {}

    def knows(self, pair: Pair) -> bool:
        """Return whether the pair is known to be equal and to teach nothing new."""
        return self._alike.get(pair[:3]) == (self._changes, pair)

    def note_equal(self, pair: Pair) -> None:
        """Remember an equal pair, which need not be decoded again until something else changes."""
        self._alike[pair[:3]] = self._changes, pair

    @property
    def _changes(self) -> int:
        return self.ids.changes + self.offsets.changes + self._moves

    @property
    def differs(self) -> bool:
        """Whether requests must be rewritten."""
        return self.ids.differ or self.offsets.differ

    def learn(self, event: Event, request: bytes, recorded: Any, actual: Any) -> bool:
        """Learn from two responses; return whether another member leads the group."""
        header, message = _decoded_request(request)
        if has_addresses(header.api_key):
            for node_id, host, port in advertised(header.api_key, actual):
                known = self._nodes.get((event.listener, node_id))
                self._moves += known != (host, port)
                self._nodes[event.listener, node_id] = host, port
        if header.api_key == ApiKey.METADATA:
            self.offsets.name_topics(recorded)
        elif header.api_key in RESPONSES_WITH_OFFSETS:
            self.offsets.learn(recorded, actual)
        if header.api_key != ApiKey.JOIN_GROUP or message is None:
            self.ids.learn(event.connection_id, message, recorded, actual)
            return False
        if self._leaders.has_exchanged_members(message.group_id, recorded.generation_id):
            return True
        self.ids.learn(event.connection_id, message, recorded, actual)
        return self._leaders.learn(message, recorded, actual)

    def address(self, event: Event) -> tuple[str, int] | None:
        """Return the address that the target advertises for the broker of this connection."""
        return self._nodes.get((event.listener, event.node_id))

    def rewritten(
        self, connection_id: ConnectionId, header: RequestHeader, frame: bytes, at: int
    ) -> bytes:
        """Return a recorded request with the target's ids and offsets.

        It is unchanged if it cannot be decoded; the target's response to it is still compared.
        """
        try:
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
            with_offsets = self.offsets.rewrite(
                message
            )  # while the message still has recorded topic ids
            if not self.ids.rewrite(connection_id, message) and not with_offsets:
                return frame
            return write_request_header(header) + codecs.write_request(message, header.api_version)
        except ProtocolError:
            return frame


def _decoded_request(frame: bytes) -> tuple[RequestHeader, Any]:
    """Return a decoded recorded request; None if it cannot be decoded."""
    header, at = read_request_header(frame)
    try:
        return header, codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return header, None
