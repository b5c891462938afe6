"""Partitions whose records are written when somebody looks at their log."""

from collections.abc import Callable, Sequence

from kafka_shim.shim.state.logs.log import Log
from kafka_shim.shim.state.topics import Partition

GROUPS_TOPIC = "__consumer_offsets"


class LatePartition(Partition):
    """A partition of the topic of groups."""

    __slots__ = ("_about_to_look", "_log", "records")

    def __init__(
        self, index: int, replicas: Sequence[int], log: Log, about_to_look: Callable[[int], None]
    ) -> None:
        """`about_to_look` is called with the index before the log is returned."""
        self._about_to_look = about_to_look
        self.records = 0
        """The number of records since the log was compacted, with those that were left."""
        super().__init__(index, replicas, log)

    @property
    def log(self) -> Log:
        self._about_to_look(self.index)
        return self._log

    @log.setter
    def log(self, log: Log) -> None:
        self._log = log

    @property
    def stored_log(self) -> Log:
        return self._log


class Partitions:
    """Makes the partitions of a cluster."""

    def __init__(self) -> None:
        self.about_to_look: Callable[[int], None] = lambda _: None
        """Called with a partition of the topic of groups before its log is used."""

    def make(self, topic: str, index: int, replicas: Sequence[int], log: Log) -> Partition:
        if topic == GROUPS_TOPIC:
            return LatePartition(index, replicas, log, self._look)
        return Partition(index, replicas, log)

    def _look(self, index: int) -> None:
        self.about_to_look(index)
