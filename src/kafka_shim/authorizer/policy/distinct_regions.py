"""The names and hosts between which a set of ACLs distinguishes.

Decisions about a principal can only differ at the names and hosts in the ACLs for that principal or
`User:*`; with `allow.everyone.if.no.acl.found`, at the names in ACLs of all principals, since any
ACL closes a resource for everybody.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl
from kafka_shim.authorizer.policy.names import Names, names_of, names_of_pattern
from kafka_shim.protocol.enums import ResourceType


class PrincipalPatterns(msgspec.Struct):
    """The names and hosts in the ACLs of one principal; the first search sorts the names."""

    names: list[Names]
    hosts: set[str]
    is_sorted: bool = False

    def names_within(self, region: Names) -> Iterator[Names]:
        """Yield the names that lie in the region."""
        if not self.is_sorted:
            self.names.sort(key=_text)
            self.is_sorted = True
        at = bisect_left(self.names, region.text, key=_text)
        while at < len(self.names) and self.names[at].text.startswith(region.text):
            if region.includes(self.names[at]):
                yield self.names[at]
            at += 1


_NO_PATTERNS = PrincipalPatterns([], set(), is_sorted=True)
_ALL_PRINCIPALS = ""
"""Key of the names of all principals, which is only filled if any ACL closes a resource."""


class DistinctRegions:
    """Finds the names and hosts at which decisions of an authorizer can change.

    The ACLs of a resource type are read once, when it is first used. ACLs that are added later, to
    try them, must be in `trial_acls`; those that are removed only make the result finer.
    """

    def __init__(self, authorizer: StandardAuthorizer) -> None:
        self.trial_acls: Sequence[Acl] = ()
        self._store = authorizer.store
        self._allow_everyone = authorizer.allow_everyone
        self._networks = authorizer.rules.host_networks
        self._patterns: dict[ResourceType, dict[str, PrincipalPatterns]] = {}
        self._hosts: dict[tuple[ResourceType, str], list[str]] = {}
        self._principals_by_name: dict[ResourceType, list[tuple[str, list[str]]]] = {}

    def hosts(self, kind: ResourceType, principal: str) -> list[str]:
        """Return the hosts for which decisions may differ; `*` stands for all others."""
        hosts = self._hosts.get((kind, principal))
        if hosts is None:
            in_acls = {
                host
                for patterns in self._patterns_for(kind, principal)
                for host in patterns.hosts
                if self._networks or "/" not in host  # else no client has such a host
            }
            hosts = [WILDCARD, *sorted(in_acls - {WILDCARD})]
            self._hosts[kind, principal] = hosts
        in_trial = {
            acl.host
            for acl in self._trial_acls_of_type(kind)
            if acl.principal in (principal, ANY_USER)
        }
        return [*hosts, *sorted(in_trial.difference(hosts))]

    def names(self, kind: ResourceType, principal: str, within: Names) -> set[Names]:
        """Return the names in `within` at which decisions about the principal may differ."""
        key = _ALL_PRINCIPALS if self._allow_everyone else principal
        names = {
            part
            for patterns in self._patterns_for(kind, key)
            for part in patterns.names_within(within)
        }
        for acl in self._trial_acls_of_type(kind):
            if self._allow_everyone or acl.principal in (principal, ANY_USER):
                names.add(names_of(acl))
        return names

    def principals(self, kind: ResourceType, names: Names) -> set[str]:
        """Return the principals of ACLs on any of the names."""
        principals = {
            subject.principal
            for pattern in self._store.patterns_for(kind, names.text)
            for subject, _ in pattern.grants()
        }
        if names.is_prefix:
            principals |= {acl.principal for acl in self._trial_acls_of_type(kind)}
            rows = self._sorted_principals_by_name(kind)
            at = bisect_left(rows, names.text, key=_first)
            while at < len(rows) and rows[at][0].startswith(names.text):
                principals.update(rows[at][1])
                at += 1
        return principals

    def _trial_acls_of_type(self, kind: ResourceType) -> Iterator[Acl]:
        return (acl for acl in self.trial_acls if acl.resource_type is kind)

    def _patterns_for(self, kind: ResourceType, principal: str) -> Iterator[PrincipalPatterns]:
        """Yield the patterns of the principal, and those of `User:*`."""
        by_principal = self._patterns.get(kind)
        if by_principal is None:
            by_principal = self._patterns[kind] = self._read_patterns(kind)
        for key in dict.fromkeys((principal, ANY_USER)):
            yield by_principal.get(key, _NO_PATTERNS)

    def _read_patterns(self, kind: ResourceType) -> dict[str, PrincipalPatterns]:
        by_principal: dict[str, PrincipalPatterns] = {}
        for pattern in self._store.patterns(kind):
            names = names_of_pattern(pattern.resource_name, pattern.pattern_type)
            for subject, _ in pattern.grants():
                keys = [subject.principal, *([_ALL_PRINCIPALS] if self._allow_everyone else [])]
                for key in keys:
                    patterns = by_principal.get(key)
                    if patterns is None:
                        patterns = by_principal[key] = PrincipalPatterns([], set())
                    patterns.names.append(names)
                    patterns.hosts.add(subject.host)
        return by_principal

    def _sorted_principals_by_name(self, kind: ResourceType) -> list[tuple[str, list[str]]]:
        """Return the name of each pattern with its principals, in lexical order."""
        rows = self._principals_by_name.get(kind)
        if rows is None:
            rows = self._principals_by_name[kind] = sorted(
                (
                    (pattern.resource_name, [subject.principal for subject, _ in pattern.grants()])
                    for pattern in self._store.patterns(kind)
                ),
                key=_first,
            )
        return rows


def _first(row: tuple[str, list[str]]) -> str:
    return row[0]


def _text(names: Names) -> str:
    return names.text
