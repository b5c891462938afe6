"""Leaders and in-sync replicas when brokers stop and start, as with KRaft."""

import random

import pytest

from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.state.leadership import (
    ElectionRules,
    move_partition_leader,
    update_leaders,
)
from kafka_shim.shim.state.topics import NOBODY, Partition, Topics
from tests.shim.play import Stage

UNCLEAN = ElectionRules(allows_unclean_election=True)

ELIGIBLE = {
    "two1": ([1, 2], {"min.insync.replicas": "1"}),
    "three2": ([1, 2, 3], {"min.insync.replicas": "2"}),
    "three3": ([1, 2, 3], {"min.insync.replicas": "3"}),
    "unclean": (
        [1, 2, 3],
        {"min.insync.replicas": "2", "unclean.leader.election.enable": "true"},
    ),
    "one": ([1], {}),
}
"""Replicas and settings of topics."""

SEEN = (
    ("-1", ["2 2 - -", "2 23 - -", "2 23 1 -", "2 23 - -", "- - 1 1"]),
    ("-2", ["- - 2 2", "3 3 2 -", "3 3 12 -", "3 3 2 -", "- - 1 1"]),
    ("+1", ["- - 2 2", "3 13 - -", "3 13 2 -", "3 13 - -", "1 1 - -"]),
    ("-3", ["- - 2 2", "1 1 3 -", "1 1 23 -", "1 1 3 -", "1 1 - -"]),
    ("-1 +2", ["2 2 - -", "- - 13 1", "2 2 13 -", "2 2 - -", "- - 1 1"]),
    ("+3", ["2 2 - -", "3 23 - -", "2 23 1 -", "2 23 - -", "- - 1 1"]),
    ("+1", ["2 12 - -", "3 123 - -", "2 123 - -", "2 123 - -", "1 1 - -"]),
)
"""Recorded from 4.3.1 after brokers were stopped (-) and started (+): for each topic the leader,
ISR, eligible leader replicas and last known eligible leader replicas.
"""


@pytest.fixture
def topics() -> Topics:
    found = Topics(random.Random(1), ManualClock(0))
    found.create_topic("orders", [[1, 2, 3], [2, 3, 1], [3]], {})
    return found


def partition(topics: Topics, index: int) -> Partition:
    found = topics.led_partition("orders", index)
    assert found is not None
    return found


def seen(topics: Topics, index: int) -> tuple[int, int, list[int]]:
    """Return the leader, its epoch, and the in-sync replicas."""
    found = partition(topics, index)
    return found.leader_id, found.leader_epoch, found.isr


def test_while_all_are_alive_nothing_changes(topics: Topics) -> None:
    epoch = topics.epoch
    update_leaders(topics, [1, 2, 3])
    assert topics.epoch == epoch
    assert seen(topics, 0) == (1, 0, [1, 2, 3])


def test_the_next_replica_in_sync_becomes_leader(topics: Topics) -> None:
    update_leaders(topics, [2, 3])
    assert seen(topics, 0) == (2, 1, [2, 3])
    assert seen(topics, 1) == (2, 0, [2, 3])


def test_a_restarted_broker_is_in_sync_but_not_leader(topics: Topics) -> None:
    update_leaders(topics, [2, 3])
    update_leaders(topics, [1, 2, 3])
    assert seen(topics, 0) == (2, 1, [1, 2, 3])
    assert seen(topics, 1) == (2, 0, [2, 3, 1])


def test_only_the_last_replica_in_sync_can_become_leader(topics: Topics) -> None:
    update_leaders(topics, [2])
    update_leaders(topics, [])
    assert seen(topics, 0) == (NOBODY, 2, [2])
    update_leaders(topics, [1, 3])
    assert seen(topics, 0) == (NOBODY, 2, [2])
    update_leaders(topics, [1, 2, 3])
    assert seen(topics, 0) == (2, 3, [1, 2, 3])


