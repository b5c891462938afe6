"""What certainly existed during a request; lists without it show a denial."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec

from kafka_shim.trace_format.entries import Connection

TOPIC, TRANSACTION, OFFSETS = "topic", "transaction", "offsets"
GROUP, CONSUMER_GROUP = "group", "consumer group"
"""A group of any type, and one that is surely of `CONSUMER_TYPES`."""
CONSUMER_TYPES = ("classic", "consumer")


class ObservedEntity(NamedTuple):
    """`topic_id` is a topic's, `owner` the group of offsets, whose name is the topic's."""

    kind: str
    name: str
    owner: str = ""
    topic_id: str = ""


def broker_of_connection(connection: Connection) -> str:
    """Return the broker of a connection, as far as the connection shows it."""
    return f"{connection.node_id} {connection.listener}"


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
TimeSpan = tuple[int, int]
"""From when to when, in microseconds."""


class _ExistencePeriod(NamedTuple):
    first_us: int
    last_us: int
    deletions: tuple[TimeSpan, ...]
    """When requests were to end it, or another of its name."""
    has_id: bool


class ExistenceRecord(msgspec.Struct, frozen=True, array_like=True):
    """A row of the table `sightings`, with times in microseconds."""

    broker: str
    kind: str
    name: str
    owner: str
    topic_id: str
    is_end: bool
    first_us: int
    last_us: int


class _DeletionKey(NamedTuple):
    kind: str
    name_id_or_owner: str
    """The owner of offsets; the name of anything else, or the id of a topic without one."""


class ExistenceIndex:
    """The lives of everything that responses show."""

    def __init__(self, rows: Iterable[ExistenceRecord] = ()) -> None:
        deleted_at: dict[_DeletionKey, TimeSpan] = {}
        shown = []
        for row in _merge_records(rows):
            if row.is_end:
                deleted_at[_deletion_target(row)] = (row.first_us, row.last_us)
            elif row.name:
                shown.append(row)
        self._periods: dict[tuple[str, str, str], dict[str, list[_ExistencePeriod]]] = {}
        for row in shown:
            keys = (_deletion_target(row), _DeletionKey(row.kind, row.topic_id))
            deletions = tuple(deleted_at[key] for key in keys if key in deleted_at)
            names = self._periods.setdefault((row.broker, row.kind, row.owner), {})
            period = _ExistencePeriod(
                row.first_us, row.last_us, deletions, has_id=bool(row.topic_id)
            )
            names.setdefault(row.name, []).append(period)
        for names in self._periods.values():
            for existence in names.values():
                existence.extend(_merge_periods(existence))

    def names_existing_throughout(
        self, broker: str, kind: str, during: TimeSpan, owner: str = ""
    ) -> Iterator[str]:
        """Return the names of things seen both before and after, without deletion in between."""
        for name, existence in self._periods.get((broker, kind, owner), {}).items():
            if any(
                _exists_throughout(period, during)
                and (period.has_id or _is_not_deleted_before(period, period.last_us))
                for period in existence
            ):
                yield name

    def topic_existed_throughout(self, broker: str, during: TimeSpan, name: str) -> bool:
        """Return whether a topic was seen before, and after or no request deleted it since."""
        existence = self._periods.get((broker, TOPIC, ""), {}).get(name, ())
        return any(
            _exists_throughout(period, during)
            or (period.first_us <= during[0] and _is_not_deleted_before(period, during[1]))
            for period in existence
        )

    def names_in_complete_list(
        self, broker: str, requirement: str, request: Any, response: Any, during: TimeSpan
    ) -> Iterator[str]:
        """Return the names that a list would have shown if the caller were allowed to see them."""
        if requirement in _LISTS:
            for kind, owner in _LISTS[requirement](request, response):
                yield from self.names_existing_throughout(broker, kind, during, owner)


def _merge_records(rows: Iterable[ExistenceRecord]) -> list[ExistenceRecord]:
    """Return sightings; topics that some responses show only by id get their names."""
    kept = list(rows)
    names = {row.topic_id: row.name for row in kept if row.topic_id and row.name}

    def add_name(row: ExistenceRecord) -> ExistenceRecord:
        is_nameless = not (row.name or row.is_end) and row.topic_id in names
        return msgspec.structs.replace(row, name=names[row.topic_id]) if is_nameless else row

    return merge_records_of_same_entity(map(add_name, kept))


def _merge_periods(
    periods: list[_ExistencePeriod],
) -> Iterator[_ExistencePeriod]:
    """Join lives of a name that responses show both with and without an id."""
    if len({period.has_id for period in periods}) > 1:
        deletions = tuple(dict.fromkeys(end for period in periods for end in period.deletions))
        first_us = min(period.first_us for period in periods)
        yield _ExistencePeriod(
            first_us, max(period.last_us for period in periods), deletions, has_id=False
        )


def merge_records_of_same_entity(rows: Iterable[ExistenceRecord]) -> list[ExistenceRecord]:
    """Return a row for each thing, from when it was first seen to when it was last seen."""
    found: dict[tuple[Any, ...], ExistenceRecord] = {}
    for row in rows:
        broker = "" if row.is_end else row.broker  # it was deleted on all brokers
        key = (broker, row.kind, row.name, row.owner, row.topic_id, row.is_end)
        known = found.get(key, row)
        first_us, last_us = min(known.first_us, row.first_us), max(known.last_us, row.last_us)
        found[key] = ExistenceRecord(*key, first_us, last_us)
    return list(found.values())


def existence_records_from_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[ExistenceRecord]:
    """Return rows of the table `sightings` as structs."""
    for row in rows:
        first_us, last_us = (_utc_microseconds(row[at]) for at in ("first_seen", "last_seen"))
        broker, kind, name = row["broker"], row["kind"], row["name"]
        about = (broker, kind, name, row["owner"], row["topic_id"], row["is_end"])
        yield ExistenceRecord(*about, first_us, last_us)


def _utc_microseconds(time: datetime) -> int:
    return (time.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


EMPTY_EXISTENCE: Final = ExistenceIndex()


def _deletion_target(record: ExistenceRecord) -> _DeletionKey:
    """Return what a deletion ends: all offsets of a group, or the thing with this name or id."""
    return _DeletionKey(
        record.kind, record.owner if record.kind == OFFSETS else record.name or record.topic_id
    )


def _exists_throughout(period: _ExistencePeriod, during: TimeSpan) -> bool:
    return period.first_us <= during[0] and during[1] <= period.last_us


def _is_not_deleted_before(period: _ExistencePeriod, until_us: int) -> bool:
    """Return whether no request deleted it before then; the deleting request may still see it."""
    return not any(period.first_us <= last and first < until_us for first, last in period.deletions)


_KindsWithOwners = Iterator[tuple[str, str]]
"""Kinds, with owners, of which a response shows all that the caller may see."""


def _complete_kinds_of_metadata(request: Any, response: Any) -> _KindsWithOwners:  # noqa: ARG001 - one of several
    yield TOPIC, ""


def _complete_kinds_of_topic_pages(request: Any, response: Any) -> _KindsWithOwners:
    if request.cursor is None and response.next_cursor is None:
        yield TOPIC, ""


def _complete_kinds_of_group_list(request: Any, response: Any) -> _KindsWithOwners:
    if response.error_code or request.states_filter:
        return
    if not request.types_filter:
        yield GROUP, ""
    elif {name.lower() for name in request.types_filter} >= {*CONSUMER_TYPES}:
        yield CONSUMER_GROUP, ""


def _complete_kinds_of_transaction_list(request: Any, response: Any) -> _KindsWithOwners:
    is_limited = (
        request.state_filters
        or request.producer_id_filters
        or request.duration_filter >= 0
        or request.transactional_id_pattern
    )
    if not (response.error_code or is_limited):
        yield TRANSACTION, ""


def _owners_of_complete_offset_lists(request: Any, response: Any) -> _KindsWithOwners:
    wanted = {group.group_id for group in request.groups if group.topics is None}
    for group in response.groups:
        if group.group_id in wanted and not group.error_code:
            yield OFFSETS, group.group_id


_LISTS: Final[dict[str, Callable[[Any, Any], _KindsWithOwners]]] = {
    "Metadata.all_topics": _complete_kinds_of_metadata,
    "DescribeTopicPartitions.all_topics": _complete_kinds_of_topic_pages,
    "ListGroups.group": _complete_kinds_of_group_list,
    "ListTransactions.transactional_id": _complete_kinds_of_transaction_list,
    "OffsetFetch.all_topics": _owners_of_complete_offset_lists,
}
"""By requirement."""


def is_complete_list(requirement: str, request: Any, response: Any) -> bool:
    """Return whether a response lists all names of any kind that the caller may see."""
    return any(kind != CONSUMER_GROUP for kind, _ in _LISTS[requirement](request, response))
