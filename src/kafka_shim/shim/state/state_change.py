"""Changes of the state, as stores report them to an observer such as the list of changes."""

from collections.abc import Callable, Mapping
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
