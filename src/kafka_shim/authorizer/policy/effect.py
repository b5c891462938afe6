"""Decisions without one ACL of a set: whether the ACL matters, for all names."""

from collections.abc import Iterator

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.implied import allowing, denying
from kafka_shim.authorizer.model import ANY_USER, Acl, Action, Actor, Decision
from kafka_shim.authorizer.networks import covers_host
from kafka_shim.authorizer.policy.distinct_regions import DistinctRegions
from kafka_shim.authorizer.policy.names import names_of, regions
from kafka_shim.authorizer.policy.questions import (
    asked_by_type,
    asked_operations,
    asker,
    check_exact,
    place,
)
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, Permission


class Effects:
    """Compares decisions with and without an ACL, for a set that does not change meanwhile.

    Raise OverlookingError for a release whose decisions cannot be computed for all names.
    """

    def __init__(self, authorizer: StandardAuthorizer, release: str) -> None:
        check_exact(authorizer)
        self._with = authorizer
        self._without = StandardAuthorizer(
            super_users=authorizer.super_users,
            allow_everyone=authorizer.allow_everyone,
            rules=authorizer.rules,
            store=AclStore(authorizer.store),
        )
        self._distinct = DistinctRegions(authorizer)
        self._operations = asked_operations(release)
        self._by_type = asked_by_type(release)

    def decisions_without(self, acl: Acl) -> list[Decision] | None:
        """Return the decisions without the ACL; None if one of them differs."""
        self._without.store.remove(acl)
        try:
            return self._decisions(acl)
        finally:
            self._without.store.add(acl)

    def _decisions(self, acl: Acl) -> list[Decision] | None:
        found: dict[Decision, None] = {}
        for actor, action in self._questions(acl):
            decision = self._without.decide(actor, action)
            if decision.allowed is not self._with.decide(actor, action).allowed:
                return None
            found[decision] = None
        for actor, operation in self._questions_by_type(acl):
            asked = actor, operation, acl.resource_type
            was = self._with.authorize_by_resource_type(*asked).allowed
            if self._without.authorize_by_resource_type(*asked).allowed is not was:
                return None
        return list(found)

    def _questions(self, acl: Acl) -> Iterator[tuple[Actor, Action]]:
        """Yield one access of every kind that the ACL may decide."""
        kind, rules = acl.resource_type, self._with.rules
        operations = self._operations_of(acl)
        for principal in self._principals(acl):
            hosts = self._hosts(acl, principal)
            distinct_names = self._distinct.names(kind, principal, names_of(acl))
            for region in regions(kind, distinct_names, rules, names_of(acl)):
                for host in hosts:
                    actor = Actor(asker(principal), place(host))
                    for operation in operations:
                        yield actor, Action(operation, kind, region.sample)

    def _questions_by_type(self, acl: Acl) -> Iterator[tuple[Actor, Operation]]:
        for operation, kind in self._by_type:
            if kind is acl.resource_type:
                for principal in self._principals(acl):
                    for host in self._hosts(acl, principal):
                        yield Actor(asker(principal), place(host)), operation

    def _operations_of(self, acl: Acl) -> list[Operation]:
        asked = self._operations.get(acl.resource_type, ())
        if self._with.allow_everyone:  # without its last ACL, a resource is open for all operations
            return list(asked)
        deciding = allowing if acl.permission is Permission.ALLOW else denying
        return [operation for operation in asked if acl.operation in deciding(operation)]

    def _principals(self, acl: Acl) -> Iterator[str]:
        yield acl.principal
        if acl.principal == ANY_USER:
            named = self._distinct.principals(acl.resource_type, names_of(acl))
            yield from sorted(named - {ANY_USER})
        elif self._with.allow_everyone:
            yield ANY_USER

    def _hosts(self, acl: Acl, principal: str) -> list[str]:
        """Return the ACL's hosts; all hosts if resources without ACLs are open to everyone."""
        found = self._distinct.hosts(acl.resource_type, principal)
        if self._with.allow_everyone:
            return found
        networks = self._with.rules.host_networks
        return [host for host in found if covers_host(acl.host, host, networks=networks)]
