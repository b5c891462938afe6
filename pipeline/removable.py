"""Which ACLs can go: never used, shadowed, redundant; a set that can go together."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from authorizer.acl_releases import rules_of
from authorizer.implied import allowing
from authorizer.model import ANY_USER, WILDCARD, Acl
from authorizer.store import AclStore
from pipeline.acl_set import AclSet, engine
from pipeline.matches import Signature
from pipeline.verdict import verdict
from protocol.enums import Operation, PatternType, Permission

NEVER = "never used"
SHADOWED = "shadowed"
REDUNDANT = "redundant"
NEEDED = "needed"


class AclUse(msgspec.Struct):
    """What was found about one ACL.

    `requests` and `last_used` count the accesses that it applies to. `shadowed_by` covers all
    that it says. `can_go`: it is in the set that can be removed as a whole.
    """

    acl: Acl
    state: str
    requests: int = 0
    last_used: datetime | None = None
    shadowed_by: Acl | None = None
    can_go: bool = False


Seen = tuple[Signature, int, datetime]
"""A signature, its requests, and when it was last seen."""


def acl_uses(acl_set: AclSet, seen: list[Seen], special: list[dict[str, Any]]) -> list[AclUse]:
    """One finding an ACL, in the order of the set.

    `special` are the rows of `observed` that a signature does not decide; they are asked of the
    authorizer itself.
    """
    counts: dict[int, int] = defaultdict(int)
    last: dict[int, datetime] = {}
    for signature, requests, when in seen:
        for at in (*signature.allows, *signature.denies):
            counts[at] += requests
            last[at] = max(when, last.get(at, when))
    store = AclStore(acl_set.acls)
    uses = []
    for at, acl in enumerate(acl_set.acls):
        cover = shadow_of(acl, store, acl_set.release)
        state = NEVER if at not in counts else SHADOWED if cover else NEEDED
        uses.append(AclUse(acl, state, counts[at], last.get(at), cover))
    gone = _go_together(acl_set, uses, [signature for signature, _, _ in seen], special)
    alone = _go_alone(acl_set, [signature for signature, _, _ in seen], special)
    for at, use in enumerate(uses):
        use.can_go = at in gone
        if use.state == NEEDED and at in alone:
            use.state = REDUNDANT
    return uses


def _go_alone(
    acl_set: AclSet, signatures: list[Signature], special: list[dict[str, Any]]
) -> set[int]:
    """ACLs of which any one can be removed without a changed decision."""
    by_acl = _by_acl(signatures)
    free = {at for at in range(len(acl_set.acls)) if not _changes({at}, at, by_acl, acl_set)}
    touching = {at for one in signatures if not one.is_simple for at in _positions(one)}
    return {at for at in free if at not in touching or not _differs(acl_set, {at}, special)}


def _go_together(
    acl_set: AclSet,
    uses: list[AclUse],
    signatures: list[Signature],
    special: list[dict[str, Any]],
) -> set[int]:
    """A set of ACLs whose removal changes no decision: unused ones first, then the least used."""
    by_acl = _by_acl(signatures)
    order = sorted(
        range(len(uses)),
        key=lambda at: (uses[at].requests, uses[at].state != SHADOWED, at),
    )
    gone: set[int] = set()
    for at in order:
        gone.add(at)
        if _changes(gone, at, by_acl, acl_set):
            gone.discard(at)
    touching = {at for one in signatures if not one.is_simple for at in _positions(one)}
    for at in sorted(gone & touching, reverse=True):
        if not _differs(acl_set, gone, special):
            break
        gone.discard(at)
    return gone


def _positions(signature: Signature) -> tuple[int, ...]:
    return (*signature.allows, *signature.denies, *signature.others)


def _by_acl(signatures: Iterable[Signature]) -> dict[int, list[Signature]]:
    found: dict[int, list[Signature]] = defaultdict(list)
    for one in dict.fromkeys(signatures):
        for at in _positions(one) if one.is_simple else ():
            found[at].append(one)
    return found


def _changes(gone: set[int], at: int, by_acl: dict[int, list[Signature]], acl_set: AclSet) -> bool:
    everyone = acl_set.allow_everyone
    return any(
        one.outcome(gone, allow_everyone=everyone) != one.outcome(set(), allow_everyone=everyone)
        for one in by_acl.get(at, ())
    )


def _differs(acl_set: AclSet, gone: set[int], special: list[dict[str, Any]]) -> bool:
    """Whether the authorizer decides one of these rows differently without those ACLs."""
    if not special:
        return False
    rest = tuple(acl for at, acl in enumerate(acl_set.acls) if at not in gone)
    smaller = msgspec.structs.replace(acl_set, acls=rest)
    before = engine(acl_set, acl_set.digest())
    after = engine(smaller, smaller.digest())
    return any(verdict(before, row).allowed != verdict(after, row).allowed for row in special)


def shadow_of(acl: Acl, store: AclStore, release: str) -> Acl | None:
    """Another ACL of the store that says all that this one says, or overrules it entirely."""
    starred = rules_of(release).wildcard_covers_starred
    for pattern in store.patterns_for(acl.resource_type, acl.resource_name):
        kind = (pattern.resource_name, pattern.pattern_type)
        if not _contains(kind, (acl.resource_name, acl.pattern_type), starred=starred):
            continue
        for principal in dict.fromkeys((acl.principal, ANY_USER)):
            for host in dict.fromkeys((acl.host, WILDCARD)):
                for permission, operation in _sayings(acl):
                    other = Acl(
                        acl.resource_type,
                        pattern.resource_name,
                        pattern.pattern_type,
                        principal,
                        host,
                        operation,
                        permission,
                    )
                    if other != acl and other in store:
                        return other
    return None


def _contains(
    outer: tuple[str, PatternType], inner: tuple[str, PatternType], *, starred: bool
) -> bool:
    name, kind = outer
    if kind is PatternType.PREFIXED:
        return inner[0].startswith(name) and (
            inner[0] != WILDCARD or inner[1] != PatternType.LITERAL
        )
    if name == WILDCARD:
        return inner[0] == WILDCARD or starred or not inner[0].startswith(WILDCARD)
    return outer == inner


def _sayings(acl: Acl) -> list[tuple[Permission, Operation]]:
    """What, said of the same or more, makes an ACL superfluous; overruling denials last."""
    if acl.permission is Permission.DENY:
        return [(Permission.DENY, op) for op in dict.fromkeys((acl.operation, Operation.ALL))]
    same = [acl.operation, *sorted(_including(acl.operation))]
    found = [(Permission.ALLOW, op) for op in dict.fromkeys(same)]
    return [*found, (Permission.DENY, Operation.ALL)]


def _including(operation: Operation) -> frozenset[Operation]:
    """Operations whose ALLOW allows all that this one's does."""
    return allowing(operation) if operation is not Operation.ALL else frozenset({operation})
