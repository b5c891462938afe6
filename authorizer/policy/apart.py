"""What the ACLs of a set tell apart: the names and hosts that matter for a principal."""

from bisect import bisect_left
from collections.abc import Iterator

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, WILDCARD
from kafka_shim.authorizer.pattern import Pattern
from kafka_shim.authorizer.policy.names import Names, names_of_pattern
from kafka_shim.protocol.enums import ResourceType


class _About(msgspec.Struct):
    """What the ACLs of one principal are about: names in lexical order, and hosts."""

    names: list[Names]
    hosts: set[str]
    is_sorted: bool = False


_NOTHING = _About([], set(), is_sorted=True)
_EVERYBODY = ""
"""The principal under which all ACLs are, where those of others matter to everybody."""


class Apart:
    """Knows the ACLs of an authorizer that does not change meanwhile."""

    def __init__(self, authorizer: StandardAuthorizer) -> None:
        self._store = authorizer.store
        self._everyone = authorizer.allow_everyone
        self._networks = authorizer.rules.host_networks
        self._about: dict[ResourceType, dict[str, _About]] = {}
        self._patterns: dict[ResourceType, list[Pattern]] = {}
        self._hosts: dict[tuple[ResourceType, str], list[str]] = {}

    def hosts(self, kind: ResourceType, principal: str) -> list[str]:
        """The hosts that ACLs tell apart for the principal, `*` being all others."""
        found = self._hosts.get((kind, principal))
        if found is None:
            named = {host for about in self._all_about(kind, principal) for host in about.hosts}
            if not self._networks:  # then no client has such a host
                named = {host for host in named if "/" not in host}
            found = self._hosts[kind, principal] = [WILDCARD, *sorted(named - {WILDCARD})]
        return found

    def names(self, kind: ResourceType, principal: str, within: Names) -> set[Names]:
        """The names in `within` that ACLs tell apart for the principal."""
        key = _EVERYBODY if self._everyone else principal
        return {names for about in self._all_about(kind, key) for names in _inside(about, within)}

    def principals(self, kind: ResourceType, names: Names) -> set[str]:
        """Those whom an ACL names that is about any of the names."""
        return {
            subject.principal
            for pattern in self._overlapping(kind, names)
            for subject, _ in pattern.grants()
        }

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
                for who in (
                    (subject.principal, _EVERYBODY) if self._everyone else (subject.principal,)
                ):
                    about = found.get(who)
                    if about is None:
                        about = found[who] = _About([], set())
                    about.names.append(names)
                    about.hosts.add(subject.host)
        return found

    def _overlapping(self, kind: ResourceType, names: Names) -> Iterator[Pattern]:
        yield from self._store.patterns_for(kind, names.text)
        if not names.is_prefix:
            return
        ordered = self._patterns.get(kind)
        if ordered is None:
            ordered = sorted(self._store.patterns(kind), key=lambda p: p.resource_name)
            self._patterns[kind] = ordered
        at = bisect_left(ordered, names.text, key=lambda p: p.resource_name)
        while at < len(ordered) and ordered[at].resource_name.startswith(names.text):
            yield ordered[at]
            at += 1


def _inside(about: _About, within: Names) -> Iterator[Names]:
    if not about.is_sorted:
        about.names.sort(key=lambda names: names.text)
        about.is_sorted = True
    ordered = about.names
    at = bisect_left(ordered, within.text, key=lambda names: names.text)
    while at < len(ordered) and ordered[at].text.startswith(within.text):
        if within.includes(ordered[at]):
            yield ordered[at]
        at += 1
