"""Compare statements about ACLs with Kafka's own class: `python -m tests.oracle.policy_decisions`.

Pairs of random sets of ACLs are compared as `policy diff`, `equivalent`, `implies` and `disjoint`
do, and StandardAuthorizer decides all combinations of their principals, hosts, operations and
names, in one JVM. Each difference must be stated, each statement must be true, each counterexample
must contradict. `--publish` adds the figures to policy_decisions.md, as a workflow does each night.
Exit codes: 0 everything agrees, 3 a difference. Needs Java 17 and Maven.
"""

import argparse
import datetime as dt
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor, acls_to_objects
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.access_changes import access_changes
from kafka_shim.policy.checked_accesses import (
    checked_operations_by_resource_type,
    operations_checked_for_any_resource,
)
from kafka_shim.policy.least.compaction import compacted_acls
from kafka_shim.policy.relations import Relation, check_relation
from kafka_shim.policy.witness import Witness, resource_can_exist
from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from tests.oracle.assignors import DIFFERENT, KafkasAssignors, kafkas
from tests.policy.plain_decisions import PlainPolicy, contradictions, contradicts

PAGE = Path(__file__).with_suffix(".md")
PUBLISHED_NIGHTS = 100
_COLUMNS = (
    "night", "Kafka", "pairs", "decisions", "gains and losses", "counterexamples",
    "compact sets", "different",
)  # fmt: skip
_HEAD = f"""\
# Decisions of Kafka's StandardAuthorizer

`python -m tests.oracle.policy_decisions 4.4.0 --publish` adds a row to this file, each night with
other random ACLs. Kafka's class decides all accesses of pairs of sets of ACLs, and what
`kafka-shim policy` states about them must agree. `--seed` repeats a night.

| {" | ".join(_COLUMNS)} |
|{"---|" * len(_COLUMNS)}
"""

KINDS = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
STEMS = ("a", "ab", "abc", "b", "a.b", "hard", "hardcode", "team-", "team-x", "*", "*a")
PRINCIPALS = ("User:a", "User:b", "User:c", "User:*", "Group:g", "User:x:y")
HOSTS = ("*", "*", "*", "10.0.0.1", "10.0.0.2", "10.0.0.0/8", "10.0.0.0/31", "2001:db8::/32")
ADDRESSES = (
    "10.0.0.1", "10.0.0.2", "10.0.0.0", "10.200.0.9", "11.0.0.1", "9.255.255.255",
    "2001:db8:0:0:0:0:0:7", "2001:db9:0:0:0:0:0:7", "192.0.2.1",
)  # fmt: skip


