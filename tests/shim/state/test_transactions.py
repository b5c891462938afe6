"""Transactional ids: epochs, fencing, ends, timeouts, and repeated requests."""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.facts import facts_of_release
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.state.transactions.transaction import (
    EPOCH_MAX,
    Transaction,
    TransactionalIdState,
)
from kafka_shim.shim.state.transactions.transactions import (
    PARTITIONS_MAX,
    Transactions,
    TransactionSettings,
)

MINUTE_MS = 60_000
DAY_MS = 86_400_000
PARTITION = ("t", 0)


class Coordinator:
    """Transactions whose markers are kept in a list."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.markers: list[tuple[list[tuple[str, int]], int, bool]] = []
        settings = TransactionSettings(
            timeout_ms_max=15 * MINUTE_MS,
            expiration_ms=7 * DAY_MS,
            overdue_interval_ms=10_000,
            expiry_interval_ms=60 * MINUTE_MS,
        )
        facts = facts_of_release("3.9").records
        self.transactions = Transactions(self.clock, self._mark, lambda: None, settings, facts)

    def _mark(self, ended: Transaction) -> None:
        is_committed = ended.state is TransactionalIdState.PREPARE_COMMIT
        self.markers.append((list(ended.partitions), ended.epoch, is_committed))

    def begin(self, producer_id: int = -1, epoch: int = -1) -> tuple[ErrorCode, int, int]:
        return self.transactions.init_producer_id("x", MINUTE_MS, producer_id, epoch)

    def open(self) -> tuple[int, int]:
        """Begin a transaction; return the producer id and epoch."""
        _, producer_id, epoch = self.begin()
        self.transactions.add_partitions("x", producer_id, epoch, [PARTITION])
        return producer_id, epoch

    def end(
        self, owner: tuple[int, int], *, commit: bool = True, bumps: bool = False
    ) -> tuple[ErrorCode, int, int]:
        return self.transactions.end_transaction("x", *owner, commit=commit, bumps_epoch=bumps)

    def state(self) -> TransactionalIdState:
        found = self.transactions.touch("x")
        assert found is not None
        return found.state


def test_every_new_producer_has_the_next_epoch() -> None:
    coordinator = Coordinator()
    assert coordinator.begin() == (ErrorCode.NONE, 0, 0)
    assert coordinator.begin() == (ErrorCode.NONE, 0, 1)


def test_a_producer_that_gives_its_epoch_gets_the_next_one_also_when_retrying() -> None:
    coordinator = Coordinator()
    coordinator.begin()
    assert coordinator.begin(0, 0) == (ErrorCode.NONE, 0, 1)
    assert coordinator.begin(0, 0) == (ErrorCode.NONE, 0, 1)
    assert coordinator.begin(0, 5)[0] is ErrorCode.PRODUCER_FENCED
    assert coordinator.begin(8, 1)[0] is ErrorCode.PRODUCER_FENCED


def test_after_the_largest_epoch_a_new_producer_id_is_assigned() -> None:
    coordinator = Coordinator()
    coordinator.begin()
    found = coordinator.transactions.touch("x")
    assert found is not None
    found.epoch = EPOCH_MAX
    assert coordinator.begin() == (ErrorCode.NONE, 1, 0)


def test_invalid_timeouts_and_empty_transactional_ids_are_rejected() -> None:
    begin = Coordinator().transactions.init_producer_id
    assert begin("x", 0, -1, -1)[0] is ErrorCode.INVALID_TRANSACTION_TIMEOUT
    assert begin("x", 15 * MINUTE_MS + 1, -1, -1)[0] is ErrorCode.INVALID_TRANSACTION_TIMEOUT
    assert begin("", MINUTE_MS, -1, -1)[0] is ErrorCode.INVALID_REQUEST


def test_a_new_producer_aborts_the_open_transaction_and_must_retry() -> None:
    coordinator = Coordinator()
    old = coordinator.open()
    assert coordinator.begin()[0] is ErrorCode.CONCURRENT_TRANSACTIONS
    assert coordinator.markers == [([PARTITION], 1, False)]
    assert coordinator.begin() == (ErrorCode.NONE, 0, 2)
    assert coordinator.end(old)[0] is ErrorCode.PRODUCER_FENCED


def test_markers_go_to_every_partition_once() -> None:
    coordinator = Coordinator()
    owner = coordinator.open()
    add = coordinator.transactions.add_partitions
    assert add("x", *owner, [("t", 1), PARTITION]) is ErrorCode.NONE
    assert coordinator.end(owner) == (ErrorCode.NONE, *owner)
    assert coordinator.markers == [([PARTITION, ("t", 1)], 0, True)]
    assert coordinator.state() is TransactionalIdState.COMPLETE_COMMIT


def test_an_end_can_be_repeated_but_not_changed() -> None:
    coordinator = Coordinator()
    owner = coordinator.open()
    coordinator.end(owner, commit=False)
    assert coordinator.end(owner, commit=False)[0] is ErrorCode.NONE
    assert coordinator.end(owner)[0] is ErrorCode.INVALID_TXN_STATE
    assert len(coordinator.markers) == 1


def test_in_version_1_ending_without_a_transaction_is_an_error() -> None:
    coordinator = Coordinator()
    _, *owner = coordinator.begin()
    assert coordinator.end((owner[0], owner[1]))[0] is ErrorCode.INVALID_TXN_STATE


def test_version_2_raises_the_epoch_with_every_end() -> None:
    coordinator = Coordinator()
    owner = coordinator.open()
    assert coordinator.end(owner, bumps=True) == (ErrorCode.NONE, 0, 1)
    assert coordinator.markers == [([PARTITION], 1, True)]
    assert coordinator.end(owner, bumps=True) == (
        ErrorCode.NONE,
        0,
        1,
    )  # a retry after a lost response
    assert coordinator.end(owner, commit=False, bumps=True)[0] is ErrorCode.INVALID_TXN_STATE
    assert coordinator.end((0, 1), commit=False, bumps=True) == (ErrorCode.NONE, 0, 2)
    assert coordinator.end((0, 2), bumps=True)[0] is ErrorCode.INVALID_TXN_STATE


def test_unknown_producers_and_wrong_epochs_have_different_errors() -> None:
    coordinator = Coordinator()
    producer_id, epoch = coordinator.open()
    add = coordinator.transactions.add_partitions
    assert add("y", producer_id, epoch, []) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert add("x", producer_id + 1, epoch, []) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert add("x", producer_id, epoch + 1, []) is ErrorCode.PRODUCER_FENCED
    assert add("", producer_id, epoch, []) is ErrorCode.INVALID_REQUEST


def test_verifying_fails_for_missing_partitions() -> None:
    coordinator = Coordinator()
    owner = coordinator.open()
    verify = coordinator.transactions.verify_partition_in_transaction
    assert verify("x", *owner, PARTITION) is ErrorCode.NONE
    assert verify("x", *owner, ("t", 1)) is ErrorCode.INVALID_TXN_STATE
    coordinator.end(owner)
    assert verify("x", *owner, PARTITION) is ErrorCode.INVALID_TXN_STATE


def test_an_overdue_transaction_is_aborted_at_the_next_check() -> None:
    coordinator = Coordinator()
    coordinator.clock.advance(3_000)
    owner = coordinator.open()
    coordinator.clock.advance(MINUTE_MS)
    assert coordinator.markers == []
    coordinator.clock.advance(7_000)
    assert coordinator.markers == [([PARTITION], 1, False)]
    assert coordinator.end(owner)[0] is ErrorCode.PRODUCER_FENCED


def test_a_transaction_that_ended_in_time_is_not_aborted() -> None:
    coordinator = Coordinator()
    coordinator.end(coordinator.open())
    coordinator.clock.advance(10 * MINUTE_MS)
    assert len(coordinator.markers) == 1


def test_unused_transactional_ids_expire() -> None:
    coordinator = Coordinator()
    coordinator.begin()
    coordinator.clock.advance(7 * DAY_MS - 1)
    assert coordinator.transactions.get_for_reading("x") is not None
    coordinator.clock.advance(1)
    assert coordinator.transactions.get_for_reading("x") is None
    assert list(coordinator.transactions) == []
    assert coordinator.begin() == (ErrorCode.NONE, 1, 0)


def test_the_partitions_of_a_transaction_are_limited() -> None:
    at = Coordinator()
    owner = at.open()
    add = at.transactions.add_partitions
    many = [("t", index) for index in range(PARTITIONS_MAX)]
    assert add("x", *owner, many) is ErrorCode.NONE
    assert add("x", *owner, [("t", PARTITIONS_MAX)]) is ErrorCode.POLICY_VIOLATION
    assert add("x", *owner, [("t", 1), ("t", 2)]) is ErrorCode.NONE
    at.end(owner)
    assert add("x", *owner, [("t", PARTITIONS_MAX)]) is ErrorCode.NONE
    assert [len(partitions) for partitions, _, _ in at.markers] == [PARTITIONS_MAX]


def test_a_transaction_is_aborted_by_its_own_timeout_not_by_that_of_the_one_before() -> None:
    coordinator = Coordinator()
    owner = coordinator.open()
    coordinator.clock.advance(30_000)
    coordinator.end(owner)
    coordinator.transactions.add_partitions("x", *owner, [PARTITION])
    coordinator.clock.advance(MINUTE_MS - 10_000)
    assert coordinator.state() is TransactionalIdState.ONGOING
    coordinator.clock.advance(20_000)
    assert coordinator.state() is TransactionalIdState.COMPLETE_ABORT


def test_a_shorter_timeout_aborts_a_transaction_earlier() -> None:
    coordinator = Coordinator()
    coordinator.end(coordinator.open())
    _, producer_id, epoch = coordinator.transactions.init_producer_id("x", 20_000, -1, -1)
    coordinator.transactions.add_partitions("x", producer_id, epoch, [PARTITION])
    coordinator.clock.advance(20_000)
    assert coordinator.state() is TransactionalIdState.COMPLETE_ABORT
