"""The names and hosts for which a set of ACLs may decide differently."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl
from kafka_shim.authorizer.policy.names import Names, names_of, names_of_pattern
from kafka_shim.protocol.enums import ResourceType


class _About(msgspec.Struct):
    """The names, in lexical order, and hosts in the ACLs of one principal."""

    names: list[Names]
    hosts: set[str]
    is_sorted: bool = False


_NOTHING = _About([], set(), is_sorted=True)
_EVERYBODY = ""
"""The principal under which all ACLs are, where those of others matter to everybody."""


class Apart:
    """The ACLs of an authorizer, as they were when a resource type was first used.

    `tried` are ACLs that were added since then for a trial. Names and hosts of ACLs that were
    removed since then do no harm.
    """

    def __init__(self, authorizer: StandardAuthorizer) -> None:
        self.tried: Sequence[Acl] = ()
        self._store = authorizer.store
        self._everyone = authorizer.allow_everyone
        self._networks = authorizer.rules.host_networks
        self._about: dict[ResourceType, dict[str, _About]] = {}
        self._hosts: dict[tuple[ResourceType, str], list[str]] = {}
        self._principals: dict[ResourceType, list[tuple[str, list[str]]]] = {}

    def hosts(self, kind: ResourceType, principal: str) -> list[str]:
        """Return the hosts for which ACLs may decide differently; `*` stands for all others."""
        found = self._hosts.get((kind, principal))
        if found is None:
            named = {host for about in self._all_about(kind, principal) for host in about.hosts}
            if not self._networks:  # no client has such a host in that case
                named = {host for host in named if "/" not in host}
            found = self._hosts[kind, principal] = [WILDCARD, *sorted(named - {WILDCARD})]
        meant = (principal, ANY_USER)
        tried = {acl.host for acl in self._tried(kind) if acl.principal in meant}
        return found if tried <= set(found) else [*found, *sorted(tried.difference(found))]

    def names(self, kind: ResourceType, principal: str, within: Names) -> set[Names]:
        """Return the names in `within` for which ACLs may decide differently for the principal."""
        key = _EVERYBODY if self._everyone else principal
        found = {names for about in self._all_about(kind, key) for names in _inside(about, within)}
        for acl in self._tried(kind):
            if self._everyone or acl.principal in (principal, ANY_USER):
                found.add(names_of(acl))
        return found

    def principals(self, kind: ResourceType, names: Names) -> set[str]:
        """Return the principals of ACLs about any of the names."""
        found = {
            subject.principal
            for pattern in self._store.patterns_for(kind, names.text)
            for subject, _ in pattern.grants()
        }
        if names.is_prefix:
            found |= {acl.principal for acl in self._tried(kind)}
            ordered = self._by_name(kind)
            at = bisect_left(ordered, names.text, key=_name)
            while at < len(ordered) and ordered[at][0].startswith(names.text):
                found.update(ordered[at][1])
                at += 1
        return found

    def _tried(self, kind: ResourceType) -> Iterator[Acl]:
        return (acl for acl in self.tried if acl.resource_type is kind)

    def _all_about(self, kind: ResourceType, principal: str) -> Iterator[_About]:
        everybody = self._about.get(kind)
        if everybody is None:
            everybody = self._about[kind] = self._read(kind)
        for who in dict.fromkeys((principal, ANY_USER)):
            yield everybody.get(who, _NOTHING)

    def _read(self, kind: ResourceType) -> dict[str, _About]:
        found: dict[str, _About] = {}
        for pattern in self._store.patterns(kind):
            names = names_of_pattern(pattern.resource_name, pattern.pattern_type)
            for subject, _ in pattern.grants():
                for who in (subject.principal, _EVERYBODY)[: 1 + self._everyone]:
                    about = found.get(who)
                    if about is None:
                        about = found[who] = _About([], set())
                    about.names.append(names)
                    about.hosts.add(subject.host)
        return found

    def _by_name(self, kind: ResourceType) -> list[tuple[str, list[str]]]:
        """Return the name of each pattern with its principals, in lexical order."""
        found = self._principals.get(kind)
        if found is None:
            found = self._principals[kind] = sorted(
                (
                    (pattern.resource_name, [subject.principal for subject, _ in pattern.grants()])
                    for pattern in self._store.patterns(kind)
                ),
                key=_name,
            )
        return found


def _name(entry: tuple[str, list[str]]) -> str:
    return entry[0]


def _text(names: Names) -> str:
    return names.text


def _inside(about: _About, within: Names) -> Iterator[Names]:
    if not about.is_sorted:
        about.names.sort(key=_text)
        about.is_sorted = True
    ordered = about.names
    at = bisect_left(ordered, within.text, key=_text)
    while at < len(ordered) and ordered[at].text.startswith(within.text):
        if within.includes(ordered[at]):
            yield ordered[at]
        at += 1
