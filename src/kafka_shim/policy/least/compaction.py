"""As few ACLs as possible that decide every access alike.

Operations are joined into All where that covers just those that brokers check; then every ACL is
left out without which no decision changes. No further ACL can be left out of this result. If a
smaller set is found for the ACLs on a type of resources, it is used instead.
"""

from collections.abc import Iterable

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.access_changes import access_changes
from kafka_shim.policy.checked_accesses import checked_operations_by_resource_type
from kafka_shim.policy.fewest_acls import fewest_acls_of_type
from kafka_shim.policy.redundant_acls import AclRemovalEffects
from kafka_shim.policy.witness import one_client_address_per_host
from kafka_shim.protocol.enums import Operation, Permission, ResourceType


class CompactedAcls(msgspec.Struct, frozen=True):
    """ACLs of which none can be left out; no set that decides alike is below `lower_bound`."""

    acls: frozenset[Acl]
    lower_bound: int

    @property
    def are_fewest(self) -> bool:
        """Return whether it is proven that fewer ACLs do not suffice."""
        return len(self.acls) == self.lower_bound


def compacted_acls(
    authorizer: StandardAuthorizer, release: str, *, adds_denies: bool = False
) -> CompactedAcls:
    """Return ACLs that decide like those of the authorizer, which stays unchanged.

    Unless `adds_denies`, they deny nothing that no DENY of the authorizer denies, and the lower
    bound is that of such sets. Raise InexactReleaseError for a release whose decisions cannot be
    computed for all names.
    """
    by_type: dict[ResourceType, list[Acl]] = {}
    for acl in authorizer.store:
        by_type.setdefault(acl.resource_type, []).append(acl)
    acls, lower_bound = set[Acl](), 0
    for kind, given in by_type.items():
        of_type = _copy_with_acls(authorizer, given)
        irreducible = _irreducible_acls(of_type, release)
        fewest = fewest_acls_of_type(of_type, kind, release, adds_denies=adds_denies)
        lower_bound += fewest.lower_bound
        if fewest.acls is not None and len(fewest.acls) < len(irreducible):
            candidate = _copy_with_acls(authorizer, fewest.acls)
            if not any(
                one_client_address_per_host(change.hosts, change.except_hosts)
                for change in access_changes(of_type, candidate, release)
            ):
                irreducible = _irreducible_acls(candidate, release)
            elif not fewest.acls:
                lower_bound += 1  # without ACLs, something is decided otherwise
        acls |= irreducible
    return CompactedAcls(frozenset(acls), lower_bound)


def _irreducible_acls(authorizer: StandardAuthorizer, release: str) -> set[Acl]:
    compacted = _copy_with_acls(authorizer, authorizer.store)
    for replaced, joined in _acl_groups_joinable_to_operation_all(authorizer.store, release):
        _replace_if_equivalent(compacted, replaced, joined, release)
    effects = AclRemovalEffects(compacted, release)
    for acl in sorted(compacted.store, key=_narrow_first_sort_key):
        if effects.decisions_if_unchanged_without(acl) is not None:
            effects.remove_for_good(acl)
    return set(compacted.store)


def _copy_with_acls(authorizer: StandardAuthorizer, acls: Iterable[Acl]) -> StandardAuthorizer:
    return StandardAuthorizer(
        super_users=authorizer.super_users,
        allow_everyone=authorizer.allow_everyone,
        rules=authorizer.rules,
        store=AclStore(acls),
    )


def _acl_groups_joinable_to_operation_all(
    acls: Iterable[Acl], release: str
) -> list[tuple[list[Acl], Acl]]:
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


def _replace_if_equivalent(
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


def _narrow_first_sort_key(acl: Acl) -> tuple[object, ...]:
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
