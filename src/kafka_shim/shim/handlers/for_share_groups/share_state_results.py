"""The form in which brokers answer about the state of share partitions (KIP-932)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

RequestPartition = TypeVar("RequestPartition")
RequestPartition_co = TypeVar("RequestPartition_co", covariant=True)
Row = TypeVar("Row")
Result = TypeVar("Result")


class ShareStateRequestTopic(Protocol[RequestPartition_co]):
    """A topic of such a request."""

    @property
    def topic_id(self) -> bytes: ...
    @property
    def partitions(self) -> Sequence[RequestPartition_co]: ...


def results_by_topic(
    topics: Iterable[ShareStateRequestTopic[RequestPartition]],
    build_topic_result: Callable[[bytes, list[Row]], Result],
    build_partition_row: Callable[[bytes, RequestPartition], Row],
) -> list[Result]:
    """Return a result for each requested topic, with the rows of its partitions."""
    return [
        build_topic_result(
            topic.topic_id,
            [build_partition_row(topic.topic_id, partition) for partition in topic.partitions],
        )
        for topic in topics
    ]
