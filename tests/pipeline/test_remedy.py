"""Each remedy, after it is applied, allows the denied access; checked by plain loops."""

import random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.remedy import UNKNOWN_AFTER_REMOVAL
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.remedy import Remedy, find_remedy, find_remedy_from_rules
from kafka_shim.policy.formats.trace_rule import format_acl_rule, parse_acl_rule
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey, Operation, Permission, ResourceType
from tests.pipeline import twin
from tests.pipeline.traces import ASKED, HOSTS, NAMES, PRINCIPALS, random_acls

PLAIN = [
    release for release in RELEASES if not acl_rules_of_release(release).prefix_search_stops_early
]
EARLY = [release for release in RELEASES if acl_rules_of_release(release).prefix_search_stops_early]


def applied(acls: list[Acl], steps: Remedy) -> list[Acl]:
    removed = {step.acl for step in steps.steps if not step.is_addition}
    assert removed <= set(acls)
    added = [step.acl for step in steps.steps if step.is_addition]
    return [acl for acl in acls if acl not in removed] + added


def row(who: str, host: str, asked: tuple[Any, ...], name: str, **more: Any) -> dict[str, Any]:
    api, operation, kind = asked
    what = {"operation": operation.name, "resource_type": kind.name, "resource_name": name}
    return {"principal": who, "host": host, "api_key": int(api), "instead": [], **what, **more}


def allowed(acls: list[Acl], row: dict[str, Any], *, everyone: bool) -> bool:
    access = {
        "principal": row["principal"],
        "host": row["host"],
        "operation": Operation[row["operation"]],
        "type": ResourceType[row["resource_type"]],
        "name": row["resource_name"],
    }
    return twin.decide(acls, (), access, everyone=everyone)


@given(
    st.integers(),
    st.sampled_from(PLAIN),
    st.booleans(),
    st.lists(st.sampled_from(HOSTS), min_size=1),
)
def test_every_remedy_is_complete_and_minimal(
    seed: int, release: str, everyone: bool, hosts: list[str]
) -> None:
    rng = random.Random(seed)
    twin.RULES = acl_rules_of_release(release)
    acls = random_acls(rng, 25)
    asked = rng.choice(ASKED)
    who, name = rng.choice(PRINCIPALS[:3]), rng.choice(NAMES[asked[2]])
    rows = [row(who, host, asked, name) for host in set(hosts)]
    authorizer = AclSet(tuple(acls), (), everyone, release).build_authorizer()
    found = find_remedy(authorizer, rows)
    assert set(authorizer.store) == set(acls)  # unchanged
    assert all(allowed(applied(acls, found), row, everyone=everyone) for row in rows)
    for step in found.steps:
        fewer = Remedy(tuple(other for other in found.steps if other != step))
        now = applied(acls, fewer)
        assert not all(allowed(now, row, everyone=everyone) for row in rows)


@pytest.mark.parametrize("release", EARLY)
def test_a_remedy_is_complete_if_acls_are_overlooked(release: str) -> None:
    """The authorizer of this release misses some ACLs, so its own decisions are the reference."""
    rng = random.Random(release)
    for _ in range(300):
        acls = random_acls(rng, 25)
        asked = rng.choice(ASKED)
        rows = [row(rng.choice(PRINCIPALS[:3]), HOSTS[0], asked, rng.choice(NAMES[asked[2]]))]
        found = find_remedy(AclSet(tuple(acls), (), False, release).build_authorizer(), rows)
        after = AclSet(tuple(applied(acls, found)), (), False, release).build_authorizer()
        assert find_remedy(after, rows) == Remedy(())


INIT = (ApiKey.INIT_PRODUCER_ID, Operation.WRITE, ResourceType.TOPIC)
INSTEAD = "IDEMPOTENT_WRITE|CLUSTER|kafka-cluster"
DENIED = "CLUSTER|kafka-cluster|LITERAL|User:*|*|ALL|DENY"


@pytest.mark.parametrize("rules", [[], [DENIED]])
def test_a_remedy_for_any_topic_names_a_resource(rules: list[str]) -> None:
    acls = [acl for rule in rules if (acl := parse_acl_rule(rule))]
    asked = row("User:a", "h", INIT, "*", instead=[INSTEAD])
    found = find_remedy(AclSet(tuple(acls)).build_authorizer(), [asked])
    steps = [f"remove {rule}" for rule in rules]
    added = "add CLUSTER|kafka-cluster|LITERAL|User:a|*|IDEMPOTENT_WRITE|ALLOW"
    assert [f"{step.verb} {format_acl_rule(step.acl)}" for step in found.steps] == [added, *steps]
    cluster = {"operation": "IDEMPOTENT_WRITE", "resource_type": "CLUSTER"}
    assert allowed(
        applied(acls, found), asked | cluster | {"resource_name": "kafka-cluster"}, everyone=False
    )


READ = (ApiKey.FETCH, Operation.READ, ResourceType.TOPIC)
ADDED = "add TOPIC|orders|LITERAL|User:a|*|READ|ALLOW"
DENY = "TOPIC|orders|LITERAL|User:a|*|READ|DENY"


@pytest.mark.parametrize(
    ("rules", "steps", "not_known"),
    [
        (["DefaultDeny"], [ADDED], ""),
        ([DENY], [f"remove {DENY}"], UNKNOWN_AFTER_REMOVAL),
        ([DENY, "DefaultDeny"], [ADDED, f"remove {DENY}"], UNKNOWN_AFTER_REMOVAL),
        ([""], [ADDED], "whether a DENY applies"),
        (["", "DefaultDeny"], [ADDED], "whether a DENY applies"),
    ],
)
def test_without_the_acls_unknown_parts_are_reported(
    rules: list[str], steps: list[str], not_known: str
) -> None:
    rows = [row("User:a", f"h{n}", READ, "orders", rule=rule) for n, rule in enumerate(rules)]
    found = find_remedy_from_rules(rows)
    assert (
        [f"{step.verb} {format_acl_rule(step.acl)}" for step in found.steps],
        found.unknown_further_steps,
    ) == (
        steps,
        not_known,
    )


def test_a_remedy_never_names_an_empty_resource() -> None:
    found = find_remedy(AclSet(()).build_authorizer(), [row("User:a", "h", READ, "")])
    assert [format_acl_rule(step.acl) for step in found.steps] == [
        "TOPIC|*|LITERAL|User:a|*|READ|ALLOW"
    ]
    assert found.steps[0].acl.permission is Permission.ALLOW
