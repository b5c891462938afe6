"""The target's counterparts of recorded ids and offsets, and its brokers' addresses."""

from typing import Any, NamedTuple

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header, write_request_header
from kafka_shim.shim.traffic.proxy.addresses import advertised, has_addresses
from kafka_shim.shim.traffic.replay.events import Event, Line
from kafka_shim.shim.traffic.replay.ids import Ids
from kafka_shim.shim.traffic.replay.leaders import Leaders
from kafka_shim.shim.traffic.replay.offsets import TEACHES_OFFSETS, Offsets


class Pair(NamedTuple):
    """A request and its two responses, as bytes without the correlation ids."""

    line: Line
    api_key: int
    api_version: int
    request: bytes
    recorded: bytes
    actual: bytes


class Counterparts:
    """Learns from pairs of responses, recorded and actual, to the same request."""

    def __init__(self) -> None:
        self.ids = Ids()
        self._leaders = Leaders(self.ids)
        self.offsets = Offsets()
        self._nodes: dict[tuple[str, int], tuple[str, int]] = {}
        self._moves = 0
        self._alike: dict[tuple[Line, int, int], tuple[int, Pair]] = {}

    def knows(self, pair: Pair) -> bool:
        """Return whether the pair is known to be equal and to teach nothing new."""
        return self._alike.get(pair[:3]) == (self._changes, pair)

    def remember(self, pair: Pair) -> None:
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
        header, message = _readable(request)
        if has_addresses(header.api_key):
            for node_id, host, port in advertised(header.api_key, actual):
                known = self._nodes.get((event.listener, node_id))
                self._moves += known != (host, port)
                self._nodes[event.listener, node_id] = host, port
        if header.api_key == ApiKey.METADATA:
            self.offsets.name_topics(recorded)
        elif header.api_key in TEACHES_OFFSETS:
            self.offsets.learn(recorded, actual)
        if header.api_key != ApiKey.JOIN_GROUP or message is None:
            self.ids.learn(event.line, message, recorded, actual)
            return False
        if self._leaders.has_changed(message.group_id, recorded.generation_id):
            return True
        self.ids.learn(event.line, message, recorded, actual)
        return self._leaders.learn(message, recorded, actual)

    def address(self, event: Event) -> tuple[str, int] | None:
        """Return the address that the target advertises for the broker of this connection."""
        return self._nodes.get((event.listener, event.node_id))

    def rewritten(self, line: Line, header: RequestHeader, frame: bytes, at: int) -> bytes:
        """Return a recorded request with the target's ids and offsets.

        It is unchanged if it cannot be decoded; the target's response to it is still compared.
        """
        try:
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
            with_offsets = self.offsets.rewrite(
                message
            )  # while the message still has recorded topic ids
            if not self.ids.rewrite(line, message) and not with_offsets:
                return frame
            return write_request_header(header) + codecs.write_request(message, header.api_version)
        except ProtocolError:
            return frame


def _readable(frame: bytes) -> tuple[RequestHeader, Any]:
    """Return a decoded recorded request; None if it cannot be decoded."""
    header, at = read_request_header(frame)
    try:
        return header, codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return header, None
