"""Partitions that occur twice in a request.

Real brokers collect many responses in maps by topic and partition: each partition occurs once, the
last entry counts, and duplicate topics are merged.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Row = TypeVar("Row")
Value = TypeVar("Value", bound=Hashable)


def deduplicate_by_topic(
    rows: Iterable[tuple[str, int, Row]],
) -> Iterator[tuple[str, list[Row]]]:
    """Group rows (topic, partition, row) like such a map: each topic with its responses."""
    topics: dict[str, dict[int, Row]] = {}
    for name, index, row in rows:
        topics.setdefault(name, {})[index] = row
    for name, responses in topics.items():
        yield name, list(responses.values())


def distinct(values: Iterable[Value]) -> Iterator[Value]:
    """Yield each value at its first occurrence."""
    yielded = set()
    for value in values:
        if value not in yielded:
            yielded.add(value)
            yield value


def repeated_value_counts(values: Iterable[Value]) -> dict[Value, int]:
    """Return how often the values occur that occur repeatedly, in the order of the first ones."""
    return {value: count for value, count in Counter(values).items() if count > 1}


def last_row_per_key(rows: Iterable[Row], key: Callable[[Row], Hashable]) -> list[Row]:
    """Return the last row of each key, at the position of the first one."""
    return list({key(row): row for row in rows}.values())
