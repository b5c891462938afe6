"""The mutants that change a decision, compared with an authorizer that asks each ACL."""

import random

import pytest

from kafka_shim.authorizer.acl_mutants import mutants_of
from kafka_shim.authorizer.model import Acl, Action
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.shim.observing.mutation_run import AccessNote, AclsNote, BrokerNote, Note
from kafka_shim.testing.mutation.changed_decisions import (
    OUTSIDE_TESTS,
    is_equivalent,
    situations_of_notes,
    uses_of_mutants,
)
from tests.authorizer.test_acl_mutants import random_acls
from tests.mutants.plain_authorizer import PlainAuthorizer
from tests.policy.naive import questions

BROKER = BrokerNote("4.4", ("User:admin",), allow_everyone=False)
OPERATIONS = (Operation.READ, Operation.WRITE, Operation.DESCRIBE)


def plain(acls: list[Acl]) -> PlainAuthorizer:
    authorizer = PlainAuthorizer()
    authorizer.super_users = BROKER.super_users
    authorizer.stored.store.replace_all(acls)
    return authorizer


def mutated(acls: list[Acl], wrong: Acl, replacement: tuple[Acl, ...]) -> list[Acl]:
    return list(dict.fromkeys([*(acl for acl in acls if acl != wrong), *replacement]))


def random_notes(seed: int, acls: list[Acl]) -> list[AccessNote]:
    """Return accesses of tests, which are named by their numbers, and some outside of tests."""
    rng = random.Random(seed)
    known = list(questions(acls, OPERATIONS, [ResourceType.TOPIC]))
    notes = []
    for number in range(12):
        actor, action = rng.choice(known)
        tests = (f"test_{number % 4}",) if rng.random() < 0.9 else ()
        operation, name = action.operation, None
        if rng.random() < 0.2:  # as InitProducerId
            operation = Operation.WRITE
        else:
            name = action.resource_name
        notes.append(AccessNote(actor, operation, action.resource_type, name, tests))
    return notes


def decision(authorizer: PlainAuthorizer, note: AccessNote) -> bool:
    actor, operation, kind = note.actor, note.operation, note.resource_type
    if note.resource_name is None:
        return authorizer.authorize_by_resource_type(actor, operation, kind).allowed
    return authorizer.authorize(actor, Action(operation, kind, note.resource_name)).allowed


@pytest.mark.parametrize("seed", range(40))
def test_the_tests_in_which_a_mutant_changes_a_decision(seed: int) -> None:
    """Two brokers with different ACLs; the second is reset to other ACLs in between."""
    brokers: list[list[Note]] = [[BROKER], [BROKER]]
    expected: dict[tuple[Acl, str], set[str]] = {}
    for number in range(4):
        acls = random_acls(4 * seed + number)
        notes = random_notes(seed + number, acls)
        brokers[number % 2] += [AclsNote(tuple(acls)), *notes]
        before = plain(acls)
        for mutant in (mutant for acl in acls for mutant in mutants_of(acl)):
            after = plain(mutated(acls, mutant.acl, mutant.replacement))
            tests = expected.setdefault((mutant.acl, mutant.kind), set())
            for note in notes:
                if decision(before, note) is not decision(after, note):
                    tests.update(note.tests or (OUTSIDE_TESTS,))
    found = uses_of_mutants(situations_of_notes(brokers))
    assert {(mutant.acl, mutant.kind): tests for mutant, tests in found.items()} == expected
    assert any(expected.values())


def test_a_mutant_is_equivalent_if_no_access_is_decided_otherwise() -> None:
    compared = {True: 0, False: 0}
    for seed in range(12):
        acls = random_acls(seed, 3)
        situations = situations_of_notes([[BROKER, AclsNote(tuple(acls))]])
        asked = [*questions(acls, Operation, [ResourceType.TOPIC])]
        asked = [(actor, action) for actor, action in asked if action.resource_name[:1] != "*"]
        for mutant in (mutant for acl in acls for mutant in mutants_of(acl)):
            before, after = plain(acls), plain(mutated(acls, mutant.acl, mutant.replacement))
            is_same = all(
                before.authorize(*each).allowed is after.authorize(*each).allowed for each in asked
            )
            assert is_equivalent(mutant, situations) is is_same, mutant
            compared[is_same] += 1
    assert min(compared.values()) >= 10
