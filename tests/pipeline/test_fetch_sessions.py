"""The topics that requests of a fetch session read (KIP-227, KIP-932)."""

import pytest

from kafka_shim.pipeline.rows.fetch_sessions import FetchSessions, SessionRequest
from kafka_shim.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)
from kafka_shim.protocol.messages.share_fetch import (
    FetchTopic as ShareTopic,
    ShareFetchRequest,
    ShareFetchResponse,
)

PLACE, OTHER = "1 SASL", "2 SASL"
SESSION = 5


def request(epoch: int, *names: str, session: int = SESSION, forget: str = "") -> FetchRequest:
    topics = [FetchTopic(topic=name, partitions=[FetchPartition(partition=0)]) for name in names]
    forgotten = [ForgottenTopic(topic=forget, partitions=[0])] if forget else []
    return FetchRequest(
        session_id=session, session_epoch=epoch, topics=topics, forgotten_topics_data=forgotten
    )


def begun(sessions: FetchSessions, *names: str) -> None:
    asked = sessions.expand_request(PLACE, request(0, *names, session=0))
    sessions.complete_request(PLACE, asked, FetchResponse(session_id=SESSION))


def told(asked: SessionRequest) -> tuple[set[str], bool]:
    return {topic.topic for topic in asked.request.topics}, asked.knows_all_topics


def test_topics_of_a_session_count_for_later_requests() -> None:
    sessions = FetchSessions()
    begun(sessions, "a", "b")
    assert told(sessions.expand_request(PLACE, request(1))) == ({"a", "b"}, True)
    assert told(sessions.expand_request(PLACE, request(2, "c", forget="a"))) == (
        {"b", "c"},
        True,
    )
    assert told(sessions.expand_request(PLACE, request(3))) == ({"b", "c"}, True)


def test_a_session_of_another_broker_or_an_earlier_one_is_unknown() -> None:
    sessions = FetchSessions()
    begun(sessions, "a")
    assert told(sessions.expand_request(OTHER, request(1, "b"))) == (
        {"b"},
        False,
    )
    assert told(sessions.expand_request(PLACE, request(1, session=6))) == (
        set(),
        False,
    )


def test_a_session_that_the_broker_lost_is_unknown() -> None:
    sessions = FetchSessions()
    begun(sessions, "a")
    sessions.complete_request(
        PLACE,
        sessions.expand_request(PLACE, request(1)),
        FetchResponse(error_code=70),
    )
    assert told(sessions.expand_request(PLACE, request(2))) == (set(), False)


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_request_that_begins_or_ends_names_everything(epoch: int) -> None:
    sessions = FetchSessions()
    begun(sessions, "a")
    assert told(sessions.expand_request(PLACE, request(epoch, "b"))) == (
        {"b"},
        True,
    )


def test_a_share_session_is_known_by_its_member() -> None:
    sessions, topic = FetchSessions(), ShareTopic(topic_id=bytes(15) + b"\1")
    first = ShareFetchRequest(group_id="g", member_id="m", topics=[topic])
    sessions.complete_request(PLACE, sessions.expand_request(PLACE, first), ShareFetchResponse())
    later = ShareFetchRequest(group_id="g", member_id="m", share_session_epoch=1)
    assert [row.topic_id for row in sessions.expand_request(PLACE, later).request.topics] == [
        topic.topic_id
    ]
    stranger = ShareFetchRequest(group_id="g", member_id="n", share_session_epoch=1)
    assert not sessions.expand_request(PLACE, stranger).knows_all_topics
