"""Share sessions, by group and member (KIP-932).

As in fetch sessions (KIP-227), a request lists only changes. Unlike them, a session belongs to one
member and ends with its connection, which releases the records that the member has acquired.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.share_fetch_request import ShareFetchRequest
from kafka_shim.protocol.messages.share_fetch_response import PartitionData
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


class Shared(msgspec.Struct):
    """One partition of a session; `topic` is None if the topic id was unknown when added.

    `is_unsaid`: the next response includes it even without changes.
    """

    topic: str | None
    topic_id: bytes
    index: int
    is_unsaid: bool = False

    @property
    def place(self) -> TopicPartition:
        return self.topic_id, self.index


class ShareSession:
    """One member's session on one broker."""

    __slots__ = ("connection", "epoch", "partitions")

    def __init__(self, connection: Hashable, partitions: dict[TopicPartition, Shared]) -> None:
        self.connection = connection
        self.epoch = 1
        self.partitions = partitions

    def advance(self) -> None:
        self.epoch = 1 if self.epoch == EPOCH_MAX else self.epoch + 1


class ShareRound(msgspec.Struct):
    """The partitions that one request fetches."""

    wanted: list[Shared]
    session: ShareSession | None = None  # set if the response has only changes

    def told(
        self, rows: Iterable[tuple[Shared, PartitionData]]
    ) -> list[tuple[Shared, PartitionData]]:
        """Return the rows to include in the response; move partitions with records to the end."""
        if self.session is None:
            return list(rows)
        told = []
        for shared, data in rows:
            failed = data.error_code != ErrorCode.NONE
            if not (data.records or shared.is_unsaid or failed):
                continue
            shared.is_unsaid = failed
            told.append((shared, data))
            if data.records:
                places = self.session.partitions
                places[shared.place] = places.pop(shared.place, shared)
        return told


class ShareSessions:
    """The share sessions of one broker, limited to `slots`."""

    def __init__(self, topics: Topics, partitions: SharePartitions, *, slots: int) -> None:
        self._topics = topics
        self._partitions = partitions
        self._slots = slots
        self._sessions: dict[SessionKey, ShareSession] = {}
        self._connections: dict[Hashable, SessionKey] = {}

    def begin(
        self, request: ShareFetchRequest, connection: Hashable, *, acknowledges: bool
    ) -> ShareRound:
        """Update the session from a ShareFetch; raise RequestRejected if the session is invalid."""
        key = (request.group_id or "", request.member_id or "")
        epoch = request.share_session_epoch
        wanted = self._named(request)
        if epoch == END:
            self._existing(key)
            return ShareRound([])
        if epoch == BEGIN:
            if acknowledges:
                raise RequestRejected(ErrorCode.INVALID_REQUEST)
            self._sessions.pop(key, None)
            if len(self._sessions) >= self._slots:
                raise RequestRejected(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
            session = self._sessions[key] = ShareSession(connection, wanted)
            self._connections[connection] = key
            return ShareRound(list(session.partitions.values()))
        session = self._at(key, epoch)
        session.advance()  # so that no other request uses this epoch meanwhile
        for place, partition in wanted.items():
            partition.is_unsaid = True
            session.partitions.setdefault(place, partition)
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                session.partitions.pop((topic.topic_id, index), None)
        return ShareRound(list(session.partitions.values()), session)

    def topics_named(self, request: ShareFetchRequest) -> Iterator[str | None]:
        """Yield the topic of each requested entry with partitions; None for an unknown id."""
        for topic in request.topics:
            known = self._topics.by_id(topic.topic_id)
            if topic.partitions:
                yield None if known is None else known.name

    def _named(self, request: ShareFetchRequest) -> dict[TopicPartition, Shared]:
        """Return the requested partitions; of duplicates the last one counts."""
        found: dict[TopicPartition, Shared] = {}
        for topic in request.topics:
            known = self._topics.by_id(topic.topic_id)
            name = None if known is None else known.name
            for partition in topic.partitions:
                index = partition.partition_index
                found[topic.topic_id, index] = Shared(name, topic.topic_id, index)
        return found

    def acknowledge(self, group_id: str, member_id: str, epoch: int) -> None:
        """Advance the session for a ShareAcknowledge. Raise RequestRejected if it is invalid."""
        if epoch == BEGIN:
            raise RequestRejected(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        key = (group_id, member_id)
        if epoch == END:
            self._existing(key)
        else:
            self._at(key, epoch).advance()

    def end(self, group_id: str, member_id: str) -> None:
        """End a member's session and release its unacknowledged records."""
        session = self._sessions.pop((group_id, member_id), None)
        for topic_id, index in session.partitions if session is not None else ():
            partition = self._partitions.find((group_id, topic_id, index))
            if partition is not None:
                partition.release(member_id)

    def disconnected(self, connection: Hashable) -> None:
        """End the last session that was begun on a closed connection."""
        key = self._connections.pop(connection, None)
        if key is None:
            return
        session = self._sessions.get(key)
        if session is not None and session.connection is connection:
            self.end(*key)
        if all(group_id != key[0] for group_id, _ in self._sessions):
            self._partitions.drop_group(key[0])

    def _existing(self, key: SessionKey) -> ShareSession:
        session = self._sessions.get(key)
        if session is None:
            raise RequestRejected(ErrorCode.SHARE_SESSION_NOT_FOUND)
        return session

    def _at(self, key: SessionKey, epoch: int) -> ShareSession:
        session = self._existing(key)
        if session.epoch != epoch:
            raise RequestRejected(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        return session


def rotated(wanted: Sequence[Shared], epoch: int) -> list[Shared]:
    """Rotate the partitions, so that each request of a session starts with another one."""
    at = epoch % len(wanted) if wanted and epoch > 0 else 0
    return [*wanted[at:], *wanted[:at]]
