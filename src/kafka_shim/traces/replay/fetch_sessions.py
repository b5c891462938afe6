"""Sessions of fetches, each of which belongs to one broker of the target.

In a session of Fetch (KIP-227), a request has only changes. Its partitions may have leaders at the
target that are several brokers, so that each request has to be for all partitions. A session of a
share group (KIP-932) belongs to one member, and its requests are numbered. Where the target has
other leaders, one recorded session may become several of the target, or several one.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.fetch import FetchTopic
from kafka_shim.traces.replay.events import ConnectionId
from kafka_shim.traces.replay.request_parts import topic_key
from kafka_shim.traces.replay.target_connection import Address
from kafka_shim.traces.replay.topology import TopicKey

SHARE_APIS = frozenset({ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE})
FIRST_EPOCH, FINAL_EPOCH = 0, -1
_Member = tuple[str, str]


class ShareSessions:
    """The next number of each session, and how many sessions the recorded members have."""

    def __init__(self) -> None:
        self._epochs: dict[_Member, dict[Address, int]] = {}
        self._recorded: Counter[_Member] = Counter()

    def note(self, message: Any) -> None:
        """Note a recorded request, which may begin or end a session."""
        if message.share_session_epoch in (FIRST_EPOCH, FINAL_EPOCH):
            change = 1 if message.share_session_epoch == FIRST_EPOCH else -1
            self._recorded[message.group_id, message.member_id] += change

    def requests(
        self, message: Any, by_leader: dict[Address, Any], default: Address
    ) -> list[tuple[Address, Any]]:
        """Return the requests for each broker: for its partitions, and for its session.

        The last recorded session of a member ends all of its sessions.
        """
        member = message.group_id, message.member_id
        epochs = self._epochs.setdefault(member, {})
        is_final = message.share_session_epoch == FINAL_EPOCH and self._recorded[member] <= 0
        is_read = hasattr(message, "max_records")
        without_topics = msgspec.structs.replace(message, topics=[])
        requests = dict(by_leader)
        if is_final or is_read or not requests:
            requests = dict.fromkeys(epochs, without_topics) | requests
        if is_final:
            del self._epochs[member]
            requests = {each: requests[each] for each in requests if each in epochs}
        found = []
        for address, part in (requests or {default: message}).items():
            epoch = FINAL_EPOCH if is_final else epochs.get(address, FIRST_EPOCH)
            epochs[address] = epoch + 1
            found.append((address, msgspec.structs.replace(part, share_session_epoch=epoch)))
        return found


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
