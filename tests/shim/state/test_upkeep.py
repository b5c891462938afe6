"""Retention needs no writers, only time, also that of the control API."""

from kafka_shim.protocol.records import Record, encode_batch
from tests.recordings.records.batches import TRANSACTIONAL, batch
from tests.shim.handlers.records import produce
from tests.shim.play import Stage

HOUR_MS = 3_600_000


def stage_with_old_records() -> Stage:
    stage = Stage()
    stage.topic("t", configs={"retention.ms": str(HOUR_MS)})
    produce(stage, "t", records=batch([b"a"], times=[stage.clock.now_ms()]))
    return stage


def test_records_go_at_the_first_check_after_their_time() -> None:
    stage = stage_with_old_records()
    log = stage.found("t").partitions[0].log
    stage.clock.advance(HOUR_MS)
    assert log.start_offset == 0
    stage.clock.advance(300_000)
    assert (log.start_offset, log.end_offset) == (1, 1)


def test_records_written_later_go_in_their_time() -> None:
    stage = stage_with_old_records()
    log = stage.found("t").partitions[0].log
    stage.clock.advance(2 * HOUR_MS)
    produce(stage, "t", records=batch([b"b"], times=[stage.clock.now_ms()]))
    stage.clock.advance(2 * HOUR_MS)
    assert (log.start_offset, log.end_offset) == (2, 2)


def test_who_only_tried_to_write_is_forgotten() -> None:
    """Producers that nobody knows are refused, and may have any number of ids."""
    stage = Stage()
    stage.topic("t")
    log = stage.found("t").partitions[0].log
    for producer_id in range(5):
        records = batch([b"a"], producer=(producer_id, 0, 0), attributes=TRANSACTIONAL)
        produce(stage, "t", records=records, transactional_id="tx")
    assert not log.producers.is_empty
    stage.clock.advance(25 * HOUR_MS)
    assert log.producers.is_empty


def test_empty_groups_are_forgotten_and_not_looked_after_by_a_broker_that_begins_again() -> None:
    stage = Stage()
    groups = stage.cluster.groups
    groups.classic_or_new("old")
    stage.clock.advance(600_000)
    assert groups.find("old") is None
    groups.classic_or_new("new")
    stage.cluster.begin()
    stage.clock.advance(HOUR_MS)
    assert groups.find("new") is not None
    assert stage.cluster.groups.find("new") is None


def test_a_broker_that_begins_again_does_not_look_after_what_it_had() -> None:
    stage = stage_with_old_records()
    log = stage.found("t").partitions[0].log
    stage.cluster.begin()
    stage.clock.advance(2 * HOUR_MS)
    assert log.start_offset == 0


def keyed(stage: Stage, value: bytes) -> None:
    records = [Record(offset=0, timestamp=stage.clock.now_ms(), key=b"k", value=value)]
    produce(stage, "t", records=encode_batch(records))


def test_logs_are_compacted_by_themselves_where_that_is_asked_for() -> None:
    stage = Stage(properties={"log.cleaner.enable": "true"})
    stage.topic("t", configs={"cleanup.policy": "compact"})
    for value in (b"1", b"2", b"3"):
        keyed(stage, value)
    log = stage.found("t").partitions[0].log
    stage.clock.advance(14_000)
    assert len(log.batches) == 3
    stage.clock.advance(1_000)
    assert [batch.base_offset for batch in log.batches] == [2]
    keyed(stage, b"4")
    stage.clock.advance(15_000)
    assert [batch.base_offset for batch in log.batches] == [3]


def test_what_is_not_dirty_enough_waits_for_its_lag() -> None:
    stage = Stage(properties={"log.cleaner.enable": "true"})
    stage.topic(
        "t",
        configs={
            "cleanup.policy": "compact",
            "min.cleanable.dirty.ratio": "0.9",
            "max.compaction.lag.ms": "60000",
        },
    )
    keyed(stage, b"1")
    stage.clock.advance(15_000)
    keyed(stage, b"2")
    log = stage.found("t").partitions[0].log
    stage.clock.advance(60_000)
    assert len(log.batches) == 2
    stage.clock.advance(15_000)
    assert [batch.base_offset for batch in log.batches] == [1]


def test_otherwise_nothing_is_compacted_before_a_test_asks() -> None:
    stage = Stage()
    stage.topic("t", configs={"cleanup.policy": "compact"})
    for value in (b"1", b"2"):
        keyed(stage, value)
    stage.clock.advance(HOUR_MS)
    assert len(stage.found("t").partitions[0].log.batches) == 2
