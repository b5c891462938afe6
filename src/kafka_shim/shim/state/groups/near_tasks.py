"""What the assignment of a streams group depends on beside the tasks of one member (KIP-1071)."""

from collections.abc import Mapping

from kafka_shim.shim.state.groups.assignors import Held
from kafka_shim.shim.state.groups.reconciliation import IsFree
from kafka_shim.shim.state.groups.sticky_tasks import Runner
from kafka_shim.shim.state.groups.streams_member import StreamsMember
from kafka_shim.shim.state.groups.task_kinds import (
    active_tasks,
    is_standby,
    standby_key,
    standby_tasks,
    subtopology_of,
)


class NearTasks:
    """The tasks that members of the same process hold. A member's own tasks count if they do not
    change their kind (`converts`), or if it has to revoke them.
    """

    def __init__(
        self, members: Mapping[str, StreamsMember], member: StreamsMember, *, converts: bool
    ) -> None:
        self._members, self._member, self._converts = members, member, converts
        self._held: dict[bytes, set[int]] | None = None

    def has(self, key: bytes, at: int) -> bool:
        if self._held is None:
            self._held = self._find()
        return at in self._held.get(key, ())

    def _find(self) -> dict[bytes, set[int]]:
        found: dict[bytes, set[int]] = {}
        process_id = self._member.process_id
        for other in self._members.values():
            if other.process_id == process_id:
                counts = not self._converts or other is not self._member
                for tasks in (other.assigned if counts else {}, other.revoking):
                    for key, partitions in tasks.items():
                        found.setdefault(key, set()).update(partitions)
        return found


def free_here(is_free: IsFree, near: NearTasks) -> IsFree:
    """Return whether no other member runs an active task (`is_free`), and no member of the process
    has the task.
    """

    def is_free_here(key: bytes, at: int) -> bool:
        if is_standby(key):
            return not (near.has(key, at) or near.has(subtopology_of(key), at))
        return is_free(key, at) and not near.has(standby_key(key), at)

    return is_free_here


def runner_of(member: StreamsMember, tasks: Held) -> Runner:
    """Return a member with tasks and reported offsets, as the assignor sees it."""
    return Runner(
        member.member_id,
        member.process_id,
        active_tasks(tasks),
        standby_tasks(tasks),
        {(name.encode(), at): offset for name, at, offset in member.task_offsets},
    )
