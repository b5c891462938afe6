"""Partitions whose records are written when somebody looks at their log."""

from collections.abc import Callable, Sequence

from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.topics import Partition

GROUPS_TOPIC = "__consumer_offsets"


class LazyPartition(Partition):
    """A partition of the topic of groups; its records are written before its log is used."""

    __slots__ = ("_log", "_write_records", "records")

    def __init__(
        self,
        index: int,
        replicas: Sequence[int],
        log: PartitionLog,
        write_records: Callable[[str, int], None],
    ) -> None:
        """`write_records` is called with topic and index before the log is returned."""
        self._write_records = write_records
        self.records = 0
        """The number of records since the log was compacted, with those that were left."""
        super().__init__(index, replicas, log)

    @property
    def log(self) -> PartitionLog:
        self._write_records(self.topic_name, self.index)
        return self._log

    @log.setter
    def log(self, log: PartitionLog) -> None:
        self._log = log

    @property
    def log_without_flush(self) -> PartitionLog:
        return self._log


class PartitionFactory:
    """Makes the partitions of a cluster: those of groups are lazy."""

    def __init__(self) -> None:
        self.writers: dict[str, Callable[[int], None]] = {}
        """What writes the records of a partition before its log is used, by topic."""

    def make(self, topic: str, index: int, replicas: Sequence[int], log: PartitionLog) -> Partition:
        if topic == GROUPS_TOPIC:
            return LazyPartition(index, replicas, log, self._write_records)
        return Partition(index, replicas, log)

    def _write_records(self, topic: str, index: int) -> None:
        write = self.writers.get(topic)
        if write is not None:
            write(index)
