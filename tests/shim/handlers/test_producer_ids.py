"""InitProducerId: permissions by release (KIP-98, KIP-679)."""

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.shim.handlers.records import ALICE
from tests.shim.play import ADMIN, Stage


def code(stage: Stage, transactional_id: str | None = None, version: int = 0) -> int:
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=60_000
    )
    found: int = stage.ask(ApiKey.INIT_PRODUCER_ID, version, request, ALICE).error_code
    return found


@pytest.mark.parametrize(
    ("release", "any_topic_will_do"), [("0.11", False), ("2.7", False), ("2.8", True), ("", True)]
)
def test_without_a_transactional_id_write_on_any_topic_is_enough_since_2_8(
    release: str, any_topic_will_do: bool
) -> None:
    stage = Stage(release)
    assert code(stage) == 31
    stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "read-only")
    assert code(stage) == 31
    stage.allow(ALICE, Operation.WRITE, ResourceType.TOPIC, "not-even-there")
    assert code(stage) == (0 if any_topic_will_do else 31)
    stage.allow(ALICE, Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, "kafka-cluster")
    assert code(stage) == 0


def test_with_a_transactional_id_only_write_on_it_counts() -> None:
    stage = Stage()
    stage.allow(ALICE, Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, "kafka-cluster")
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, "x")
    assert code(stage, "x") == 53
    stage.allow(ALICE, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, "x")
    assert code(stage, "x") == 0


def test_permissions_are_checked_before_other_errors() -> None:
    stage = Stage()
    request = InitProducerIdRequest(transactional_id="", producer_id=5, transaction_timeout_ms=0)
    ask = stage.ask(ApiKey.INIT_PRODUCER_ID, 3, request, ALICE)
    assert (ask.error_code, ask.producer_id, ask.producer_epoch) == (53, -1, -1)
    assert stage.ask(ApiKey.INIT_PRODUCER_ID, 3, request, ADMIN).error_code == 42


def test_other_brokers_than_the_coordinator_return_not_coordinator() -> None:
    stage = Stage(brokers=3)
    request = InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=60_000)
    codes = []
    for node_id in (1, 2, 3):
        stage.session(ADMIN).node_id = node_id
        codes.append(stage.ask(ApiKey.INIT_PRODUCER_ID, 4, request).error_code)
    assert sorted(codes) == [0, 16, 16]
