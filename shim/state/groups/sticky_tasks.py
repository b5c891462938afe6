"""Kafka's assignor `sticky` for active tasks of streams groups (KIP-1071).

A task stays while its member has less than its share. Other tasks go to the process with the fewest
tasks per member, and there to the member with the fewest. Ties are decided by the order of
Java's hash maps and heaps, as since 4.2; 4.1 iterates over its tasks in another order.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_shim.shim.state.groups.assignors import Assignment, Held
from kafka_shim.shim.state.java_hash_map import HashOrder, java_hash, ordered
from kafka_shim.shim.state.java_priority_queue import PriorityQueue

Task = tuple[bytes, int]
"""Subtopology and partition."""


class Runner(msgspec.Struct, frozen=True):
    """A member as the assignor sees it: its process, and the tasks that it should keep."""

    member_id: str
    process_id: str
    tasks: Held


def assign_sticky(
    runners: Sequence[Runner], task_counts: Mapping[bytes, int]
) -> dict[str, Assignment]:
    """Return the tasks of each member."""
    sticky = _Sticky(runners, task_counts)
    if task_counts and runners:
        sticky.keep()
        sticky.spread()
    return {member_id: _assignment(tasks) for member_id, tasks in sticky.given.items()}


class _Process:
    """The members of one process, in the order of Java's hash map of them."""

    def __init__(self, member_ids: Iterable[str], given: Mapping[str, set[Task]]) -> None:
        self._member_ids = ordered(member_ids)
        self._given = given
        self._tasks = sum(len(given[name]) for name in self._member_ids)
        self._by_load: PriorityQueue[str] | None = None

    def load(self) -> float:
        return self._tasks / len(self._member_ids)

    def add(self, task: Task) -> None:
        """Give a task to the member with the least."""
        if self._by_load is None:
            self._by_load = PriorityQueue(self._member_ids, lambda name: len(self._given[name]))
        member_id = self._by_load.poll()
        self._given[member_id].add(task)
        self._tasks += 1
        self._by_load.add(member_id)


class _Sticky:
    """One assignment on the way; `given` are the tasks by member."""

    def __init__(self, runners: Sequence[Runner], task_counts: Mapping[bytes, int]) -> None:
        self.given: dict[str, set[Task]] = {runner.member_id: set() for runner in runners}
        self._left = [(name, at) for name in task_counts for at in range(task_counts[name])]
        self._runners = runners
        self._open_tasks, self._open_members = len(self._left), len(runners)

    def keep(self) -> None:
        """Leave tasks where they are; of two members that claim one the last in Java's order."""
        by_id = {runner.member_id: runner for runner in self._runners}
        holders = {
            (name, at): member_id
            for member_id in ordered(by_id)
            for name, partitions in by_id[member_id].tasks.items()
            for at in partitions
        }
        left = []
        for task in sorted(self._left, key=lambda task: (task[1], task[0])):
            holder = holders.get(task)
            if holder is not None and len(self.given[holder]) < self._quota:
                self.given[holder].add(task)
                self._fill(holder)
            else:
                left.append(task)
        self._left = left

    def spread(self) -> None:
        """Give the rest to those who have the least."""
        by_load = PriorityQueue(self._processes(), _Process.load)
        for task in sorted(self._left):
            process = by_load.poll()
            process.add(task)
            by_load.add(process)

    @property
    def _quota(self) -> int:
        return -(-self._open_tasks // self._open_members) if self._open_members else 0

    def _fill(self, member_id: str) -> None:
        """Remove a member that has its share from the computation of the others' share."""
        count = len(self.given[member_id])
        if count == self._quota:
            self._open_members -= 1
            self._open_tasks -= count

    def _processes(self) -> list[_Process]:
        members: dict[str, list[str]] = {}
        order = HashOrder[str](len(self._runners))
        processes = {runner.member_id: runner.process_id for runner in self._runners}
        for member_id in ordered(processes):
            process_id = processes[member_id]
            if process_id not in members:
                order.compute(process_id, java_hash(process_id))
            members.setdefault(process_id, []).append(member_id)
        return [_Process(members[process_id], self.given) for process_id in order]


def _assignment(tasks: set[Task]) -> Assignment:
    found: dict[bytes, set[int]] = {}
    for name, at in sorted(tasks):
        found.setdefault(name, set()).add(at)
    return {name: frozenset(partitions) for name, partitions in found.items()}
