"""The form in which brokers answer about the state of share partitions (KIP-932)."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar


class ShareStateRequestPartition(Protocol):
    """A partition of a request about the state of share partitions."""

    partition: int


RequestPartition = TypeVar("RequestPartition", bound=ShareStateRequestPartition)
RequestPartition_co = TypeVar(
    "RequestPartition_co", bound=ShareStateRequestPartition, covariant=True
)
Row = TypeVar("Row")
Result = TypeVar("Result")


class ShareStateRequestTopic(Protocol[RequestPartition_co]):
    """A topic of such a request."""

    @property
    def topic_id(self) -> bytes: ...
    @property
    def partitions(self) -> Sequence[RequestPartition_co]: ...


def results_by_topic(
    topics: Sequence[ShareStateRequestTopic[RequestPartition]],
    build_topic_result: Callable[[bytes, list[Row]], Result],
    build_partition_row: Callable[[bytes, RequestPartition], Row],
) -> list[Result]:
    """Return a result for each topic, with a row for each partition.

    If a partition is requested repeatedly, each request takes effect, and its row is the last one.
    If any topic has no partitions, nothing is done, and the response is empty.
    """
    if not all(topic.partitions for topic in topics):
        return []
    rows_by_topic: dict[bytes, dict[int, Row]] = {}
    for topic in topics:
        for partition in topic.partitions:
            rows = rows_by_topic.setdefault(topic.topic_id, {})
            rows[partition.partition] = build_partition_row(topic.topic_id, partition)
    return [
        build_topic_result(topic_id, list(rows.values()))
        for topic_id, rows in rows_by_topic.items()
    ]
