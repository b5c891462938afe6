"""Long computations for a group on a copy, while others are served; then the group becomes the copy
in one step, or stays unchanged.
"""

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any, Generic, Protocol, TypeVar

from kafka_shim.shim.state.groups.group_target import GroupTarget

_DICTS = ("members", "instances")
_PARTS = ("subscriptions", "tasks")
_VALUES = ("_shut_down_by", "_endpoint_epoch", "_assigned_by")
_TIMERS = ("session_timer", "rebalance_timer")

Item = TypeVar("Item")


class TimeSlices(Protocol):
    """How other requests are served meanwhile: `beside` is for work that they cannot see, `over`
    interrupts between two items.
    """

    def offload(self, work: Callable[..., Item], *arguments: Any) -> Item: ...
    def over(self, items: Iterable[Item]) -> Iterator[Item]: ...


class Draftable(Protocol):
    """The interface of groups with copies."""

    group_id: str
    members: dict[str, Any]
    target: GroupTarget


Drafted = TypeVar("Drafted", bound=Draftable)


class Draft(Generic[Drafted]):
    """A copy of a group. Of its members only those named may be changed or dropped; the copy has
    no timers and may not start any.
    """

    def __init__(self, group: Drafted, member_ids: Iterable[str]) -> None:
        self._group = group
        self._before = _state(group)
        self.copy = copy(group)
        self.copy.target = group.target.copy()
        vars(self.copy).update({name: copy(part) for name, part in _own(group, _PARTS).items()})
        vars(self.copy).update(_dicts(group))
        self._copied = {
            member_id: _without_timers(group.members[member_id])
            for member_id in set(member_ids) & group.members.keys()
        }
        self.copy.members.update(self._copied)

    def publish(self) -> bool:
        """Replace the group by the copy; return False, without effect, if the group has changed."""
        group, made = self._group, self.copy
        if _state(group) != self._before:
            return False
        vars(group.target).update(vars(made.target))
        for name, part in _own(group, _PARTS).items():
            vars(part).update(vars(getattr(made, name)))
        vars(group).update(_own(made, _VALUES))
        for member_id, copied in self._copied.items():
            known = group.members[member_id]
            if made.members.get(member_id) is copied:
                vars(known).update(_lasting(copied))
                made.members[member_id] = known
            else:
                known.stop_timers()
        vars(group).update(_dicts(made))
        return True


def _own(group: Draftable, names: Iterable[str]) -> dict[str, Any]:
    """Return those of these attributes that a group of its type has."""
    return {name: vars(group)[name] for name in names if name in vars(group)}


def _dicts(group: Draftable) -> dict[str, Any]:
    """Return the attributes with the members of a group."""
    return {name: dict(value) for name, value in _own(group, _DICTS).items()}


def _state(group: Draftable) -> tuple[Any, ...]:
    """Return everything that a heartbeat reads of a group, to detect changes."""
    members = {member_id: _lasting(member) for member_id, member in group.members.items()}
    parts = [dict(vars(part)) for part in _own(group, _PARTS).values()]
    return vars(group.target.copy()), parts, _own(group, _VALUES), _dicts(group), members


def _lasting(member: Any) -> dict[str, Any]:
    made: dict[str, Any] = vars(member).copy()
    for name in _TIMERS:  # rather than choose the others: a group may have very many members
        made.pop(name, None)
    return made


def _without_timers(member: Any) -> Any:
    made = copy(member)
    vars(made).update(dict.fromkeys(vars(made).keys() & _TIMERS))
    return made
