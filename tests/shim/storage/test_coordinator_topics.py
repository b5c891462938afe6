"""The state of coordinators, and the records of groups, survive a restart."""

from pathlib import Path

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.shim.state.coordinators import KeyType
from kafka_shim.shim.state.groups.group import CommitIdentity
from kafka_shim.shim.state.groups.groups import OffsetCommit
from kafka_shim.shim.state.groups.offsets import CommittedOffset
from kafka_shim.shim.state.share_partitions.share_state_values import (
    DeliveryBatch,
    ShareStateUpdate,
)
from tests.shim.storage.kept import KeptStage

MINUTE_MS = 60_000
NOBODY = CommitIdentity("", None, -1, 0)


def written(stage: KeptStage) -> list[bytes]:
    topic = stage.cluster.coordinators.get_or_create_topic(KeyType.GROUP)
    return [batch.payload for partition in topic.partitions for batch in partition.log.batches]


def test_transactional_ids_are_restored_and_expire(tmp_path: Path) -> None:
    stage = KeptStage(tmp_path)
    request = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=1000)
    stage.ask(ApiKey.INIT_PRODUCER_ID, 4, request)
    again = stage.again()
    assert again.cluster.transactions.get_for_reading("t") is not None
    again.clock.advance(8 * 24 * 60 * MINUTE_MS)
    assert again.again().cluster.transactions.get_for_reading("t") is None


def test_states_of_share_partitions_are_restored(tmp_path: Path) -> None:
    stage = KeptStage(tmp_path)
    key = ("g", stage.topic("orders").topic_id, 0)
    stage.cluster.share_states.reset_state(key, 1, 0)
    update = ShareStateUpdate(1, 0, 0, 1, [DeliveryBatch(0, 0, 2, 1)])
    assert stage.cluster.share_states.apply_update(key, update) is ErrorCode.NONE
    before = stage.cluster.share_states.get_state(key)
    assert before is not None
    assert stage.again().cluster.share_states.get_state(key) == before


def test_records_of_groups_are_restored(tmp_path: Path) -> None:
    stage = KeptStage(tmp_path)
    topic = stage.topic("orders", 2)
    stage.cluster.coordinators.get_or_create_topic(KeyType.GROUP)

    def commit(on: KeptStage, offset: int) -> None:
        commits = [OffsetCommit(topic.topic_id, at, CommittedOffset(offset)) for at in (0, 1)]
        assert on.cluster.groups.commit_offsets("g", NOBODY, commits) is ErrorCode.NONE

    commit(stage, 1)
    stage.storage.commit()
    commit(stage, 2)
    again = stage.again()
    before = written(again)
    assert len(before) == 2
    assert again.cluster.groups.delete_empty_group("g") is ErrorCode.NONE
    last = again.again()
    assert written(last)[:2] == before
    assert (
        last.cluster.coordinators.coordinator_partition_creating_topic(
            KeyType.GROUP, "g"
        ).log.end_offset
        == 7
    )