class RandomPair:
    """Two sets of ACLs that are often equivalent, or nearly so."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.allow_everyone = self.random.random() < 0.3
        self.super_users = self.random.choice(
            [("", ""), ("", ""), ("User:a", "User:a"), ("", "User:c")]
        )
        self.kind = self.random.choice(KINDS)
        first = [self._acl() for _ in range(self.random.choice([0, 1, 2, 4, 8, 12]))]
        self.acls = (first, self._changed(first))

    def _acl(self) -> Acl:
        choose = self.random.choice
        operations = [*checked_operations_by_resource_type("4.4")[self.kind], Operation.ALL]
        name = choose(STEMS)
        pattern = PatternType.PREFIXED if self.random.random() < 0.4 else PatternType.LITERAL
        permission = Permission.DENY if self.random.random() < 0.3 else Permission.ALLOW
        return Acl(
            self.kind,
            name,
            pattern,
            choose(PRINCIPALS),
            choose(HOSTS),
            choose(operations),
            permission,
        )

    def _changed(self, acls: Sequence[Acl]) -> list[Acl]:
        """Return the ACLs without some that may be redundant, or with others that may be."""
        changed = list(acls)
        for _ in range(self.random.choice([0, 1, 1, 2, 3])):
            if changed and self.random.random() < 0.5:
                changed.remove(self.random.choice(changed))
            else:
                changed.append(self._acl())
        return changed if self.random.random() < 0.85 else [self._acl() for _ in range(3)]

    def names(self) -> list[str]:
        stems = {acl.resource_name for side in self.acls for acl in side} | {"hardcode", "z"}
        more = {stem + letter for stem in stems for letter in ("", "a", "b", "-", "q")}
        return sorted(more | {stem[:-1] for stem in stems} - {""} | {"other"})


class PairComparison:
    """What is stated about a pair, and what Kafka decides about all combinations of its texts."""

    def __init__(
        self, pair: RandomPair, release: str, kafka: KafkasAssignors, counts: Counter[str]
    ) -> None:
        self.pair, self.kafka, self.counts = pair, kafka, counts
        self.release = parse_minor_release(release)
        self.sides = [
            StandardAuthorizer(
                super_users=filter(None, [pair.super_users[side]]),
                allow_everyone=pair.allow_everyone,
                rules=acl_rules_of_release(self.release),
                store=AclStore(pair.acls[side]),
            )
            for side in (0, 1)
        ]
        operations = checked_operations_by_resource_type(self.release)[pair.kind]
        by_type = [
            operation
            for operation, kind in operations_checked_for_any_resource(self.release)
            if kind is pair.kind
        ]
        named = {acl.principal for side in pair.acls for acl in side} - {"User:*"}
        texts = (sorted(named | {"User:nobody", "User:c"}), ADDRESSES)
        actors = [Actor(principal, host) for principal in texts[0] for host in texts[1]]
        self.accesses: list[tuple[Actor, Operation, str | None]] = [
            (actor, operation, name)
            for actor in actors
            for operation in operations
            for name in pair.names()
        ]
        self.accesses += [(actor, operation, None) for actor in actors for operation in by_type]
        names = pair.names()
        self._question_about_all = lambda side: _question(
            pair, side, texts, operations, names, by_type
        )
        self.decided = [kafka(self._question_about_all(side)) for side in (0, 1)]
        counts["decisions"] += 2 * len(self.accesses)

    def differences(self) -> Iterator[str]:
        """Yield what Kafka decides otherwise than stated."""
        yield from self._differences_from_compact_acls()
        yield from self._differences_from_changes()
        for relation in Relation:
            yield from self._differences_from_relation(relation)

    def _differences_from_changes(self) -> Iterator[str]:
        changes = access_changes(self.sides[0], self.sides[1], self.release)
        self.counts["changes"] += len(changes)
        for (actor, operation, name), before, after in zip(
            self.accesses, *self.decided, strict=True
        ):
            stated = {
                change.gained
                for change in changes
                if (
                    change.affects_access(actor, Action(operation, self.pair.kind, name))
                    if name is not None
                    else change.names is None
                    and operation in change.operations
                    and change.applies_to_actor(actor)
                )
            }
            if stated != ({after == "1"} if before != after else set()):
                yield f"diff: {actor} {operation.name} {name}: {before}{after}, stated {stated}"

    def _differences_from_compact_acls(self) -> Iterator[str]:
        """Compare Kafka's decisions with the ACLs of A and with their compact form."""
        given = self.pair.acls
        compact = sorted(compacted_acls(self.sides[0], self.release), key=str)
        self.counts["ACLs left out"] += len(set(given[0])) - len(compact)
        self.counts["compact sets"] += 1
        self.pair.acls = (compact, given[1])
        decided = self.kafka(self._question_about_all(0))
        self.pair.acls = given
        if decided != self.decided[0]:
            yield f"compact: Kafka decides otherwise with {compact}"

    def _differences_from_relation(self, relation: Relation) -> Iterator[str]:
        first, second = self.sides
        result = check_relation(relation, first, second, self.release, self.release)
        self.counts[f"{relation.value} {result.holds}"] += 1
        if result.holds:
            yield from self._contradictions(relation)
        else:
            assert result.counterexample is not None
            yield from self._decide_counterexample(relation, result.counterexample)
        plain = [
            PlainPolicy(
                tuple(self.pair.acls[at]), self.release, side.super_users, side.allow_everyone
            )
            for at, side in enumerate(self.sides)
        ]
        found, decided = contradictions(relation, plain)
        self.counts["decided again"] += decided
        if bool(found) is result.holds:
            yield f"{relation.value}: stated {result.holds}, plain decisions: {found[:3]}"

    def _contradictions(self, relation: Relation) -> Iterator[str]:
        supers = self.sides[0].super_users & self.sides[1].super_users
        for (actor, operation, name), before, after in zip(
            self.accesses, *self.decided, strict=True
        ):
            if name is not None and not resource_can_exist(self.pair.kind, name):
                continue
            if relation is Relation.DISJOINT and actor.principal in supers:
                continue
            if contradicts(relation, before == "1", after == "1"):
                yield f"{relation.value} does not hold: {actor} {operation.name} {name}"

    def _decide_counterexample(self, relation: Relation, access: Witness) -> Iterator[str]:
        name = access.resource_name
        operations = [access.operation]
        first, second = (
            self.kafka(
                _question(
                    self.pair,
                    side,
                    ([access.actor.principal], [access.actor.host]),
                    [] if name is None else operations,
                    [] if name is None else [name],
                    operations if name is None else [],
                )
                | {"resource_type": access.resource_type.name}
            )
            for side in (0, 1)
        )
        self.counts["counterexamples"] += 1
        if not contradicts(relation, first == "1", second == "1"):
            yield f"{relation.value}: no counterexample: {access}: {first}{second}"


