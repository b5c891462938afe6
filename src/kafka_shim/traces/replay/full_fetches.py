"""Fetch requests of sessions as complete requests, since a session belongs to one broker.

In a session (KIP-227), a request has only changes. Its partitions may have leaders at the target
that are several brokers, so that each request has to be for all partitions.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from kafka_shim.protocol.messages.fetch import FetchTopic
from kafka_shim.traces.replay.events import ConnectionId
from kafka_shim.traces.replay.request_parts import topic_key
from kafka_shim.traces.replay.topology import TopicKey

_NO_SESSION, _SESSIONLESS = 0, -1


class FullFetches:
    """The partitions of the fetch session of each recorded connection."""

    def __init__(self) -> None:
        self._sessions: dict[ConnectionId, dict[tuple[TopicKey, int], Any]] = {}

    def without_session(self, connection_id: ConnectionId, request: Any) -> Any:
        """Return a recorded request with all partitions of its session, and without the session."""
        if request.session_epoch <= 0:
            self._sessions[connection_id] = {}
        rows = self._sessions.setdefault(connection_id, {})
        for topic in request.forgotten_topics_data:
            for number in topic.partitions:
                rows.pop((topic_key(topic), number), None)
        for topic in request.topics:
            rows |= {(topic_key(topic), row.partition): row for row in topic.partitions}
        copies = [(topic, msgspec.structs.replace(row)) for (topic, _), row in rows.items()]
        return sessionless_request(request, copies)


def sessionless_request(request: Any, rows: Iterable[tuple[TopicKey, Any]]) -> Any:
    """Return a Fetch request for these topics and partitions, without a session."""
    topics: dict[TopicKey, FetchTopic] = {}
    for key, row in rows:
        if key not in topics:
            name, topic_id = (key, bytes(16)) if isinstance(key, str) else ("", key)
            topics[key] = FetchTopic(name, topic_id, [])
        topics[key].partitions.append(row)
    return msgspec.structs.replace(
        request,
        session_id=_NO_SESSION,
        session_epoch=_SESSIONLESS,
        topics=list(topics.values()),
        forgotten_topics_data=[],
    )
