"""Mutants of ACLs: each kind does what its name says, and only in one direction."""

import random

import pytest

from kafka_shim.authorizer.acl_mutants import AclMutant, apply_mutants, mutants_of
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.formats import parse_acls_with_lines
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from tests.mutants.plain_authorizer import PlainAuthorizer
from tests.policy.naive import questions
from tests.support.acls import make_acl

READ = "{principal: User:app, allow: Read, topic: orders}"


def acl(line: str) -> Acl:
    [(found, _)] = parse_acls_with_lines(line)
    return found


def test_a_mutant_of_each_kind() -> None:
    lines = [
        (mutant.kind, [acl_line(each) for each in mutant.replacement])
        for mutant in mutants_of(acl(READ))
    ]
    assert lines == [
        ("missing", []),
        ("any-operation", ["{principal: User:app, allow: All, topic: orders}"]),
        ("any-suffix", ["{principal: User:app, allow: Read, topic: orders, pattern: prefixed}"]),
        ("any-principal", ['{principal: "User:*", allow: Read, topic: orders}']),
    ]


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ('{principal: "User:*", allow: All, topic: "*"}', ["missing"]),
        ("{principal: User:a, deny: Alter, cluster: kafka-cluster}",
         ["missing", "any-operation", "any-principal"]),
        ("{principal: User:a, allow: Read, group: g, pattern: prefixed}",
         ["missing", "any-operation", "any-principal"]),
    ],
)  # fmt: skip
def test_an_acl_has_only_the_kinds_that_fit(line: str, kinds: list[str]) -> None:
    assert [mutant.kind for mutant in mutants_of(acl(line))] == kinds


def test_several_mutants_of_an_acl_replace_it_together() -> None:
    store = AclStore([acl(READ)])
    assert apply_mutants(list(mutants_of(acl(READ), ("any-operation", "any-principal"))), store)
    assert sorted(map(acl_line, store)) == [
        '{principal: "User:*", allow: Read, topic: orders}',
        "{principal: User:app, allow: All, topic: orders}",
    ]
    assert not apply_mutants([AclMutant(acl(READ), "missing")], store)


def random_acls(seed: int, count: int = 4) -> list[Acl]:
    rng = random.Random(seed)
    literal, prefixed = PatternType.LITERAL, PatternType.PREFIXED
    patterns = [
        ("*", literal),
        *((name, kind) for name in ("a", "ab") for kind in (literal, prefixed)),
    ]
    names = [rng.choice(patterns) for _ in range(count)]
    acls = [
        make_acl(
            rng.choice([Operation.READ, Operation.WRITE, Operation.DESCRIBE, Operation.ALL]),
            name,
            principal=rng.choice(["User:app", "User:eve", "User:*"]),
            pattern_type=pattern_type,
            permission=rng.choice([Permission.ALLOW, Permission.ALLOW, Permission.DENY]),
        )
        for name, pattern_type in names
    ]
    return list(dict.fromkeys(acls))


def _decisions(acls: list[Acl], asked: list[Acl]) -> list[bool]:
    plain = PlainAuthorizer()
    plain.stored.store.replace_all(acls)
    operations = [Operation.READ, Operation.WRITE, Operation.DESCRIBE]
    return [
        plain.authorize(*question).allowed
        for question in questions(asked, operations, [ResourceType.TOPIC])
    ]


@pytest.mark.parametrize("seed", range(8))
def test_a_mutant_changes_decisions_in_one_direction(seed: int) -> None:
    """Groups of mutants of one direction are run together, since none hides another."""
    acls = random_acls(seed)
    before = _decisions(acls, acls)
    for mutant in (mutant for each in acls for mutant in mutants_of(each)):
        store = AclStore(acls)
        apply_mutants([mutant], store)
        after = _decisions(list(store), acls)
        changed = [new for old, new in zip(before, after, strict=True) if old is not new]
        assert set(changed) <= {not mutant.restricts}, (mutant.kind, acl_line(mutant.acl))
