"""The names and hosts at which the decisions of an authorizer can change.

Decisions about a principal can only differ at the names and hosts in the ACLs for that principal or
`User:*`; with `allow.everyone.if.no.acl.found`, at the names in ACLs of all principals, since any
ACL closes a resource for everybody.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from operator import itemgetter

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, Acl
from kafka_shim.authorizer.patterns import Pattern
from kafka_shim.policy.checked_accesses import possible_hosts
from kafka_shim.policy.name_sets import (
    NameSet,
    names_covered_by_acl,
    names_covered_by_pattern,
)
from kafka_shim.protocol.enums import ResourceType


class PrincipalBoundaries:
    """The names and hosts in the ACLs of one principal."""

    def __init__(self, patterns: Iterable[Pattern], hosts: Iterable[str]) -> None:
        self._patterns = list(patterns)
        self.hosts = set(hosts)

    @cached_property
    def _sorted_names(self) -> list[NameSet]:
        names = (names_covered_by_pattern(p.resource_name, p.pattern_type) for p in self._patterns)
        return sorted(names, key=_name_set_text)

    def names_in_region(self, region: NameSet) -> Iterator[NameSet]:
        """Yield the names that lie in the region."""
        names = self._sorted_names
        at = bisect_left(names, region.text, key=_name_set_text)
        while at < len(names) and names[at].text.startswith(region.text):
            if region.includes_names(names[at]):
                yield names[at]
            at += 1


_ALL_PRINCIPALS = ""
"""Key of the names of all principals, which is only used if any ACL closes a resource."""


class DecisionBoundaries:
    """The names and hosts that an authorizer may decide differently from all others.

    The ACLs of a principal are read once, when they are first used. Those that are added to be
    tried, or removed to try without them, must be given to `set_trial_acls` before.
    """

    def __init__(self, authorizer: StandardAuthorizer) -> None:
        self._trial_acls: dict[ResourceType, dict[str, list[Acl]]] = {}  # type -> principal -> ACLs
        self._store = authorizer.store
        self._allow_everyone = authorizer.allow_everyone
        self._rules = authorizer.rules
        self._boundaries: dict[tuple[ResourceType, str], PrincipalBoundaries] = {}
        self._hosts: dict[tuple[ResourceType, str], list[str]] = {}
        self._principals_by_name: dict[ResourceType, list[tuple[str, list[str]]]] = {}

    def set_trial_acls(self, added: Iterable[Acl] = (), removed: Iterable[Acl] = ()) -> None:
        """Set the ACLs that will be added or removed to be tried, in place of earlier ones.

        ACLs that are removed remain boundaries, which only makes the result finer.
        """
        self._trial_acls = {}
        for acl in removed:
            self._cache_boundaries(acl)
        for acl in added:
            self._cache_boundaries(acl)
            by_principal = self._trial_acls.setdefault(acl.resource_type, {})
            by_principal.setdefault(acl.principal, []).append(acl)

    def _cache_boundaries(self, acl: Acl) -> None:
        self._cached_boundaries(acl.resource_type, acl.principal)
        if self._allow_everyone:
            self._cached_boundaries(acl.resource_type, _ALL_PRINCIPALS)

    def distinct_hosts(self, resource_type: ResourceType, principal: str) -> list[str]:
        """Return the hosts in ACLs of the principal; `*` stands for all others."""
        hosts = self._hosts.get((resource_type, principal))
        if hosts is None:
            in_acls = {
                host
                for patterns in self._iter_boundaries(resource_type, principal)
                for host in patterns.hosts
            }
            hosts = possible_hosts(in_acls, self._rules)
            self._hosts[resource_type, principal] = hosts
        trial_acls = self._trial_acls.get(resource_type)
        if not trial_acls or not (principal in trial_acls or ANY_USER in trial_acls):
            return hosts
        in_trial = {acl.host for acl in self._trial_acls_for(resource_type, principal)}
        return [*hosts, *sorted(in_trial.difference(hosts))]

    def distinct_names_within(
        self, resource_type: ResourceType, principal: str, within: NameSet
    ) -> set[NameSet]:
        """Return the names in `within` that ACLs bearing on the principal have."""
        key = _ALL_PRINCIPALS if self._allow_everyone else principal
        names = {
            part
            for patterns in self._iter_boundaries(resource_type, key)
            for part in patterns.names_in_region(within)
        }
        trial_acls: Iterable[Acl]
        if self._allow_everyone:
            trial_acls = chain.from_iterable(self._trial_acls.get(resource_type, {}).values())
        else:
            trial_acls = self._trial_acls_for(resource_type, principal)
        names.update(map(names_covered_by_acl, trial_acls))
        return names

    def principals_with_acls_on(self, resource_type: ResourceType, names: NameSet) -> set[str]:
        """Return the principals of ACLs on any of the names."""
        principals = {
            subject.principal
            for pattern in self._store.patterns_matching_name(resource_type, names.text)
            for subject, _ in pattern.subject_grants()
        }
        if names.is_prefix:
            principals.update(self._trial_acls.get(resource_type, ()))
            rows = self._principals_by_pattern_name(resource_type)
            at = bisect_left(rows, names.text, key=itemgetter(0))
            while at < len(rows) and rows[at][0].startswith(names.text):
                principals.update(rows[at][1])
                at += 1
        return principals

    def _trial_acls_for(self, resource_type: ResourceType, principal: str) -> Iterator[Acl]:
        """Return the ACLs on trial of the principal and of `User:*`."""
        by_principal = self._trial_acls.get(resource_type, {})
        return chain.from_iterable(
            by_principal.get(each, ()) for each in dict.fromkeys((principal, ANY_USER))
        )

    def _iter_boundaries(
        self, resource_type: ResourceType, principal: str
    ) -> Iterator[PrincipalBoundaries]:
        """Yield the patterns of the principal, and those of `User:*`."""
        for key in dict.fromkeys((principal, ANY_USER)):
            yield self._cached_boundaries(resource_type, key)

    def _cached_boundaries(
        self, resource_type: ResourceType, principal: str
    ) -> PrincipalBoundaries:
        boundaries = self._boundaries.get((resource_type, principal))
        if boundaries is None:
            boundaries = self._boundaries[resource_type, principal] = (
                PrincipalBoundaries(self._store.patterns_of_type(resource_type), ())
                if principal == _ALL_PRINCIPALS
                else self._read_boundaries_of_principal(resource_type, principal)
            )
        return boundaries

    def _read_boundaries_of_principal(
        self, resource_type: ResourceType, principal: str
    ) -> PrincipalBoundaries:
        by_host = list(self._store.patterns_naming_principal(resource_type, principal))
        return PrincipalBoundaries(
            chain.from_iterable(patterns for _, patterns in by_host),
            (subject.host for subject, _ in by_host),
        )

    def _principals_by_pattern_name(
        self, resource_type: ResourceType
    ) -> list[tuple[str, list[str]]]:
        """Return the name of each pattern with its principals, in lexical order."""
        rows = self._principals_by_name.get(resource_type)
        if rows is None:
            rows = self._principals_by_name[resource_type] = sorted(
                (
                    (
                        pattern.resource_name,
                        [subject.principal for subject, _ in pattern.subject_grants()],
                    )
                    for pattern in self._store.patterns_of_type(resource_type)
                ),
                key=itemgetter(0),
            )
        return rows


def _name_set_text(names: NameSet) -> str:
    return names.text
