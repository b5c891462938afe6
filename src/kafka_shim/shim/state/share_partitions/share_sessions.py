"""Share sessions, by group and member (KIP-932).

As in fetch sessions (KIP-227), a request lists only changes. Unlike them, a session belongs to one
member and ends with its connection, which releases the records that the member has acquired.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.share_fetch import PartitionData, ShareFetchRequest
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.share_partitions.share_partitions import SharePartitions
from kafka_shim.shim.state.topics import Topics

BEGIN = 0
END = -1
"""BEGIN and END are values of a request's session epoch."""
EPOCH_MAX = 2**31 - 1

SessionKey = tuple[str, str]
"""Group id and member id."""
TopicPartition = tuple[bytes, int]
"""Topic id and partition."""


class SessionPartition(msgspec.Struct):
    """One partition of a session; `topic` is None if the topic id was unknown when added.

    `must_be_returned`: the next response includes it even without changes.
    """

    topic: str | None
    topic_id: bytes
    partition_index: int
    must_be_returned: bool = False

    @property
    def topic_partition(self) -> TopicPartition:
        return self.topic_id, self.partition_index


class ShareSession:
    """One member's session on one broker."""

    __slots__ = ("connection", "epoch", "partitions")

    def __init__(
        self, connection: Hashable, partitions: dict[TopicPartition, SessionPartition]
    ) -> None:
        self.connection = connection
        self.epoch = 1
        self.partitions = partitions

    def advance_epoch(self) -> None:
        self.epoch = 1 if self.epoch == EPOCH_MAX else self.epoch + 1


class ShareFetchPartitions(msgspec.Struct):
    """The partitions that one request fetches."""

    partitions: list[SessionPartition]
    incremental_session: ShareSession | None = None  # set if the response has only changes

    def select_response_rows(
        self, rows: Iterable[tuple[SessionPartition, PartitionData]]
    ) -> list[tuple[SessionPartition, PartitionData]]:
        """Return the rows to include in the response; move partitions with records to the end."""
        if self.incremental_session is None:
            return list(rows)
        told = []
        for shared, data in rows:
            failed = data.error_code != NO_ERROR
            if not (data.records or shared.must_be_returned or failed):
                continue
            shared.must_be_returned = failed
            told.append((shared, data))
            if data.records:
                places = self.incremental_session.partitions
                places[shared.topic_partition] = places.pop(shared.topic_partition, shared)
        return told


class ShareSessions:
    """The share sessions of one broker, limited to `slots`."""

    def __init__(self, topics: Topics, partitions: SharePartitions, *, slots: int) -> None:
        self._topics = topics
        self._partitions = partitions
        self._slots = slots
        self._sessions: dict[SessionKey, ShareSession] = {}
        self._connections: dict[Hashable, SessionKey] = {}

    def update_session(
        self, request: ShareFetchRequest, connection: Hashable, *, has_acknowledgements: bool
    ) -> ShareFetchPartitions:
        """Update the session from a ShareFetch; raise RequestRejected if the session is invalid."""
        key = (request.group_id or "", request.member_id or "")
        epoch = request.share_session_epoch
        requested_partitions = self._requested_partitions(request)
        if epoch == END:
            self._require_session(key)
            return ShareFetchPartitions([])
        if epoch == BEGIN:
            if has_acknowledgements:
                raise RequestRejected(ErrorCode.INVALID_REQUEST)
            self._sessions.pop(key, None)
            if len(self._sessions) >= self._slots:
                raise RequestRejected(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
            session = self._sessions[key] = ShareSession(connection, requested_partitions)
            self._connections[connection] = key
            return ShareFetchPartitions(list(session.partitions.values()))
        session = self._require_session_at_epoch(key, epoch)
        session.advance_epoch()  # so that no other request uses this epoch meanwhile
        for place, partition in requested_partitions.items():
            partition.must_be_returned = True
            session.partitions.setdefault(place, partition)
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                session.partitions.pop((topic.topic_id, index), None)
        return ShareFetchPartitions(list(session.partitions.values()), session)

    def requested_topic_names(self, request: ShareFetchRequest) -> Iterator[str | None]:
        """Yield the topic of each requested entry with partitions; None for an unknown id."""
        for topic in request.topics:
            known = self._topics.by_id(topic.topic_id)
            if topic.partitions:
                yield None if known is None else known.name

    def _requested_partitions(
        self, request: ShareFetchRequest
    ) -> dict[TopicPartition, SessionPartition]:
        """Return the requested partitions; of duplicates the last one counts."""
        partitions: dict[TopicPartition, SessionPartition] = {}
        for topic in request.topics:
            known = self._topics.by_id(topic.topic_id)
            name = None if known is None else known.name
            for partition in topic.partitions:
                index = partition.partition_index
                partitions[topic.topic_id, index] = SessionPartition(name, topic.topic_id, index)
        return partitions

    def advance_epoch(self, group_id: str, member_id: str, epoch: int) -> None:
        """Advance the session for a ShareAcknowledge, unless it ends.

        Raise RequestRejected if the session or its epoch is invalid.
        """
        if epoch == BEGIN:
            raise RequestRejected(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        key = (group_id, member_id)
        if epoch == END:
            self._require_session(key)
        else:
            self._require_session_at_epoch(key, epoch).advance_epoch()

    def end_session(self, group_id: str, member_id: str) -> None:
        """End a member's session and release its unacknowledged records."""
        session = self._sessions.pop((group_id, member_id), None)
        for topic_id, index in session.partitions if session is not None else ():
            partition = self._partitions.find_loaded((group_id, topic_id, index))
            if partition is not None:
                partition.release_records_of_member(member_id)

    def end_session_of_connection(self, connection: Hashable) -> None:
        """End the last session that was begun on a closed connection."""
        key = self._connections.pop(connection, None)
        if key is None:
            return
        session = self._sessions.get(key)
        if session is not None and session.connection is connection:
            self.end_session(*key)
        if all(group_id != key[0] for group_id, _ in self._sessions):
            self._partitions.drop_partitions_of_group(key[0])

    def _require_session(self, key: SessionKey) -> ShareSession:
        session = self._sessions.get(key)
        if session is None:
            raise RequestRejected(ErrorCode.SHARE_SESSION_NOT_FOUND)
        return session

    def _require_session_at_epoch(self, key: SessionKey, epoch: int) -> ShareSession:
        session = self._require_session(key)
        if session.epoch != epoch:
            raise RequestRejected(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        return session


def rotate_partitions(partitions: Sequence[SessionPartition], epoch: int) -> list[SessionPartition]:
    """Rotate the partitions, so that each request of a session starts with another one."""
    at = epoch % len(partitions) if partitions and epoch > 0 else 0
    return [*partitions[at:], *partitions[:at]]
