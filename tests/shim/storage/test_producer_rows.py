"""After any sequence of batches, markers and deletions, a restart restores all producers."""

import random
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.protocol.records.batches import (
    BatchOptions,
    Record,
    encode_batch,
    prepend_offset,
)
from kafka_shim.shim.state.logs.log import StoredBatch
from kafka_shim.shim.state.logs.log_cleaner import compact_logs
from kafka_shim.shim.state.logs.partition_producers import ProducedBatch
from kafka_shim.shim.state.transactions.transaction_markers import append_end_marker
from kafka_shim.shim.storage.persisted_log import ABORTED, PRODUCER, PersistedLog
from tests.shim.storage.kept import KeptStage

PRODUCERS = 6


def log_of(stage: KeptStage) -> PersistedLog:
    log = stage.found("orders").partitions[0].log
    assert isinstance(log, PersistedLog)
    return log


def state_of(log: PersistedLog) -> Any:
    producers = {
        producer.producer_id: (
            producer.epoch,
            producer.batches,
            producer.coordinator_epoch,
            producer.transaction_offset,
            producer.last_timestamp,
        )
        for producer in log.producers
    }
    aborted = log.producers.aborted_between(0, log.end_offset + 1)
    offsets = log.start_offset, log.end_offset, log.last_stable_offset
    return producers, aborted, offsets, [batch.payload for batch in log.batches]


def append(stage: KeptStage, producer_id: int, *, is_transactional: bool) -> None:
    log = log_of(stage)
    known = log.producers.get_producer(producer_id)
    first = 0 if known is None else known.last_sequence + 1
    offset, now_ms = log.end_offset, stage.clock.now_ms()
    options = BatchOptions(
        producer_id=producer_id, producer_epoch=0, base_sequence=first,
        is_transactional=is_transactional,
    )  # fmt: skip
    key = b"%d" % (offset % 5)
    batch = encode_batch([Record(offset, now_ms, key, b"value")], options)
    payload = prepend_offset(batch[16:], offset, 0)
    log.append_batch(StoredBatch(offset, offset, now_ms, payload), 0)
    if producer_id >= 0:
        log.producers.note_appended_batch(
            producer_id, 0, ProducedBatch(first, first, offset, now_ms),
            is_transactional=is_transactional,
        )  # fmt: skip


def end_transaction(stage: KeptStage, producer_id: int, *, commit: bool) -> None:
    append_end_marker(
        stage.found("orders").partitions[0], (producer_id, 0), commit=commit, coordinator_epoch=1,
        now_ms=stage.clock.now_ms(), facts=stage.cluster.facts.records,
    )  # fmt: skip


def step(stage: KeptStage, rng: random.Random) -> None:
    log = log_of(stage)
    producer_id = rng.randrange(PRODUCERS)
    known = log.producers.get_producer(producer_id)
    match rng.randrange(14):
        case 0:
            log.advance_log_start(rng.randint(log.start_offset, log.end_offset))
        case 1:
            log.producers.drop_expired_producers(stage.clock.now_ms() - rng.choice([500, 2_000]))
        case 2:
            compact_logs([log], stage.clock.now_ms(), stamps_horizon=True)
        case 3 if rng.random() < 0.2:
            log.producers.drop_batches_below(log.start_offset)
        case 4 | 5 | 6 | 7 if known is not None and known.has_open_transaction:
            end_transaction(stage, producer_id, commit=rng.random() < 0.5)
        case 8:
            append(stage, -1, is_transactional=False)
        case _:
            is_open = known is not None and known.has_open_transaction
            append(stage, producer_id, is_transactional=is_open or rng.random() < 0.7)
    stage.clock.advance(100)


@pytest.mark.parametrize("seed", range(3))
def test_producers_and_aborted_transactions_are_restored(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    stage = KeptStage(tmp_path)
    stage.topic("orders", configs={"cleanup.policy": "compact"})
    for _ in range(25):
        for _ in range(rng.choice([1, 2, 10])):
            step(stage, rng)
            if rng.random() < 0.7:
                stage.storage.commit()
        before = state_of(log_of(stage))
        stage.storage.commit()
        stage.kill()
        clock = stage.clock
        stage = KeptStage(tmp_path)
        stage.clock.advance(clock.now_ms() - stage.clock.now_ms())
        assert state_of(log_of(stage)) == before


def test_a_deleted_topic_leaves_no_row(tmp_path: Path) -> None:
    stage = KeptStage(tmp_path)
    stage.topic("orders")
    append(stage, 1, is_transactional=True)
    end_transaction(stage, 1, commit=False)
    stage.storage.commit()
    parts = [part for part, _, _ in stage.storage._database.read_all_rows()]
    assert {PRODUCER, ABORTED} <= set(parts)
    stage.cluster.topics.delete_topic("orders")
    stage.storage.commit()
    parts = [part for part, _, _ in stage.storage._database.read_all_rows()]
    assert not {PRODUCER, ABORTED, "log", "topic"} & set(parts)


def test_a_marker_writes_the_rows_of_its_producer_only(tmp_path: Path) -> None:
    stage = KeptStage(tmp_path)
    stage.topic("orders")
    for producer_id in range(50):
        append(stage, producer_id, is_transactional=True)
    rows = []
    for producer_id in range(50):
        end_transaction(stage, producer_id, commit=False)
        written = stage.storage._take_changed_rows(stage.storage._marks, stage.cluster)
        rows.append(sorted((part, key) for part, key, _ in written if part != "topic"))
        stage.storage.commit()
    number = log_of(stage).number
    assert rows[49] == [(ABORTED, f"{number}/99"), (PRODUCER, f"{number}/49")]
