"""Who may do what on what, as a table: for all names of each pattern, from every host."""

from collections.abc import Iterable, Sequence

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, Acl, Action, Actor
from kafka_shim.authorizer.policy.apart import Apart
from kafka_shim.authorizer.policy.names import ALL_NAMES, STARRED, Names, names_of, regions
from kafka_shim.authorizer.policy.questions import asked_operations, asker, check_exact, place
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, ResourceType


class Resource(msgspec.Struct, frozen=True):
    """A column: one name, or all names of a pattern."""

    kind: ResourceType
    names: Names


class Cell(msgspec.Struct, frozen=True):
    """Operations that are allowed on all names from every host, and those that are on some."""

    always: tuple[Operation, ...] = ()
    partly: tuple[Operation, ...] = ()


class Row(msgspec.Struct, frozen=True):
    """What a principal may do; `User:*` is everybody whom no ACL names."""

    principal: str
    cells: tuple[Cell, ...]


def resources_of(acls: Iterable[Acl]) -> list[Resource]:
    """The patterns of the ACLs, each once; literal `*` is a pattern for all names."""
    found = {Resource(acl.resource_type, names_of(acl)) for acl in acls}
    return sorted(found, key=lambda r: (r.kind, r.names.text, not r.names.is_prefix))


def principals_of(acls: Iterable[Acl]) -> list[str]:
    """Those whom ACLs name, and last everybody else."""
    return [*sorted({acl.principal for acl in acls} - {ANY_USER}), ANY_USER]


def matrix(
    authorizer: StandardAuthorizer,
    release: str,
    principals: Iterable[str],
    resources: Sequence[Resource],
    operations: Iterable[Operation] = (),
) -> list[Row]:
    """A row for each principal; without `operations`, about all that brokers ask for.

    OverlookingError for a release about which nothing can be said for all names.
    """
    check_exact(authorizer)
    apart = Apart(authorizer)
    asked = asked_operations(release)
    wanted = set(operations) or set(Operation)
    return [
        Row(
            principal,
            tuple(
                _cell(
                    authorizer,
                    apart,
                    principal,
                    resource,
                    [op for op in asked.get(resource.kind, ()) if op in wanted],
                )
                for resource in resources
            ),
        )
        for principal in principals
    ]


def _cell(
    authorizer: StandardAuthorizer,
    apart: Apart,
    principal: str,
    resource: Resource,
    operations: Iterable[Operation],
) -> Cell:
    actors = [
        Actor(asker(principal), place(host)) for host in apart.hosts(resource.kind, principal)
    ]
    names = _samples(authorizer, apart, principal, resource)
    always, partly = [], []
    for operation in operations:
        answers = {
            authorizer.decide(actor, Action(operation, resource.kind, name)).allowed
            for name in names
            for actor in actors
        }
        if answers == {True}:
            always.append(operation)
        elif True in answers:
            partly.append(operation)
    return Cell(tuple(always), tuple(partly))


def _samples(
    authorizer: StandardAuthorizer, apart: Apart, principal: str, resource: Resource
) -> list[str]:
    """A name of every region; of all names, those that literal `*` covers."""
    if resource.kind is ResourceType.CLUSTER:
        return [CLUSTER_NAME]
    told_apart = apart.names(resource.kind, principal, resource.names)
    found = regions(resource.kind, told_apart, authorizer.rules, resource.names)
    is_all = resource.names == ALL_NAMES and not authorizer.rules.wildcard_covers_starred
    return [region.sample for region in found if not (is_all and STARRED.includes(region.names))]
