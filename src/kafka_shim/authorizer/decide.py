"""Decide whether an actor may do an action, with the reason; nothing but a store is read."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from kafka_shim.authorizer.acl_rules import (
    operation_bit_field,
    operations_whose_allow_includes,
    operations_whose_deny_includes,
)
from kafka_shim.authorizer.model import WILDCARD, Acl, Action, Actor, Decision, DecisionReason
from kafka_shim.authorizer.patterns import DENY_SHIFT, GrantBits, Pattern, PrincipalAndHost
from kafka_shim.authorizer.store import AclStore, acl_of_grant_bit
from kafka_shim.protocol.enums import Operation, PatternType, ResourceType

_SUPER_USER = Decision(allowed=True, reason=DecisionReason.SUPER_USER)
_DEFAULT_ALLOW = Decision(allowed=True, reason=DecisionReason.DEFAULT_ALLOW)
_DEFAULT_DENY = Decision(allowed=False, reason=DecisionReason.DEFAULT_DENY)

# Grant bits of the entries that allow or deny an operation, by operation code.
_ALLOWING = [
    operation_bit_field(operations_whose_allow_includes(operation)) for operation in Operation
]
_DENYING = [
    operation_bit_field(operations_whose_deny_includes(operation)) << DENY_SHIFT
    for operation in Operation
]

_ALLOWED, _DENIED = True, False  # positional, since keyword arguments are slower
_ACL = DecisionReason.ACL  # module constant: enum attribute lookup is slow

PROBED_NAME = "hardcode"
"""The name that Kafka asks about first when the question is about a whole resource type."""


def decide_access(
    store: AclStore,
    actor: Actor,
    action: Action,
    super_users: frozenset[str] = frozenset(),
    allow_everyone: bool = False,
    wildcard_covers_starred_names: bool = False,
) -> Decision:
    """Decide an access as Kafka's authorizer does (KIP-140, KIP-290).

    A super user is allowed everything. An entry applies if its pattern, principal, host and
    operation match. A DENY that applies overrides every ALLOW, regardless of their patterns. If no
    entry applies, the access is denied, unless `allow_everyone` is set and no ACL of any
    principal or operation matches the resource.

    Literal `*` matches every name. But StandardAuthorizer ignores it for names that begin with an
    asterisk (`*eu`); `wildcard_covers_starred_names` is for brokers that do not.

    The returned ACL is the one in Kafka's audit log. StandardAuthorizer reads the most specific
    pattern first and `*` last, and within a pattern by operation code, principal and host. It stops
    at the first DENY, and otherwise returns the last ALLOW.
    """
    if actor.principal in super_users:
        return _SUPER_USER
    patterns = store.patterns_used_for_decision(
        action.resource_type, action.resource_name, wildcard_covers_starred_names
    )
    if not patterns:
        return _DEFAULT_ALLOW if allow_everyone else _DEFAULT_DENY
    return decide_with_patterns(store, patterns, actor, action.operation)


def decide_with_patterns(
    store: AclStore,
    patterns: list[Pattern],
    actor: Actor,
    operation: Operation,
    allow_if_no_entry_applies: bool = False,
) -> Decision:
    """Decide with these patterns only; `allow_everyone` decides if no entry applies."""
    allowing_bits, denying_bits = _ALLOWING[operation], _DENYING[operation]
    allowed_by: Pattern | None = None
    for pattern in patterns:
        if pattern.other_grants is not None:
            grant = _grant_bits_for_actor(store, pattern, actor)
        elif pattern.first_subject.includes(actor):
            grant = pattern.first_grant
        else:
            continue
        if grant & denying_bits:
            return Decision(_DENIED, _ACL, _first_applying_acl(store, pattern, actor, denying_bits))
        if grant & allowing_bits:
            allowed_by = pattern
    if allowed_by is None:
        return _DEFAULT_ALLOW if allow_if_no_entry_applies else _DEFAULT_DENY
    return Decision(_ALLOWED, _ACL, _last_applying_acl(store, allowed_by, actor, allowing_bits))


def grant_bits(operation: Operation) -> tuple[GrantBits, GrantBits]:
    """Return the bits of the entries that allow an operation, and of those that deny it."""
    return _ALLOWING[operation], _DENYING[operation]


def allowed_operation_bits_with_patterns(
    store: AclStore, patterns: list[Pattern], actor: Actor
) -> int:
    """Return the bit field of all operations that `decide_with_patterns` allows."""
    grant = 0
    for pattern in patterns:
        if pattern.other_grants is not None:
            grant |= _grant_bits_for_actor(store, pattern, actor)
        elif pattern.first_subject.includes(actor):
            grant |= pattern.first_grant
    return operations_allowed_by_grant(grant)


@lru_cache(maxsize=1 << 12)
def operations_allowed_by_grant(grant: GrantBits) -> int:
    """Return the bit field of the operations that entries with these bits together allow."""
    return operation_bit_field(
        operation
        for operation in Operation
        if grant & _ALLOWING[operation] and not grant & _DENYING[operation]
    )


def decide_by_resource_type(
    store: AclStore,
    actor: Actor,
    operation: Operation,
    resource_type: ResourceType,
    probe_decision: Decision,
) -> Decision:
    """Decide whether `operation` is allowed on at least one resource of the type (KIP-679).

    This is the algorithm of the authorizer interface. `probe_decision` is the decision for a
    resource with the name PROBED_NAME: it covers super users, and `allow_everyone` if no ACL
    matches that name. If it is a denial, an ALLOW that no DENY dominates is searched. Implied
    operations do not count.
    """
    return (
        probe_decision
        if probe_decision.allowed
        else _decide_by_acls_of_type(store, actor, operation, resource_type)
    )


def decide_by_resource_type_as_acl_authorizer(
    store: AclStore,
    actor: Actor,
    operation: Operation,
    resource_type: ResourceType,
    super_users: frozenset[str] = frozenset(),
    allow_everyone: bool = False,
) -> Decision:
    """Decide the same with the method of ZooKeeper brokers' authorizer.

    PROBE is not checked; `allow_everyone` decides unless a DENY on `*` applies.
    """
    if actor.principal in super_users:
        return _SUPER_USER
    if allow_everyone and _deny_on_wildcard(store, actor, operation, resource_type) is None:
        return _DEFAULT_ALLOW
    return _decide_by_acls_of_type(store, actor, operation, resource_type)


def _decide_by_acls_of_type(
    store: AclStore, actor: Actor, operation: Operation, resource_type: ResourceType
) -> Decision:
    """Decide with the ACLs of the type only: allow if no DENY covers an ALLOW entirely.

    A DENY on `*` covers everything; an ALLOW on `*` is covered only by that. A literal is covered
    by a DENY on the same literal or on a prefix of it, a prefix only by a DENY on the same prefix
    or a shorter one: ALLOW `foo*` is not covered by DENY `foob*`, but by DENY `f*`.
    """
    return _deny_on_wildcard(store, actor, operation, resource_type) or _decide_by_uncovered_allow(
        store, actor, operation, resource_type
    )


def _deny_on_wildcard(
    store: AclStore, actor: Actor, operation: Operation, resource_type: ResourceType
) -> Decision | None:
    wildcard = store.find_pattern(resource_type, WILDCARD, PatternType.LITERAL)
    bits = _DENYING[operation]
    if wildcard is None or not _applying_grants(store, wildcard, actor, bits):
        return None
    return Decision(_DENIED, _ACL, _first_applying_acl(store, wildcard, actor, bits))


def _grant_bits_for_actor(store: AclStore, pattern: Pattern, actor: Actor) -> int:
    grant = 0
    others = pattern.other_grants or {}
    for subject in store.subjects_including(actor):  # `grant_bits_of`, inlined
        grant |= pattern.first_grant if subject is pattern.first_subject else others.get(subject, 0)
    return grant


def _first_applying_acl(store: AclStore, pattern: Pattern, actor: Actor, bits: int) -> Acl:
    """Return the pattern's first entry with these bits: by operation, principal, host."""
    entries = _applying_grants(store, pattern, actor, bits)
    if len(entries) > 1:
        entries.sort(key=lambda entry: (entry[0] & -entry[0], entry[1].principal, entry[1].host))
    grant, subject = entries[0]
    return acl_of_grant_bit(pattern, subject, (grant & -grant).bit_length() - 1)


