"""Wrong versions of an ACL, which tests of permissions should notice."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

_replace = msgspec.structs.replace


class MutantKind(NamedTuple):
    """A way in which an ACL can be wrong.

    `fits` returns whether the ACL can be wrong in this way, and `replacement` the ACLs in its
    place.
    """

    text: str
    fits: Callable[[Acl], bool]
    replacement: Callable[[Acl], tuple[Acl, ...]]


KINDS: Final = {
    "missing": MutantKind("is missing", lambda _: True, lambda _: ()),
    "any-operation": MutantKind(
        "for all operations",
        lambda acl: acl.operation is not Operation.ALL,
        lambda acl: (_replace(acl, operation=Operation.ALL),),
    ),
    "any-suffix": MutantKind(
        "prefixed instead of literal",
        lambda acl: (
            acl.pattern_type is PatternType.LITERAL
            and acl.resource_name != WILDCARD
            and acl.resource_type is not ResourceType.CLUSTER  # there is one cluster
        ),
        lambda acl: (_replace(acl, pattern_type=PatternType.PREFIXED),),
    ),
    "any-principal": MutantKind(
        "for User:*",
        lambda acl: acl.principal != ANY_USER,
        lambda acl: (_replace(acl, principal=ANY_USER),),
    ),
}
"""The kinds of mutants by name. A kind is one entry here."""

MISSING: Final = "missing"


class AclMutant(msgspec.Struct, frozen=True):
    """An ACL that is wrong in one of the KINDS."""

    acl: Acl
    kind: str

    @property
    def restricts(self) -> bool:
        """Return whether the mutant can only take access away; otherwise it can only give it."""
        return (self.kind == MISSING) is (self.acl.permission is Permission.ALLOW)

    @property
    def replacement(self) -> tuple[Acl, ...]:
        """The ACLs in the place of the right one."""
        return KINDS[self.kind].replacement(self.acl)


def apply_mutants(mutants: Sequence[AclMutant], store: AclStore) -> bool:
    """Put the mutants in the place of their ACLs; return False if the store has none of these.

    Several mutants can be of the same ACL.
    """
    present = [mutant for mutant in mutants if mutant.acl in store]
    for mutant in present:
        store.remove(mutant.acl)
    for mutant in present:
        for acl in mutant.replacement:
            store.add(acl)
    return bool(present)


def mutants_of(acl: Acl, kinds: Iterable[str] = KINDS) -> Iterator[AclMutant]:
    """Yield the mutants of an ACL, one for each kind that fits."""
    return (AclMutant(acl, kind) for kind in kinds if KINDS[kind].fits(acl))
