"""Find the ACLs of a set that apply to an access."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pyarrow as pa

from kafka_shim.authorizer.acl_releases import acl_rules_of_release
from kafka_shim.authorizer.decide import PROBED_NAME
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, Action, Actor
from kafka_shim.authorizer.networks import covers_host
from kafka_shim.authorizer.operations import (
    operations_whose_allow_includes,
    operations_whose_deny_includes,
)
from kafka_shim.authorizer.pattern import Pattern
from kafka_shim.authorizer.store import AclStore, acls_of_grant
from kafka_shim.pipeline.acls.acl_set import AclSet, pack_acl_set
from kafka_shim.pipeline.acls.grants import operation_on_resource, parse_alternative
from kafka_shim.pipeline.acls.verdict import row_is_about_any_resource
from kafka_shim.pipeline.tables import OBSERVED
from kafka_shim.protocol.enums import PatternType, Permission, ResourceType

_POSITIONS = pa.list_(pa.int32())
SPOKEN = pa.schema(
    [
        ("is_simple", pa.bool_()),
        ("allows", _POSITIONS),
        ("denies", _POSITIONS),
        ("others", _POSITIONS),
        ("requests", pa.int64()),
        ("last_seen", OBSERVED.field("last_seen").type),
    ]
)
SPOKEN_DDL = (
    "is_simple boolean, allows array<int>, denies array<int>, others array<int>,"
    " requests long, last_seen timestamp"
)


class DecisionSignature(msgspec.Struct, frozen=True):
    """The ACLs that a decision depends on, by their positions in the set.

    `others` are ACLs on the same resource that do not apply to the access; they matter if resources
    without ACLs are open to everyone. `is_simple` is False if these ACLs do not determine the
    decision: there was another way to meet the requirement, the access was about a whole resource
    type, or the release overlooks ACLs (`search_stops_early`).
    """

    is_simple: bool
    allows: tuple[int, ...]
    denies: tuple[int, ...]
    others: tuple[int, ...]

    def is_allowed_without(self, gone: set[int], *, allow_everyone: bool) -> bool:
        """Return the decision without the ACLs in `gone`; only for a simple signature."""
        if any(at not in gone for at in self.denies):
            return False
        if any(at not in gone for at in self.allows):
            return True
        rest = (*self.allows, *self.denies, *self.others)
        return allow_everyone and all(at in gone for at in rest)


def decision_signature_mapper(
    acl_set: AclSet,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for mapInArrow from batches of `observed` to
    `SPOKEN`, without super users.
    """
    present = pack_acl_set(acl_set)

    def spoken(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        acl_set = present.unpack()
        matcher = SignatureFinder(acl_set, present.authorizer().store)
        for batch in batches:
            rows = []
            for row in batch.to_pylist():
                if row["principal"] not in acl_set.super_users:
                    found = msgspec.structs.asdict(matcher.find_signature(row))
                    rows.append({**found, **{k: row[k] for k in ("requests", "last_seen")}})
            yield pa.RecordBatch.from_pylist(rows, SPOKEN)

    return spoken


class SignatureFinder:
    """Finds signatures, and caches the ACLs of each resource and actor."""

    def __init__(self, acl_set: AclSet, store: AclStore) -> None:
        self._store = store
        self._positions = {acl: at for at, acl in enumerate(acl_set.acls)}
        self._with_others = acl_set.allow_everyone
        rules = acl_rules_of_release(acl_set.release)
        self._starred = rules.wildcard_covers_starred_names
        self._is_plain = not rules.prefix_search_stops_early

    def find_signature(self, row: dict[str, Any]) -> DecisionSignature:
        """Return the signature of a row of `observed`."""
        actor = Actor(row["principal"], row["host"])
        is_any = row_is_about_any_resource(row)
        found: dict[str, set[int]] = {"allows": set(), "denies": set(), "others": set()}
        for operation, kind, name in (
            operation_on_resource(row),
            *map(parse_alternative, row["instead"]),
        ):
            action = Action(operation, kind, name)
            for acl in self._applicable_acls(actor, action, whole_type=is_any or name == WILDCARD):
                found[self._effect_on_action(acl, actor, action)].add(self._positions[acl])
        parts = (tuple(sorted(found[name])) for name in ("allows", "denies", "others"))
        return DecisionSignature(self._is_plain and not is_any and not row["instead"], *parts)

    def _applicable_acls(self, actor: Actor, action: Action, *, whole_type: bool) -> Iterator[Acl]:
        if not whole_type or action.resource_type is not ResourceType.TOPIC:
            yield from self._acls_on_resource(action.resource_type, action.resource_name, actor)
            return
        for subject in self._store.subjects_including(actor):
            for pattern in self._store.patterns_of_subject(action.resource_type, subject):
                yield from acls_of_grant(pattern, subject, pattern.grant_bits_of(subject))
        if self._with_others:  # everyone is allowed unless the first name has an ACL
            yield from self._acls_on_resource(action.resource_type, PROBED_NAME, actor)

    def _acls_on_resource(
        self, resource_type: ResourceType, name: str, actor: Actor
    ) -> Iterator[Acl]:
        """Yield the ACLs on a resource that apply to the actor."""
        for pattern in self._store.patterns_matching_name(resource_type, name):
            if not self._starred and _is_overlooked_wildcard(pattern, name):
                continue
            if self._with_others:
                for subject, grant in pattern.subject_grants():
                    yield from acls_of_grant(pattern, subject, grant)
                continue
            for subject in self._store.subjects_including(actor):
                yield from acls_of_grant(pattern, subject, pattern.grant_bits_of(subject))

    def _effect_on_action(self, acl: Acl, actor: Actor, action: Action) -> str:
        allows = acl.permission is Permission.ALLOW
        operations = (
            operations_whose_allow_includes if allows else operations_whose_deny_includes
        )(action.operation)
        if (
            acl.principal not in (actor.principal, ANY_USER)
            or not covers_host(acl.host, actor.host, host_networks=self._store.host_networks)
            or acl.operation not in operations
        ):
            return "others"
        return "allows" if allows else "denies"


def _is_overlooked_wildcard(pattern: Pattern, name: str) -> bool:
    """Return whether the pattern is `*` and does not cover the name, since that begins with `*`."""
    is_wildcard = pattern.pattern_type is PatternType.LITERAL and pattern.resource_name == WILDCARD
    return is_wildcard and name != WILDCARD and name[:1] == WILDCARD
