"""Incremental fetch sessions (KIP-227), with topics by id since Fetch 13 (KIP-516), else by name.

A session keeps the partitions that a client fetches, so that a request lists only changes. It also
keeps the offsets last returned for each partition, so that a response contains only changes.
"""

import random
from collections.abc import Iterable

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, PartitionData
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.topics import NO_ID, Topics

NO_SESSION = 0
FULL = 0  # as a session epoch: create a new session
SESSIONLESS = -1  # as a session epoch: use no session and close the one named
EPOCH_MAX = 2**31 - 1
EVICTION_MS = 120_000
"""Idle time after which a session may be evicted in favour of a new one."""
IDS_SINCE = 13
"""First version of Fetch that identifies topics by id."""

TopicRef = str | bytes


class RequestedPartition(msgspec.Struct):
    """One partition of a fetch request, and the offsets last returned for it.

    `topic` is None while no topic with this id exists.
    """

    topic: str | None
    topic_id: bytes
    fetch_partition: FetchPartition
    returned_high_watermark: int = -1
    returned_log_start_offset: int = -1

    def update_last_response(self, row: PartitionData) -> bool:
        """Return whether `row` differs from the last response, and remember it."""
        is_news = (
            bool(row.records)
            or row.high_watermark != self.returned_high_watermark
            or row.log_start_offset != self.returned_log_start_offset
            or row.preferred_read_replica >= 0
            or bool(row.error_code)
            or row.diverging_epoch.epoch >= 0
        )
        # an error may be gone at the next fetch; if it is not, it must be returned again
        self.returned_high_watermark = -1 if row.error_code else row.high_watermark
        self.returned_log_start_offset = row.log_start_offset
        return is_news


class FetchSession:
    """One client's session on one broker."""

    __slots__ = (
        "created_ms",
        "epoch",
        "is_follower",
        "partitions",
        "session_id",
        "used_ms",
        "uses_ids",
    )

    def __init__(self, session_id: int, now_ms: int, *, uses_ids: bool, is_follower: bool) -> None:
        self.session_id = session_id
        self.epoch = 1
        self.uses_ids = uses_ids
        self.is_follower = is_follower
        self.used_ms = now_ms
        self.partitions: dict[tuple[TopicRef, int], RequestedPartition] = {}

    def advance_epoch(self) -> None:
        self.epoch = 1 if self.epoch == EPOCH_MAX else self.epoch + 1


class FetchSessionResult(msgspec.Struct):
    """The outcome of one request's session fields: an error, or the partitions to fetch."""

    partitions: list[RequestedPartition] = []
    error: ErrorCode = NO_ERROR
    session: FetchSession | None = None
    is_incremental: bool = False
    begins_session: bool = False