def _last_applying_acl(store: AclStore, pattern: Pattern, actor: Actor, bits: int) -> Acl:
    """Return the pattern's last entry with these bits, in the same order."""
    if pattern.other_grants is None:  # as mostly: the only subject is the one that grants
        return acl_of_grant_bit(
            pattern, pattern.first_subject, (pattern.first_grant & bits).bit_length() - 1
        )
    entries = _applying_grants(store, pattern, actor, bits)
    if len(entries) > 1:
        entries.sort(key=lambda entry: (entry[0].bit_length(), entry[1].principal, entry[1].host))
    grant, subject = entries[-1]
    return acl_of_grant_bit(pattern, subject, grant.bit_length() - 1)


def _applying_grants(
    store: AclStore, pattern: Pattern, actor: Actor, bits: int
) -> list[tuple[int, PrincipalAndHost]]:
    """Return the grants that apply to the actor, reduced to `bits`, which all allow or all deny."""
    if pattern.other_grants is None:
        applies = pattern.first_grant & bits and pattern.first_subject.includes(actor)
        return [(pattern.first_grant & bits, pattern.first_subject)] if applies else []
    return [
        (grant, subject)
        for subject in store.subjects_including(actor)
        if (grant := pattern.grant_bits_of(subject) & bits)
    ]


