"""A partition's log: appended records are found by offset and time until they are deleted."""

from hypothesis import given, strategies as st

from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.state.logs.log import PartitionLog, StoredBatch
from kafka_shim.shim.state.logs.log_settings import EffectiveLogSettings

DAY_MS = 86_400_000


def log_of(
    *sizes: int, configs: dict[str, str] | None = None, clock: ManualClock | None = None
) -> PartitionLog:
    """Return a log with a batch for each size: its number of records, of ten bytes each."""
    log = PartitionLog(EffectiveLogSettings(configs or {}), clock or ManualClock())
    for size in sizes:
        add(log, size)
    return log


def add(log: PartitionLog, records: int, *, time: int = 0, epoch: int = 0) -> None:
    base = log.end_offset
    payload = b"%09d." % base * records
    log.append_batch(StoredBatch(base, base + records - 1, time, payload), epoch)


@given(st.lists(st.integers(1, 5), max_size=8), st.data())
def test_reading_finds_the_batches_from_an_offset_on(sizes: list[int], data: st.DataObject) -> None:
    log = log_of(*sizes)
    offset = data.draw(st.integers(0, log.end_offset))
    end = data.draw(st.integers(offset, log.end_offset))
    limit = data.draw(st.integers(0, 150))
    found = log.read_batches(offset, end, limit, whole_first=False)
    expected: list[bytes] = []
    for batch in log.batches:
        if batch.last_offset >= offset and batch.last_offset < end:
            if sum(map(len, expected)) + len(batch.payload) > limit:
                break
            expected.append(batch.payload)
    assert found == expected


@given(st.lists(st.integers(1, 5), max_size=8), st.data())
def test_bytes_between_two_offsets_are_those_that_are_read(
    sizes: list[int], data: st.DataObject
) -> None:
    log = log_of(*sizes)
    offset = data.draw(st.integers(0, log.end_offset))
    end = data.draw(st.integers(offset, log.end_offset))
    found = log.read_batches(offset, end, 1 << 30, whole_first=False)
    assert log.bytes_between(offset, end) == sum(map(len, found))


def test_the_first_batch_is_returned_whole_on_request() -> None:
    log = log_of(3, 3)
    assert log.read_batches(0, 6, 5, whole_first=False) == []
    assert log.read_batches(0, 6, 5, whole_first=True) == [log.batches[0].payload]
    assert log.read_batches(6, 6, 5, whole_first=True) == []


def test_a_batch_beyond_the_readers_end_is_not_returned() -> None:
    log = log_of(3, 3)
    assert len(log.read_batches(0, 3, 1000, whole_first=True)) == 1
    assert log.read_batches(0, 2, 1000, whole_first=True) == []


def test_deleting_drops_whole_batches_and_moves_the_start() -> None:
    log = log_of(3, 3)
    log.advance_log_start(4)
    assert (log.start_offset, log.end_offset, len(log.batches)) == (4, 6, 1)
    assert log.size_bytes == 30
    log.advance_log_start(6)
    assert (log.start_offset, log.size_bytes, log.batches) == (6, 0, [])
    add(log, 1)
    assert log.end_offset == 7


def test_batches_are_found_by_time() -> None:
    log = PartitionLog(EffectiveLogSettings({}), ManualClock())
    for time in (100, 300, 200, 400):
        add(log, 1, time=time)
    found = {at: log.batches_with_timestamp_from(at) for at in (50, 150, 250, 301, 401)}
    offsets = {at: [batch.base_offset for batch in batches] for at, batches in found.items()}
    assert offsets == {50: [0, 1, 2, 3], 150: [1, 2, 3], 250: [1, 3], 301: [3], 401: []}
    newest = log.first_max_timestamp_batch()
    assert newest is not None
    assert newest.base_offset == 3


