"""Decisions and filters for random ACLs, compared with a naive reference implementation."""

from collections.abc import Iterable
from ipaddress import ip_address, ip_network

import pytest
from hypothesis import example, given, settings, strategies as st

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.decide import (
    decide_access,
    decide_by_resource_type,
    decide_by_resource_type_as_acl_authorizer,
)
from kafka_shim.authorizer.model import Acl, AclFilter, Action, Actor
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

pytestmark = pytest.mark.deep

LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
IMPLYING = {
    Operation.DESCRIBE: "READ WRITE DELETE ALTER DESCRIBE",
    Operation.DESCRIBE_CONFIGS: "ALTER_CONFIGS DESCRIBE_CONFIGS",
}

# ------------------------------------------------------------------ the reference


def covers(acl: Acl, resource_type: ResourceType, name: str) -> bool:
    if acl.resource_type != resource_type:
        return False
    if acl.pattern_type is PREFIXED:
        return name.startswith(acl.resource_name)
    is_starred = name.startswith("*") and name != "*"
    return acl.resource_name == name or (acl.resource_name == "*" and not is_starred)


def is_for(acl: Acl, actor: Actor) -> bool:
    if acl.principal not in (actor.principal, "User:*"):
        return False
    if "/" in acl.host:
        return ip_address(actor.host) in ip_network(acl.host, strict=False)
    return acl.host in (actor.host, "*")


def responses(acl: Acl, operation: Operation) -> bool:
    if acl.operation in (operation, Operation.ALL):
        return True
    implying = IMPLYING.get(operation, "").split()
    return acl.permission is Permission.ALLOW and acl.operation.name in implying


def naive(acls: Iterable[Acl], actor: Actor, action: Action, everyone: bool) -> bool:
    matched = [acl for acl in acls if covers(acl, action.resource_type, action.resource_name)]
    if not matched:
        return everyone
    applying = [a for a in matched if is_for(a, actor) and responses(a, action.operation)]
    return bool(applying) and all(acl.permission is Permission.ALLOW for acl in applying)


def naive_by_type(
    acls: Iterable[Acl], actor: Actor, operation: Operation, resource_type: ResourceType
) -> bool | None:
    """Return whether an ALLOW exists that no DENY dominates; None for a DENY on literal `*`."""
    mine = [
        acl
        for acl in acls
        if acl.resource_type == resource_type
        and is_for(acl, actor)
        and acl.operation in (operation, Operation.ALL)
    ]
    denies = [acl for acl in mine if acl.permission is Permission.DENY]
    if any(acl.pattern_type is LITERAL and acl.resource_name == "*" for acl in denies):
        return None
    return any(
        not any(dominates(deny, acl) for deny in denies)
        for acl in mine
        if acl.permission is Permission.ALLOW
    )


def dominates(deny: Acl, allow: Acl) -> bool:
    if allow.pattern_type is LITERAL and allow.resource_name == "*":
        return False
    if deny.pattern_type is PREFIXED:
        return allow.resource_name.startswith(deny.resource_name)
    return allow.pattern_type is LITERAL and allow.resource_name == deny.resource_name


def naive_selects(f: AclFilter, acl: Acl) -> bool:
    pattern_type = f.pattern_type
    if pattern_type is PatternType.MATCH and f.resource_name is not None:
        name_fits = acl.resource_name == f.resource_name or (
            f.resource_name.startswith(acl.resource_name)
            if acl.pattern_type is PREFIXED
            else acl.resource_name == "*"
        )
    else:
        any_type = pattern_type in (PatternType.ANY, PatternType.MATCH)
        name_fits = any_type or pattern_type == acl.pattern_type
        name_fits = name_fits and f.resource_name in (None, acl.resource_name)
    return (
        name_fits
        and f.resource_type in (ResourceType.ANY, acl.resource_type)
        and f.principal in (None, acl.principal)
        and f.host in (None, acl.host)
        and f.operation in (Operation.ANY, acl.operation)
        and f.permission in (Permission.ANY, acl.permission)
    )


# ------------------------------------------------------------------ random worlds

