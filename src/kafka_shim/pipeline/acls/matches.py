"""Find the ACLs of a set that apply to an access."""

from collections.abc import Iterator
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_rules import (
    acl_rules_of_release,
    operations_whose_allow_includes,
    operations_whose_deny_includes,
)
from kafka_shim.authorizer.decide import PROBED_NAME
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, Action, Actor
from kafka_shim.authorizer.networks import covers_host
from kafka_shim.authorizer.patterns import Pattern
from kafka_shim.authorizer.store import AclStore, acls_of_grant
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.required_access import (
    is_any_resource_row,
    operation_on_resource,
    parse_alternative,
)
from kafka_shim.protocol.enums import PatternType, Permission, ResourceType


class DecisionSignature(msgspec.Struct, frozen=True):
    """The ACLs that a decision depends on, by their positions in the set.

    `inapplicable` are ACLs on the same resource that do not apply to the access; they matter if
    resources without ACLs are open to everyone. `determines_decision` is False if these ACLs alone
    do not: there was another way to meet the requirement, the access was about a whole resource
    type, or the release overlooks ACLs (`prefix_search_stops_early`).
    """

    determines_decision: bool
    allows: tuple[int, ...]
    denies: tuple[int, ...]
    inapplicable: tuple[int, ...]

    def is_allowed_without(self, removed_positions: set[int], *, allow_everyone: bool) -> bool:
        """Return the decision without these ACLs; only for a simple signature."""
        if any(at not in removed_positions for at in self.denies):
            return False
        if any(at not in removed_positions for at in self.allows):
            return True
        rest = (*self.allows, *self.denies, *self.inapplicable)
        return allow_everyone and all(at in removed_positions for at in rest)


class DecidingAclFinder:
    """Finds signatures, and caches the ACLs of each resource and actor."""

    def __init__(self, acl_set: AclSet, store: AclStore) -> None:
        self._store = store
        self._positions = {acl: at for at, acl in enumerate(acl_set.acls)}
        self._with_others = acl_set.allow_everyone_if_no_acl
        rules = acl_rules_of_release(acl_set.release)
        self._starred = rules.wildcard_covers_starred_names
        self._is_plain = not rules.prefix_search_stops_early

    def find_signature(self, row: dict[str, Any]) -> DecisionSignature:
        """Return the signature of a row of `observed`."""
        actor = Actor(row["principal"], row["host"])
        is_any = is_any_resource_row(row)
        found: dict[str, set[int]] = {"allows": set(), "denies": set(), "inapplicable": set()}
        for operation, kind, name in (
            operation_on_resource(row),
            *map(parse_alternative, row["instead"]),
        ):
            action = Action(operation, kind, name)
            for acl in self._acls_on_name(actor, action, any_resource=is_any or name == WILDCARD):
                found[self._effect_on_decision(acl, actor, action)].add(self._positions[acl])
        parts = (tuple(sorted(found[name])) for name in ("allows", "denies", "inapplicable"))
        return DecisionSignature(self._is_plain and not is_any and not row["instead"], *parts)

    def _acls_on_name(self, actor: Actor, action: Action, *, any_resource: bool) -> Iterator[Acl]:
        if not any_resource or action.resource_type is not ResourceType.TOPIC:
            yield from self._acls_on_resource_for_actor(
                action.resource_type, action.resource_name, actor
            )
            return
        for subject in self._store.subjects_including(actor):
            for pattern in self._store.patterns_of_subject(action.resource_type, subject):
                yield from acls_of_grant(pattern, subject, pattern.grant_bits_of(subject))
        if self._with_others:  # everyone is allowed unless the first name has an ACL
            yield from self._acls_on_resource_for_actor(action.resource_type, PROBED_NAME, actor)

    def _acls_on_resource_for_actor(
        self, resource_type: ResourceType, name: str, actor: Actor
    ) -> Iterator[Acl]:
        """Yield the ACLs on a resource that apply to the actor."""
        for pattern in self._store.patterns_matching_name(resource_type, name):
            if not self._starred and _is_ineffective_wildcard(pattern, name):
                continue
            if self._with_others:
                for subject, grant in pattern.subject_grants():
                    yield from acls_of_grant(pattern, subject, grant)
                continue
            for subject in self._store.subjects_including(actor):
                yield from acls_of_grant(pattern, subject, pattern.grant_bits_of(subject))

    def _effect_on_decision(self, acl: Acl, actor: Actor, action: Action) -> str:
        allows = acl.permission is Permission.ALLOW
        operations = (
            operations_whose_allow_includes if allows else operations_whose_deny_includes
        )(action.operation)
        if (
            acl.principal not in (actor.principal, ANY_USER)
            or not covers_host(acl.host, actor.host, host_networks=self._store.host_networks)
            or acl.operation not in operations
        ):
            return "inapplicable"
        return "allows" if allows else "denies"


def _is_ineffective_wildcard(pattern: Pattern, name: str) -> bool:
    """Return whether the pattern is `*` and does not cover the name, since that begins with `*`."""
    is_wildcard = pattern.pattern_type is PatternType.LITERAL and pattern.resource_name == WILDCARD
    return is_wildcard and name != WILDCARD and name[:1] == WILDCARD
