"""ACLs whose removal would allow what is denied now, whatever was observed."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cache

import msgspec

from kafka_shim.authorizer.acl_rules import (
    operations_whose_allow_includes,
    operations_whose_deny_includes,
)
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl
from kafka_shim.authorizer.remedy import acls_covering_pattern
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.policy.checked_accesses import InexactReleaseError
from kafka_shim.policy.redundant_acls import AclRemovalEffects
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

_CHECKED = tuple(each for each in Operation if each > Operation.ALL)


class AclRemovalGuard:
    """Finds the ACLs of a set without which something is allowed that is denied with them.

    This depends on the policy alone: a DENY that no request met may be a DENY that works. If
    resources without ACLs are open to everyone, the last ACL of a pattern keeps them closed.
    """

    def __init__(self, acl_set: AclSet) -> None:
        self._opens_without_acl = acl_set.allow_everyone_if_no_acl
        self._acls_by_pattern = Counter(map(_pattern, acl_set.acls))

    def must_stay(self, acl: Acl) -> bool:
        """Return whether an ACL has to stay."""
        return acl.permission is Permission.DENY or (
            self._opens_without_acl and self._acls_by_pattern[_pattern(acl)] == 1
        )

    def note_removal(self, acl: Acl) -> None:
        """Process the removal of an ACL, for the questions that follow."""
        self._acls_by_pattern[_pattern(acl)] -= 1


def reasons_to_stay(present: AclSet, wanted: Iterable[Acl]) -> dict[Acl, str]:
    """Return the ACLs that have to stay next to the wanted ones, with the reason."""
    reasons = {}
    patterns = set(map(_pattern, wanted))
    for acl in present.acls:
        if acl.permission is Permission.DENY:
            reasons[acl] = "a DENY may hold back what was not observed"
        elif present.allow_everyone_if_no_acl and _pattern(acl) not in patterns:
            reasons[acl] = "without any ACL, its resources would be open to everyone"
    return reasons


def notes_on_last_acls(present: AclSet, removed: Collection[Acl]) -> list[str]:
    """Return a note if removals would leave resources without ACLs.

    A trace shows that these are open to everyone only if a client used one.
    """
    if present.allow_everyone_if_no_acl:
        return []  # such ACLs stay
    remaining = tuple(acl for acl in present.acls if acl not in removed)
    rest = msgspec.structs.replace(present, acls=remaining).build_authorizer()
    last = sum(not any(acls_covering_pattern(rest, acl)) for acl in removed)
    note = (
        f"without {last} of the removed ACLs, resources have no ACL: the trace does not show that"
        " allow.everyone.if.no.acl.found is true, but if it is, these are open to everyone as"
        " soon as the last one is gone"
    )
    return [note] if last else []


def acls_that_close_resources(present: AclSet, added: Iterable[Acl]) -> list[Acl]:
    """Return the added ACLs on resources that have none, and are therefore open to everyone."""
    if not present.allow_everyone_if_no_acl:
        return []
    authorizer = present.build_authorizer()
    return [acl for acl in added if not any(acls_covering_pattern(authorizer, acl))]


def acls_that_open_access(present: AclSet, added: Iterable[Acl]) -> list[Acl]:
    """Return the added ACLs that allow something, observed or not, that the present ones deny.

    Of a release whose decisions cannot be computed for all names, return all of them.
    """
    added = list(added)
    before = {*present.acls, *filter(_is_of_one_name, acls_that_close_resources(present, added))}
    new = [acl for acl in added if acl not in before]
    authorizer = present.build_authorizer()
    opening = []
    for acl in new:
        authorizer.store.add(acl)
        try:
            effects = AclRemovalEffects(authorizer, present.release)
            if effects.unchanged_decisions(acl) is None:
                opening.append(acl)
        except InexactReleaseError:
            return new
        finally:
            authorizer.store.remove(acl)
    return opening


def acls_that_alone_allow_access(present: AclSet, removed: Iterable[Acl]) -> list[Acl]:
    """Return the removed ACLs without which the others decide some access differently.

    Each ACL before it that changes nothing is gone, too. Of a release whose decisions cannot be
    computed for all names, return all of them.
    """
    going = list(removed)
    try:
        effects = AclRemovalEffects(present.build_authorizer(), present.release)
        deciding = []
        for acl in going:
            if effects.unchanged_decisions(acl) is None:
                deciding.append(acl)
            else:
                effects.remove_permanently(acl)
    except InexactReleaseError:
        return going
    return deciding


def _is_of_one_name(acl: Acl) -> bool:
    return acl.pattern_type is PatternType.LITERAL and acl.resource_name != WILDCARD


def _pattern(acl: Acl) -> tuple[ResourceType, PatternType, str]:
    return acl.resource_type, acl.pattern_type, acl.resource_name


def find_overruled_allows(deny: Acl, allows: Iterable[Acl]) -> Iterator[Acl]:
    """Yield the ALLOWs that a DENY overrules, for at least one operation, name or host."""
    for allow in allows:
        if (
            allow.resource_type is deny.resource_type
            and (allow.principal == deny.principal or ANY_USER in (allow.principal, deny.principal))
            and _operations_overlap(allow.operation, deny.operation)
            and _names_overlap(allow, deny)
            and _hosts_may_overlap(allow.host, deny.host)
        ):
            yield allow


@cache
def _operations_overlap(allowed: Operation, denied: Operation) -> bool:
    return any(
        allowed in operations_whose_allow_includes(operation)
        and denied in operations_whose_deny_includes(operation)
        for operation in _CHECKED
    )


def _names_overlap(first: Acl, second: Acl) -> bool:
    shorter, longer = sorted((first, second), key=lambda acl: len(acl.resource_name))
    if WILDCARD in (first.resource_name, second.resource_name):
        return True
    if shorter.pattern_type is PatternType.PREFIXED:
        return longer.resource_name.startswith(shorter.resource_name)
    return longer.resource_name == shorter.resource_name


def _hosts_may_overlap(first: str, second: str) -> bool:
    return first == second or WILDCARD in (first, second) or "/" in first + second
