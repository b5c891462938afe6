"""One concrete access for each change: a principal, an address and a name that a client can have.

The access is decided by both authorizers, so it proves that the change exists. A change without
a witness concerns only hosts or names that no client can have, such as the topic `*eu`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Action, Actor, Decision
from kafka_shim.authorizer.networks import (
    address_text,
    java_address,
    parse_network,
    smallest_enclosing_host,
)
from kafka_shim.policy.access_changes import AccessChange
from kafka_shim.policy.decision_function import DecisionFunction
from kafka_shim.policy.name_sets import unused_character
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, ResourceType

_TOPIC_NAME = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")
_UNUSED_PRINCIPALS = ("User:someone", "User:somebody-else", "User:anyone")
_USUAL_ADDRESSES = ("192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8:0:0:0:0:0:1")
"""Addresses for documentation, of which one is usually in no ACL."""
_LAST_ADDRESS = {4: (1 << 32) - 1, 6: (1 << 128) - 1}


class Witness(msgspec.Struct, frozen=True, gc=False):
    """An access that is decided differently before and after.

    `resource_name` is None for the operation on at least one resource of the type (KIP-679).
    """

    actor: Actor
    operation: Operation
    resource_type: ResourceType
    resource_name: str | None
    before: Decision
    after: Decision

    @property
    def action(self) -> Action | None:
        """The action on the named resource; None for at least one resource of the type."""
        if self.resource_name is None:
            return None
        return Action(self.operation, self.resource_type, self.resource_name)

    @property
    def size(self) -> tuple[object, ...]:
        """Return a sort key: the fewest special cases and the shortest texts come first."""
        name = self.resource_name
        is_about_unnamed = self.actor.principal in _UNUSED_PRINCIPALS
        texts = (name or "", self.actor.principal, self.actor.host)
        return name is None, is_about_unnamed, sum(map(len, texts)), texts, self.operation


def witness_of_change(
    change: AccessChange,
    old: DecisionFunction,
    new: DecisionFunction,
    *,
    prefers_short_names: bool = False,
) -> Witness | None:
    """Return an access that shows the change; None if no client can make such an access.

    The default for a prefix is a longer name, which is a better example.
    """
    principal, resource_type = _principal_of_change(change), change.resource_type
    names: list[str | None] = [None] if change.names is None else [*_usable_names(change)]
    if prefers_short_names:
        names.reverse()
    for host in client_addresses(change.hosts, change.except_hosts):
        actor = Actor(principal, host)
        for name in names:
            for operation in change.operations:
                before = _decide(old, actor, operation, resource_type, name)
                after = _decide(new, actor, operation, resource_type, name)
                if before.allowed is not after.allowed and after.allowed is change.gained:
                    return Witness(actor, operation, resource_type, name, before, after)
    return None


def _decide(
    side: DecisionFunction, actor: Actor, operation: Operation, kind: ResourceType, name: str | None
) -> Decision:
    if name is None:
        return side.authorize_by_resource_type(actor, operation, kind)
    return side.decide_uncached(actor, Action(operation, kind, name))


def _principal_of_change(change: AccessChange) -> str:
    if change.principal != ANY_USER:
        return change.principal
    taken = {*change.except_principals, ANY_USER}
    free = (name for name in _UNUSED_PRINCIPALS if name not in taken)
    return next(free, None) or "User:" + "x" * (1 + max(map(len, taken)))


def _usable_names(change: AccessChange) -> list[str]:
    """Return names of the change that clients can use: that of the prefix itself comes second."""
    names = change.names
    assert names is not None, "a change about names"
    if change.resource_type is ResourceType.CLUSTER:
        return [CLUSTER_NAME]
    candidates = [names.text]
    if names.is_prefix:
        length = len(names.text)
        used = {
            other.text[length : length + 1]
            for other in change.except_names
            if other.text.startswith(names.text)
        }
        candidates = [names.text + unused_character(used), names.text]
    return [
        name
        for name in candidates
        if resource_can_exist(change.resource_type, name)
        and not (
            change.except_names and any(other.contains_name(name) for other in change.except_names)
        )
    ]


def resource_can_exist(resource_type: ResourceType, name: str) -> bool:
    """Return whether a resource can have the name: topics have legal characters."""
    if resource_type is ResourceType.TOPIC:
        return _TOPIC_NAME.fullmatch(name) is not None
    return bool(name)


@lru_cache(maxsize=1 << 10)  # most changes are from the same few hosts
def client_addresses(hosts: tuple[str, ...], except_hosts: tuple[str, ...]) -> Sequence[str]:
    """Return addresses from which a change applies: one of each of its hosts, if it has any."""
    places = (*hosts, *except_hosts)
    addresses = []
    for host in sorted(hosts, key=lambda host: (host != WILDCARD, "/" in host)):
        for address in _candidate_addresses(host, places):
            if java_address(address) == address and _is_in_place(address, host, places):
                addresses.append(address)
                break
    return addresses


def _is_in_place(address: str, host: str, places: Iterable[str]) -> bool:
    """Return whether the smallest place around the address is this host."""
    known = tuple(places)
    at = address if address in known else smallest_enclosing_host(address, known)
    return at == host


def _candidate_addresses(host: str, places: Iterable[str]) -> Iterator[str]:
    """Yield addresses of a host, among them the first that is in no smaller place, if one exists.

    That is the first address of the host, or the one after the end of a place inside it.
    """
    if host != WILDCARD and "/" not in host:
        yield host
        return
    if host == WILDCARD:
        yield from _USUAL_ADDRESSES
        starts = [(4, 1), (6, 1)]
    else:
        network = parse_network(host)
        if network is None:
            return
        starts = [(network.ip_version, network.first_address + each) for each in (1, 0)]
    for place in places:
        end = parse_network(place) or parse_network(_as_network(place))
        if end is not None:
            starts.append((end.ip_version, end.last_address + 1))
    for version, number in starts:
        if number <= _LAST_ADDRESS[version]:
            yield address_text(version, number)


def _as_network(address: str) -> str:
    return f"{address}/{128 if ':' in address else 32}"


def smallest_witness(witnesses: Iterable[Witness | None]) -> Witness | None:
    """Return the shortest witness; None if there is none."""
    known = [witness for witness in witnesses if witness is not None]
    return min(known, key=lambda witness: witness.size, default=None)
