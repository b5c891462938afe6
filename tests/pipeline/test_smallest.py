"""Two exhaustive searches find no smaller set of ACLs with the same decisions.

They are written from Kafka's rules, independently of the job. One tries every set of cells that
ALLOW entries can allow, and every set of cells that DENY entries can deny.
"""

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from kafka_shim.authorizer.acl_rules import NEWEST_RULES
from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.acls.required_access import observed_access_of_row
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from kafka_shim.policy.least.least_acls import least_grants
from kafka_shim.policy.least.name_prefixes import count_generated_names
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from tests.pipeline import twin
from tests.pipeline.twin import IMPLIED
from tests.support.acls import make_acl

Cell = tuple[Operation, str]
"""An operation, and the host that it comes from."""


def fewest(observed: Mapping[Cell, bool]) -> int:
    """Return the size of the smallest set that allows only operations which were allowed."""
    places = {cell: 1 << number for number, cell in enumerate(sorted(observed))}
    allowed = sum(bit for cell, bit in places.items() if observed[cell])
    denied = sum(places.values()) - allowed
    done = {operation for (operation, _), is_allowed in observed.items() if is_allowed}
    hosts = {host for _, host in observed}
    grants = {
        sum(bit for cell, bit in places.items() if _allows(operation, host, cell))
        for operation in done
        for host in ("*", *hosts)
    }
    refusals = {
        sum(bit for cell, bit in places.items() if _denies(operation, host, cell))
        for operation in (*{cell[0] for cell in observed}, Operation.ALL)
        for host in ("*", *hosts)
    }
    granting = _unions(grants)
    denying = _unions(mask for mask in refusals if not mask & allowed)
    return min(
        size + min(less for refused, less in denying.items() if not given & denied & ~refused)
        for given, size in granting.items()
        if not allowed & ~given
    )


def _allows(operation: Operation, host: str, cell: Cell) -> bool:
    includes = operation is cell[0] or operation in IMPLIED.get(cell[0], ())
    return includes and host in ("*", cell[1])


def _denies(operation: Operation, host: str, cell: Cell) -> bool:
    return operation in (cell[0], Operation.ALL) and host in ("*", cell[1])


def _unions(masks: Iterable[int]) -> dict[int, int]:
    """Return every union of masks, with the smallest number of masks that it needs."""
    choices = [*masks]
    found = {0: 0}
    latest = [0]
    while latest:
        size = found[latest[0]] + 1
        new = {union | mask for union in latest for mask in choices} - found.keys()
        found.update(dict.fromkeys(new, size))
        latest = [*new]
    return found


OPERATIONS = (Operation.READ, Operation.WRITE, Operation.DESCRIBE)
HOSTS = ("h1", "h2")


def row(operation: Operation, host: str, *, allowed: bool, name: str = "orders") -> dict[str, Any]:
    what = {"operation": operation.name, "resource_type": "TOPIC", "resource_name": name}
    who = {"principal": "User:a", "host": host, "api_key": int(ApiKey.FETCH), "rule": ""}
    return {**who, **what, "instead": [], "allowed": allowed, "requests": 1, "last_seen": 0}


def acl(operation: Operation, host: str, permission: Permission) -> Acl:
    kind, pattern = ResourceType.TOPIC, PatternType.LITERAL
    return Acl(kind, "orders", pattern, "User:a", host, operation, permission)


def decides(acls: list[Acl], rows: list[dict[str, Any]]) -> bool:
    return all(twin.decide(acls, (), access_of(row)) == row["allowed"] for row in rows)


def access_of(row: dict[str, Any]) -> dict[str, Any]:
    kind, operation = ResourceType[row["resource_type"]], Operation[row["operation"]]
    return row | {"type": kind, "operation": operation, "name": row["resource_name"]}


def observations() -> Iterator[list[dict[str, Any]]]:
    """Yield all combinations of three operations from two hosts: allowed, denied or not seen."""
    cells = list(itertools.product(OPERATIONS, HOSTS))
    for seen in itertools.product((True, False, None), repeat=len(cells)):
        yield [row(*cell, allowed=is_allowed) for cell, is_allowed in zip(cells, seen, strict=True)
               if is_allowed is not None]  # fmt: skip