def test_deleted_batches_are_not_found_by_time() -> None:
    log = PartitionLog(EffectiveLogSettings({}), ManualClock())
    for time in (500, 100, 300):
        add(log, 1, time=time)
    log.advance_log_start(1)
    assert [batch.base_offset for batch in log.batches_with_timestamp_from(200)] == [2]


def test_the_newest_batch_is_known_after_deletion_until_it_expires() -> None:
    clock = ManualClock()
    log = PartitionLog(EffectiveLogSettings({"retention.ms": "1000"}), clock)
    add(log, 1, time=clock.now_ms() + 50)
    add(log, 1, time=clock.now_ms() + 20)
    log.delete_records_before(2)
    newest = log.first_max_timestamp_batch()
    assert newest is not None
    assert newest.base_offset == 0
    add(log, 1, time=clock.now_ms())
    clock.advance(5000)
    log.delete_expired_segments()
    assert log.first_max_timestamp_batch() is None


def test_leader_epochs_end_where_the_next_begins() -> None:
    log = log_of(3)
    add(log, 2, epoch=4)
    assert log.end_offset_for_epoch(0) == (0, 3)
    assert log.end_offset_for_epoch(2) == (0, 3)
    assert log.end_offset_for_epoch(4) == (4, 5)
    assert log.end_offset_for_epoch(5) == (-1, -1)
    assert log.end_offset_for_epoch(-1) == (-1, -1)
    assert [log.leader_epoch_at_offset(offset) for offset in (0, 2, 3, 5)] == [0, 0, 4, 4]


def test_leader_epochs_without_records_are_dropped() -> None:
    """The log then begins in the last of these epochs, as in Kafka."""
    log = PartitionLog(EffectiveLogSettings({}), ManualClock())
    for epoch in range(1000):
        add(log, 1, epoch=epoch)
        log.advance_log_start(log.end_offset)
    add(log, 1, epoch=1000)
    assert len(log._epochs) == 2
    assert log.end_offset_for_epoch(5) == (5, 1000)
    assert log.end_offset_for_epoch(999) == (999, 1000)
    assert log.end_offset_for_epoch(1000) == (1000, 1001)


def test_old_batches_are_deleted_when_retention_is_checked() -> None:
    clock = ManualClock(10 * DAY_MS)
    log = PartitionLog(
        EffectiveLogSettings({"retention.ms": str(DAY_MS), "segment.ms": str(DAY_MS)}), clock
    )
    add(log, 1, time=clock.now_ms())
    clock.advance(2 * DAY_MS)
    add(log, 1, time=clock.now_ms())
    assert log.start_offset == 0
    log.delete_expired_segments()
    assert (log.start_offset, log.end_offset) == (1, 2)


def test_retention_by_size_keeps_at_least_retention_bytes() -> None:
    clock = ManualClock()
    configs = {"retention.bytes": "40", "retention.ms": "-1", "segment.bytes": "30"}
    log = log_of(3, 3, 3, configs=configs, clock=clock)
    add(log, 1)
    log.delete_expired_segments()
    assert log.size_bytes == 40
    assert log.start_offset == 6


def test_retention_does_not_apply_to_a_compacted_topic() -> None:
    clock = ManualClock(10 * DAY_MS)
    log = PartitionLog(
        EffectiveLogSettings({"cleanup.policy": "compact", "retention.ms": "1"}), clock
    )
    add(log, 1)
    clock.advance(DAY_MS)
    log.delete_expired_segments()
    assert log.start_offset == 0


def test_waiting_readers_are_notified_of_every_change() -> None:
    log = PartitionLog(EffectiveLogSettings({}), ManualClock())
    told: list[int] = []
    stop = log.add_watcher(lambda: told.append(log.end_offset))
    add(log, 2)
    add(log, 1)
    stop()
    add(log, 1)
    assert told == [2, 3]


def test_waiting_readers_are_notified_of_the_end() -> None:
    log = log_of(1)
    told: list[bool] = []
    log.add_watcher(lambda: told.append(log.is_closed))
    log.close_deleted()
    assert told == [True]
    assert log.batches == []
