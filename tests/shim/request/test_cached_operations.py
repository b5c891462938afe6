"""Authorized operations are kept until an ACL changes, and equal decisions without a cache."""

import random

import pytest

from kafka_shim.authorizer.acl_rules import supported_operations
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from kafka_shim.shim.request.access import Access
from tests.shim.play import Stage

ACTORS = [Actor(f"User:{user}", host) for user in "ab" for host in ("10.0.0.1", "10.0.0.2")]
RESOURCES = [
    (ResourceType.TOPIC, "orders"),
    (ResourceType.TOPIC, "orders-eu"),
    (ResourceType.GROUP, "orders"),
    (ResourceType.CLUSTER, "kafka-cluster"),
]
NEVER_CALLED = "decided again though no ACL has changed"


def authorizer_of(stage: Stage) -> StandardAuthorizer:
    authorizer = stage.cluster.policy.authorizer
    assert isinstance(authorizer, StandardAuthorizer)
    return authorizer


def operations(stage: Stage) -> list[int]:
    policy = stage.cluster.policy
    return [
        Access(policy, 1, actor).authorized_operations(*resource)
        for actor in ACTORS
        for resource in RESOURCES
    ]


def decided_operations(stage: Stage) -> list[int]:
    authorizer, rules = authorizer_of(stage), stage.cluster.policy.rules
    return [
        sum(
            1 << operation
            for operation in supported_operations(kind, rules)
            if authorizer.decide_uncached(actor, Action(operation, kind, name)).allowed
        )
        for actor in ACTORS
        for kind, name in RESOURCES
    ]


def random_acl(rng: random.Random) -> Acl:
    kind, name = rng.choice(RESOURCES)
    pattern = PatternType.LITERAL
    if kind is not ResourceType.CLUSTER and rng.random() < 0.5:
        pattern, name = PatternType.PREFIXED, name[:4]
    operation = rng.choice(
        [Operation.ALL, *supported_operations(kind, Stage().cluster.policy.rules)]
    )
    host = rng.choice(["*", "10.0.0.1"])
    permission = rng.choice([Permission.ALLOW, Permission.ALLOW, Permission.DENY])
    return Acl(kind, name, pattern, rng.choice(ACTORS).principal, host, operation, permission)


@pytest.mark.parametrize("release", ["", "2.8", "0.11"])
def test_operations_follow_each_change_of_the_acls(release: str) -> None:
    rng, stage = random.Random(37), Stage(release)
    store, found = authorizer_of(stage).store, set()
    for _ in range(60):
        acls = list(store)
        if acls and rng.random() < 0.4:
            store.remove(rng.choice(acls))
        else:
            store.add(random_acl(rng))
        assert operations(stage) == operations(stage) == decided_operations(stage)
        found.add(tuple(operations(stage)))
    assert len(found) > 20


def test_operations_are_decided_once_until_an_acl_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.allow("User:a", Operation.READ, ResourceType.TOPIC, "orders")
    first = operations(stage)
    monkeypatch.setattr(StandardAuthorizer, "authorize", lambda *_: pytest.fail(NEVER_CALLED))
    assert operations(stage) == first
    stage.allow("User:a", Operation.WRITE, ResourceType.TOPIC, "orders")
    with pytest.raises(pytest.fail.Exception, match=NEVER_CALLED):
        operations(stage)


def test_kept_operations_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_shim.authorizer.authorizer.CACHED_DECISIONS_MAX", 3)
    stage = Stage()
    for number in range(20):
        access = Access(stage.cluster.policy, 1, ACTORS[0])
        access.authorized_operations(ResourceType.TOPIC, f"t{number}")
        assert len(authorizer_of(stage)._derived_cache) <= 3
