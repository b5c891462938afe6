"""Kafka's assignor `sticky` for tasks of streams groups (KIP-1071).

An active task stays while its member has less than its share, or goes to a member that has its
state: that of its standby task, or since 4.4 one that reported an offset. Other tasks go to the
process with the fewest tasks per member, and there to the member with the fewest; a process has no
task twice. Ties are decided by the order of Java's hash maps and heaps, as since 4.2; 4.1 iterates
over its tasks in another order.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from kafka_shim.shim.state.groups.assignors import Assignment, Held
from kafka_shim.shim.state.groups.streams.task_kinds import standby_key
from kafka_shim.shim.state.java_collections import HashOrder, PriorityQueue, java_hash, ordered

Task = tuple[bytes, int]
"""Subtopology and partition."""


class Runner(msgspec.Struct, frozen=True):
    """A member as the assignor sees it: its process, the tasks that it should keep, and the offsets
    of its state by task.
    """

    member_id: str
    process_id: str
    active: Held
    standby: Held
    offsets: Mapping[Task, int]


class Wanted(msgspec.Struct, frozen=True):
    """The number of tasks by subtopology, those of them with state, and the number of standby tasks
    for each of their tasks.
    """

    counts: Mapping[bytes, int]
    stateful: Collection[bytes] = ()
    replicas: int = 0


class StickyRules(msgspec.Struct, frozen=True):
    """The assignor of a release.

    `offsets_count`: members that reported offsets are preferred (4.4). `passes_over`: if the
    process of the first member that had a standby task has the task, other members that had it
    are preferred (not in 4.3).
    """

    offsets_count: bool
    passes_over: bool


def assign_sticky(
    runners: Sequence[Runner], wanted: Wanted, rules: StickyRules
) -> dict[str, Assignment]:
    """Return the tasks of each member; those of `standby_key` are standby tasks."""
    sticky = _Sticky(runners, wanted, rules)
    if wanted.counts and runners:
        sticky.assign_active()
        if wanted.replicas:
            sticky.assign_standby()
    return {
        member_id: _assignment(tasks) | _assignment(sticky.standby[member_id], standby_key)
        for member_id, tasks in sticky.active.items()
    }


class _Quota:
    """The share of each member that does not have its share yet."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members
        self.each = self._share()

    def fill(self, count: int) -> None:
        """Note that a member has `count` tasks now."""
        if count == self.each:
            self._members -= 1
            self._tasks -= count
            self.each = self._share()

    def _share(self) -> int:
        return -(-self._tasks // self._members) if self._members else 0


class _Process:
    """The members of one process, in the order of Java's hash map of them, and all their tasks."""

    def __init__(self, member_ids: Iterable[str]) -> None:
        self.counts = dict.fromkeys(ordered(member_ids), 0)
        self.tasks: set[Task] = set()
        self._sum = 0
        self._by_load: PriorityQueue[str] | None = None

    def load(self) -> float:
        return self._sum / len(self.counts)

    def add_to(self, member_id: str, task: Task) -> None:
        """Give a task to a member."""
        self._give(member_id, task)
        self._by_load = None

    def add(self, task: Task) -> str:
        """Give a task to the member with the fewest, and return that."""
        if self._by_load is None:
            self._by_load = PriorityQueue(self.counts, self.counts.__getitem__)
        member_id = self._by_load.poll()
        self._give(member_id, task)
        self._by_load.add(member_id)
        return member_id

    def _give(self, member_id: str, task: Task) -> None:
        self.tasks.add(task)
        self.counts[member_id] += 1
        self._sum += 1


class _Sticky:
    """One assignment on the way; `active` and `standby` are the tasks by member."""

    def __init__(self, runners: Sequence[Runner], wanted: Wanted, rules: StickyRules) -> None:
        self.active: dict[str, set[Task]] = {runner.member_id: set() for runner in runners}
        self.standby: dict[str, set[Task]] = {runner.member_id: set() for runner in runners}
        self._wanted, self._rules = wanted, rules
        self._by_id = {runner.member_id: runner for runner in runners}
        active = sum(wanted.counts.values())
        standby = wanted.replicas * sum(wanted.counts[name] for name in wanted.stateful)
        self._active_quota = _Quota(active, len(runners))
        self._quota = _Quota(active + standby, len(runners))
        self._processes = self._all_processes()
        self._process_of = {
            member_id: process for process in self._processes for member_id in process.counts
        }
        in_order = [self._by_id[member_id] for member_id in ordered(self._by_id)]
        self._holders = {
            task: runner.member_id for runner in in_order for task in _tasks(runner.active)
        }  # of two members that claim one the last in Java's order
        self._with_state = self._ranked(in_order)

    def assign_active(self) -> None:
        left = []
        for task in sorted(_all(self._wanted.counts), key=lambda task: (task[1], task[0])):
            holder = self._holders.get(task)
            if holder is not None and self._has_room(holder, self._active_quota):
                self._give_active(holder, task)
            else:
                left.append(task)
        rest = []
        for task in left:
            holder = self.least_loaded(task, is_standby=False)
            if holder is not None and self._has_room(holder, self._active_quota):
                self._give_active(holder, task)
            else:
                rest.append(task)
        by_load = PriorityQueue(self._processes, _Process.load)
        for task in sorted(rest):
            process = by_load.poll()
            member_id = process.add(task)
            self.active[member_id].add(task)
            self._fill(process, member_id, self._active_quota, self._quota)
            by_load.add(process)

    def assign_standby(self) -> None:
        replicas = self._wanted.replicas
        stateful = {name: self._wanted.counts[name] for name in self._wanted.stateful}
        left = []
        for task in sorted(_all(stateful), key=lambda task: (task[1], task[0]), reverse=True):
            kept = 0
            while kept < replicas and self._assign_standby(task):
                kept += 1
            left.append((task, replicas - kept))
        by_load = PriorityQueue(self._processes, _Process.load)
        for task, missing in sorted(left, reverse=True):
            for _ in range(missing):
                if not self._spread_standby(task, by_load):
                    break

    def _assign_standby(self, task: Task) -> bool:
        """Leave a standby task with a member that ran the active task or a standby task of it."""
        holder = self._holders.get(task)
        if holder is None or not self._may_stand_by(holder, task):
            holder = self.least_loaded(task, is_standby=True)
            if holder is None or not self._has_room(holder, self._quota):
                return False
        process = self._process_of[holder]
        process.add_to(holder, task)
        self.standby[holder].add(task)
        self._fill(process, holder, self._quota)
        return True

    def _may_stand_by(self, member_id: str, task: Task) -> bool:
        is_free = task not in self._process_of[member_id].tasks
        return is_free and self._has_room(member_id, self._quota)

    def _spread_standby(self, task: Task, by_load: "PriorityQueue[_Process]") -> bool:
        """Give a standby task to the first process without it; return whether there is one."""
        passed = []
        for _ in self._processes:
            process = by_load.poll()
            passed.append(process)
            if task not in process.tasks:
                member_id = process.add(task)
                self.standby[member_id].add(task)
                self._fill(process, member_id, self._quota)
                break
        else:
            process = None
        for each in reversed(passed):
            by_load.add(each)
        return process is not None

    def least_loaded(self, task: Task, *, is_standby: bool) -> str | None:
        """Return the member with the state of a task that has less than the members before it, both
        it and its process; for a standby task, its process may not have the task.
        """
        found, least = None, (0.0, 0)
        for member_id in self._with_state.get(task, ()):
            process = self._process_of[member_id]
            has_it = is_standby and task in process.tasks
            if has_it and (found is not None or self._rules.passes_over):
                continue
            load = process.load(), process.counts[member_id]
            if found is None or (load[0] < least[0] and load[1] < least[1]):
                found, least = member_id, load
        if found is not None and is_standby and task in self._process_of[found].tasks:
            return None
        return found

    def _give_active(self, member_id: str, task: Task) -> None:
        process = self._process_of[member_id]
        process.add_to(member_id, task)
        self.active[member_id].add(task)
        self._fill(process, member_id, self._active_quota, self._quota)

    def _has_room(self, member_id: str, quota: _Quota) -> bool:
        return self._process_of[member_id].counts[member_id] < quota.each

    def _fill(self, process: _Process, member_id: str, *quotas: _Quota) -> None:
        for quota in quotas:
            quota.fill(process.counts[member_id])

    def _ranked(self, runners: Iterable[Runner]) -> dict[Task, list[str]]:
        """Return the members with the state of each task: those with a standby task first, then
        those with larger offsets.
        """
        found: dict[Task, list[tuple[bool, int, str]]] = {}
        for runner in runners:
            standby = set(_tasks(runner.standby))
            offsets = runner.offsets if self._rules.offsets_count else {}
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

    def _all_processes(self) -> list[_Process]:
        members: dict[str, list[str]] = {}
        order = HashOrder[str](len(self._by_id))
        add = order.compute if self._rules.offsets_count else order.put
        for member_id in ordered(self._by_id):
            process_id = self._by_id[member_id].process_id
            if process_id not in members:
                add(process_id, java_hash(process_id))
            members.setdefault(process_id, []).append(member_id)
        return [_Process(members[process_id]) for process_id in order]


def _all(counts: Mapping[bytes, int]) -> list[Task]:
    return [(name, at) for name, count in counts.items() for at in range(count)]


def _tasks(held: Held) -> list[Task]:
    return [(name, at) for name, partitions in held.items() for at in partitions]


def _same(name: bytes) -> bytes:
    return name


def _assignment(tasks: set[Task], key: Callable[[bytes], bytes] = _same) -> Assignment:
    found: dict[bytes, set[int]] = {}
    for name, at in sorted(tasks):
        found.setdefault(key(name), set()).add(at)
    return {name: frozenset(partitions) for name, partitions in found.items()}