NAMES = st.one_of(
    st.sampled_from(["*", "hardcode", "hard", "a", "ab", "abc", "b", "*a"]),
    st.text(alphabet="ab*", min_size=1, max_size=12),
)
PRINCIPALS = st.sampled_from(["User:a", "User:b", "Group:g", "User:*", "User:x:y", "User:CN=a,O=b"])
ADDRESSES = st.sampled_from(["10.0.0.1", "10.0.0.2", "2001:db8:0:0:0:0:0:1"])
NETWORKS = st.sampled_from(["10.0.0.0/8", "10.0.0.2/31", "0.0.0.0/0", "2001:db8::/32", "::/1"])
HOSTS = st.one_of(st.just("*"), ADDRESSES, NETWORKS)
OPERATIONS = st.sampled_from([operation for operation in Operation if operation > Operation.ANY])
WRITING = st.sampled_from([Operation.WRITE, Operation.ALL])
TYPES = st.sampled_from([ResourceType.TOPIC, ResourceType.GROUP])
PERMISSIONS = st.sampled_from([Permission.ALLOW, Permission.DENY])
ACLS = st.builds(
    Acl,
    TYPES,
    NAMES,
    st.sampled_from([LITERAL, PREFIXED]),
    PRINCIPALS,
    HOSTS,
    st.one_of(WRITING, OPERATIONS),
    PERMISSIONS,
)
ACL_SETS = st.lists(ACLS, max_size=25)
ACTORS = st.builds(Actor, PRINCIPALS.filter(lambda p: p != "User:*"), ADDRESSES)
FILTERS = st.builds(
    AclFilter,
    st.sampled_from(ResourceType),
    st.none() | NAMES,
    st.sampled_from(PatternType),
    st.none() | PRINCIPALS,
    st.none() | HOSTS,
    st.sampled_from(Operation),
    st.sampled_from(Permission),
)


@settings(max_examples=300)
@given(ACL_SETS, ACTORS, st.builds(Action, OPERATIONS, TYPES, NAMES), st.booleans())
def test_decisions_agree_with_the_naive_engine(
    acls: list[Acl], actor: Actor, action: Action, everyone: bool
) -> None:
    decision = decide_access(AclStore(acls), actor, action, frozenset(), everyone)
    assert decision.allowed == naive(set(acls), actor, action, everyone)
    authorizer = StandardAuthorizer(allow_everyone=everyone, store=AclStore(acls))
    bits = authorizer.allowed_operation_bits(actor, action.resource_type, action.resource_name)
    assert bool(bits >> action.operation & 1) == decision.allowed
    if decision.acl is not None:
        assert decision.acl in acls
        assert is_for(decision.acl, actor)
        assert covers(decision.acl, action.resource_type, action.resource_name)
        assert responses(decision.acl, action.operation)
        assert (decision.acl.permission is Permission.ALLOW) == decision.allowed


@settings(max_examples=300)
@given(ACL_SETS, ACTORS, st.one_of(WRITING, OPERATIONS), TYPES, st.booleans())
def test_decisions_by_resource_type_agree_with_the_naive_engine(
    acls: list[Acl], actor: Actor, operation: Operation, kind: ResourceType, everyone: bool
) -> None:
    store = AclStore(acls)
    action = Action(operation, kind, "hardcode")
    by_type = naive_by_type(acls, actor, operation, kind)
    probe = decide_access(store, actor, action, allow_everyone=everyone)
    default = decide_by_resource_type(store, actor, operation, kind, probe)
    assert default.allowed == (naive(acls, actor, action, everyone) or bool(by_type))
    zookeeper = decide_by_resource_type_as_acl_authorizer(
        store, actor, operation, kind, frozenset(), everyone
    )
    assert zookeeper.allowed == (by_type is not None and (everyone or by_type))


@settings(max_examples=300)
@given(ACL_SETS, FILTERS)
@example(
    [
        Acl(ResourceType.TOPIC, name, PREFIXED, "User:a", "*", Operation.READ, Permission.ALLOW)
        for name in ("ab", "abc")
    ],
    AclFilter(resource_name="ab", pattern_type=PatternType.MATCH),
)
def test_filters_agree_with_the_naive_engine(acls: list[Acl], acl_filter: AclFilter) -> None:
    found = list(AclStore(acls).acls_matching(acl_filter))
    assert len(found) == len(set(found))
    assert set(found) == {acl for acl in acls if naive_selects(acl_filter, acl)}


@settings(max_examples=200)
@given(st.lists(st.tuples(st.booleans(), ACLS), max_size=60))
def test_a_store_is_a_set_with_an_epoch(steps: list[tuple[bool, Acl]]) -> None:
    store, expected = AclStore(), set[Acl]()
    for is_addition, acl in steps:
        epoch, changes = store.epoch, (acl in expected) != is_addition
        assert (store.add(acl) if is_addition else store.remove(acl)) == changes
        (expected.add if is_addition else expected.discard)(acl)
        assert store.epoch == epoch + changes
        assert len(store) == len(expected)
    assert set(store) == expected
    assert all(acl in store for acl in expected)
    # the indexes keep no trace of removed ACLs
    twin = AclStore(expected)
    actor, action = Actor("User:a", "10.0.0.1"), Action(Operation.WRITE, ResourceType.TOPIC, "ab")
    assert decide_access(store, actor, action) == decide_access(twin, actor, action)
    for name in ("ab", "a", "*", "hardcode"):
        nobody = (Actor("User:nobody", "h"), Action(Operation.READ, ResourceType.TOPIC, name))
        assert decide_access(store, *nobody, frozenset(), True) == decide_access(
            twin, *nobody, frozenset(), True
        )
    assert set(store.acls_matching(AclFilter(principal="User:*"))) == {
        acl for acl in expected if acl.principal == "User:*"
    }
