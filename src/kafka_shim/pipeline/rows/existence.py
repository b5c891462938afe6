"""What certainly existed during a request; lists without it show a denial."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec

from kafka_shim.pipeline.rows.entity import (
    CONSUMER_GROUP,
    CONSUMER_TYPES,
    GROUP,
    OFFSETS,
    TOPIC,
    TRANSACTION,
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
Time = tuple[int, int]
"""From when to when, in microseconds."""
_DeletionTarget = tuple[str, str]
"""A kind, and which of that kind: its name, its id or whose it is."""


class _Existence(NamedTuple):
    first_us: int
    last_us: int
    deletions: tuple[Time, ...]
    """When requests were to end it, or another of its name."""
    is_unique: bool


class ExistenceRecord(msgspec.Struct, frozen=True, array_like=True):
    """A row of the table `sightings`, with times in microseconds."""

    place: str
    kind: str
    name: str
    owner: str
    life: str
    is_end: bool
    first_us: int
    last_us: int


class ExistenceIndex:
    """The lives of everything that responses show."""

    def __init__(self, rows: Iterable[ExistenceRecord] = ()) -> None:
        deleted_at: dict[_DeletionTarget, Time] = {}
        shown = []
        for row in _records_with_topic_names(rows):
            if row.is_end:
                deleted_at[_deletion_target(row.kind, row.name, row.owner, row.life)] = (
                    row.first_us,
                    row.last_us,
                )
            elif row.name:
                shown.append(row)
        self._periods: dict[tuple[str, *_DeletionTarget], dict[str, list[_Existence]]] = {}
        for row in shown:
            keys = (_deletion_target(row.kind, row.name, row.owner), (row.kind, row.life))
            deletions = tuple(deleted_at[key] for key in keys if key in deleted_at)
            names = self._periods.setdefault((row.place, row.kind, row.owner), {})
            life = _Existence(row.first_us, row.last_us, deletions, is_unique=bool(row.life))
            names.setdefault(row.name, []).append(life)
        for names in self._periods.values():
            for existence in names.values():
                existence.extend(_merge_with_and_without_id(existence))

    def existing_names(self, place: str, kind: str, during: Time, owner: str = "") -> Iterator[str]:
        """Return the names of things seen both before and after, without deletion in between."""
        for name, existence in self._periods.get((place, kind, owner), {}).items():
            if any(
                _exists_throughout(life, during)
                and (life.is_unique or _is_not_deleted_before(life, life.last_us))
                for life in existence
            ):
                yield name

    def topic_exists(self, place: str, during: Time, name: str) -> bool:
        """Return whether a topic was seen before, and after or no request deleted it since."""
        existence = self._periods.get((place, TOPIC, ""), {}).get(name, ())
        return any(
            _exists_throughout(life, during)
            or (life.first_us <= during[0] and _is_not_deleted_before(life, during[1]))
            for life in existence
        )

    def names_missing_from_list(
        self, place: str, requirement: str, request: Any, response: Any, during: Time
    ) -> Iterator[str]:
        """Return the names that a list would have shown if the caller were allowed to see them."""
        if requirement in _LISTS:
            for kind, owner in _LISTS[requirement](request, response):
                yield from self.existing_names(place, kind, during, owner)


def _records_with_topic_names(rows: Iterable[ExistenceRecord]) -> list[ExistenceRecord]:
    """Return sightings; topics that some responses show only by id get their names."""
    kept = list(rows)
    names = {row.life: row.name for row in kept if row.life and row.name}

    def named(row: ExistenceRecord) -> ExistenceRecord:
        is_nameless = not (row.name or row.is_end) and row.life in names
        return msgspec.structs.replace(row, name=names[row.life]) if is_nameless else row

    return merge_records(map(named, kept))


def _merge_with_and_without_id(existence: list[_Existence]) -> Iterator[_Existence]:
    """Join lives of a name that responses show both with and without an id."""
    if len({life.is_unique for life in existence}) > 1:
        deletions = tuple(dict.fromkeys(end for life in existence for end in life.deletions))
        first_us = min(life.first_us for life in existence)
        yield _Existence(
            first_us, max(life.last_us for life in existence), deletions, is_unique=False
        )


def merge_records(rows: Iterable[ExistenceRecord]) -> list[ExistenceRecord]:
    """Return a row for each thing, from when it was first seen to when it was last seen."""
    found: dict[tuple[Any, ...], ExistenceRecord] = {}
    for row in rows:
        place = "" if row.is_end else row.place  # it was deleted on all brokers
        key = (place, row.kind, row.name, row.owner, row.life, row.is_end)
        known = found.get(key, row)
        first_us, last_us = min(known.first_us, row.first_us), max(known.last_us, row.last_us)
        found[key] = ExistenceRecord(*key, first_us, last_us)
    return list(found.values())


def existence_records(rows: Iterable[Mapping[str, Any]]) -> Iterator[ExistenceRecord]:
    """Return rows of the table `sightings` as structs."""
    for row in rows:
        first_us, last_us = (_microseconds(row[at]) for at in ("first_seen", "last_seen"))
        place, kind, name = row["place"], row["kind"], row["name"]
        about = (place, kind, name, row["owner"], row["life"], row["is_end"])
        yield ExistenceRecord(*about, first_us, last_us)


def _microseconds(time: datetime) -> int:
    return (time.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


EMPTY_EXISTENCE: Final = ExistenceIndex()


def _deletion_target(kind: str, name: str, owner: str, life: str = "") -> _DeletionTarget:
    """Return what a deletion ends: all offsets of a group, or the thing with this name or id."""
    return kind, owner if kind == OFFSETS else name or life


def _exists_throughout(life: _Existence, during: Time) -> bool:
    return life.first_us <= during[0] and during[1] <= life.last_us


def _is_not_deleted_before(life: _Existence, until_us: int) -> bool:
    """Return whether no request deleted it before then; the deleting request may still see it."""
    return not any(life.first_us <= last and first < until_us for first, last in life.deletions)


_CompleteLists = Iterator[tuple[str, str]]
"""Kinds, with owners, of which a response shows all that the caller may see."""


def _all_topics(request: Any, response: Any) -> _CompleteLists:  # noqa: ARG001 - one of several
    yield TOPIC, ""


def _all_pages(request: Any, response: Any) -> _CompleteLists:
    if request.cursor is None and response.next_cursor is None:
        yield TOPIC, ""


def _all_groups(request: Any, response: Any) -> _CompleteLists:
    if response.error_code or request.states_filter:
        return
    if not request.types_filter:
        yield GROUP, ""
    elif {name.lower() for name in request.types_filter} >= {*CONSUMER_TYPES}:
        yield CONSUMER_GROUP, ""


def _all_transactions(request: Any, response: Any) -> _CompleteLists:
    is_limited = (
        request.state_filters
        or request.producer_id_filters
        or request.duration_filter >= 0
        or request.transactional_id_pattern
    )
    if not (response.error_code or is_limited):
        yield TRANSACTION, ""


def _groups_with_all_topics(request: Any, response: Any) -> _CompleteLists:
    wanted = {group.group_id for group in request.groups if group.topics is None}
    for group in response.groups:
        if group.group_id in wanted and not group.error_code:
            yield OFFSETS, group.group_id


_LISTS: Final[dict[str, Callable[[Any, Any], _CompleteLists]]] = {
    "Metadata.all_topics": _all_topics,
    "DescribeTopicPartitions.all_topics": _all_pages,
    "ListGroups.group": _all_groups,
    "ListTransactions.transactional_id": _all_transactions,
    "OffsetFetch.all_topics": _groups_with_all_topics,
}
"""By requirement."""
