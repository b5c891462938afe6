"""ShareFetch and ShareAcknowledge (KIP-932): permissions, waits, sessions and leaders."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafka_shim.protocol.messages.share_fetch import (
    FetchPartition,
    FetchTopic,
    ShareFetchRequest,
)
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.state.share_partitions.share_acquisition import ACQUIRED_MAX
from kafka_shim.shim.state.share_partitions.share_state_values import (
    SharePartitionKey,
    ShareStateUpdate,
)
from tests.recordings.records.batches import batch
from tests.shim.play import ADMIN, Stage
from tests.support.record_requests import produce_request

ALICE = "User:alice"
MEMBER = "AAAAAAAAAAAAAAAAAAAAAQ"
NEVER = b"\x77" * 16
DENIED_GROUP, DENIED_TOPIC = 30, 29


class Sharing:
    """A share group that reads two topics of one partition; each has three records."""

    def __init__(self, release: str = "", **settings: Any) -> None:
        self.stage = Stage(release, **settings)
        self.cluster = self.stage.cluster
        self.cluster.configs.groups["g"] = {"share.auto.offset.reset": "earliest"}
        self.ids = {}
        for name in ("a", "b"):
            topic = self.stage.topic(name)
            self.ids[name] = topic.topic_id
            self.cluster.share_states.reset_state(("g", topic.topic_id, 0), 1, -1)
            self.produce(name, 3)

    def produce(self, topic: str, count: int) -> None:
        request = produce_request(topic, batch([b"v"] * count))
        response = self.stage.ask(ApiKey.PRODUCE, 12, request)
        assert response.responses[0].partition_responses[0].error_code == 0

    def fetch(self, *topics: bytes, who: str = ADMIN, epoch: int = 0, **more: Any) -> Any:
        request = ShareFetchRequest(
            group_id="g",
            member_id=MEMBER,
            share_session_epoch=epoch,
            max_wait_ms=more.pop("max_wait_ms", 0),
            min_bytes=1,
            max_records=500,
            batch_size=500,
            topics=[FetchTopic(topic, [FetchPartition(0)]) for topic in topics],
            **more,
        )
        return self.stage.ask(ApiKey.SHARE_FETCH, 1, request, who)

    def acknowledge(self, topic: bytes, last: int, who: str = ADMIN, epoch: int = 1) -> Any:
        rows = [AcknowledgePartition(0, [AcknowledgementBatch(0, last, [1])])]
        request = ShareAcknowledgeRequest(
            group_id="g",
            member_id=MEMBER,
            share_session_epoch=epoch,
            topics=[AcknowledgeTopic(topic, rows)],
        )
        return self.stage.ask(ApiKey.SHARE_ACKNOWLEDGE, 1, request, who)


def rows_of(response: Any) -> dict[bytes, Any]:
    return {topic.topic_id: topic.partitions[0] for topic in response.responses}


def test_the_permission_on_the_group_is_checked_first() -> None:
    sharing = Sharing()
    assert sharing.fetch(sharing.ids["a"], who=ALICE).error_code == DENIED_GROUP
    response = sharing.acknowledge(sharing.ids["a"], 1, who=ALICE)
    assert (response.error_code, response.responses) == (DENIED_GROUP, [])


def test_the_first_fetch_returns_records() -> None:
    sharing = Sharing()
    assert rows_of(sharing.fetch(sharing.ids["a"], max_wait_ms=0))[sharing.ids["a"]].records


def test_a_denied_topic_does_not_fail_the_others() -> None:
    sharing = Sharing()
    sharing.stage.allow(ALICE, Operation.READ, ResourceType.GROUP, "g")
    sharing.stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "a")
    a, b = sharing.ids["a"], sharing.ids["b"]
    rows = rows_of(sharing.fetch(a, b, who=ALICE))
    assert [row.error_code for row in (rows[a], rows[b])] == [0, DENIED_TOPIC]
    assert rows[a].records
    assert not rows[b].records
    rows = rows_of(sharing.acknowledge(b, 1, who=ALICE))
    assert rows[b].error_code == DENIED_TOPIC
    told_again = rows_of(sharing.fetch(who=ALICE, epoch=2))
    assert told_again[b].error_code == DENIED_TOPIC


@pytest.mark.parametrize("authorizer", ["standard", "none"])
def test_an_unknown_topic_id_fails_the_whole_request(authorizer: str) -> None:
    sharing = Sharing(authorizer=authorizer)
    response = sharing.fetch(sharing.ids["a"], NEVER)
    assert (response.error_code, response.responses) == (-1, [])


def test_without_authorizer_an_acknowledged_unknown_topic_id_fails_alone() -> None:
    responses = {}
    for authorizer in ("standard", "none"):
        sharing = Sharing(authorizer=authorizer)
        sharing.fetch(sharing.ids["a"])
        responses[authorizer] = sharing.acknowledge(NEVER, 1)
    assert (responses["standard"].error_code, responses["standard"].responses) == (-1, [])
    assert responses["none"].error_code == 0
    assert rows_of(responses["none"])[NEVER].error_code == 100


def test_releases_with_share_groups_disabled_return_unsupported_version() -> None:
    sharing = Sharing("4.1.1")
    assert sharing.fetch(sharing.ids["a"]).error_code == 35
    assert sharing.acknowledge(sharing.ids["a"], 1).error_code == 35


def test_a_fetch_waits_for_new_records_and_for_expired_locks() -> None:
    sharing = Sharing()
    a = sharing.ids["a"]
    assert rows_of(sharing.fetch(a))[a].records
    waiting = sharing.fetch(a, epoch=1, max_wait_ms=1000)
    assert isinstance(waiting, PendingExchange)
    sharing.produce("a", 1)
    (row,) = rows_of(sharing.stage.outcome(ApiKey.SHARE_FETCH, 1, waiting)).values()
    assert [(acquired.first_offset, acquired.last_offset) for acquired in row.acquired_records] == [
        (3, 3)
    ]
    waiting = sharing.fetch(epoch=2, max_wait_ms=60_000)
    sharing.stage.clock.advance(30_000)
    (row,) = rows_of(sharing.stage.outcome(ApiKey.SHARE_FETCH, 1, waiting)).values()
    assert [acquired.delivery_count for acquired in row.acquired_records] == [2, 2]


def test_the_number_of_share_sessions_is_limited() -> None:
    properties = {"group.share.max.share.sessions": "1", "group.share.max.size": "1"}
    sharing = Sharing(properties=properties)
    assert sharing.fetch(sharing.ids["a"]).error_code == 0
    sharing.cluster.configs.groups["h"] = {}
    request = ShareFetchRequest(group_id="h", member_id=MEMBER, max_wait_ms=500)
    waiting = sharing.stage.ask(ApiKey.SHARE_FETCH, 1, request)
    assert isinstance(waiting, PendingExchange)
    sharing.stage.clock.advance(500)
    assert sharing.stage.outcome(ApiKey.SHARE_FETCH, 1, waiting).error_code == 133


def test_a_new_leader_keeps_the_acknowledged_state() -> None:
    sharing = Sharing(brokers=2)
    a = sharing.ids["a"]
    partition = sharing.cluster.topics.led_partition("a", 0)
    assert partition is not None
    sharing.cluster.topics.replace_replicas(partition, [1, 2])
    sharing.fetch(a)
    assert rows_of(sharing.acknowledge(a, 0))[a].error_code == 0
    sharing.cluster.topics.elect_leader(partition, 2)
    row = rows_of(sharing.fetch(a, epoch=2))[a]
    assert (row.error_code, row.current_leader.leader_id) == (6, 2)
    sharing.cluster.topics.elect_leader(partition, 1)
    (acquired,) = rows_of(sharing.fetch(a, epoch=3))[a].acquired_records
    assert (acquired.first_offset, acquired.last_offset, acquired.delivery_count) == (1, 2, 1)


def test_a_deleted_topic_of_a_session_is_unknown() -> None:
    sharing = Sharing()
    a = sharing.ids["a"]
    sharing.fetch(a)
    sharing.cluster.topics.delete_topic("a")
    assert rows_of(sharing.fetch(epoch=1))[a].error_code == 3


def test_a_huge_batch_is_acquired_in_parts() -> None:
    sharing = Sharing()
    a = sharing.ids["a"]
    sharing.produce("a", ACQUIRED_MAX)

    def acquired(epoch: int) -> list[tuple[int, int]]:
        rows = rows_of(sharing.fetch(a, epoch=epoch)).get(a)
        found = [] if rows is None else rows.acquired_records
        return [(row.first_offset, row.last_offset) for row in found]

    assert acquired(0) == [(0, ACQUIRED_MAX - 1)]
    assert acquired(1) == []  # there are too many in flight
    assert rows_of(sharing.acknowledge(a, ACQUIRED_MAX - 1, epoch=2))[a].error_code == 0
    assert acquired(3) == [(ACQUIRED_MAX, ACQUIRED_MAX + 2)]


def test_many_records_whose_locks_end_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    sharing = Sharing()
    a, states = sharing.ids["a"], sharing.cluster.share_states
    sharing.produce("a", 1_000)
    sharing.fetch(a)
    assert rows_of(sharing.acknowledge(a, 500))[a].error_code == 0
    written, write = [], states.apply_update

    def noted(key: SharePartitionKey, update: ShareStateUpdate) -> ErrorCode:
        written.append(update.delivery_batches)
        return write(key, update)

    monkeypatch.setattr(states, "apply_update", noted)
    sharing.stage.clock.advance(60_000)
    ((row,),) = written
    assert (row.first_offset, row.last_offset) == (501, 1_002)
