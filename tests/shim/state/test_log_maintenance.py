"""Retention, expiry and compaction happen as time passes, without any requests."""

from kafka_shim.protocol.records.batches import Record, encode_batch
from tests.recordings.records.batches import TRANSACTIONAL, batch
from tests.shim.handlers.records import produce
from tests.shim.play import Stage

HOUR_MS = 3_600_000


def stage_with_old_records() -> Stage:
    stage = Stage()
    stage.topic("t", configs={"retention.ms": str(HOUR_MS)})
    produce(stage, "t", records=batch([b"a"], times=[stage.clock.now_ms()]))
    return stage


def test_records_are_deleted_at_the_first_check_after_their_retention() -> None:
    stage = stage_with_old_records()
    log = stage.found("t").partitions[0].log
    stage.clock.advance(HOUR_MS)
    assert log.start_offset == 0
    stage.clock.advance(300_000)
    assert (log.start_offset, log.end_offset) == (1, 1)


def test_later_records_are_deleted_after_their_own_retention() -> None:
    stage = stage_with_old_records()
    log = stage.found("t").partitions[0].log
    stage.clock.advance(2 * HOUR_MS)
    produce(stage, "t", records=batch([b"b"], times=[stage.clock.now_ms()]))
    stage.clock.advance(2 * HOUR_MS)
    assert (log.start_offset, log.end_offset) == (2, 2)


def test_producers_whose_batches_were_rejected_expire() -> None:
    """Rejected producers would otherwise fill the memory: there may be any number of ids."""
    stage = Stage()
    stage.topic("t")
    log = stage.found("t").partitions[0].log
    for producer_id in range(5):
        records = batch([b"a"], producer=(producer_id, 0, 0), attributes=TRANSACTIONAL)
        produce(stage, "t", records=records, transactional_id="tx")
    assert not log.producers.is_empty
    stage.clock.advance(25 * HOUR_MS)
    assert log.producers.is_empty


def test_empty_groups_expire_but_not_after_a_reset() -> None:
    stage = Stage()
    groups = stage.cluster.groups
    groups.get_or_create_classic_group("old")
    stage.clock.advance(600_000)
    assert groups.find_current("old") is None
    groups.get_or_create_classic_group("new")
    stage.cluster.reset_to_initial_state()
    stage.clock.advance(HOUR_MS)
    assert groups.find_current("new") is not None
    assert stage.cluster.groups.find_current("new") is None


def test_after_a_reset_old_logs_are_no_longer_checked() -> None:
    stage = stage_with_old_records()
    log = stage.found("t").partitions[0].log
    stage.cluster.reset_to_initial_state()
    stage.clock.advance(2 * HOUR_MS)
    assert log.start_offset == 0


def keyed(stage: Stage, value: bytes) -> None:
    records = [Record(offset=0, timestamp=stage.clock.now_ms(), key=b"k", value=value)]
    produce(stage, "t", records=encode_batch(records))


def test_logs_are_compacted_automatically_if_enabled() -> None:
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


def test_a_log_that_is_not_dirty_enough_is_compacted_after_its_maximum_lag() -> None:
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


def test_by_default_logs_are_not_compacted_automatically() -> None:
    stage = Stage()
    stage.topic("t", configs={"cleanup.policy": "compact"})
    for value in (b"1", b"2"):
        keyed(stage, value)
    stage.clock.advance(HOUR_MS)
    assert len(stage.found("t").partitions[0].log.batches) == 2
