"""The mutants that would have changed a decision of a run of tests."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from kafka_shim.authorizer.acl_mutants import AclMutant, mutants_of
from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, Acl, Action, Actor
from kafka_shim.policy.checked_accesses import InexactReleaseError
from kafka_shim.policy.diff import described_changes
from kafka_shim.policy.policy import Policy
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.shim.observing.mutation_run import (
    AccessNote,
    AclNote,
    AclsNote,
    BrokerNote,
    Note,
)

OUTSIDE_TESTS = ""
"""Stands for a test in accesses that were made while no test was known to run."""


class Access(NamedTuple):
    """An access that was decided; no name means any resource of the type."""

    actor: Actor
    operation: Operation
    resource_type: ResourceType
    resource_name: str | None

    def is_allowed_by(self, authorizer: StandardAuthorizer) -> bool:
        actor, operation, resource_type, name = self
        if name is None:
            decision = authorizer.authorize_by_resource_type(actor, operation, resource_type)
        else:
            action = Action(operation, resource_type, name)
            decision = authorizer.decide_uncached(actor, action)
        return decision.allowed


Situations = Mapping[tuple[BrokerNote, AclsNote], Mapping[Access, set[str]]]
"""Tests by access, for each set of ACLs that a broker had."""


def situations_of_notes(notes_by_broker: Iterable[Iterable[Note]]) -> Situations:
    """Return the accesses of all brokers of a run, each with its tests."""
    situations: dict[tuple[BrokerNote, AclsNote], dict[Access, set[str]]] = {}
    created: dict[BrokerNote, set[Acl]] = {}
    for notes in notes_by_broker:
        broker, accesses = BrokerNote("", (), allow_everyone=False), dict[Access, set[str]]()
        for note in notes:
            match note:
                case BrokerNote():
                    broker = note
                case AclsNote():
                    accesses = situations.setdefault((broker, _make_acls_note(note.acls)), {})
                case AclNote():
                    created.setdefault(broker, set()).add(note.acl)
                case AccessNote():
                    what = note.operation, note.resource_type, note.resource_name
                    tests = accesses.setdefault(Access(note.actor, *what), set())
                    tests.update(note.tests or (OUTSIDE_TESTS,))
    decided = {acl for _, acls in situations for acl in acls.acls}
    for broker, made in created.items():
        if made - decided:
            situations[broker, _make_acls_note(made - decided)] = {}
    return situations


def _make_acls_note(acls: Iterable[Acl]) -> AclsNote:
    return AclsNote(tuple(sorted(acls, key=msgspec.structs.astuple)))


def uses_of_mutants(situations: Situations) -> dict[AclMutant, set[str]]:
    """Return all mutants of all ACLs, with the tests in which a decision would have changed."""
    tests: dict[AclMutant, set[str]] = {}
    for (broker, acls), accesses in situations.items():
        authorizer = _policy(broker, acls).authorizer()
        allowed = {access: access.is_allowed_by(authorizer) for access in accesses}
        for mutant in (mutant for acl in acls.acls for mutant in mutants_of(acl)):
            names = tests.setdefault(mutant, set())
            for access in _changed_accesses(mutant, authorizer, allowed):
                names |= accesses[access]
    return tests


def is_equivalent(mutant: AclMutant, situations: Situations) -> bool:
    """Return whether no client could notice the mutant, since no decision can change."""
    for broker, acls in situations:
        if mutant.acl not in acls.acls:
            continue
        old = _policy(broker, acls)
        rest = [acl for acl in acls.acls if acl != mutant.acl]
        new = msgspec.structs.replace(
            old, acls=tuple({**dict.fromkeys(rest), **dict.fromkeys(mutant.replacement)})
        )
        try:
            if any(change.witness is not None for change in described_changes(old, new)):
                return False
        except InexactReleaseError:
            return False
    return True


def can_reverse_mutants(situations: Situations) -> bool:
    """Return whether a broker's rules let an ACL less allow more, or an ACL more allow less."""
    return any(
        broker.allow_everyone or acl_rules_of_release(broker.release).prefix_search_stops_early
        for broker, _ in situations
    )


def _changed_accesses(
    mutant: AclMutant, authorizer: StandardAuthorizer, allowed: Mapping[Access, bool]
) -> Iterator[Access]:
    """Yield the accesses that are decided otherwise with the mutant."""
    store = authorizer.store
    concerned = [access for access in allowed if _may_concern(mutant.acl, access, authorizer)]
    if not concerned:
        return
    store.remove(mutant.acl)
    added = [acl for acl in mutant.replacement if store.add(acl)]
    changed = [each for each in concerned if each.is_allowed_by(authorizer) is not allowed[each]]
    for acl in added:
        store.remove(acl)
    store.add(mutant.acl)
    yield from changed


def _may_concern(acl: Acl, access: Access, authorizer: StandardAuthorizer) -> bool:
    """Return False if the ACL, and each mutant of it, is about other resources."""
    if acl.resource_type is not access.resource_type:
        return False
    name = access.resource_name
    return (
        name is None
        or acl.resource_name == WILDCARD
        or name.startswith(acl.resource_name)
        or authorizer.rules.prefix_search_stops_early  # then names in between matter
    )


def _policy(broker: BrokerNote, acls: AclsNote) -> Policy:
    return Policy(
        acls.acls,
        release=broker.release,
        super_users=frozenset(broker.super_users),
        allow_everyone=broker.allow_everyone,
    )
