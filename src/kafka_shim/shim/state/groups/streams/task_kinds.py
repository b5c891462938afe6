"""Active and standby tasks of a streams group in one assignment (KIP-1071).

Active tasks have their subtopology's id as key, encoded in UTF-8. The keys of standby tasks begin
with a byte that no text in UTF-8 has.
"""

from collections.abc import Collection, Mapping
from typing import TypeVar

from kafka_shim.shim.state.groups.assignors import Assignment

_STANDBY = b"\xff"

Tasks = TypeVar("Tasks", bound=Collection[int])


def standby_key(subtopology_id: bytes) -> bytes:
    return _STANDBY + subtopology_id


def is_standby_key(key: bytes) -> bool:
    return key.startswith(_STANDBY)


def without_standby_marker(key: bytes) -> bytes:
    return key.removeprefix(_STANDBY)


def active_tasks_as_standby(assignment: Assignment) -> Assignment:
    """Return the active tasks with the keys of their standby tasks."""
    return {standby_key(key): held for key, held in assignment.items() if not is_standby_key(key)}


def only_standby_tasks(assignment: Assignment) -> Assignment:
    """Return the standby tasks."""
    return {key: held for key, held in assignment.items() if is_standby_key(key)}


def task_key_text(key: bytes) -> str:
    """Return a key as text for people."""
    kind = " (standby)" if is_standby_key(key) else ""
    return without_standby_marker(key).decode(errors="replace") + kind


def active_tasks_by_subtopology(assignment: Mapping[bytes, Tasks]) -> dict[bytes, Tasks]:
    """Return the active tasks by subtopology."""
    return {key: held for key, held in assignment.items() if not is_standby_key(key)}


def standby_tasks_by_subtopology(assignment: Mapping[bytes, Tasks]) -> dict[bytes, Tasks]:
    """Return the standby tasks by subtopology id."""
    return {
        without_standby_marker(key): held for key, held in assignment.items() if is_standby_key(key)
    }
