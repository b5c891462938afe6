"""The ACL search of StandardAuthorizer's first release, including its bugs.

It went through the names of a type downwards from the requested name, and ended at the first name
that is not a prefix of it. So another name in between hid a prefix: with `a*` and `aa` stored,
`ab` should find `a*`, but `aa` ends the search. If no entry applied,
`allow.everyone.if.no.acl.found` decided, even if other principals had ACLs on the resource.
"""

from bisect import bisect_right

from kafka_shim.authorizer.decide import decide_among
from kafka_shim.authorizer.model import WILDCARD, Action, Actor, Decision
from kafka_shim.authorizer.pattern import Pattern
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import ResourceType


class EarlySearch:
    """Decides as that release did; caches the sorted names of each type until an ACL changes."""

    def __init__(self, store: AclStore) -> None:
        self._store = store
        self._epoch = -1
        self._names: dict[ResourceType, list[str]] = {}

    def decide(self, actor: Actor, action: Action, *, allow_everyone: bool) -> Decision:
        """Decide an access of a principal that is not a super user."""
        patterns = self._patterns_for(action.resource_type, action.resource_name)
        return decide_among(self._store, patterns, actor, action.operation, allow_everyone)

    def _patterns_for(self, resource_type: ResourceType, name: str) -> list[Pattern]:
        end = self._end_of_walk(resource_type, name)
        return [
            pattern
            for pattern in self._store.patterns_deciding(resource_type, name)
            if pattern.resource_name == WILDCARD or pattern.resource_name > end
        ]

    def _end_of_walk(self, resource_type: ResourceType, name: str) -> str:
        """Return the first name downwards that is not a prefix; empty if there is none."""
        if self._epoch != self._store.epoch:
            self._names.clear()
            self._epoch = self._store.epoch
        names = self._names.get(resource_type)
        if names is None:
            found = {pattern.resource_name for pattern in self._store.patterns(resource_type)}
            # literal `*` does not end the search; prefixed `*` is last
            names = self._names[resource_type] = sorted(found - {WILDCARD})
        for position in range(bisect_right(names, name) - 1, -1, -1):
            if not name.startswith(names[position]):
                return names[position]
        return ""
