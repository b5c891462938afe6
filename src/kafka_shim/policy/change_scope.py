"""Limit changes of access to some names and principals."""

from collections.abc import Iterable, Iterator

import msgspec

from kafka_shim.authorizer.model import ANY_USER
from kafka_shim.policy.access_changes import AccessChange
from kafka_shim.policy.name_sets import NameSet
from kafka_shim.protocol.enums import ResourceType


class ChangeScope(msgspec.Struct, frozen=True):
    """Resources (none: all) and principals (none: all) that a check is about."""

    resources: tuple[tuple[ResourceType, NameSet | None], ...] = ()
    principals: tuple[str, ...] = ()

    def limit_changes(self, changes: Iterable[AccessChange]) -> Iterator[AccessChange]:
        """Yield the parts of changes that lie in the scope."""
        for change in changes:
            for about_principal in self._limit_to_principals(change):
                if not self.resources:
                    yield about_principal
                for resource_type, names in self.resources:
                    if resource_type is change.resource_type:
                        limited = _limit_to_names(about_principal, names)
                        if limited is not None:
                            yield limited

    def _limit_to_principals(self, change: AccessChange) -> Iterator[AccessChange]:
        if not self.principals or change.principal in self.principals:
            yield change
        elif change.principal == ANY_USER:
            for principal in self.principals:
                if principal not in change.except_principals:
                    yield msgspec.structs.replace(change, principal=principal, except_principals=())


def _limit_to_names(change: AccessChange, names: NameSet | None) -> AccessChange | None:
    """Return the change on these names only; None if it does not concern any of them.

    A change on at least one resource of a type is not about names.
    """
    if names is None:
        return change
    if change.names is None:
        return None
    if names.includes_names(change.names):
        return change
    if not change.names.includes_names(names):
        return None
    if any(other.includes_names(names) for other in change.except_names):
        return None
    excepted = tuple(other for other in change.except_names if names.includes_names(other))
    return msgspec.structs.replace(change, names=names, except_names=excepted)