def _question(
    pair: RandomPair,
    side: int,
    principals_and_hosts: tuple[Sequence[str], Sequence[str]],
    operations: Sequence[Operation],
    names: Sequence[str],
    by_type: Sequence[Operation],
) -> dict[str, Any]:
    return {
        "acls": acls_to_objects(dict.fromkeys(pair.acls[side])),
        "super_users": pair.super_users[side],
        "allow_everyone": str(pair.allow_everyone).lower(),
        "resource_type": pair.kind.name,
        "principals": principals_and_hosts[0],
        "hosts": principals_and_hosts[1],
        "operations": [operation.name for operation in operations],
        "names": names,
        "by_type": [operation.name for operation in by_type],
    }


def publish(seed: str, release: str, counts: Mapping[str, int], page: Path = PAGE) -> None:
    """Add a row with the figures of a run; earlier ones of the same seed are replaced."""
    figures = [
        f"{counts.get(name, 0):,}"
        for name in ("pairs", "decisions", "changes", "counterexamples", "compact sets")
    ]
    row = f"| {' | '.join([seed, release, *figures, str(counts['different'])])} |\n"
    rows = page.read_text().splitlines(keepends=True)[_HEAD.count("\n") :] if page.exists() else []
    earlier = [each for each in rows if not each.startswith(f"| {seed} | {release} |")]
    page.write_text(_HEAD + "".join([row, *earlier][:PUBLISHED_NIGHTS]))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracle.policy_decisions", description=__doc__
    )
    parser.add_argument("release", help="a full release number from 4.4.0 on (networks in hosts)")
    parser.add_argument("--pairs", type=int, default=500, help="pairs of ACLs (default: 500)")
    today = dt.datetime.now(dt.UTC).date().isoformat()
    parser.add_argument("--seed", default=today, help="seed of the ACLs (default: the date)")
    parser.add_argument("--publish", action="store_true", help=f"add the figures to {PAGE.name}")
    options = parser.parse_args(arguments)
    counts = Counter[str](pairs=options.pairs, different=0)
    with kafkas(options.release, "Decisions") as kafka:
        for number in range(options.pairs):
            pair = RandomPair(f"{options.seed}-{number}")
            for text in PairComparison(pair, options.release, kafka, counts).differences():
                counts["different"] += 1
                acls = [acls_to_objects(side) for side in pair.acls]
                sys.stdout.write(f"{options.seed}-{number}: {text}\n{json.dumps(acls)}\n")
    figures = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    sys.stderr.write(f"{figures}\n")
    if options.publish:
        publish(options.seed, options.release, counts)
    return DIFFERENT if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
