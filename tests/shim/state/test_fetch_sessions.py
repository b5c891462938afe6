"""Fetch sessions: what requests and responses may leave out."""

import random

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.state.fetch_sessions import (
    EVICTION_MS,
    FetchSessionResult,
    FetchSessions,
    RequestedPartition,
)
from kafka_shim.shim.state.topics import Topics

VERSION = 12
BY_ID = 13


class Client:
    """A client that fetches topic `t` in a session."""

    def __init__(self, sessions: FetchSessions | None = None, slots: int = 10) -> None:
        self.clock = ManualClock()
        self.topics = Topics(random.Random(1), self.clock)
        self.topic_id = self.topics.create_topic("t", [[1], [1]], {}).topic_id
        self.sessions = sessions or FetchSessions(
            self.topics, self.clock, random.Random(1), slots=slots
        )
        self.session_id = 0
        self.epoch = 0

    def begin(
        self, *indexes: int, forget: tuple[int, ...] = (), version: int = VERSION, offset: int = 0
    ) -> FetchSessionResult:
        name, topic_id = ("t", bytes(16)) if version < BY_ID else ("", self.topic_id)
        rows = [FetchPartition(partition=index, fetch_offset=offset) for index in indexes]
        request = FetchRequest(
            session_id=self.session_id,
            session_epoch=self.epoch,
            topics=[FetchTopic(name, topic_id, rows)] if rows else [],
            forgotten_topics_data=[ForgottenTopic(name, topic_id, list(forget))] if forget else [],
        )
        return self.sessions.begin_fetch(request, version, null_topic_id_fails=False)

    def end(
        self, fetch_round: FetchSessionResult, high_watermark: int = 0, version: int = VERSION
    ) -> list[tuple[RequestedPartition, PartitionData]]:
        found = [
            (position, PartitionData(position.fetch_partition.partition, 0, high_watermark, -1, 0))
            for position in fetch_round.partitions
        ]
        self.session_id, told = self.sessions.end_fetch(
            fetch_round, found, uses_ids=version >= BY_ID, is_follower=False
        )
        self.epoch += 1
        return told


def test_a_session_keeps_the_requested_partitions() -> None:
    client = Client()
    assert len(client.end(client.begin(0, 1))) == 2
    assert client.session_id > 0
    again = client.begin()
    assert [position.fetch_partition.partition for position in again.partitions] == [0, 1]
    assert client.end(again) == []  # unchanged partitions are omitted


def test_only_changed_partitions_are_returned() -> None:
    client = Client()
    client.end(client.begin(0, 1))
    assert len(client.end(client.begin(), high_watermark=5)) == 2
    assert client.end(client.begin(), high_watermark=5) == []


def test_partitions_of_a_session_are_changed_and_forgotten() -> None:
    client = Client()
    client.end(client.begin(0, 1))
    changed = client.begin(0, forget=(1,), offset=9)
    (wanted,) = changed.partitions
    assert wanted.fetch_partition.fetch_offset == 9
    client.end(changed)
    assert client.begin(forget=(0,)).partitions == []
    assert client.begin().error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_an_error_is_returned_each_time_until_it_ends() -> None:
    client = Client()
    client.end(client.begin(0))
    for _ in range(2):
        fetch_round = client.begin()
        failed = [(position, PartitionData(0, 3, -1)) for position in fetch_round.partitions]
        told = client.sessions.end_fetch(fetch_round, failed, uses_ids=False, is_follower=False)[1]
        client.epoch += 1
        assert len(told) == 1
    assert len(client.end(client.begin())) == 1


def test_partitions_with_records_move_to_the_end() -> None:
    client = Client()
    client.end(client.begin(0, 1))
    fetch_round = client.begin()
    found = [
        (position, PartitionData(index, 0, 9, records=b"x" if index == 0 else b""))
        for index, position in enumerate(fetch_round.partitions)
    ]
    client.sessions.end_fetch(fetch_round, found, uses_ids=False, is_follower=False)
    client.epoch += 1
    assert [position.fetch_partition.partition for position in client.begin().partitions] == [1, 0]


def test_wrong_epochs_and_session_ids_are_rejected() -> None:
    client = Client()
    client.end(client.begin(0))
    client.epoch += 1
    assert client.begin().error is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    client.session_id += 1
    assert client.begin().error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_topic_ids_in_a_session_by_names_are_rejected() -> None:
    client = Client()
    client.end(client.begin(0))
    assert client.begin(version=BY_ID).error is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_a_topic_id_is_resolved_once_the_topic_exists() -> None:
    client = Client()
    topic_id, client.topic_id = client.topic_id, b"\x55" * 16
    fetch_round = client.begin(0, version=BY_ID)
    assert [position.topic for position in fetch_round.partitions] == [None]
    client.topic_id = topic_id
    assert [position.topic for position in client.begin(0, version=BY_ID).partitions] == ["t"]


def test_the_last_entry_of_a_partition_counts_at_the_first_position() -> None:
    client = Client()
    rows = [FetchPartition(0, fetch_offset=1), FetchPartition(1), FetchPartition(0, fetch_offset=2)]
    request = FetchRequest(session_epoch=0, topics=[FetchTopic("t", bytes(16), rows)])
    wanted = client.sessions.begin_fetch(request, VERSION, null_topic_id_fails=False).partitions
    offsets = [
        (position.fetch_partition.partition, position.fetch_partition.fetch_offset)
        for position in wanted
    ]
    assert offsets == [(0, 2), (1, 0)]


def test_the_number_of_sessions_is_limited_and_idle_ones_are_evicted() -> None:
    client = Client(slots=1)
    client.end(client.begin(0))
    first = client.session_id
    client.session_id = client.epoch = 0
    client.end(client.begin(0))
    assert client.session_id == 0  # a response without a session
    client.clock.advance(EVICTION_MS + 1)
    client.epoch = 0
    client.end(client.begin(0))
    assert client.session_id not in (0, first)
    assert len(client.sessions) == 1


def test_a_client_can_end_its_session() -> None:
    client = Client()
    client.end(client.begin(0))
    client.epoch = -1
    assert client.begin().partitions == []
    assert len(client.sessions) == 0
