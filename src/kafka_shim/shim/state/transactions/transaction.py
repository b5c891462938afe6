"""One transactional id: its producer and its current or last transaction."""

from enum import Enum

from kafka_shim.shim.clock import Deadline

EPOCH_MAX = 32766
"""The last epoch of a producer id that a producer can have (Short.MAX_VALUE is for fencing it)."""
NO_ID = -1
NO_EPOCH = -1
NO_TIME = -1

TopicPartition = tuple[str, int]


class TransactionalIdState(Enum):
    """Transaction states; the values are the names in DescribeTransactions."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"


_ONGOING = TransactionalIdState.ONGOING  # enum attribute lookup is slow on CPython 3.11


class Transaction:
    """One transactional id: its producer and the open or last transaction."""

    __slots__ = (
        "deadline",
        "epoch",
        "last_epoch",
        "last_producer_id",
        "partitions",
        "producer_id",
        "started_ms",
        "state",
        "timeout_ms",
        "transactional_id",
        "updated_ms",
    )

    def __init__(self, transactional_id: str, producer_id: int, now_ms: int) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.last_producer_id = NO_ID
        self.epoch = NO_EPOCH
        self.last_epoch = NO_EPOCH
        self.timeout_ms = 0
        self.state = TransactionalIdState.EMPTY
        self.partitions: dict[TopicPartition, None] = {}
        self.started_ms = NO_TIME
        self.updated_ms = now_ms
        self.deadline: Deadline | None = None

    @property
    def is_ongoing(self) -> bool:
        return self.state is _ONGOING

    @property
    def is_complete(self) -> bool:
        return self.state in (
            TransactionalIdState.COMPLETE_COMMIT,
            TransactionalIdState.COMPLETE_ABORT,
        )

    def was_ended_in_previous_epoch(self, epoch: int) -> bool:
        """Return whether this epoch ended the last transaction, after which the next began."""
        return self.is_complete and epoch == self.epoch - 1
