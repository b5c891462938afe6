"""The form in which brokers answer about the state of share partitions (KIP-932)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

AskedPartition = TypeVar("AskedPartition")
AskedPartition_co = TypeVar("AskedPartition_co", covariant=True)
Row = TypeVar("Row")
Result = TypeVar("Result")


class AskedTopic(Protocol[AskedPartition_co]):
    """A topic of such a request."""

    @property
    def topic_id(self) -> bytes: ...
    @property
    def partitions(self) -> Sequence[AskedPartition_co]: ...


def results_of(
    topics: Iterable[AskedTopic[AskedPartition]],
    result: Callable[[bytes, list[Row]], Result],
    row: Callable[[bytes, AskedPartition], Row],
) -> list[Result]:
    """Return a result for each requested topic, with the rows of its partitions."""
    return [
        result(topic.topic_id, [row(topic.topic_id, partition) for partition in topic.partitions])
        for topic in topics
    ]
