"""CreatePartitions: permissions, counts, replicas and limits (KIP-195)."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.shim.play import ADMIN, Stage

ALICE = "User:alice"


def wish(name: str, count: int, given: list[list[int]] | None = None) -> CreatePartitionsTopic:
    replicas = (
        None if given is None else [CreatePartitionsAssignment(broker_ids) for broker_ids in given]
    )
    return CreatePartitionsTopic(name, count, replicas)


def ask(stage: Stage, *wishes: CreatePartitionsTopic, who: str = ADMIN, dry: bool = False) -> Any:
    request = CreatePartitionsRequest(list(wishes), 5000, dry)
    rows = stage.ask(ApiKey.CREATE_PARTITIONS, 1, request, who).results
    return {row.name: row.error_code for row in rows}


def stage_of(release: str = "", brokers: int = 1) -> Stage:
    stage = Stage(release, brokers=brokers)
    for name in ("a", "hidden"):
        stage.topic(name, 2)
    for name in ("a", "missing"):
        stage.allow(ALICE, Operation.ALTER, ResourceType.TOPIC, name)
    return stage


@pytest.mark.parametrize("release", ["2.0", "2.8", "3.3", "4.3"])
def test_permissions_are_checked_before_existence_and_counts(release: str) -> None:
    asked = [wish(name, 1) for name in ("a", "hidden", "missing", "unseen")]
    assert ask(stage_of(release), *asked, who=ALICE) == {
        "a": 37,
        "hidden": 29,
        "missing": 3,
        "unseen": 29,
    }


def test_3_0_checks_create_on_the_cluster() -> None:
    stage = stage_of("3.0")
    assert ask(stage, wish("a", 3), who=ALICE) == {"a": 29}
    stage.allow(ALICE, Operation.CREATE, ResourceType.CLUSTER, "kafka-cluster")
    assert ask(stage, wish("a", 3), who=ALICE) == {"a": 0}


def test_existing_partitions_are_kept() -> None:
    stage = stage_of(brokers=3)
    before = list(stage.found("a").partitions)
    assert ask(stage, wish("a", 5)) == {"a": 0}
    after = stage.found("a").partitions
    assert after[:2] == before
    assert [partition.index for partition in after] == [0, 1, 2, 3, 4]


def test_validate_only_changes_nothing() -> None:
    stage = stage_of()
    assert ask(stage, wish("a", 5), dry=True) == {"a": 0}
    assert len(stage.found("a").partitions) == 2


def test_a_repeated_topic_is_rejected_before_permissions_are_checked() -> None:
    asked = [wish("hidden", 3), wish("a", 3), wish("hidden", 4)]
    assert ask(stage_of(), *asked, who=ALICE) == {"hidden": 42, "a": 0}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ([[2]], 0),
        ([], 39),
        ([[1], [1]], 39),
        ([[9]], 39),
        ([[1, 1]], 39),
        ([[]], 39),
        ([[1, 2]], 39),
    ],
)
def test_replica_assignments_are_validated(given: list[list[int]], error: int) -> None:
    stage = stage_of(brokers=2)
    assert ask(stage, wish("a", 3, given)) == {"a": error}
    if not error:
        assert stage.found("a").partitions[2].replicas == [2]


def test_new_partitions_of_one_request_are_limited() -> None:
    assert ask(stage_of("3.5"), wish("a", 10_003)) == {"a": -1}
    assert ask(stage_of("3.4"), wish("a", 10_003), dry=True) == {"a": 37}  # the shim's own limit
    assert ask(stage_of("3.4"), wish("a", 10_002), dry=True) == {"a": 0}


def test_the_partitions_of_a_topic_are_limited() -> None:
    stage = stage_of("2.8")
    assert ask(stage, wish("a", 2**31 - 1)) == {"a": 37}
    assert len(stage.found("a").partitions) == 2


@pytest.mark.parametrize(("release", "error"), [("2.8", 38), ("3.0", 0), ("4.3", 0)])
def test_kraft_assigns_replicas_to_stopped_brokers_if_others_are_too_few(
    release: str, error: int
) -> None:
    stage = Stage(release, brokers=3)
    stage.cluster.topics.create_topic("a", [[1, 2, 3]], {})
    stage.cluster.set_broker_alive(2, is_alive=False)
    assert ask(stage, wish("a", 3)) == {"a": error}
    for partition in stage.found("a").partitions[1:]:
        assert (sorted(partition.replicas), partition.replicas[2]) == ([1, 2, 3], 2)
        assert sorted(partition.isr) == [1, 3]
        assert partition.leader_id in (1, 3)
