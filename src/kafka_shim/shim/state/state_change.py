"""Changes of the state, as stores report them to an observer, and a counter of them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, TypeAlias

ChangedKind: TypeAlias = Literal[
    "acl", "topic", "partitions", "settings", "user", "fault", "leader", "broker", "cluster"
]
ChangeAction: TypeAlias = Literal["added", "removed", "changed"]


class StateChange(NamedTuple):
    """A change of one thing; `before` and `after` are None where there is nothing to compare."""

    kind: ChangedKind
    action: ChangeAction
    name: str
    before: Any = None
    after: Any = None


ChangeObserver: TypeAlias = Callable[[StateChange], None]


def observe_changed_settings(
    observe_change: ChangeObserver,
    resource: str,
    before: Mapping[str, str],
    after: Mapping[str, str],
) -> None:
    """Report the settings of a resource that differ; None stands for one that is not set."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if names:
        old, new = ({name: values.get(name) for name in names} for values in (before, after))
        observe_change(StateChange("settings", "changed", resource, old, new))


class StateVersion:
    """Counts everything that may change a cluster, whether or not it does: each request that is not
    read-only, each call of the control API except GET, each closed connection, each stopped broker.
    Timers are counted by the clock.
    """

    __slots__ = ("number", "under_way")

    def __init__(self) -> None:
        self.number = 0
        self.under_way = 0
        """Number of changes in progress, during which other requests may be answered."""

    def count_possible_change(self) -> None:
        """Count a possible change."""
        self.number += 1

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Mark a change as in progress while the context is open."""
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1
            self.number += 1
