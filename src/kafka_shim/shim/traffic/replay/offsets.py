"""The offsets of the recorded run and of the target, whose topics may not be empty at first.

Two offsets of a partition have the same distance at the target as in the recording. So each learned
pair (of an append, a lookup or a committed offset) determines the offsets after it.
"""

from bisect import bisect_right, insort
from collections.abc import Iterator
from typing import Any

from kafka_shim.protocol.codec.message_spec import StructSpec, load
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.traffic.replay.rows import pairs

TEACHES_OFFSETS = frozenset({ApiKey.PRODUCE, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FETCH})
"""Answers that offsets are learned from."""

TAKES_OFFSETS = frozenset(
    {ApiKey.FETCH, ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT, ApiKey.DELETE_RECORDS}
)
"""Requests that offsets are put into."""

LEARNED = ("base_offset", "offset", "committed_offset")
REWRITTEN = ("fetch_offset", "committed_offset", "offset")
_NAMES = ("name", "topic", "topic_name")
_PARTITIONS = ("partition_index", "partition", "index")

_Topic = str | bytes
_Place = tuple[_Topic, int]


class Offsets:
    """The offsets learned so far in a replay."""

    def __init__(self) -> None:
        self._known: dict[_Place, list[tuple[int, int]]] = {}
        self._names: dict[bytes, str] = {}
        self.changes = 0
        """How often something new was learned."""
        self.differ = False

    def name_topics(self, metadata: Any) -> None:
        """Learn the names of topic ids from recorded metadata."""
        for topic in metadata.topics:
            self._topic(topic)

    def learn(self, recorded: Any, actual: Any) -> None:
        """Learn the offsets from two responses to the same request."""
        spec = load(type(recorded).__name__).struct
        for place, old_row, new_row in self._rows(spec, recorded, actual, ""):
            for name in LEARNED:
                old, new = getattr(old_row, name, -1), getattr(new_row, name, -1)
                if old >= 0 and new >= 0:
                    self._note(place, old, new)

    def rewrite(self, request: Any) -> bool:
        """Put the target's offsets into a request, in place; return whether anything changed."""
        changed = False
        spec = load(type(request).__name__).struct
        for place, row, _ in self._rows(spec, request, request, ""):
            for name in REWRITTEN:
                old = getattr(row, name, -1)
                new = self._actual(place, old) if old >= 0 else old
                if new != old:
                    setattr(row, name, new)
                    changed = True
        return changed

    def _note(self, place: _Place, old: int, new: int) -> None:
        known = self._known.setdefault(place, [])
        if not known or known[bisect_right(known, (old, new)) - 1] != (old, new):
            insort(known, (old, new))
            self.changes += 1
            if known[-1] == (old, new) and _is_run(known[-3:]):
                del known[-2]  # the ends of a range determine all of it
        self.differ |= old != new

    def _actual(self, place: _Place, old: int) -> int:
        known = self._known.get(place)
        if not known:
            return old
        nearest = known[max(0, bisect_right(known, old, key=lambda pair: pair[0]) - 1)]
        return max(0, old + nearest[1] - nearest[0])

    def _rows(
        self, spec: StructSpec, old_row: Any, new_row: Any, topic: _Topic
    ) -> Iterator[tuple[_Place, Any, Any]]:
        """Yield the partitions in both messages, each with its topic and number."""
        topic = self._topic(old_row) or topic
        number = next(
            (getattr(old_row, name) for name in _PARTITIONS if hasattr(old_row, name)), None
        )
        if topic and isinstance(number, int):
            yield (topic, number), old_row, new_row
        for field in spec.fields:
            if field.struct is None:
                continue
            olds, news = getattr(old_row, field.attribute), getattr(new_row, field.attribute)
            if field.is_array and olds is not None and news is not None:
                for old, new in pairs(olds, news):
                    if old is not None and new is not None:
                        yield from self._rows(field.struct, old, new, topic)

    def _topic(self, row: Any) -> _Topic:
        """Return a topic's name, or its id while the name is unknown."""
        name = next((getattr(row, name) for name in _NAMES if getattr(row, name, None)), "")
        topic_id = getattr(row, "topic_id", b"")
        if name and topic_id:
            self.changes += self._names.get(topic_id) != name
            self._names[topic_id] = name
        return name or self._names.get(topic_id, topic_id)


def _is_run(known: list[tuple[int, int]]) -> bool:
    """Return whether three consecutive offsets have the same distance to their counterparts."""
    return len(known) == 3 and len({new - old for old, new in known}) == 1
