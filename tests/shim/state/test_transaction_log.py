"""The transaction log stays small, and keeps the last record of each transactional id."""

import pytest

from kafka_shim.protocol import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.init_producer_id_request import InitProducerIdRequest
from kafka_shim.protocol.messages.transaction_log_key import TransactionLogKey
from kafka_shim.protocol.messages.transaction_log_value import TransactionLogValue
from kafka_shim.protocol.records import batches
from kafka_shim.shim.state import transaction_log
from kafka_shim.shim.state.coordinators import KeyType
from kafka_shim.shim.state.log import Log
from tests.shim.play import Stage

TOPIC = "__transaction_state"


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setattr(transaction_log, "BATCHES_MAX", 20)
    return Stage("4.4", properties={"transaction.state.log.num.partitions": "1"})


def begin(stage: Stage, transactional_id: str) -> None:
    request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=1000)
    assert stage.ask(ApiKey.INIT_PRODUCER_ID, 4, request).error_code == ErrorCode.NONE


def log_of(stage: Stage) -> Log:
    (partition,) = stage.cluster.coordinators.topic(KeyType.TRANSACTION).partitions
    return partition.log


def epochs(log: Log) -> dict[str, list[int]]:
    """Return the epochs in the records of each id."""
    found: dict[str, list[int]] = {}
    for stored in log.batches:
        for batch in batches(stored.payload):
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
    stage.cluster.topics.delete(TOPIC)
    for number in range(19):
        begin(stage, f"u{number}")
    assert len(log_of(stage).batches) == 19
    begin(stage, "u0")
    found = epochs(log_of(stage))
    assert {name: rows[-1] for name, rows in found.items()} == {
        "u0": 1,
        **{f"u{number}": 0 for number in range(1, 19)},
    }