def test_with_unclean_election_any_live_replica_becomes_leader(topics: Topics) -> None:
    update_leaders(topics, [2], lambda _: UNCLEAN)
    update_leaders(topics, [], lambda _: UNCLEAN)
    assert seen(topics, 0) == (NOBODY, 2, [2])
    update_leaders(topics, [1, 3], lambda _: UNCLEAN)
    assert seen(topics, 0) == (1, 3, [1, 3])
    update_leaders(topics, [1, 2, 3], lambda _: UNCLEAN)
    assert seen(topics, 0) == (1, 3, [1, 2, 3])


def test_with_unclean_election_replicas_in_sync_are_preferred(topics: Topics) -> None:
    update_leaders(topics, [2, 3], lambda _: UNCLEAN)
    update_leaders(topics, [2], lambda _: UNCLEAN)
    update_leaders(topics, [1, 2, 3], lambda _: UNCLEAN)
    assert seen(topics, 0) == (2, 1, [1, 2, 3])


@pytest.mark.parametrize(
    ("of_broker", "of_topic", "leader_id"),
    [("true", None, 1), ("true", "false", NOBODY), (None, "true", 1), (None, None, NOBODY)],
)
def test_unclean_election_depends_on_the_settings_of_topic_and_brokers(
    of_broker: str | None, of_topic: str | None, leader_id: int
) -> None:
    own, name = {}, "unclean.leader.election.enable"
    properties = {} if of_broker is None else {name: of_broker}
    if of_topic is not None:
        own[name] = of_topic
    stage = Stage("4.3", brokers=2, properties=properties)
    [partition] = stage.cluster.topics.create_topic("orders", [[1, 2]], own).partitions
    for node_id, is_alive in ((1, False), (2, False), (1, True)):
        stage.cluster.set_broker_alive(node_id, is_alive=is_alive)
    assert partition.leader_id == leader_id


def test_eligible_leader_replicas_agree_with_a_real_broker() -> None:
    stage = Stage("4.3", brokers=4)
    create = stage.cluster.topics.create_topic
    parts = [
        create(name, [list(replicas)], configs).partitions[0]
        for name, (replicas, configs) in ELIGIBLE.items()
    ]
    for moves, rows in SEEN:
        for move in moves.split():
            stage.cluster.set_broker_alive(int(move[1:]), is_alive=move[0] == "+")
        assert [shown(part) for part in parts] == rows, moves


def shown(part: Partition) -> str:
    lists = [[part.leader_id] if part.leader_id != NOBODY else [], part.isr]
    lists += [part.eligible, part.last_known]
    return " ".join("".join(map(str, each)) or "-" for each in lists)


def test_a_partition_without_other_replicas_has_no_leader(topics: Topics) -> None:
    update_leaders(topics, [1, 2])
    assert seen(topics, 2) == (NOBODY, 1, [3])


def test_a_replica_can_be_made_leader(topics: Topics) -> None:
    move_partition_leader(topics, partition(topics, 0), 3)
    assert seen(topics, 0) == (3, 1, [1, 2, 3])
    move_partition_leader(topics, partition(topics, 0), 3)
    assert seen(topics, 0) == (3, 1, [1, 2, 3])


def test_a_broker_without_a_replica_replaces_the_leader(topics: Topics) -> None:
    move_partition_leader(topics, partition(topics, 2), 1)
    assert seen(topics, 2) == (1, 1, [1])
    assert partition(topics, 2).replicas == [1]


def test_a_broker_takes_over_a_partition_without_a_leader(topics: Topics) -> None:
    update_leaders(topics, [1, 2])
    move_partition_leader(topics, partition(topics, 2), 1)
    assert partition(topics, 2).leader_id == 1


def test_a_new_leader_wakes_waiting_readers(topics: Topics) -> None:
    woken: list[str] = []
    partition(topics, 0).log.add_watcher(lambda: woken.append("0"))
    update_leaders(topics, [2, 3])
    assert woken == ["0"]
