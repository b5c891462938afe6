"""Fewer ACLs that decide every access alike.

Operations are joined into All where that covers just those that brokers check; then every ACL is
left out without which no decision changes. No further ACL can be left out of this result.
"""

from collections.abc import Iterable

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.access_changes import access_changes
from kafka_shim.policy.checked_accesses import checked_operations_by_resource_type
from kafka_shim.policy.redundant_acls import AclRemovalEffects
from kafka_shim.protocol.enums import Operation, Permission, ResourceType


def compacted_acls(authorizer: StandardAuthorizer, release: str) -> set[Acl]:
    """Return ACLs that decide like those of the authorizer, which stays unchanged.

    Raise InexactReleaseError for a release whose decisions cannot be computed for all names.
    """
    by_type: dict[ResourceType, list[Acl]] = {}
    for acl in authorizer.store:
        by_type.setdefault(acl.resource_type, []).append(acl)
    parts = (
        _irreducible_acls(_copy_with_acls(authorizer, acls), release) for acls in by_type.values()
    )
    return set[Acl]().union(*parts)


def _irreducible_acls(authorizer: StandardAuthorizer, release: str) -> set[Acl]:
    compacted = _copy_with_acls(authorizer, authorizer.store)
    for replaced, joined in _find_joinable_groups(authorizer.store, release):
        _try_replace(compacted, replaced, joined, release)
    effects = AclRemovalEffects(compacted, release)
    while _remove_unnecessary(compacted.store, effects):
        pass  # without an ALLOW, the DENY that it needed can become unnecessary
    return set(compacted.store)


def _remove_unnecessary(acls: Iterable[Acl], effects: AclRemovalEffects) -> bool:
    """Remove each ACL without which no decision changes. Return whether there was one."""
    is_any_removed = False
    for acl in sorted(acls, key=_breadth_sort_key):
        if effects.unchanged_decisions(acl) is not None:
            effects.remove_permanently(acl)
            is_any_removed = True
    return is_any_removed


def _copy_with_acls(authorizer: StandardAuthorizer, acls: Iterable[Acl]) -> StandardAuthorizer:
    return StandardAuthorizer(
        super_users=authorizer.super_users,
        allow_everyone=authorizer.allow_everyone,
        rules=authorizer.rules,
        store=AclStore(acls),
    )


def _find_joinable_groups(acls: Iterable[Acl], release: str) -> list[tuple[list[Acl], Acl]]:
    """Return ACLs that differ in their operation only, with the ACL for All in their place."""
    checked = checked_operations_by_resource_type(release)
    by_rest: dict[Acl, list[Acl]] = {}
    for acl in acls:
        by_rest.setdefault(msgspec.structs.replace(acl, operation=Operation.ALL), []).append(acl)
    return [
        (group, joined)
        for joined, group in by_rest.items()
        if len(group) > 1
        and {acl.operation for acl in group} | _operations_possibly_implied_by(group)
        >= set(checked.get(joined.resource_type, ()))
    ]


def _operations_possibly_implied_by(acls: Iterable[Acl]) -> set[Operation]:
    """Return the operations that several ALLOWs may include."""
    is_allow = any(acl.permission is Permission.ALLOW for acl in acls)
    return {Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS} if is_allow else set()


def _try_replace(
    authorizer: StandardAuthorizer, replaced: Iterable[Acl], joined: Acl, release: str
) -> None:
    before = _copy_with_acls(authorizer, authorizer.store)
    for acl in replaced:
        authorizer.store.remove(acl)
    authorizer.store.add(joined)
    if access_changes(before, authorizer, release):
        authorizer.store.remove(joined)
        for acl in replaced:
            authorizer.store.add(acl)


def _breadth_sort_key(acl: Acl) -> tuple[object, ...]:
    """Return a sort key: narrow ACLs are left out before broad ones that cover them."""
    return (
        acl.operation is Operation.ALL,
        acl.resource_name == "*",
        acl.pattern_type,
        -len(acl.resource_name),
        acl.host == "*",
        acl.principal == "User:*",
        acl.resource_type,
        acl.resource_name,
        acl.principal,
        acl.host,
        acl.operation,
        acl.permission,
    )