class FetchSessions:
    """The fetch sessions of one broker, limited to `slots`."""

    def __init__(self, topics: Topics, clock: Clock, rng: random.Random, *, slots: int) -> None:
        self._topics = topics
        self._clock = clock
        self._random = rng
        self._slots = slots
        self._sessions: dict[int, FetchSession] = {}  # least recently used first

    def __len__(self) -> int:
        return len(self._sessions)

    def begin_fetch(
        self, request: FetchRequest, version: int, *, null_topic_id_fails: bool
    ) -> FetchSessionResult:
        """Update the session from a request; return its partitions or the session's error.

        If `null_topic_id_fails`, a session is updated only up to a partition of the null topic id.
        """
        if request.session_epoch in (FULL, SESSIONLESS):
            self._sessions.pop(request.session_id, None)
            partitions = self._requested_partitions(request, version)
            if len(partitions) > 1:
                partitions = list(_deduplicate_partitions_keeping_last(partitions).values())
            return FetchSessionResult(partitions, begins_session=request.session_epoch == FULL)
        session = self._sessions.get(request.session_id)
        if session is None:
            return FetchSessionResult(error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != request.session_epoch:
            return FetchSessionResult(error=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_ids != (version >= IDS_SINCE):
            return FetchSessionResult(error=ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        if not self._update_session_partitions(
            session, request, version, stops_at_null_id=null_topic_id_fails and session.uses_ids
        ):
            return FetchSessionResult(error=ErrorCode.UNKNOWN_SERVER_ERROR)
        return self._advance_session(session)

    def end_fetch(
        self,
        session_fetch: FetchSessionResult,
        rows: Iterable[tuple[RequestedPartition, PartitionData]],
        *,
        uses_ids: bool,
        is_follower: bool,
    ) -> tuple[int, list[tuple[RequestedPartition, PartitionData]]]:
        """Return the session id and the rows to include in the response."""
        returned_rows = list(rows)
        session = session_fetch.session
        if session_fetch.is_incremental and session is not None:
            returned_rows = [
                (wanted, data)
                for wanted, data in returned_rows
                if wanted.update_last_response(data)
            ]
            for wanted, data in returned_rows:
                if data.records:  # move to the end, so that other partitions are read first
                    ref = wanted.topic_id if session.uses_ids else wanted.topic or ""
                    key = (ref, wanted.fetch_partition.partition)
                    session.partitions[key] = session.partitions.pop(key, wanted)
            return session.session_id, returned_rows
        if not session_fetch.begins_session:
            return NO_SESSION, returned_rows
        session = self._create_session(uses_ids=uses_ids, is_follower=is_follower)
        if session is None:
            return NO_SESSION, returned_rows
        for wanted, data in returned_rows:
            wanted.update_last_response(data)
            ref = wanted.topic_id if uses_ids else wanted.topic or ""
            session.partitions[ref, wanted.fetch_partition.partition] = wanted
        return session.session_id, returned_rows

    def _update_session_partitions(
        self, session: FetchSession, request: FetchRequest, version: int, *, stops_at_null_id: bool
    ) -> bool:
        """Add and forget partitions; return whether all were, or a null topic id stopped it."""
        for key, wanted in _deduplicate_partitions_keeping_last(
            self._requested_partitions(request, version)
        ).items():
            if stops_at_null_id and wanted.topic_id == NO_ID:
                return False
            known = session.partitions.get(key)
            if known is None:
                session.partitions[key] = wanted
            else:
                known.fetch_partition = wanted.fetch_partition
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                if stops_at_null_id and topic.topic_id == NO_ID:
                    return False
                ref = topic.topic_id if session.uses_ids else topic.topic
                session.partitions.pop((ref, index), None)
        return True

    def _advance_session(self, session: FetchSession) -> FetchSessionResult:
        if not session.partitions:
            del self._sessions[session.session_id]
            return FetchSessionResult()
        self._mark_session_used(session)
        session.advance_epoch()
        for known in session.partitions.values():
            if session.uses_ids and known.topic is None:
                known.topic = self._topic_name(known.topic_id)
        wanted_now = list(session.partitions.values())
        return FetchSessionResult(wanted_now, session=session, is_incremental=True)

    def _requested_partitions(
        self, request: FetchRequest, version: int
    ) -> list[RequestedPartition]:
        requested = []
        for topic in request.topics:
            name = self._topic_name(topic.topic_id) if version >= IDS_SINCE else topic.topic
            for partition in topic.partitions:
                requested.append(RequestedPartition(name, topic.topic_id, partition))  # noqa: PERF401 - faster for one
        return requested

    def _topic_name(self, topic_id: bytes) -> str | None:
        topic = self._topics.by_id(topic_id)
        return None if topic is None else topic.name

    def _create_session(self, *, uses_ids: bool, is_follower: bool) -> FetchSession | None:
        """Create a session; return None if all slots are taken by sessions in use."""
        now_ms = self._clock.now_ms()
        if len(self._sessions) >= self._slots and not self._evict_session(
            now_ms, is_follower=is_follower
        ):
            return None
        session_id = self._random.randint(1, EPOCH_MAX)
        while session_id in self._sessions:
            session_id = self._random.randint(1, EPOCH_MAX)
        session = FetchSession(session_id, now_ms, uses_ids=uses_ids, is_follower=is_follower)
        self._sessions[session_id] = session
        return session

    def _evict_session(self, now_ms: int, *, is_follower: bool) -> bool:
        """Remove the least recently used session if it is idle, or a client's for a follower."""
        for session in self._sessions.values():
            is_idle = now_ms - session.used_ms > EVICTION_MS
            if is_idle or (is_follower and not session.is_follower):
                del self._sessions[session.session_id]
                return True
        return False

    def _mark_session_used(self, session: FetchSession) -> None:
        session.used_ms = self._clock.now_ms()
        self._sessions[session.session_id] = self._sessions.pop(session.session_id)


def _deduplicate_partitions_keeping_last(
    partitions: Iterable[RequestedPartition],
) -> dict[tuple[TopicRef, int], RequestedPartition]:
    """Deduplicate by topic and partition: keep the last entry at the first one's position."""
    by_topic_partition: dict[tuple[TopicRef, int], RequestedPartition] = {}
    for position in partitions:
        # a topic requested by id keeps that id as its key, even if no topic has it
        ref: TopicRef = position.topic_id if position.topic_id != NO_ID else position.topic or ""
        by_topic_partition[ref, position.fetch_partition.partition] = position
    return by_topic_partition
