"""Decide whether an actor may do an action, with the reason: pure functions of a store."""

from collections.abc import Iterator

from kafka_shim.authorizer.implied import allowing, denying, operation_bits
from kafka_shim.authorizer.model import WILDCARD, Acl, Action, Actor, Because, Decision
from kafka_shim.authorizer.pattern import Pattern, Subject
from kafka_shim.authorizer.store import DENY_SHIFT, AclStore, acl_of
from kafka_shim.protocol.enums import Operation, PatternType, ResourceType

_SUPER_USER = Decision(allowed=True, because=Because.SUPER_USER)
_DEFAULT_ALLOW = Decision(allowed=True, because=Because.DEFAULT_ALLOW)
_DEFAULT_DENY = Decision(allowed=False, because=Because.DEFAULT_DENY)

# Grant bits of the entries that allow or deny an operation, by operation code.
_ALLOWING = [operation_bits(allowing(operation)) for operation in Operation]
_DENYING = [operation_bits(denying(operation)) << DENY_SHIFT for operation in Operation]

_ALLOWED, _DENIED = True, False  # positional, since keyword arguments are slower
_ACL = Because.ACL  # module constant: enum attribute lookup is slow

PROBE = "hardcode"
"""The name that Kafka asks about first when the question is about a whole resource type."""


def decide(
    store: AclStore,
    actor: Actor,
    action: Action,
    super_users: frozenset[str] = frozenset(),
    allow_everyone: bool = False,
    wildcard_covers_starred: bool = False,
) -> Decision:
    """Decide an access as Kafka's authorizer does (KIP-140, KIP-290).

    A super user is allowed everything. An entry applies if its pattern, principal, host and
    operation match. A DENY that applies overrides every ALLOW, regardless of their patterns. If no
    entry applies, the access is denied, unless `allow_everyone` is set and no ACL of any
    principal or operation matches the resource.

    Literal `*` matches every name. But StandardAuthorizer ignores it for names that begin with an
    asterisk (`*eu`); `wildcard_covers_starred` is for brokers that do not.

    The returned ACL is the one in Kafka's audit log. StandardAuthorizer reads the most specific
    pattern first and `*` last, and within a pattern by operation code, principal and host. It stops
    at the first DENY, and otherwise returns the last ALLOW.
    """
    if actor.principal in super_users:
        return _SUPER_USER
    patterns = store.patterns_deciding(
        action.resource_type, action.resource_name, wildcard_covers_starred
    )
    if not patterns:
        return _DEFAULT_ALLOW if allow_everyone else _DEFAULT_DENY
    return decide_among(store, patterns, actor, action.operation)


def decide_among(
    store: AclStore,
    patterns: list[Pattern],
    actor: Actor,
    operation: Operation,
    allow_everyone: bool = False,
) -> Decision:
    """Decide with these patterns only; `allow_everyone` decides if no entry applies."""
    allowing_bits, denying_bits = _ALLOWING[operation], _DENYING[operation]
    allowed_by: Pattern | None = None
    for pattern in patterns:
        if pattern.others is not None:
            grant = _combined_grant(store, pattern, actor)
        elif pattern.subject.includes(actor):
            grant = pattern.grant
        else:
            continue
        if grant & denying_bits:
            return Decision(_DENIED, _ACL, _first_acl(store, pattern, actor, denying_bits))
        if grant & allowing_bits:
            allowed_by = pattern
    if allowed_by is None:
        return _DEFAULT_ALLOW if allow_everyone else _DEFAULT_DENY
    return Decision(_ALLOWED, _ACL, _last_acl(store, allowed_by, actor, allowing_bits))


def decide_by_resource_type(
    store: AclStore,
    actor: Actor,
    operation: Operation,
    resource_type: ResourceType,
    probe: Decision,
) -> Decision:
    """Decide whether `operation` is allowed on at least one resource of the type (KIP-679).

    This is the algorithm of the authorizer interface. `probe` is the decision for a resource named
    PROBE, which covers super users, and `allow_everyone` if no ACL matches that name. If it is a
    denial, an ALLOW that no DENY dominates is searched. Implied operations do not count.
    """
    return probe if probe.allowed else _by_dominance(store, actor, operation, resource_type)


