"""Partitions that a request names twice.

Real brokers collect many answers in maps by topic and partition: there each comes once, the last
one counts, and a topic that is named twice is one topic.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Row = TypeVar("Row")


def by_topic(rows: Iterable[tuple[str, int, Row]]) -> Iterator[tuple[str, list[Row]]]:
    """Rows (topic, partition, answer) as such a map: each topic with its answers."""
    found: dict[str, dict[int, Row]] = {}
    for name, index, row in rows:
        found.setdefault(name, {})[index] = row
    for name, answers in found.items():
        yield name, list(answers.values())


def last_of_each(rows: Iterable[Row], key: Callable[[Row], Hashable]) -> list[Row]:
    """The rows of different keys, each where its key comes first."""
    return list({key(row): row for row in rows}.values())
