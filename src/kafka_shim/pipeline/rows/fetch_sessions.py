"""Fetch sessions (KIP-227) and share sessions (KIP-932): topics that requests no longer name.

A session is known from the request that created it. For a session that began before this piece of
the trace, only the topics in its requests are known.
"""

from collections.abc import Hashable, Iterable
from typing import Any

import msgspec

from kafka_shim.protocol.enums import ApiKey

SESSION_APIS = (ApiKey.FETCH, ApiKey.SHARE_FETCH)
_BEGINS, _ENDS = 0, -1
"""Epochs of the requests that name everything."""


class TopicNameOrId(msgspec.Struct, frozen=True):
    """A topic by name or id, depending on the request's version."""

    topic: str
    topic_id: bytes


_Topics = dict[TopicNameOrId, set[int]]
"""Partitions by topic."""


class SessionRequest(msgspec.Struct):
    """A request with all topics that it reads.

    `knows_all_topics` is False if the beginning of its session is unknown.
    """

    request: Any
    topics: _Topics
    knows_all_topics: bool


class FetchSessions:
    """The fetch sessions in one piece of a trace; `broker` identifies the broker."""

    def __init__(self) -> None:
        self._open: dict[Hashable, _Topics] = {}

    def expand_request(self, broker: Hashable, request: Any) -> SessionRequest:
        """Process a request; return all topics that it reads."""
        named = _partition_indexes_by_topic(request.topics)
        known = self._open.get((broker, *_session_key(request)))
        if _session_epoch(request) in (_BEGINS, _ENDS) or known is None:
            return SessionRequest(
                request, named, knows_all_topics=_session_epoch(request) in (_BEGINS, _ENDS)
            )
        for topic, partitions in named.items():
            known.setdefault(topic, set()).update(partitions)
        for topic, partitions in _partition_indexes_by_topic(request.forgotten_topics_data).items():
            known.get(topic, set()).difference_update(partitions)
            if not known.get(topic):
                known.pop(topic, None)
        request = msgspec.structs.replace(request, topics=list(known))
        return SessionRequest(request, dict(known), knows_all_topics=True)

    def complete_request(
        self, broker: Hashable, session_request: SessionRequest, response: Any
    ) -> None:
        """Process a response, which may create or end a session."""
        key = (broker, *_session_key(session_request.request))
        epoch = _session_epoch(session_request.request)
        if response.error_code or epoch == _ENDS:
            self._open.pop(key, None)
        elif epoch == _BEGINS:
            own = getattr(response, "session_id", None)
            if own != 0:  # 0: the broker's cache of sessions is full
                key = key if own is None else (broker, own)
                self._open[key] = session_request.topics


def _session_key(request: Any) -> tuple[Hashable, ...]:
    if hasattr(request, "session_id"):
        return (request.session_id,)
    return request.group_id, request.member_id


def _session_epoch(request: Any) -> int:
    if hasattr(request, "session_id"):
        return int(request.session_epoch)
    return int(request.share_session_epoch)


def _partition_indexes_by_topic(topics: Iterable[Any]) -> _Topics:
    """Return the topics of a request, or those that it forgets, with their partitions."""
    found: _Topics = {}
    for topic in topics:
        name = TopicNameOrId(getattr(topic, "topic", ""), bytes(topic.topic_id))
        found.setdefault(name, set()).update(map(_partition_index, topic.partitions))
    return found


def _partition_index(partition: Any) -> int:
    if isinstance(partition, int):
        return partition
    return int(getattr(partition, "partition", getattr(partition, "partition_index", -1)))
