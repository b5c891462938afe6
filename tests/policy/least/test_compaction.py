"""The fewest ACLs: no smaller set of all possible ones decides the same."""

import random
from itertools import combinations
from math import comb

import pytest

from kafka_shim.authorizer.model import Acl, Actor
from kafka_shim.policy.checked_accesses import checked_operations_by_resource_type
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.policy.least.compaction import compacted_acls
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from tests.authorizer.test_against_naive import covers, is_for, responses
from tests.policy.naive import NEWEST, authorizer

KIND = ResourceType.TRANSACTIONAL_ID
OPERATIONS = checked_operations_by_resource_type(NEWEST)[KIND]
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
PATTERNS = [("*", LITERAL), ("a", LITERAL), ("a", PREFIXED), ("abc", LITERAL), ("abx", PREFIXED)]
NAMES = ("z", "a", "ac", "ab", "abc", "abx", "abxy", "abe")
HOSTS = ["*", "10.0.0.1", "10.0.0.2/31"]
ADDRESSES = ("192.0.2.1", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.9")
SETS_TRIED_MAX = 60_000


def random_acls(seed: int) -> list[Acl]:
    choose = random.Random(seed)
    patterns, hosts = choose.sample(PATTERNS, 3), HOSTS if seed % 3 == 0 else ["*"]
    return [
        Acl(
            KIND,
            *choose.choice(patterns),
            choose.choice(["User:a", "User:b", "User:*"]),
            choose.choice(hosts),
            choose.choice([*OPERATIONS, Operation.ALL]),
            choose.choice([Permission.DENY, Permission.ALLOW, Permission.ALLOW]),
        )
        for _ in range(choose.choice([2, 3, 4, 5, 6]))
    ]


class NaiveDecisions:
    """All decisions about sets of ACLs, as the bits of a number that is computed naively."""

    def __init__(self, acls: list[Acl], *, adds_denies: bool) -> None:
        self.principals = sorted({acl.principal for acl in acls} | {"User:*"})
        hosts = {acl.host for acl in acls}
        self.hosts = [*HOSTS, "10.0.0.0/30"] if hosts != {"*"} else ["*"]
        self._accesses = [
            (Actor(principal.replace("*", "nobody"), address), name, operation)
            for principal in self.principals
            for address in (ADDRESSES if hosts != {"*"} else ADDRESSES[:1])
            for name in NAMES
            for operation in OPERATIONS
        ]
        self.allowed, self.denied = self.of(acls)
        self.decisions = self.allowed & ~self.denied
        self.adds_denies = adds_denies

    def of(self, acls: list[Acl]) -> tuple[int, int]:
        allowed = denied = 0
        for acl in acls:
            if acl.permission is Permission.ALLOW:
                allowed |= self.covered_by(acl)
            else:
                denied |= self.covered_by(acl)
        return allowed, denied

    def covered_by(self, acl: Acl) -> int:
        return sum(
            1 << at
            for at, (actor, name, operation) in enumerate(self._accesses)
            if covers(acl, KIND, name) and is_for(acl, actor) and responses(acl, operation)
        )

    def useful_acls(self) -> set[tuple[int, int]]:
        """Return what every ACL of all possible ones allows and denies, if it can be of use."""
        useful = set()
        for principal in self.principals:
            for host in self.hosts:
                for pattern in (*PATTERNS, ("ab", PREFIXED), ("abx", LITERAL)):
                    for operation in (*OPERATIONS, Operation.ALL):
                        acl = Acl(KIND, *pattern, principal, host, operation, Permission.ALLOW)
                        covered = self.covered_by(acl)
                        if covered & self.decisions:
                            useful.add((covered, 0))
                        covered = self.covered_by(
                            Acl(KIND, *pattern, principal, host, operation, Permission.DENY)
                        )
                        is_new = covered & ~self.denied
                        if not covered & self.decisions and (self.adds_denies or not is_new):
                            useful.add((0, covered))
        return useful

    def some_set_decides_the_same(self, useful: set[tuple[int, int]], count: int) -> bool:
        for acls in combinations(useful, count):
            allowed = denied = 0
            for allow, deny in acls:
                allowed |= allow
                denied |= deny
            if allowed & ~denied == self.decisions:
                return True
        return False


@pytest.mark.deep
@pytest.mark.parametrize("adds_denies", [False, True])
@pytest.mark.parametrize("seed", range(24))
def test_no_smaller_set_decides_the_same(seed: int, adds_denies: bool) -> None:
    acls = random_acls(seed)
    naive = NaiveDecisions(acls, adds_denies=adds_denies)
    compact = compacted_acls(authorizer(acls), NEWEST, adds_denies=adds_denies)
    assert compact.are_fewest
    allowed, denied = naive.of(list(compact.acls))
    assert allowed & ~denied == naive.decisions
    useful = naive.useful_acls()
    tried = 0
    for count in range(len(compact.acls)):
        if comb(len(useful), count) <= SETS_TRIED_MAX:
            assert not naive.some_set_decides_the_same(useful, count)
            tried = count + 1
    assert tried >= min(len(compact.acls), 2)


def _compacted(text: str, *, adds_denies: bool = False, everyone: bool = False) -> tuple[int, int]:
    acls = parse_distinct_acls(text, "yaml")
    compact = compacted_acls(authorizer(acls, everyone=everyone), NEWEST, adds_denies=adds_denies)
    return len(compact.acls), compact.lower_bound


def test_two_halves_of_a_network_become_one() -> None:
    halves = ("10.0.0.0/25", "10.0.0.128/25")
    rule = "- {{principal: User:a, allow: Read, topic: t, host: {}}}\n"
    assert _compacted("".join(map(rule.format, halves))) == (1, 1)


def test_a_new_deny_is_only_used_on_request() -> None:
    all_but_delete = "[Read, Write, Create, Alter, AlterConfigs]"
    text = "".join(
        f"- {{principal: User:{u}, allow: {all_but_delete}, topic: {u}}}\n" for u in "ab"
    )
    assert _compacted(text) == (10, 10)
    assert _compacted(text, adds_denies=True) == (3, 3)


def test_a_useless_deny_can_make_several_allows_one() -> None:
    """If each ACL is only tried on its own, the DENY is left out, and five ALLOWs remain."""
    text = """\
- {principal: User:a, allow: [Read, Write, Create, Alter, AlterConfigs], topic: t}
- {principal: User:a, deny: Delete, topic: t}
"""
    assert _compacted(text) == (2, 2)


def test_the_bound_is_below_a_result_that_is_not_proven_to_be_the_smallest() -> None:
    text = """\
- {principal: User:a, allow: Write, topic: t}
- {principal: User:a, deny: Write, topic: t}
- {principal: User:a, deny: Read, topic: t}
"""
    found, lower_bound = _compacted(text, everyone=True)
    assert lower_bound < found
