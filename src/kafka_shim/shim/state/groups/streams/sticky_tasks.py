"""Kafka's assignor `sticky` for tasks of streams groups (KIP-1071).

An active task stays while its member has less than its share, or goes to a member that has its
state: that of its standby task, or since 4.4 one that reported an offset. Other tasks go to the
process with the fewest tasks per member, and there to the member with the fewest; a process has no
task twice. Ties are decided by the order of Java's hash maps and heaps, as since 4.2; 4.1 iterates
over its tasks in another order.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from kafka_shim.shim.state.groups.assignors import Assignment, OrderedAssignment
from kafka_shim.shim.state.groups.streams.task_kinds import standby_key
from kafka_shim.shim.state.java_collections import (
    JavaHashOrder,
    JavaPriorityQueue,
    in_hash_map_order,
    java_hash,
)

Task = tuple[bytes, int]
"""Subtopology and partition."""


class TaskRunner(msgspec.Struct, frozen=True):
    """A member as the assignor sees it: its process, the tasks that it should keep, and the offsets
    of its state by task.
    """

    member_id: str
    process_id: str
    active: OrderedAssignment
    standby: OrderedAssignment
    offsets: Mapping[Task, int]


class TasksToAssign(msgspec.Struct, frozen=True):
    """The number of tasks by subtopology, those of them with state, and the number of standby tasks
    for each of their tasks.
    """

    task_counts: Mapping[bytes, int]
    stateful_subtopologies: Collection[bytes] = ()
    standby_replicas: int = 0


class StickyAssignorRules(msgspec.Struct, frozen=True):
    """The assignor of a release.

    `prefers_reported_offsets`: members that reported offsets are preferred (4.4).
    `standby_prefers_other_owner`: if the process of the first member that had a standby task has
    the task, other members that had it are preferred (not in 4.3).
    """

    prefers_reported_offsets: bool
    standby_prefers_other_owner: bool


def assign_tasks_sticky(
    runners: Sequence[TaskRunner], tasks_to_assign: TasksToAssign, rules: StickyAssignorRules
) -> dict[str, Assignment]:
    """Return the tasks of each member; those of `standby_key` are standby tasks."""
    sticky = _StickyAssignment(runners, tasks_to_assign, rules)
    if tasks_to_assign.task_counts and runners:
        sticky.assign_active_tasks()
        if tasks_to_assign.standby_replicas:
            sticky.assign_all_standby_tasks()
    return {
        member_id: _assignment_of_tasks(tasks)
        | _assignment_of_tasks(sticky.standby[member_id], standby_key)
        for member_id, tasks in sticky.active.items()
    }


class _RemainingTaskQuota:
    """The share of each member that does not have its share yet."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members
        self.each = self._quota_per_unfilled_member()

    def on_member_filled(self, task_count: int) -> None:
        """Note that a member has `count` tasks now."""
        if task_count == self.each:
            self._members -= 1
            self._tasks -= task_count
            self.each = self._quota_per_unfilled_member()

    def _quota_per_unfilled_member(self) -> int:
        return -(-self._tasks // self._members) if self._members else 0


class _Process:
    """The members of one process, in the order of Java's hash map of them, and all their tasks."""

    def __init__(self, member_ids: Iterable[str]) -> None:
        self.counts = dict.fromkeys(in_hash_map_order(member_ids), 0)
        self.tasks: set[Task] = set()
        self._sum = 0
        self._by_load: JavaPriorityQueue[str] | None = None

    def tasks_per_member(self) -> float:
        return self._sum / len(self.counts)

    def add_task_to_member(self, member_id: str, task: Task) -> None:
        """Give a task to a member."""
        self._record_task(member_id, task)
        self._by_load = None

    def add_task_to_least_loaded_member(self, task: Task) -> str:
        """Give a task to the member with the fewest, and return that."""
        if self._by_load is None:
            self._by_load = JavaPriorityQueue(self.counts, self.counts.__getitem__)
        member_id = self._by_load.poll()
        self._record_task(member_id, task)
        self._by_load.add(member_id)
        return member_id

    def _record_task(self, member_id: str, task: Task) -> None:
        self.tasks.add(task)
        self.counts[member_id] += 1
        self._sum += 1


class _StickyAssignment:
    """One assignment in progress; `active` and `standby` are the tasks by member."""

    def __init__(
        self, runners: Sequence[TaskRunner], wanted: TasksToAssign, rules: StickyAssignorRules
    ) -> None:
        self.active: dict[str, set[Task]] = {runner.member_id: set() for runner in runners}
        self.standby: dict[str, set[Task]] = {runner.member_id: set() for runner in runners}
        self._wanted, self._rules = wanted, rules
        self._by_id = {runner.member_id: runner for runner in runners}
        active = sum(wanted.task_counts.values())
        standby = wanted.standby_replicas * sum(
            wanted.task_counts[name] for name in wanted.stateful_subtopologies
        )
        self._active_quota = _RemainingTaskQuota(active, len(runners))
        self._quota = _RemainingTaskQuota(active + standby, len(runners))
        self._processes = self._processes_by_id_hash()
        self._process_of = {
            member_id: process for process in self._processes for member_id in process.counts
        }
        in_order = [self._by_id[member_id] for member_id in in_hash_map_order(self._by_id)]
        self._holders = {
            task: runner.member_id
            for runner in in_order
            for task in _tasks_of_ordered_assignment(runner.active)
        }  # of two members that claim one the last in Java's order
        self._with_state = self._members_with_state_by_task(in_order)

    def assign_active_tasks(self) -> None:
        left = []
        for task in sorted(
            _all_tasks(self._wanted.task_counts), key=lambda task: (task[1], task[0])
        ):
            holder = self._holders.get(task)
            if holder is not None and self._is_below_quota(holder, self._active_quota):
                self._assign_active_task(holder, task)
            else:
                left.append(task)
        rest = []
        for task in left:
            holder = self.least_loaded_member_with_state(task, is_standby=False)
            if holder is not None and self._is_below_quota(holder, self._active_quota):
                self._assign_active_task(holder, task)
            else:
                rest.append(task)
        by_load = JavaPriorityQueue(self._processes, _Process.tasks_per_member)
        for task in sorted(rest):
            process = by_load.poll()
            member_id = process.add_task_to_least_loaded_member(task)
            self.active[member_id].add(task)
            self._update_quotas(process, member_id, self._active_quota, self._quota)
            by_load.add(process)

    def assign_all_standby_tasks(self) -> None:
        replicas = self._wanted.standby_replicas
        stateful = {
            name: self._wanted.task_counts[name] for name in self._wanted.stateful_subtopologies
        }
        left = []
        for task in sorted(_all_tasks(stateful), key=lambda task: (task[1], task[0]), reverse=True):
            kept = 0
            while kept < replicas and self._retain_standby_task(task):
                kept += 1
            left.append((task, replicas - kept))
        by_load = JavaPriorityQueue(self._processes, _Process.tasks_per_member)
        for task, missing in sorted(left, reverse=True):
            for _ in range(missing):
                if not self._assign_standby_task(task, by_load):
                    break

    def _retain_standby_task(self, task: Task) -> bool:
        """Leave a standby task with a member that ran the active task or a standby task of it."""
        holder = self._holders.get(task)
        if holder is None or not self._may_run_standby_task(holder, task):
            holder = self.least_loaded_member_with_state(task, is_standby=True)
            if holder is None or not self._is_below_quota(holder, self._quota):
                return False
        process = self._process_of[holder]
        process.add_task_to_member(holder, task)
        self.standby[holder].add(task)
        self._update_quotas(process, holder, self._quota)
        return True

    def _may_run_standby_task(self, member_id: str, task: Task) -> bool:
        is_free = task not in self._process_of[member_id].tasks
        return is_free and self._is_below_quota(member_id, self._quota)

    def _assign_standby_task(self, task: Task, by_load: "JavaPriorityQueue[_Process]") -> bool:
        """Give a standby task to the first process without it; return whether there is one."""
        passed = []
        for _ in self._processes:
            process = by_load.poll()
            passed.append(process)
            if task not in process.tasks:
                member_id = process.add_task_to_least_loaded_member(task)
                self.standby[member_id].add(task)
                self._update_quotas(process, member_id, self._quota)
                break
        else:
            process = None
        for each in reversed(passed):
            by_load.add(each)
        return process is not None

    def least_loaded_member_with_state(self, task: Task, *, is_standby: bool) -> str | None:
        """Return the member with the state of a task that has less than the members before it, both
        it and its process; for a standby task, its process may not have the task.
        """
        found, least = None, (0.0, 0)
        for member_id in self._with_state.get(task, ()):
            process = self._process_of[member_id]
            has_it = is_standby and task in process.tasks
            if has_it and (found is not None or self._rules.standby_prefers_other_owner):
                continue
            load = process.tasks_per_member(), process.counts[member_id]
            if found is None or (load[0] < least[0] and load[1] < least[1]):
                found, least = member_id, load
        if found is not None and is_standby and task in self._process_of[found].tasks:
            return None
        return found

    def _assign_active_task(self, member_id: str, task: Task) -> None:
        process = self._process_of[member_id]
        process.add_task_to_member(member_id, task)
        self.active[member_id].add(task)
        self._update_quotas(process, member_id, self._active_quota, self._quota)

    def _is_below_quota(self, member_id: str, quota: _RemainingTaskQuota) -> bool:
        return self._process_of[member_id].counts[member_id] < quota.each

    def _update_quotas(
        self, process: _Process, member_id: str, *quotas: _RemainingTaskQuota
    ) -> None:
        for quota in quotas:
            quota.on_member_filled(process.counts[member_id])

    def _members_with_state_by_task(self, runners: Iterable[TaskRunner]) -> dict[Task, list[str]]:
        """Return the members with the state of each task: those with a standby task first, then
        those with larger offsets.
        """
        found: dict[Task, list[tuple[bool, int, str]]] = {}
        for runner in runners:
            standby = set(_tasks_of_ordered_assignment(runner.standby))
            offsets = runner.offsets if self._rules.prefers_reported_offsets else {}
            for task in standby:
                row = (False, -offsets.get(task, 0), runner.member_id)
                found.setdefault(task, []).append(row)
            for task, offset in offsets.items():
                if task not in standby:
                    found.setdefault(task, []).append((True, -offset, runner.member_id))
        return {
            task: [row[2] for row in sorted(rows, key=lambda row: row[:2])]
            for task, rows in found.items()
        }

    def _processes_by_id_hash(self) -> list[_Process]:
        members: dict[str, list[str]] = {}
        order = JavaHashOrder[str](len(self._by_id))
        add = (
            order.grow_then_add_first_in_bucket
            if self._rules.prefers_reported_offsets
            else order.add_last_in_bucket
        )
        for member_id in in_hash_map_order(self._by_id):
            process_id = self._by_id[member_id].process_id
            if process_id not in members:
                add(process_id, java_hash(process_id))
            members.setdefault(process_id, []).append(member_id)
        return [_Process(members[process_id]) for process_id in order]


def _all_tasks(counts: Mapping[bytes, int]) -> list[Task]:
    return [(name, at) for name, count in counts.items() for at in range(count)]


def _tasks_of_ordered_assignment(held: OrderedAssignment) -> list[Task]:
    return [(name, at) for name, partitions in held.items() for at in partitions]


def _active_task_key(name: bytes) -> bytes:
    return name


def _assignment_of_tasks(
    tasks: set[Task], key: Callable[[bytes], bytes] = _active_task_key
) -> Assignment:
    found: dict[bytes, set[int]] = {}
    for name, at in sorted(tasks):
        found.setdefault(key(name), set()).add(at)
    return {name: frozenset(partitions) for name, partitions in found.items()}
