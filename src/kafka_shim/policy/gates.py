"""Gates for changes of ACLs: which access a change must not grant, to some names and principals."""

from collections.abc import Collection, Iterable, Iterator

import msgspec

from kafka_shim.authorizer.model import ANY_USER
from kafka_shim.policy.access_changes import AccessChange, access_changes
from kafka_shim.policy.diff import DescribedChange
from kafka_shim.policy.name_sets import NameSet
from kafka_shim.policy.policy import Policy
from kafka_shim.policy.witness import witness_of_change
from kafka_shim.protocol.enums import Operation, ResourceType


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


NO_NEW_ACCESS = "no-new-access"
ACCESS_NOT_GRANTED = "access-not-granted"
NO_PUBLIC_ACCESS = "no-public-access"
GATES: dict[str, str] = {
    NO_NEW_ACCESS: "nobody gains access when NEW replaces OLD",
    ACCESS_NOT_GRANTED: "nobody, or no --principal, has the access of --only and --operation",
    NO_PUBLIC_ACCESS: "no access is open to everyone (User:* from every host)",
}


def find_forbidden_gains(
    gate: str,
    old: Policy,
    new: Policy,
    scope: ChangeScope,
    operations: Collection[Operation] | None,
) -> list[DescribedChange]:
    """Return the gains that the gate does not let pass, each with an example.

    None as operations are all. Raise InexactReleaseError for a release whose decisions cannot be
    computed for all names.
    """
    before, after = old.authorizer(), new.authorizer()
    gains = _select_gains(access_changes(before, after, new.release), operations)
    return [
        DescribedChange(change, witness)
        for change in scope.limit_changes(gains)
        if (gate != NO_PUBLIC_ACCESS or _is_public_access(change))
        and (witness := witness_of_change(change, before, after)) is not None
    ]


def _select_gains(
    changes: Iterable[AccessChange], operations: Collection[Operation] | None
) -> Iterator[AccessChange]:
    """Yield the gains, with only these operations."""
    for change in changes:
        selected = tuple(
            operation
            for operation in change.operations
            if operations is None or operation in operations
        )
        if change.gained and selected:
            yield msgspec.structs.replace(change, operations=selected)


def _is_public_access(change: AccessChange) -> bool:
    return change.principal == ANY_USER and "*" in change.hosts
