"""The last changes of the state with their originators, for the control API."""

from collections import deque
from collections.abc import Iterator

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.shim.observing.originators import (
    CURRENT_ORIGINATOR,
    Originator,
    RequestOfClient,
)
from kafka_shim.shim.observing.request_history import HistoryEntry
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.state_change import StateChange

CHANGES_MAX = 1_000
ITEMS_OF_CHANGE_MAX = 1_000
ITEMS_MAX = 20_000
"""How many things all kept changes name together."""


class Change:
    """Equal changes by one originator, such as the ACLs that one request added.

    `left_out` counts the things that are not kept in `items`.
    """

    __slots__ = ("items", "left_out", "number", "originator", "time_ms")

    def __init__(self, number: int, time_ms: int, originator: Originator, item: StateChange):
        self.number = number
        self.time_ms = time_ms
        self.originator = originator
        self.items = [item]
        self.left_out = 0

    def can_include(self, time_ms: int, originator: Originator, item: StateChange) -> bool:
        """Return whether a new item belongs to this change."""
        first = self.items[0]
        is_same_moment = originator is not None or time_ms == self.time_ms
        return (
            self.originator == originator
            and is_same_moment
            and (first.kind, first.action) == (item.kind, item.action)
        )


class ChangeLog:
    """The last changes of a cluster, and those that others record. Iterate from the oldest on."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._changes: deque[Change] = deque()
        self._item_count = 0
        self.last_number = 0
        self.observe_stores()

    def __iter__(self) -> Iterator[Change]:
        return iter(self._changes)

    @property
    def observes_acls(self) -> bool:
        """Return whether changes of ACLs are recorded: not those of a custom authorizer."""
        return isinstance(self._cluster.policy.authorizer, StandardAuthorizer)

    def observe_stores(self) -> None:
        """Observe the stores, which a reset of the cluster replaces."""
        self._cluster.set_change_observer(self.record_change)
        authorizer = self._cluster.policy.authorizer
        if isinstance(authorizer, StandardAuthorizer):
            authorizer.store.add_observer(self)

    def record_change(self, item: StateChange) -> None:
        """Add a change to the last one if both are alike, else as a new one."""
        now_ms, originator = self._cluster.clock.now_ms(), _current_originator()
        last = self._changes[-1] if self._changes else None
        if last is None or not last.can_include(now_ms, originator, item):
            self.last_number += 1
            self._changes.append(Change(self.last_number, now_ms, originator, item))
        elif len(last.items) < ITEMS_OF_CHANGE_MAX:
            last.items.append(item)
        else:
            last.left_out += 1
            return
        self._item_count += 1
        while len(self._changes) > CHANGES_MAX or self._item_count > ITEMS_MAX:
            self._item_count -= len(self._changes.popleft().items)

    def record_reset(self, action_name: str) -> None:
        """Drop the changes before a reset, which nothing can undo, and record the reset."""
        self._changes.clear()
        self._item_count = 0
        self.record_change(StateChange("cluster", "changed", action_name))
        self.observe_stores()

    def on_acl_added(self, acl: Acl) -> None:
        self.record_change(StateChange("acl", "added", "", after=acl))

    def on_acl_removed(self, acl: Acl) -> None:
        self.record_change(StateChange("acl", "removed", "", before=acl))


def _current_originator() -> Originator:
    current = CURRENT_ORIGINATOR.get()
    if isinstance(current, HistoryEntry):  # which is not kept as long as its change
        return RequestOfClient(current.number, current.principal, current.client_id)
    return current