def _decide_by_uncovered_allow(
    store: AclStore, actor: Actor, operation: Operation, resource_type: ResourceType
) -> Decision:
    bits = operation_bit_field((operation, Operation.ALL))  # implied operations do not count
    literals: dict[str, Pattern] = {}
    prefixes: dict[str, Pattern] = {}
    denied_literals: set[str] = set()
    denied_prefixes: set[str] = set()
    for pattern, grant in _patterns_by_subject(store, resource_type, actor):
        is_literal = pattern.pattern_type is PatternType.LITERAL
        if grant & bits << DENY_SHIFT:
            (denied_literals if is_literal else denied_prefixes).add(pattern.resource_name)
        if grant & bits:
            (literals if is_literal else prefixes)[pattern.resource_name] = pattern
    if WILDCARD in literals:
        return Decision(_ALLOWED, _ACL, _last_applying_acl(store, literals[WILDCARD], actor, bits))
    lengths = sorted({len(prefix) for prefix in denied_prefixes})
    for name, pattern in (*literals.items(), *prefixes.items()):
        if pattern.pattern_type is PatternType.LITERAL and name in denied_literals:
            continue
        if not any(name[:n] in denied_prefixes for n in lengths if n <= len(name)):
            return Decision(_ALLOWED, _ACL, _last_applying_acl(store, pattern, actor, bits))
    return _DEFAULT_DENY


def _patterns_by_subject(
    store: AclStore, resource_type: ResourceType, actor: Actor
) -> Iterator[tuple[Pattern, int]]:
    for subject in store.subjects_including(actor):
        for pattern in store.patterns_of_subject(resource_type, subject):
            yield pattern, pattern.grant_bits_of(subject)


class EarlyStoppingSearch:
    """Decides like StandardAuthorizer's first release, whose search for prefixes ends too early.

    It went through the names of a type downwards from the requested name, and ended at the first
    name that is not a prefix of it. So another name in between hid a prefix: with `a*` and `aa`
    stored, `ab` should find `a*`, but `aa` ends the search. If no entry applied,
    `allow.everyone.if.no.acl.found` decided, even if other principals had ACLs on the resource.
    The sorted names of each type are cached until an ACL changes.
    """

    def __init__(self, store: AclStore) -> None:
        self._store = store
        self._epoch = -1
        self._names: dict[ResourceType, list[str]] = {}

    def decide_access(self, actor: Actor, action: Action, *, allow_everyone: bool) -> Decision:
        """Decide an access of a principal that is not a super user."""
        patterns = self._patterns_before_search_stops(action.resource_type, action.resource_name)
        return decide_with_patterns(self._store, patterns, actor, action.operation, allow_everyone)

    def _patterns_before_search_stops(
        self, resource_type: ResourceType, name: str
    ) -> list[Pattern]:
        end = self._name_that_stops_search(resource_type, name)
        return [
            pattern
            for pattern in self._store.patterns_used_for_decision(resource_type, name)
            if pattern.resource_name == WILDCARD or pattern.resource_name > end
        ]

    def _name_that_stops_search(self, resource_type: ResourceType, name: str) -> str:
        """Return the first name downwards that is not a prefix; empty if there is none."""
        if self._epoch != self._store.epoch:
            self._names.clear()
            self._epoch = self._store.epoch
        names = self._names.get(resource_type)
        if names is None:
            stored = {
                pattern.resource_name for pattern in self._store.patterns_of_type(resource_type)
            }
            # literal `*` does not end the search; prefixed `*` is last
            names = self._names[resource_type] = sorted(stored - {WILDCARD})
        for position in range(bisect_right(names, name) - 1, -1, -1):
            if not name.startswith(names[position]):
                return names[position]
        return ""
