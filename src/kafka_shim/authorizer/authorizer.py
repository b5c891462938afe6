"""The authorizer: the interface that brokers use, and the standard implementation."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from kafka_shim.authorizer.acl_requests import (
    creation_error,
    deletion_filter_error,
    is_exact_simple_filter,
    malformed_exact_filter_error,
)
from kafka_shim.authorizer.acl_rules import NEWEST_RULES, AclRules, operation_bit_field
from kafka_shim.authorizer.decide import (
    PROBED_NAME,
    EarlyStoppingSearch,
    allowed_operation_bits_with_patterns,
    decide_access,
    decide_by_resource_type,
    decide_by_resource_type_as_acl_authorizer,
)
from kafka_shim.authorizer.model import Acl, AclFilter, Action, Actor, Decision
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

CACHED_DECISIONS_MAX = 16_384
_ALL_OPERATIONS = operation_bit_field(Operation)
_TYPES = len(ResourceType)  # a constant, since len() of an enum class is slow

SUPER_USERS = "super.users"
ALLOW_EVERYONE = "allow.everyone.if.no.acl.found"
AUTHORIZER_CLASS = "authorizer.class.name"
SHIM_SETTINGS = "kafka.shim.authorizer.settings"
"""The name by which kafka-shim's tools ask kafka-shim's broker for the values that no real broker
returns.
"""


class AclCreateResult(msgspec.Struct, frozen=True, gc=False):
    """The result of creating an ACL; without an error, it is stored, or was already."""

    error: ErrorCode | None = None
    message: str | None = None


_CREATED = AclCreateResult()


class AclDeleteResult(msgspec.Struct, frozen=True):
    """The result of a deletion filter, with the ACLs that it matched."""

    error: ErrorCode | None = None
    message: str | None = None
    matches: tuple[Acl, ...] = ()


@runtime_checkable
class Authorizer(Protocol):
    """The interface of authorizers, which decide and store ACLs; users can implement their own.

    `authorizer.class.name=package.module:Class` names a class. It is called without arguments, then
    `configure` is called once before anything else. All methods are called from one thread and must
    not block. An exception becomes UNKNOWN_SERVER_ERROR for the request.
    """

    def configure(self, config: Mapping[str, str]) -> None:
        """Read the broker's configuration, by Kafka's names. Raise ValueError if it is invalid."""
        ...

    def authorize(self, actor: Actor, action: Action) -> Decision:
        """Decide whether the actor may do the action on one named resource."""
        ...

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        """Decide whether the action is allowed on at least one resource of the type (KIP-679)."""
        ...

    def create_acls(self, actor: Actor, acls: Sequence[Acl]) -> list[AclCreateResult]:
        """Store ACLs and return a result for each, in order. The actor's permission was checked."""
        ...

    def delete_acls(self, actor: Actor, filters: Sequence[AclFilter]) -> list[AclDeleteResult]:
        """Delete the ACLs that filters select; return a result for each filter, in order."""
        ...

    def acls(self, acl_filter: AclFilter) -> Iterable[Acl]:
        """Return the stored ACLs that the filter selects, in any order."""
        ...


