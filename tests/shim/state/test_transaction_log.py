"""The transaction log stays small, and keeps the last record of each transactional id."""

import pytest
from hypothesis import given, strategies as st

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.transaction_log_key import TransactionLogKey
from kafka_shim.protocol.messages.transaction_log_value import (
    PartitionsSchema,
    TransactionLogValue,
)
from kafka_shim.protocol.records.batches import iterate_batches
from kafka_shim.shim.state.coordinators import KeyType, append_record, encode_with_version
from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.transactions import transaction_log
from kafka_shim.shim.state.transactions.transaction import (
    NO_TIME,
    Transaction,
    TransactionalIdState,
)
from tests.shim.play import Stage

TOPIC = "__transaction_state"


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setattr(transaction_log, "BATCHES_MAX", 20)
    return Stage("4.4", properties={"transaction.state.log.num.partitions": "1"})


def begin(stage: Stage, transactional_id: str) -> None:
    request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=1000)
    assert stage.ask(ApiKey.INIT_PRODUCER_ID, 4, request).error_code == ErrorCode.NONE


def log_of(stage: Stage) -> PartitionLog:
    (partition,) = stage.cluster.coordinators.topic_or_create(KeyType.TRANSACTION).partitions
    return partition.log


def epochs(log: PartitionLog) -> dict[str, list[int]]:
    """Return the epochs in the records of each id."""
    found: dict[str, list[int]] = {}
    for stored in log.batches:
        for batch in iterate_batches(stored.payload):
            (record,) = batch.records()
            assert record.key is not None
            assert record.value is not None
            key = codecs.read_message(TransactionLogKey, 0, record.key, 2)
            version = int.from_bytes(record.value[:2], "big")
            value = codecs.read_message(TransactionLogValue, version, record.value, 2)
            found.setdefault(key.transactional_id, []).append(value.producer_epoch)
    return found


def test_compaction_keeps_the_last_record_of_each_id(stage: Stage) -> None:
    begin(stage, "once")
    for _ in range(100):
        begin(stage, "often")
    log = log_of(stage)
    assert len(log.batches) < 20
    assert log.end_offset == 101
    found = epochs(log)
    assert found["once"] == [0]
    assert found["often"][-1] == 99


def test_the_records_of_many_ids_are_all_kept(stage: Stage) -> None:
    for _ in range(3):
        for number in range(50):
            begin(stage, f"t{number}")
    found = epochs(log_of(stage))
    assert len(found) == 50
    assert {rows[-1] for rows in found.values()} == {2}


def test_compaction_counts_only_records_of_the_recreated_topic(stage: Stage) -> None:
    for _ in range(15):
        begin(stage, "t")
    stage.cluster.topics.delete_topic(TOPIC)
    for number in range(19):
        begin(stage, f"u{number}")
    assert len(log_of(stage).batches) == 19
    begin(stage, "u0")
    found = epochs(log_of(stage))
    assert {name: rows[-1] for name, rows in found.items()} == {
        "u0": 1,
        **{f"u{number}": 0 for number in range(1, 19)},
    }


def test_many_unread_records_lose_those_that_others_replace(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction_log, "UNWRITTEN_MAX", 10)
    monkeypatch.setattr(transaction_log, "BATCHES_MAX", 1_000)
    begin(stage, "once")
    for _ in range(10):
        begin(stage, "often")
    begin(stage, "often")
    log = log_of(stage)
    assert [batch.base_offset for batch in log.batches] == [0, 10, 11]
    assert epochs(log) == {"once": [0], "often": [9, 10]}
    assert log.end_offset == 12


def test_the_unread_records_of_many_ids_are_written(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction_log, "UNWRITTEN_MAX", 10)
    for number in range(15):
        begin(stage, f"t{number}")
    (partition,) = stage.cluster.coordinators.topic_or_create(KeyType.TRANSACTION).partitions
    assert len(partition.log_without_flush.batches) == 11
    assert len(epochs(log_of(stage))) == 15


def test_who_waits_for_a_record_gets_it_at_once(stage: Stage) -> None:
    begin(stage, "t")
    woken: list[int] = []
    log = log_of(stage)
    log.add_watcher(lambda: woken.append(log.end_offset))
    begin(stage, "t")
    assert woken == [2]


def test_a_record_appended_by_a_client_follows_the_unread_ones(stage: Stage) -> None:
    begin(stage, "t")
    log = log_of(stage)
    begin(stage, "t")
    (partition,) = stage.cluster.coordinators.topic_or_create(KeyType.TRANSACTION).partitions
    assert append_record(partition.log, 0, 0, b"key", b"value") == 2
    begin(stage, "u")
    assert [batch.base_offset for batch in log_of(stage).batches] == [0, 1, 2, 3]
    assert log_of(stage) is log


STATUSES = {
    TransactionalIdState.EMPTY: 0,
    TransactionalIdState.ONGOING: 1,
    TransactionalIdState.PREPARE_COMMIT: 2,
    TransactionalIdState.PREPARE_ABORT: 3,
    TransactionalIdState.COMPLETE_COMMIT: 4,
    TransactionalIdState.COMPLETE_ABORT: 5,
    TransactionalIdState.DEAD: 6,
    TransactionalIdState.PREPARE_EPOCH_FENCE: 7,
}
"""The codes of Kafka's `TransactionalIdState`."""


@st.composite
def transactions(draw: st.DrawFn) -> Transaction:
    id_, time = st.integers(0, 2**63 - 1), st.integers(-1, 2**63 - 1)
    found = Transaction("t", draw(id_), draw(time))
    found.epoch = draw(st.integers(-1, 2**15 - 1))
    found.timeout_ms = draw(st.integers(0, 2**31 - 1))
    found.state, found.started_ms = draw(st.sampled_from(TransactionalIdState)), draw(time)
    found.client_version = draw(st.sampled_from((0, 2)))
    topic = st.sampled_from(("a", "b", "é" * 100)) | st.text(max_size=5)
    partitions = st.lists(st.tuples(topic, st.integers(0, 2**31 - 1)), max_size=200)
    found.partitions = dict.fromkeys(draw(partitions))
    return found


@given(transactions(), st.sampled_from((0, 1)))
def test_a_record_is_what_the_general_writer_returns(found: Transaction, version: int) -> None:
    is_empty = found.state is TransactionalIdState.EMPTY
    topics = sorted({topic for topic, _ in found.partitions})
    partitions = [
        PartitionsSchema(topic, sorted(at for name, at in found.partitions if name == topic))
        for topic in topics
    ]
    value = TransactionLogValue(
        producer_id=found.producer_id,
        producer_epoch=found.epoch,
        transaction_timeout_ms=found.timeout_ms,
        transaction_status=STATUSES[found.state],
        transaction_partitions=None if is_empty else partitions,
        transaction_last_update_timestamp_ms=found.updated_ms,
        transaction_start_timestamp_ms=NO_TIME if is_empty else found.started_ms,
    )
    if version:
        value.previous_producer_id = found.producer_id
        value.client_transaction_version = found.client_version
    values = transaction_log.values_of_transaction(found, version)
    assert transaction_log.encode_values(values) == encode_with_version(value, version)