def candidates(rows: list[dict[str, Any]]) -> list[Acl]:
    """Return the ACLs that allow only operations which were allowed."""
    done = {Operation[row["operation"]] for row in rows if row["allowed"]}
    places = ("*", *HOSTS)
    return [
        *(acl(operation, host, Permission.ALLOW) for operation in done for host in places),
        *(acl(op, host, Permission.DENY) for op in (*OPERATIONS, Operation.ALL) for host in places),
    ]


def test_no_smaller_set_has_the_observed_decisions() -> None:
    twin.RULES = NEWEST_RULES
    rng = random.Random(11)
    sizes = set()
    for rows in rng.sample(list(observations()), 150):
        found = [grant.acl for grant in least_grants(map(observed_access_of_row, rows))]
        assert decides(found, rows), rows
        sizes.add(len(found))
        possible = candidates(rows)
        for size in range(len(found)):
            for some in itertools.combinations(possible, size):
                assert not decides(list(some), rows), (rows, some)
    assert sizes >= {0, 1, 2, 3}


MANY = (*OPERATIONS, Operation.ALTER_CONFIGS, Operation.DESCRIBE_CONFIGS)


@pytest.mark.parametrize("seed", range(120))
def test_an_exact_search_finds_no_smaller_set(seed: int) -> None:
    """Random cases of up to four operations from three hosts; about a third are not seen."""
    twin.RULES = NEWEST_RULES
    rng = random.Random(seed)
    operations = rng.sample(MANY, rng.randint(2, 4))
    seen = {
        (operation, host): rng.random() < 0.5
        for operation in operations
        for host in ("h1", "h2", "h3")
        if rng.random() < 0.7
    }
    rows = [row(*cell, allowed=is_allowed) for cell, is_allowed in seen.items()]
    found = [grant.acl for grant in least_grants(map(observed_access_of_row, rows))]
    assert decides(found, rows)
    assert len(found) == fewest(seen)


ALLOW_READ = "TOPIC|orders|LITERAL|User:a|{}|READ|ALLOW"


@pytest.mark.parametrize(
    ("allowed", "denied", "expected"),
    [
        # regression: h1 may read, h2 may not even describe; the result had a needless DENY
        ("READ h1", "DESCRIBE h2", [ALLOW_READ.format("h1")]),
        ("READ h1", "READ h2", [ALLOW_READ.format("h1")]),
        ("READ h1", "", [ALLOW_READ.format("*")]),
        ("READ h1", "WRITE h2", [ALLOW_READ.format("*")]),
        (
            "READ h1, READ h2, READ h3",
            "READ h4",
            [ALLOW_READ.format("*"), "TOPIC|orders|LITERAL|User:a|h4|READ|DENY"],
        ),
        (
            "READ h1, READ h2",
            "DESCRIBE h1, DESCRIBE h2, DESCRIBE h3",
            [ALLOW_READ.format("*"), "TOPIC|orders|LITERAL|User:a|*|DESCRIBE|DENY"],
        ),
    ],
)
def test_hosts_and_denials(allowed: str, denied: str, expected: list[str]) -> None:
    rows = [
        row(Operation[operation], host, allowed=is_allowed)
        for text, is_allowed in ((allowed, True), (denied, False))
        for operation, host in (part.split() for part in text.split(", ") if part)
    ]
    assert [
        format_acl_rule(grant.acl) for grant in least_grants(map(observed_access_of_row, rows))
    ] == expected


def test_each_request_counts_for_one_acl() -> None:
    rows = [row(op, host, allowed=True) for op in OPERATIONS for host in ("h1", "h2", "h3")]
    assert sum(grant.requests for grant in least_grants(map(observed_access_of_row, rows))) == len(
        rows
    )


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("console-consumer-83121", "console-consumer-"),
        ("test-0b5c2f1e-2f53-4c8e-9f0a-7d0f3d1c2b3a", "test-"),
        ("app-3f9a12c4", "app-"),
        ("run_2026", "run_"),
        ("orders", None),
        ("orders-v1", None),
        ("a-facade", None),
        ("12345", None),
    ],
)
def test_generated_names_are_detected(name: str, prefix: str | None) -> None:
    acl = make_acl(Operation.READ, name, principal="User:a", resource_type=ResourceType.GROUP)
    prefixes = count_generated_names([acl])
    assert list(prefixes) == ([] if prefix is None else [(ResourceType.GROUP, prefix)])
