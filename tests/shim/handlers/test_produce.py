"""Produce: permissions, and the order of checks."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.shim.wait import NoResponse
from tests.recordings.records.batches import TRANSACTIONAL, batch
from tests.shim.handlers.records import ALICE, produce, produced
from tests.shim.play import Stage

IDEMPOTENT = batch(producer=(5, 0, 0))
IN_TRANSACTION = batch(producer=(5, 0, 0), attributes=TRANSACTIONAL)


def stage_with(release: str = "", *topics: str) -> Stage:
    stage = Stage(release)
    for name in topics or ("mine", "others"):
        stage.topic(name)
    stage.allow(ALICE, Operation.WRITE, ResourceType.TOPIC, "mine")
    return stage


@pytest.mark.parametrize("release", ["1.0", "2.7", "3.9", ""])
def test_write_is_checked_for_each_topic_before_its_existence(release: str) -> None:
    stage = stage_with(release)
    stage.allow(ALICE, Operation.WRITE, ResourceType.TOPIC, "may-but-missing")
    names = ("mine", "others", "missing", "may-but-missing")
    version = 3 if release == "1.0" else 7
    response = produce(stage, *names, version=version, principal=ALICE)
    codes = {"mine": 0, "others": 29, "missing": 29, "may-but-missing": 3}
    assert produced(response) == codes


def test_0_11_reports_topics_without_describe_as_unknown() -> None:
    stage = stage_with("0.11")
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, "others")
    stage.topic("hidden")
    names = ("mine", "others", "hidden", "missing")
    response = produce(stage, *names, version=3, principal=ALICE)
    assert produced(response) == {"mine": 0, "others": 29, "hidden": 3, "missing": 3}


def test_an_unknown_topic_id_is_not_reported_as_denied() -> None:
    stage = stage_with()
    others = stage.found("others").topic_id
    data = [PartitionProduceData(0, batch())]
    request = ProduceRequest(
        acks=-1,
        topic_data=[
            TopicProduceData(topic_id=topic_id, partition_data=data)
            for topic_id in (others, b"\x01" * 16)
        ],
    )
    response = stage.ask(ApiKey.PRODUCE, 13, request, ALICE)
    rows = [
        (topic.topic_id, topic.partition_responses[0].error_code) for topic in response.responses
    ]
    assert rows == [(others, 29), (b"\x01" * 16, 100)]


def test_without_write_on_the_transactional_id_every_partition_is_denied() -> None:
    stage = stage_with("3.5")
    arguments: dict[str, Any] = {"records": IN_TRANSACTION, "principal": ALICE}
    denied = produce(stage, "mine", "missing", transactional_id="x", **arguments)
    assert produced(denied) == {"mine": 53, "missing": 53}
    assert produced(produce(stage, "mine", **arguments)) == {"mine": 53}
    stage.allow(ALICE, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, "x")
    allowed = produce(stage, "mine", "others", transactional_id="x", **arguments)
    assert produced(allowed) == {"mine": 0, "others": 29}


def test_a_transactional_id_without_transactional_batches_is_not_checked() -> None:
    stage = stage_with()
    response = produce(stage, "mine", transactional_id="not-hers", principal=ALICE)
    assert produced(response) == {"mine": 0}


@pytest.mark.parametrize(("release", "code"), [("0.11", 31), ("2.7", 31), ("2.8", 0), ("", 0)])
def test_up_to_2_7_idempotent_batches_need_idempotent_write(release: str, code: int) -> None:
    stage = stage_with(release)
    response = produce(stage, "mine", version=3, records=IDEMPOTENT, principal=ALICE)
    assert produced(response) == {"mine": code}
    stage.allow(ALICE, Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, "kafka-cluster")
    response = produce(stage, "mine", version=3, records=IDEMPOTENT, principal=ALICE)
    assert produced(response) == {"mine": 0}


def test_with_acks_0_a_denial_closes_the_connection_after_appending_the_rest() -> None:
    stage = stage_with()
    assert produce(stage, "mine", acks=0, principal=ALICE) is NoResponse.SILENT
    assert produce(stage, "mine", "others", acks=0, principal=ALICE) is NoResponse.CLOSE
    log = stage.found("mine").partitions[0].log
    assert log.end_offset == 2


def test_other_brokers_than_the_leader_return_its_address() -> None:
    stage = Stage(brokers=3)
    stage.cluster.topics.create_topic("t", [[2, 3]], {})
    (topic,) = produce(stage, "t", version=12).responses
    (row,) = topic.partition_responses
    assert (row.error_code, row.current_leader.leader_id) == (6, 2)
    response = produce(stage, "t", version=12)
    assert [(endpoint.node_id, endpoint.port) for endpoint in response.node_endpoints] == [
        (2, 9093)
    ]
    stage.session("User:admin").node_id = 2
    assert produced(produce(stage, "t", version=12)) == {"t": 0}


def test_changed_settings_of_a_topic_apply_at_once() -> None:
    stage = Stage()
    topic = stage.topic("t")
    assert produced(produce(stage, "t", records=batch([b"x" * 500]))) == {"t": 0}
    topic.configs["max.message.bytes"] = "300"
    assert produced(produce(stage, "t", records=batch([b"x" * 500]))) == {"t": 10}
    del topic.configs["max.message.bytes"]
    stage.cluster.configs.all_brokers["message.max.bytes"] = "200"
    assert produced(produce(stage, "t", records=batch([b"x" * 200]))) == {"t": 10}