def decide_by_resource_type_everyone_first(
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
    if allow_everyone and _wildcard_deny(store, actor, operation, resource_type) is None:
        return _DEFAULT_ALLOW
    return _by_dominance(store, actor, operation, resource_type)


def _by_dominance(
    store: AclStore, actor: Actor, operation: Operation, resource_type: ResourceType
) -> Decision:
    """Decide with the ACLs of the type only: allow if no DENY covers an ALLOW entirely.

    A DENY on `*` covers everything; an ALLOW on `*` is covered only by that. A literal is covered
    by a DENY on the same literal or on a prefix of it, a prefix only by a DENY on the same prefix
    or a shorter one: ALLOW `foo*` is not covered by DENY `foob*`, but by DENY `f*`.
    """
    return _wildcard_deny(store, actor, operation, resource_type) or _undominated_allow(
        store, actor, operation, resource_type
    )


def _wildcard_deny(
    store: AclStore, actor: Actor, operation: Operation, resource_type: ResourceType
) -> Decision | None:
    wildcard = store.pattern(resource_type, WILDCARD, PatternType.LITERAL)
    bits = _DENYING[operation]
    if wildcard is None or not _entries(store, wildcard, actor, bits):
        return None
    return Decision(_DENIED, _ACL, _first_acl(store, wildcard, actor, bits))


def _combined_grant(store: AclStore, pattern: Pattern, actor: Actor) -> int:
    grant = 0
    others = pattern.others or {}
    for subject in store.subjects_of(actor):  # `grant_of`, inlined
        grant |= pattern.grant if subject is pattern.subject else others.get(subject, 0)
    return grant


def _first_acl(store: AclStore, pattern: Pattern, actor: Actor, bits: int) -> Acl:
    """Return the pattern's first entry with these bits: by operation, principal, host."""
    entries = _entries(store, pattern, actor, bits)
    if len(entries) > 1:
        entries.sort(key=lambda entry: (entry[0] & -entry[0], entry[1].principal, entry[1].host))
    grant, subject = entries[0]
    return acl_of(pattern, subject, (grant & -grant).bit_length() - 1)


def _last_acl(store: AclStore, pattern: Pattern, actor: Actor, bits: int) -> Acl:
    """Return the pattern's last entry with these bits, in the same order."""
    if pattern.others is None:  # as mostly: the only subject is the one that grants
        return acl_of(pattern, pattern.subject, (pattern.grant & bits).bit_length() - 1)
    entries = _entries(store, pattern, actor, bits)
    if len(entries) > 1:
        entries.sort(key=lambda entry: (entry[0].bit_length(), entry[1].principal, entry[1].host))
    grant, subject = entries[-1]
    return acl_of(pattern, subject, grant.bit_length() - 1)


def _entries(
    store: AclStore, pattern: Pattern, actor: Actor, bits: int
) -> list[tuple[int, Subject]]:
    """Return the grants that apply to the actor, reduced to `bits`, which all allow or all deny."""
    if pattern.others is None:
        applies = pattern.grant & bits and pattern.subject.includes(actor)
        return [(pattern.grant & bits, pattern.subject)] if applies else []
    return [
        (grant, subject)
        for subject in store.subjects_of(actor)
        if (grant := pattern.grant_of(subject) & bits)
    ]


def _undominated_allow(
    store: AclStore, actor: Actor, operation: Operation, resource_type: ResourceType
) -> Decision:
    bits = operation_bits((operation, Operation.ALL))  # implied operations do not count
    literals: dict[str, Pattern] = {}
    prefixes: dict[str, Pattern] = {}
    denied_literals: set[str] = set()
    denied_prefixes: set[str] = set()
    for pattern, grant in _grants_of(store, resource_type, actor):
        is_literal = pattern.pattern_type is PatternType.LITERAL
        if grant & bits << DENY_SHIFT:
            (denied_literals if is_literal else denied_prefixes).add(pattern.resource_name)
        if grant & bits:
            (literals if is_literal else prefixes)[pattern.resource_name] = pattern
    if WILDCARD in literals:
        return Decision(_ALLOWED, _ACL, _last_acl(store, literals[WILDCARD], actor, bits))
    lengths = sorted({len(prefix) for prefix in denied_prefixes})
    for name, pattern in (*literals.items(), *prefixes.items()):
        if pattern.pattern_type is PatternType.LITERAL and name in denied_literals:
            continue
        if not any(name[:n] in denied_prefixes for n in lengths if n <= len(name)):
            return Decision(_ALLOWED, _ACL, _last_acl(store, pattern, actor, bits))
    return _DEFAULT_DENY


def _grants_of(
    store: AclStore, resource_type: ResourceType, actor: Actor
) -> Iterator[tuple[Pattern, int]]:
    for subject in store.subjects_of(actor):
        for pattern in store.patterns_of(resource_type, subject):
            yield pattern, pattern.grant_of(subject)
