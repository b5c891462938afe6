"""The target's counterparts of recorded ids and offsets, learned from pairs of responses."""

from typing import Any, NamedTuple

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.trace_format.entries import decode_request
from kafka_shim.traces.identities.id_mapping import GroupLeaderSwaps, IdMapping
from kafka_shim.traces.replay.events import ConnectionId, Event
from kafka_shim.traces.replay.offset_mapping import OffsetMapping


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
        self.leaders = GroupLeaderSwaps(self.ids)
        self.offsets = OffsetMapping()
        self.leader_epochs_differ = False
        """Whether leaders of the target have other epochs: requests go out without any."""
        self._equal_pairs: dict[
            tuple[ConnectionId, int, int], tuple[int, RequestWithBothResponses]
        ] = {}

    def is_known_to_be_equal(self, pair: RequestWithBothResponses) -> bool:
        """Return whether the pair is known to be equal and to teach nothing new."""
        return self._equal_pairs.get(pair[:3]) == (self.change_count, pair)

    def remember_as_equal(self, pair: RequestWithBothResponses) -> None:
        """Remember an equal pair, which need not be decoded again until something else changes."""
        self._equal_pairs[pair[:3]] = self.change_count, pair

    @property
    def change_count(self) -> int:
        """Return how often something new was learned."""
        return self.ids.change_count + self.offsets.change_count

    @property
    def requests_need_rewriting(self) -> bool:
        """Return whether any id or offset of the target is another one."""
        return (
            self.ids.differs_from_recording
            or self.offsets.differs_from_recording
            or self.leader_epochs_differ
        )

    def learn(self, event: Event, request: bytes, recorded: Any, actual: Any) -> bool:
        """Learn ids and offsets; return whether another member leads the group."""
        header, message = decode_request(request)
        if header.api_key == ApiKey.METADATA:
            self.offsets.learn_topic_names(recorded)
            self.leader_epochs_differ |= _leader_epochs(recorded) != _leader_epochs(actual)
        elif header.api_key in (ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FETCH):
            self.offsets.learn(recorded, actual, self.ids.corresponding_ids)
        if header.api_key != ApiKey.JOIN_GROUP or message is None:
            self.ids.learn(event.connection_id, message, recorded, actual)
            return False
        if self.leaders.has_swapped_members(message.group_id, recorded.generation_id):
            return True
        self.ids.learn(event.connection_id, message, recorded, actual)
        return self.leaders.swap_leaders(message, recorded, actual)

    def learn_written(self, request: bytes, recorded: Any, actual: Any) -> None:
        """Learn the offsets of the records in a recorded Produce request."""
        message = decode_request(request)[1]
        if message is not None:
            self.offsets.learn_written(message, recorded, actual, self.ids.corresponding_ids)

    def note_unconfirmed(self, request: bytes) -> None:
        """Note where a recorded Produce request writes that gets no response."""
        message = decode_request(request)[1]
        if message is not None:
            self.offsets.note_unconfirmed(message)

    def request_with_target_values(
        self, connection_id: ConnectionId, header: RequestHeader, frame: bytes, at: int
    ) -> bytes:
        """Return a recorded request with the target's ids and offsets.

        It is unchanged if it cannot be decoded; the target's response to it is still compared.
        """
        try:
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
            # first the offsets, while the message still has recorded topic ids
            is_changed = self.offsets.put_target_offsets(message)
            is_changed |= self.leader_epochs_differ and remove_leader_epochs(message)
            is_changed |= self.ids.put_target_ids(connection_id, message)
            if not is_changed:
                return frame
            return write_request_header(header) + codecs.write_request(message, header.api_version)
        except ProtocolError:
            return frame


def _leader_epochs(metadata: Any) -> set[int]:
    return {row.leader_epoch for topic in metadata.topics for row in topic.partitions}


def remove_leader_epochs(request: Any) -> bool:
    """Remove the epochs of the recorded leaders, which the target's do not have; in place."""
    changed = False
    for topic in getattr(request, "topics", None) or ():
        for row in getattr(topic, "partitions", ()):
            for name in ("current_leader_epoch", "last_fetched_epoch"):
                if getattr(row, name, -1) >= 0:
                    setattr(row, name, -1)
                    changed = True
    return changed
