"""Whether an actor may do something, and because of what. Pure: a store, a question, an answer."""

from collections.abc import Iterator

from authorizer.implied import allowing, denying, operation_bits
from authorizer.model import WILDCARD, Action, Actor, Because, Decision
from authorizer.store import DENY_SHIFT, AclStore, Pattern
from protocol.enums import Operation, PatternType, ResourceType

_SUPER_USER = Decision(allowed=True, because=Because.SUPER_USER)
_DEFAULT_ALLOW = Decision(allowed=True, because=Because.DEFAULT_ALLOW)
_DEFAULT_DENY = Decision(allowed=False, because=Because.DEFAULT_DENY)

# Grant bits of the entries that allow, and that deny, an operation; by operation code.
_ALLOWING = [operation_bits(allowing(operation)) for operation in Operation]
_DENYING = [operation_bits(denying(operation)) << DENY_SHIFT for operation in Operation]

_PROBE = "hardcode"
"""The topic name that Kafka asks about first when the question is about a whole resource type."""


def decide(
    store: AclStore,
    actor: Actor,
    action: Action,
    super_users: frozenset[str] = frozenset(),
    allow_everyone: bool = False,
) -> Decision:
    """Answer one question as Kafka's authorizer does (KIP-140, KIP-290).

    A super user may do everything. An entry applies when its pattern, principal, host and
    operation do; a DENY that applies wins over every ALLOW, however specific either is. With no
    entry that applies the answer is no, unless `allow_everyone` and not one ACL, of whomever,
    for whatever, matches the resource.

    The ACL named as the cause is the one Kafka's audit log names: the most specific pattern
    first, `*` last; within a pattern the lowest operation code, then principal, then host.
    """
    if actor.principal in super_users:
        return _SUPER_USER
    patterns = store.patterns_for(action.resource_type, action.resource_name)
    if not patterns:
        return _DEFAULT_ALLOW if allow_everyone else _DEFAULT_DENY
    subjects = store.subjects_of(actor)
    allowing_bits, denying_bits = _ALLOWING[action.operation], _DENYING[action.operation]
    allowed_by: Pattern | None = None
    for pattern in patterns:
        for subject in subjects:
            grant = pattern.grant_of(subject)
            if grant & denying_bits:
                return _because_of(store, pattern, subjects, denying_bits, allowed=False)
            if grant & allowing_bits and allowed_by is None:
                allowed_by = pattern
    if allowed_by is None:
        return _DEFAULT_DENY
    return _because_of(store, allowed_by, subjects, allowing_bits, allowed=True)


def decide_by_resource_type(
    store: AclStore,
    actor: Actor,
    operation: Operation,
    resource_type: ResourceType,
    super_users: frozenset[str] = frozenset(),
    allow_everyone: bool = False,
) -> Decision:
    """Answer whether the actor may do `operation` on at least one resource of the type (KIP-679).

    The algorithm of the authorizer interface: ask about a resource named `hardcode` first, which
    is how super users and `allow_everyone` come in (the latter as long as no ACL matches that
    name); then look for an ALLOW that no DENY dominates. Implied operations do not count.
    """
    probe = decide(
        store, actor, Action(operation, resource_type, _PROBE), super_users, allow_everyone
    )
    if probe.allowed:
        return probe
    subjects = store.subjects_of(actor)
    bits = operation_bits((operation, Operation.ALL))
    return _wildcard_deny(store, resource_type, subjects, bits) or _undominated_allow(
        store, resource_type, subjects, bits
    )


def decide_by_resource_type_everyone_first(
    store: AclStore,
    actor: Actor,
    operation: Operation,
    resource_type: ResourceType,
    super_users: frozenset[str] = frozenset(),
    allow_everyone: bool = False,
) -> Decision:
    """Answer the same question as ZooKeeper brokers do, whose authorizer has its own method.

    Nothing is asked about `hardcode`; `allow_everyone` answers unless a DENY on `*` applies.
    """
    if actor.principal in super_users:
        return _SUPER_USER
    subjects = store.subjects_of(actor)
    bits = operation_bits((operation, Operation.ALL))
    denied = _wildcard_deny(store, resource_type, subjects, bits)
    if denied is None and allow_everyone:
        return _DEFAULT_ALLOW
    return denied or _undominated_allow(store, resource_type, subjects, bits)


def _wildcard_deny(
    store: AclStore, resource_type: ResourceType, subjects: tuple[int, ...], bits: int
) -> Decision | None:
    """Deny if a DENY on literal `*` applies: then no narrower ALLOW counts."""
    wildcard = store.pattern(resource_type, WILDCARD, PatternType.LITERAL)
    if wildcard is None:
        return None
    acl = store.first_acl(wildcard, subjects, bits << DENY_SHIFT)
    return Decision(allowed=False, because=Because.ACL, acl=acl) if acl is not None else None


def _because_of(
    store: AclStore, pattern: Pattern, subjects: tuple[int, ...], bits: int, *, allowed: bool
) -> Decision:
    return Decision(allowed, Because.ACL, store.first_acl(pattern, subjects, bits))


def _undominated_allow(
    store: AclStore, resource_type: ResourceType, subjects: tuple[int, ...], bits: int
) -> Decision:
    """Allow if an ALLOW is on `*`, or is one that no DENY covers entirely.

    A literal is covered by a DENY on the same literal or on a prefix of it, a prefix only by a
    DENY on a prefix of it (itself included): ALLOW `foo*` survives DENY `foob*`, not DENY `f*`.
    """
    literals: dict[str, Pattern] = {}
    prefixes: dict[str, Pattern] = {}
    denied_literals: set[str] = set()
    denied_prefixes: set[str] = set()
    for pattern, grant in _grants_of(store, resource_type, subjects):
        is_literal = pattern.pattern_type is PatternType.LITERAL
        if grant & bits << DENY_SHIFT:
            (denied_literals if is_literal else denied_prefixes).add(pattern.resource_name)
        if grant & bits:
            (literals if is_literal else prefixes)[pattern.resource_name] = pattern
    if WILDCARD in literals:
        return _because_of(store, literals[WILDCARD], subjects, bits, allowed=True)
    lengths = sorted({len(prefix) for prefix in denied_prefixes})
    for name, pattern in (*literals.items(), *prefixes.items()):
        if pattern.pattern_type is PatternType.LITERAL and name in denied_literals:
            continue
        if not any(name[:n] in denied_prefixes for n in lengths if n <= len(name)):
            return _because_of(store, pattern, subjects, bits, allowed=True)
    return _DEFAULT_DENY


def _grants_of(
    store: AclStore, resource_type: ResourceType, subjects: tuple[int, ...]
) -> Iterator[tuple[Pattern, int]]:
    for subject in subjects:
        for pattern in store.patterns_of(resource_type, subject):
            yield pattern, pattern.grant_of(subject)
