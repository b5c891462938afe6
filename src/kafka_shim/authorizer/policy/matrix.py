"""The allowed operations of principals on resources, for all names of a pattern and all hosts."""

from collections.abc import Iterable, Sequence

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, Acl, Action, Actor
from kafka_shim.authorizer.policy.distinct_regions import DistinctRegions
from kafka_shim.authorizer.policy.names import ALL_NAMES, STARRED, Names, names_of, regions
from kafka_shim.authorizer.policy.questions import asked_operations, asker, check_exact, place
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, ResourceType


class Resource(msgspec.Struct, frozen=True):
    """A column: one name, or a pattern."""

    kind: ResourceType
    names: Names


class Cell(msgspec.Struct, frozen=True):
    """Operations that are allowed on all names from every host, and those allowed only on some."""

    always: tuple[Operation, ...] = ()
    partly: tuple[Operation, ...] = ()


class Row(msgspec.Struct, frozen=True):
    """The cells of a principal; `User:*` stands for all principals without ACLs."""

    principal: str
    cells: tuple[Cell, ...]


def resources_of(acls: Iterable[Acl]) -> list[Resource]:
    """Return the distinct patterns of the ACLs; literal `*` is a pattern for all names."""
    found = {Resource(acl.resource_type, names_of(acl)) for acl in acls}
    return sorted(found, key=lambda r: (r.kind, r.names.text, not r.names.is_prefix))


def principals_of(acls: Iterable[Acl]) -> list[str]:
    """Return the principals of the ACLs, and at the end everyone else."""
    return [*sorted({acl.principal for acl in acls} - {ANY_USER}), ANY_USER]


def matrix(
    authorizer: StandardAuthorizer,
    release: str,
    principals: Iterable[str],
    resources: Sequence[Resource],
    operations: Iterable[Operation] = (),
) -> list[Row]:
    """Return a row for each principal; the default `operations` are all that brokers check.

    Raise OverlookingError for a release whose decisions cannot be computed for all names.
    """
    check_exact(authorizer)
    distinct = DistinctRegions(authorizer)
    asked = asked_operations(release)
    wanted = set(operations) or set(Operation)
    return [
        Row(
            principal,
            tuple(
                _cell(
                    authorizer,
                    distinct,
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
    distinct: DistinctRegions,
    principal: str,
    resource: Resource,
    operations: Iterable[Operation],
) -> Cell:
    actors = [
        Actor(asker(principal), place(host)) for host in distinct.hosts(resource.kind, principal)
    ]
    names = _samples(authorizer, distinct, principal, resource)
    always, partly = [], []
    for operation in operations:
        responses = {
            authorizer.decide(actor, Action(operation, resource.kind, name)).allowed
            for name in names
            for actor in actors
        }
        if responses == {True}:
            always.append(operation)
        elif True in responses:
            partly.append(operation)
    return Cell(tuple(always), tuple(partly))


def _samples(
    authorizer: StandardAuthorizer, distinct: DistinctRegions, principal: str, resource: Resource
) -> list[str]:
    """Return one name per region; for all names, those that literal `*` covers."""
    if resource.kind is ResourceType.CLUSTER:
        return [CLUSTER_NAME]
    distinct_names = distinct.names(resource.kind, principal, resource.names)
    found = regions(resource.kind, distinct_names, authorizer.rules, resource.names)
    is_all = resource.names == ALL_NAMES and not authorizer.rules.wildcard_covers_starred
    return [region.sample for region in found if not (is_all and STARRED.includes(region.names))]
