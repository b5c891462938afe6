"""Random ACLs, and the accesses at the boundaries of their patterns, for the naive engine."""

from collections.abc import Iterable, Iterator
from ipaddress import ip_network

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import Operation, ResourceType

NEWEST = RELEASES[-1]
PROBE = "hardcode"
LETTERS = ("", "a", "b", "*", "z")


def authorizer(acls: Iterable[Acl], *, everyone: bool = False) -> StandardAuthorizer:
    return StandardAuthorizer(allow_everyone=everyone, store=AclStore(acls))


def boundary_names(acls: Iterable[Acl]) -> list[str]:
    """Return the names of each pattern, and names just inside and just outside of it."""
    stems = {""} | {acl.resource_name for acl in acls}
    stems |= {stem[:-1] for stem in stems}
    return sorted({stem + letter for stem in stems for letter in LETTERS})


def addresses(hosts: Iterable[str]) -> Iterator[str]:
    """Yield the hosts that are addresses, two of each network, and two that may match nothing."""
    yield from ("192.0.2.1", "9000:0:0:0:0:0:0:1")
    for host in hosts:
        if "/" in host:
            network = ip_network(host, strict=False)
            yield from (str(network[1]), str(network[-1]))
        elif host != "*":
            yield host


def questions(
    acls: Iterable[Acl],
    operations: Iterable[Operation],
    kinds: Iterable[ResourceType],
    sample: Iterable[str] = (),
    *,
    stems: bool = True,
) -> Iterator[tuple[Actor, Action]]:
    """Yield accesses of every principal from every host to the boundary names.

    Without `stems`, the only name is the one that brokers use for checks by resource type.
    """
    known = list(acls)
    principals = {acl.principal for acl in known} - {"User:*"} | {"User:nobody"}
    hosts = set(addresses(acl.host for acl in known))
    names = [*boundary_names(known), *sample] if stems else [PROBE]
    asked = list(operations)
    for kind in kinds:
        for principal in sorted(principals):
            for host in sorted(hosts):
                for name in names:
                    for operation in asked:
                        yield Actor(principal, host), Action(operation, kind, name)
