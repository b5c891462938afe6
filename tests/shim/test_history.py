"""The history is bounded by number and by bytes; totals are not forgotten."""

from protocol.enums import ApiKey
from protocol.messages.metadata_response import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from shim.history import History, error_codes
from tests.acl_filters import ANY_ACL
from tests.shim.play import Stage


def asked(stage: Stage, count: int) -> None:
    for _ in range(count):
        stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, "User:alice")


def recorded(history: History, count: int) -> History:
    stage = Stage()
    stage.cluster.history = history
    asked(stage, count)
    return history


def test_the_newest_requests_are_kept() -> None:
    history = recorded(History(requests_max=3), 5)
    assert [seen.number for seen in history] == [3, 4, 5]
    assert history.last_number == 5


def test_bytes_are_bounded_but_the_newest_request_stays() -> None:
    assert len(list(recorded(History(bytes_max=1000), 9))) == 2
    assert len(list(recorded(History(bytes_max=1), 9))) == 1


def test_totals_count_what_is_no_longer_kept() -> None:
    history = recorded(History(requests_max=1), 5)
    assert history.answers == {("DescribeAcls", 3, 31): 5}
    key = ("DESCRIBE", "CLUSTER", False, "default_deny", "DescribeAcls")
    assert history.decisions == {key: 5}
    history.forget()
    assert list(history) == []
    assert history.decisions[key] == 5
    assert history.last_number == 5


def test_a_request_is_shown_decoded_with_its_decisions() -> None:
    [seen] = recorded(History(), 1)
    row = seen.row()
    assert row["api"] == "DescribeAcls"
    assert row["request"]["operation"] == 1
    assert row["errors"] == [31]
    [decision] = seen.decisions()
    assert decision["would_allow"] == {
        "add": {"principal": "User:alice", "allow": ["Describe"], "cluster": "kafka-cluster"}
    }


def test_error_codes_are_found_at_every_depth() -> None:
    partition = MetadataResponsePartition(
        error_code=5, partition_index=0, leader_id=1, leader_epoch=0,
        replica_nodes=[], isr_nodes=[], offline_replicas=[],
    )  # fmt: skip
    topics = [
        MetadataResponseTopic(error_code=code, name="x", partitions=partitions)
        for code, partitions in ((0, [partition]), (29, []))
    ]
    assert error_codes(MetadataResponse(topics=topics)) == [5, 29]
    assert error_codes(MetadataResponse()) == []
