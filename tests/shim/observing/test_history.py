"""The history is limited by number and by bytes; totals are kept."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.control.history_queries import HistoryQueries
from kafka_shim.shim.observing.request_history import DECISIONS_MAX, RESPONSE_BYTES_MAX, History
from tests.shim.play import Stage
from tests.support.acl_filters import ANY_ACL


def asked(stage: Stage, count: int) -> None:
    for _ in range(count):
        stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, "User:alice")


def recorded(history: History, count: int) -> History:
    stage = Stage()
    stage.dispatcher.set_history(history)
    asked(stage, count)
    return history


def test_the_newest_requests_are_kept() -> None:
    history = recorded(History(requests_max=3), 5)
    assert [seen.number for seen in history] == [3, 4, 5]
    assert history.last_number == 5


def test_bytes_are_bounded_but_the_newest_request_stays() -> None:
    assert len(list(recorded(History(bytes_max=1500), 9))) == 2
    assert len(list(recorded(History(bytes_max=1), 9))) == 1


def test_the_limit_in_bytes_includes_the_responses_of_kept_requests() -> None:
    history = recorded(History(), 2)
    first, last = history
    assert first.response is not None
    assert first.response_bytes == len(first.response) - 4
    before = history.held_bytes
    history.add_short_frame(last, bytes(104))
    assert history.held_bytes == before + 100
    history.add_short_frame(last, bytes(RESPONSE_BYTES_MAX + 5))
    assert (history.held_bytes, last.response_bytes) == (before + 100, RESPONSE_BYTES_MAX + 1)
    history.drop_requests_keeping_totals()
    history.add_short_frame(last, bytes(104))
    assert history.held_bytes == 0


def denied(history: History, requests: int, names: int) -> History:
    """Send requests with denied topics only; return the history."""
    stage = Stage()
    stage.dispatcher.set_history(history)
    topics = [MetadataRequestTopic(name=f"n{number}") for number in range(names)]
    for _ in range(requests):
        stage.ask(ApiKey.METADATA, 1, MetadataRequest(topics=topics), "User:alice")
    return history


def test_the_limit_in_bytes_includes_decisions() -> None:
    history = denied(History(bytes_max=1_000_000), 20, 900)
    kept = sum(len(seen.records) for seen in history)
    assert 900 <= kept <= 4000
    assert history.decision_counts == {
        ("DESCRIBE", "TOPIC", False, "default_deny", "Metadata"): 18_000
    }


def test_a_request_shows_how_many_of_its_decisions_were_dropped() -> None:
    history = denied(History(), 1, DECISIONS_MAX + 5)
    [seen] = history
    assert len(list(seen.decision_rows())) == DECISIONS_MAX
    assert seen.request_row()["decisions_left_out"] == 5
    assert history.decision_counts.total() == DECISIONS_MAX + 5
    past = HistoryQueries(history)
    assert past.list_decisions({"limit": "10"})["left_out"] == 5
    assert past.list_decisions({"limit": "10", "api": "Produce"})["left_out"] == 0


def test_totals_include_dropped_requests() -> None:
    history = recorded(History(requests_max=1), 5)
    assert history.response_counts == {("DescribeAcls", 3, 31): 5}
    counts = {("DESCRIBE", "CLUSTER", False, "default_deny", "DescribeAcls"): 5}
    assert history.decision_counts == counts
    history.drop_requests_keeping_totals()
    assert list(history) == []
    assert history.decision_counts == counts
    assert history.last_number == 5


def test_a_request_is_shown_decoded_with_its_decisions() -> None:
    [seen] = recorded(History(), 1)
    row = seen.request_row()
    assert row["api"] == "DescribeAcls"
    assert row["request"]["operation"] == 1
    assert row["errors"] == [31]
    [decision] = seen.decision_rows()
    assert decision["would_allow"] == {
        "remove": [],
        "add": [{"principal": "User:alice", "allow": ["Describe"], "cluster": "kafka-cluster"}],
        "complete": True,
        "advice": "",
    }