class StandardAuthorizer:
    """Kafka's own authorizer, with the `rules` of a release.

    Clients repeat the same accesses, so decisions are cached until an ACL changes (at most
    CACHED_DECISIONS_MAX). `store` may also be changed directly, since its epoch shows changes.
    Callers can cache what they derive from decisions in the same way, see
    `decision_cache`.
    """

    def __init__(
        self,
        *,
        super_users: Iterable[str] = (),
        allow_everyone: bool = False,
        rules: AclRules = NEWEST_RULES,
        store: AclStore | None = None,
    ) -> None:
        self._super_users = frozenset(super_users)
        self._allow_everyone = allow_everyone
        self._rules = rules
        self._decisions: dict[tuple[str | None, str, str, int], Decision] = {}
        self._derived_cache: dict[Hashable, Any] = {}
        self._decisions_epoch = -1
        self.store = AclStore() if store is None else store
        self.store.set_network_hosts(rules.host_networks)
        self._early_search = (
            EarlyStoppingSearch(self.store) if rules.prefix_search_stops_early else None
        )

    @property
    def super_users(self) -> frozenset[str]:
        return self._super_users

    @property
    def allow_everyone(self) -> bool:
        return self._allow_everyone

    @property
    def rules(self) -> AclRules:
        return self._rules

    def configure(self, config: Mapping[str, str]) -> None:
        """Read `super.users` and `allow.everyone.if.no.acl.found`; missing settings keep their
        values.

        Raise ValueError for a super user that is not `Type:name`, and for a flag that is neither
        `true` nor `false`.
        """
        if SUPER_USERS in config:
            self._super_users = parse_super_users(config[SUPER_USERS])
        if ALLOW_EVERYONE in config:
            self._allow_everyone = _parse_boolean_setting(ALLOW_EVERYONE, config[ALLOW_EVERYONE])
        self._clear_caches()

    def authorize(self, actor: Actor, action: Action) -> Decision:
        """Return the decision about an access, cached until an ACL changes."""
        decisions = self._decisions
        if self._decisions_epoch != self.store.epoch or len(decisions) >= CACHED_DECISIONS_MAX:
            self._clear_caches()
        # numbers, because hashing an enum member takes as long as everything else
        what = action.operation * _TYPES + action.resource_type
        key = (action.resource_name, actor.principal, actor.host, what)
        decision = decisions.get(key)
        if decision is None:
            decision = decisions[key] = self.decide_uncached(actor, action)
        return decision

    def decision_cache(self) -> dict[Hashable, Any]:
        """Return a cache for what depends only on decisions. It is emptied when an ACL changes or
        after CACHED_DECISIONS_MAX entries; do not keep a reference to it.
        """
        if (
            self._decisions_epoch != self.store.epoch
            or len(self._derived_cache) >= CACHED_DECISIONS_MAX
        ):
            self._clear_caches()
        return self._derived_cache

    def decide_uncached(self, actor: Actor, action: Action) -> Decision:
        """Decide like `authorize`, but without the cache: for a large
        number of different accesses.
        """
        if self._early_search is not None and actor.principal not in self._super_users:
            return self._early_search.decide_access(
                actor, action, allow_everyone=self._allow_everyone
            )
        return decide_access(
            self.store,
            actor,
            action,
            self._super_users,
            self._allow_everyone,
            self._rules.wildcard_covers_starred_names,
        )

    def allowed_operation_bits(self, actor: Actor, resource_type: ResourceType, name: str) -> int:
        """Return the bit field of all operations that `decide_uncached` allows on a resource."""
        if self._early_search is not None:
            return operation_bit_field(
                operation
                for operation in Operation
                if self.decide_uncached(actor, Action(operation, resource_type, name)).allowed
            )
        if actor.principal in self._super_users:
            return _ALL_OPERATIONS
        patterns = self.store.patterns_used_for_decision(
            resource_type, name, self._rules.wildcard_covers_starred_names
        )
        if not patterns:
            return _ALL_OPERATIONS if self._allow_everyone else 0
        return allowed_operation_bits_with_patterns(self.store, patterns, actor)

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        """Decide by the rules of the release (KIP-679), with the cache."""
        decisions = self._decisions
        if self._decisions_epoch != self.store.epoch or len(decisions) >= CACHED_DECISIONS_MAX:
            self._clear_caches()
        what = operation * _TYPES + resource_type
        key = (None, actor.principal, actor.host, what)
        decision = decisions.get(key)
        if decision is None:
            decision = decisions[key] = self._decide_by_resource_type_uncached(
                actor, operation, resource_type
            )
        return decision

    def create_acls(self, actor: Actor, acls: Sequence[Acl]) -> list[AclCreateResult]:  # noqa: ARG002 the protocol's
        """Store valid ACLs; store none if a batch may not create so many."""
        refusals = [creation_error(acl, self._rules) for acl in acls]
        valid = [acl for acl, refusal in zip(acls, refusals, strict=True) if refusal is None]
        created = iter(self.create_valid_acls(valid))
        return [
            next(created) if refusal is None else AclCreateResult(refusal.error, refusal.message)
            for refusal in refusals
        ]

    def create_valid_acls(self, acls: Sequence[Acl]) -> list[AclCreateResult]:
        """Store ACLs that were checked by `creation_error`; store none if a batch may not create so
        many.
        """
        store = self.store
        if self._exceeds_batch_limit(len(acls)):  # counting new ones takes long
            count = len({acl for acl in acls if acl not in store})
            if self._exceeds_batch_limit(count):
                text = self._batch_limit_message("creates", count)
                return [AclCreateResult(self._rules.batch_create_error, text) for _ in acls]
        for acl in acls:
            store.add(acl)
        return [_CREATED for _ in acls]

    def delete_acls(
        self,
        actor: Actor,  # noqa: ARG002 the protocol's
        filters: Sequence[AclFilter],
    ) -> list[AclDeleteResult]:
        """Delete the selected ACLs; delete none if a batch may not delete so many."""
        to_delete: dict[Acl, None] = {}
        forward = (
            self._rules.every_matching_filter_reports or self._rules.first_matching_filter_reports
        )
        ordered = filters if forward else reversed(filters)
        as_exact_acl = self._rules.exact_filters_name_acls and all(
            map(is_exact_simple_filter, filters)
        )
        results = [
            self._collect_deletions_of_filter(each, to_delete, as_exact_acl=as_exact_acl)
            for each in ordered
        ]
        if not forward:
            results.reverse()
        if self._exceeds_batch_limit(len(to_delete)):
            text = self._batch_limit_message("deletes", len(to_delete))
            return [AclDeleteResult(self._rules.batch_delete_error, text) for _ in filters]
        for result in results:
            for acl in result.matches:
                self.store.remove(acl)
        return results

    def acls(self, acl_filter: AclFilter) -> Iterable[Acl]:
        return self.store.acls_matching(acl_filter)

    def _collect_deletions_of_filter(
        self,
        acl_filter: AclFilter,
        to_delete: dict[Acl, None],
        *,
        as_exact_acl: bool,
    ) -> AclDeleteResult:
        """Find the ACLs of one filter, and add them to those to delete."""
        refusal = deletion_filter_error(acl_filter, self._rules)
        if refusal is None and as_exact_acl:
            refusal = malformed_exact_filter_error(acl_filter)
        if refusal is not None:
            return AclDeleteResult(refusal.error, refusal.message)
        matches = []
        for acl in self.store.acls_matching(acl_filter):
            if self._rules.every_matching_filter_reports or acl not in to_delete:
                matches.append(acl)
            to_delete[acl] = None
        return AclDeleteResult(matches=tuple(matches))

    def _decide_by_resource_type_uncached(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        if self._rules.allow_everyone_by_resource_type:
            return decide_by_resource_type_as_acl_authorizer(
                self.store, actor, operation, resource_type, self._super_users, self._allow_everyone
            )
        probe = self.decide_uncached(actor, Action(operation, resource_type, PROBED_NAME))
        return decide_by_resource_type(self.store, actor, operation, resource_type, probe)

    def _clear_caches(self) -> None:
        self._decisions.clear()
        self._derived_cache.clear()
        self._decisions_epoch = self.store.epoch

    def _exceeds_batch_limit(self, count: int) -> bool:
        return self._rules.batch_limit is not None and count > self._rules.batch_limit

    def _batch_limit_message(self, verb: str, count: int) -> str:
        limit = self._rules.batch_limit
        return f"the request {verb} {count} ACLs, but one batch may have {limit}; split it"


def parse_super_users(text: str) -> frozenset[str]:
    """Parse `User:admin; User:ops`: principals separated by semicolons."""
    principals = [part.strip() for part in text.split(";")]
    for principal in principals:
        if principal and ":" not in principal:
            raise ValueError(
                f"super user `{principal}` ({SUPER_USERS}): expected Type:name, as in"
                " `User:admin`; several are separated by `;`"
            )
    return frozenset(principal for principal in principals if principal)


def _parse_boolean_setting(name: str, text: str) -> bool:
    match text.strip().lower():
        case "true":
            return True
        case "false":
            return False
    raise ValueError(f"invalid value `{text}` of {name}; expected true or false")
