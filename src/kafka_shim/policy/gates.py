"""Gates for changes of ACLs: which access a change must not grant."""

from collections.abc import Collection, Iterable, Iterator

import msgspec

from kafka_shim.authorizer.model import ANY_USER
from kafka_shim.policy.access_changes import AccessChange, access_changes
from kafka_shim.policy.change_scope import ChangeScope
from kafka_shim.policy.diff import DescribedChange
from kafka_shim.policy.policy import Policy
from kafka_shim.policy.witness import witness_of_change
from kafka_shim.protocol.enums import Operation

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
