"""The truth table of Kafka's authorizer, example by example."""

import pytest

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.decide import (
    PROBED_NAME,
    decide_access,
    decide_by_resource_type,
    decide_by_resource_type_as_acl_authorizer,
)
from kafka_shim.authorizer.model import Acl, Action, Actor, Decision, DecisionReason
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

ALICE = Actor("User:alice", "10.0.0.1")


def acl(text: str, *, of: str = "User:alice", host: str = "*") -> Acl:
    """Parse `deny READ topic orders`, or `allow READ topic orders-...` for a prefixed ACL."""
    permission, operation, resource_type, name = text.split(" ", 3)
    return Acl(
        ResourceType[resource_type.upper()],
        name.removesuffix("..."),
        PatternType.PREFIXED if name.endswith("...") else PatternType.LITERAL,
        of,
        host,
        Operation[operation],
        Permission[permission.upper()],
    )


def asked(
    acls: list[Acl], operation: str, name: str = "orders", *, actor: Actor = ALICE
) -> Decision:
    action = Action(Operation[operation], ResourceType.TOPIC, name)
    return decide_access(AclStore(acls), actor, action)


@pytest.mark.parametrize(
    ("acls", "operation", "allowed"),
    [
        (["deny READ topic orders", "allow ALTER topic orders"], "DESCRIBE", True),
        (["deny READ topic orders", "allow ALTER topic orders"], "READ", False),
        (["allow ALL topic orders", "deny DESCRIBE topic orders"], "READ", True),
        (["allow ALL topic orders", "deny DESCRIBE topic orders"], "DESCRIBE", False),
        (["allow CREATE topic orders"], "DESCRIBE", False),
        (["allow ALTER_CONFIGS topic orders"], "DESCRIBE_CONFIGS", True),
        (["allow ALTER_CONFIGS topic orders"], "DESCRIBE", False),
        (["allow DESCRIBE_CONFIGS topic orders"], "DESCRIBE", False),
        (["allow CLUSTER_ACTION topic orders"], "DESCRIBE", False),
        (["allow IDEMPOTENT_WRITE topic orders"], "DESCRIBE", False),
        (["allow READ topic orders"], "DESCRIBE", True),
        (["allow WRITE topic orders"], "DESCRIBE", True),
        (["allow DELETE topic orders"], "DESCRIBE", True),
        (["allow DESCRIBE topic orders"], "READ", False),
        (["allow ALL topic orders", "deny ALL topic orders"], "READ", False),
        # a deny wins, however specific either is
        (["allow READ topic orders", "deny READ topic *"], "READ", False),
        (["allow READ topic orders", "deny READ topic o..."], "READ", False),
        (["allow READ topic *", "deny READ topic orders"], "READ", False),
        (["allow READ topic o..."], "READ", True),
        (["allow READ topic *"], "READ", True),
        (["allow READ topic orders-eu..."], "READ", False),
        ([], "READ", False),
    ],
)
def test_truth_table(acls: list[str], operation: str, allowed: bool) -> None:
    assert asked([acl(text) for text in acls], operation).allowed is allowed


def test_a_prefixed_asterisk_is_not_a_wildcard() -> None:
    acls = [acl("allow READ topic *...")]
    assert not asked(acls, "READ").allowed
    assert asked(acls, "READ", "*eu").allowed


@pytest.mark.parametrize("covers", [False, True])
def test_whether_the_wildcard_covers_names_that_begin_with_an_asterisk(covers: bool) -> None:
    store = AclStore([acl("allow READ group *")])
    action = Action(Operation.READ, ResourceType.GROUP, "*eu")
    decision = decide_access(store, ALICE, action, wildcard_covers_starred_names=covers)
    assert decision.allowed is covers
    # the wildcard is ignored, as if the resource had no ACL
    everyone = decide_access(store, ALICE, action, frozenset(), True, covers)
    assert everyone.reason is (DecisionReason.ACL if covers else DecisionReason.DEFAULT_ALLOW)
    plain = Action(Operation.READ, ResourceType.GROUP, "*")
    assert decide_access(store, ALICE, plain, wildcard_covers_starred_names=covers).allowed


def test_a_prefix_of_one_resource_type_does_not_reach_another() -> None:
    # redpanda#1579: a prefixed topic ACL matched groups of the same prefix
    acls = [acl("allow ALL topic team-...")]
    assert asked(acls, "READ", "team-a").allowed
    for other in (ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID):
        assert not decide_access(
            AclStore(acls), ALICE, Action(Operation.READ, other, "team-a")
        ).allowed


def test_the_wildcard_principal_is_for_principals_of_any_type() -> None:
    acls = [acl("allow READ topic orders", of="User:*")]
    for principal in ("User:bob", "Group:staff", "User:ANONYMOUS", "Role:a:b"):
        assert asked(acls, "READ", actor=Actor(principal, "h")).allowed
    starred = [acl("allow READ topic orders", of="Group:*")]
    assert not asked(starred, "READ", actor=Actor("Group:staff", "h")).allowed


@pytest.mark.parametrize(
    "principal", ["User:a:b", "User:", "User:CN=a,OU=b,O=c", "User:with space", "user:alice"]
)
def test_principals_are_compared_as_text(principal: str) -> None:
    acls = [acl("allow READ topic orders", of=principal)]
    assert asked(acls, "READ", actor=Actor(principal, "h")).allowed
    for other in ("User:a", "User:alice", "User:CN=a", f"{principal} "):
        assert not asked(acls, "READ", actor=Actor(other, "h")).allowed


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("10.0.0.1", True),
        ("*", True),
        ("10.0.0.10", False),
        ("10.0.0.*", False),
        ("localhost", False),
        ("", False),
    ],
)
def test_hosts_are_compared_as_text(host: str, allowed: bool) -> None:
    assert asked([acl("allow READ topic orders", host=host)], "READ").allowed is allowed


def test_a_network_includes_its_addresses_since_4_4() -> None:
    acls = [acl("allow READ topic orders", host="10.0.0.0/8")]
    for release, allowed in (("4.3", False), ("4.4", True)):
        authorizer = StandardAuthorizer(rules=acl_rules_of_release(release), store=AclStore(acls))
        action = Action(Operation.READ, ResourceType.TOPIC, "orders")
        assert authorizer.authorize(Actor("User:alice", "10.0.0.1"), action).allowed is allowed
        assert not authorizer.authorize(Actor("User:alice", "11.0.0.1"), action).allowed


def test_an_ipv6_host_is_javas_text() -> None:
    actor = Actor("User:alice", "0:0:0:0:0:0:0:1")
    long, short = (acl("allow READ topic t", host=host) for host in (actor.host, "::1"))
    assert asked([long], "READ", "t", actor=actor).allowed
    assert not asked([short], "READ", "t", actor=actor).allowed


def test_super_users_are_allowed_despite_denies() -> None:
    store = AclStore([acl("deny ALL topic *", of="User:*")])
    action = Action(Operation.READ, ResourceType.TOPIC, "orders")
    supers = frozenset({"User:admin"})
    decision = decide_access(store, Actor("User:admin", "h"), action, supers)
    assert decision == Decision(allowed=True, reason=DecisionReason.SUPER_USER)
    assert not decide_access(store, Actor("User:Admin", "h"), action, supers).allowed
    assert not decide_access(store, Actor("Group:admin", "h"), action, supers).allowed


@pytest.mark.parametrize(
    ("acls", "because"),
    [
        ([], DecisionReason.DEFAULT_ALLOW),
        ([acl("allow READ topic payments")], DecisionReason.DEFAULT_ALLOW),
        ([acl("allow READ group orders")], DecisionReason.DEFAULT_ALLOW),
        # any matching ACL ends the default, whatever its principal and operation
        ([acl("allow READ topic orders", of="User:bob")], DecisionReason.DEFAULT_DENY),
        ([acl("deny CREATE topic orders", of="User:bob")], DecisionReason.DEFAULT_DENY),
        ([acl("allow READ topic *", of="User:bob", host="1.1.1.1")], DecisionReason.DEFAULT_DENY),
        ([acl("allow READ topic ord...", of="User:bob")], DecisionReason.DEFAULT_DENY),
    ],
)
def test_everyone_is_allowed_only_where_no_acl_matches(
    acls: list[Acl], because: DecisionReason
) -> None:
    action = Action(Operation.WRITE, ResourceType.TOPIC, "orders")
    decision = decide_access(AclStore(acls), ALICE, action, frozenset(), allow_everyone=True)
    assert decision == Decision(decision.allowed, because)
    assert decision.allowed is (because is DecisionReason.DEFAULT_ALLOW)
    assert decide_access(AclStore(acls), ALICE, action).reason is DecisionReason.DEFAULT_DENY


def test_the_first_deny_in_reading_order_is_named() -> None:
    acls = [
        acl("deny ALL topic *"),
        acl("deny READ topic o..."),
        acl("deny READ topic orders"),
        acl("deny READ topic orders..."),
        acl("deny ALL topic orders", of="User:*"),
        acl("deny ALL topic orders"),
        acl("deny ALL topic orders", host="10.0.0.1"),
        acl("allow ALL topic orders"),
    ]
    # literal before prefixed, longest name first, `*` last; then operation, principal, host
    assert asked(acls, "READ").acl == acls[4]
    assert asked(acls[:4], "READ").acl == acls[2]
    assert asked([*acls[:2], acls[3]], "READ").acl == acls[3]
    assert asked(acls[:2], "READ").acl == acls[1]
    assert asked(acls[5:], "READ").acl == acls[5]


def test_the_last_allow_in_reading_order_is_named() -> None:
    acls = [
        acl("allow READ topic orders"),
        acl("allow READ topic orders", host="10.0.0.1"),
        acl("allow DESCRIBE topic orders"),
        acl("allow READ topic ord..."),
        acl("allow ALL topic *"),
        acl("deny WRITE topic orders"),
    ]
    assert asked(acls, "DESCRIBE").acl == acls[4]
    assert asked(acls[:4], "DESCRIBE").acl == acls[3]
    assert asked(acls[:3], "DESCRIBE").acl == acls[2]
    assert asked(acls[:2], "READ").acl == acls[1]


# ------------------------------------------------------------------ by resource type


def by_probe(
    store: AclStore,
    actor: Actor,
    operation: Operation,
    kind: ResourceType,
    super_users: frozenset[str] = frozenset(),
    allow_everyone: bool = False,
) -> Decision:
    """Decide as brokers on KRaft do: first about the name `hardcode`, then by resource type."""
    probe = decide_access(
        store, actor, Action(operation, kind, PROBED_NAME), super_users, allow_everyone
    )
    return decide_by_resource_type(store, actor, operation, kind, probe)


def by_type(acls: list[Acl], operation: str = "WRITE", *, everyone: bool = False) -> bool:
    question = (ALICE, Operation[operation], ResourceType.TOPIC, frozenset[str](), everyone)
    return by_probe(AclStore(acls), *question).allowed


@pytest.mark.parametrize(
    ("acls", "allowed"),
    [
        (["allow WRITE topic foo...", "deny WRITE topic foob..."], True),
        (["allow WRITE topic foo...", "deny WRITE topic f..."], False),
        (["allow WRITE topic foo...", "deny WRITE topic foo..."], False),
        (["allow WRITE topic foo...", "deny WRITE topic foo"], True),
        (["allow WRITE topic t", "deny WRITE topic t..."], False),
        (["allow WRITE topic t", "deny WRITE topic t"], False),
        (["allow WRITE topic t", "deny ALL topic t"], False),
        (["allow WRITE topic t", "deny READ topic t"], True),
        (["allow READ topic t"], False),
        (["allow ALL topic t"], True),
        (["allow ALTER topic t"], False),
        (["allow WRITE topic t", "deny DESCRIBE topic *"], True),
        (["allow WRITE topic t", "deny WRITE topic *"], False),
        (["allow WRITE topic *", "deny WRITE topic t"], True),
        (["allow WRITE topic *", "deny WRITE topic *"], False),
        (["allow WRITE topic *", "deny WRITE topic *..."], True),
        (["allow WRITE topic *", "deny WRITE topic hardcode"], True),
        (["allow WRITE topic *...", "deny WRITE topic *..."], False),
        (["allow WRITE group t"], False),
        ([], False),
    ],
)
def test_write_on_any_topic(acls: list[str], allowed: bool) -> None:
    found = [acl(text) for text in acls]
    assert by_type(found) is allowed
    question = (ALICE, Operation.WRITE, ResourceType.TOPIC)
    zookeeper = decide_by_resource_type_as_acl_authorizer(AclStore(found), *question)
    assert zookeeper.allowed is allowed


def test_entries_of_others_do_not_count_by_type() -> None:
    assert not by_type([acl("allow WRITE topic t", of="User:bob")])
    assert not by_type([acl("allow WRITE topic t", host="10.0.0.2")])
    assert by_type([acl("allow WRITE topic t", of="User:*", host="10.0.0.1")])
    assert by_type([acl("allow WRITE topic t"), acl("deny WRITE topic t", of="User:bob")])


@pytest.mark.parametrize(
    ("acls", "default", "zookeeper"),
    [
        ([], True, True),
        # an ACL that matches the name `hardcode` ends the default
        ([acl("allow READ topic *", of="User:bob")], False, True),
        ([acl("allow READ topic h...", of="User:bob")], False, True),
        ([acl("allow READ topic other", of="User:bob")], True, True),
        ([acl("deny WRITE topic other")], True, True),
        ([acl("deny WRITE topic *")], False, False),
    ],
)
def test_everyone_by_type(acls: list[Acl], default: bool, zookeeper: bool) -> None:
    assert by_type(acls, everyone=True) is default
    question = (ALICE, Operation.WRITE, ResourceType.TOPIC, frozenset[str](), True)
    found = decide_by_resource_type_as_acl_authorizer(AclStore(acls), *question)
    assert found.allowed is zookeeper


def test_super_users_by_type() -> None:
    store = AclStore([acl("deny ALL topic *", of="User:*")])
    question = (ALICE, Operation.WRITE, ResourceType.TOPIC, frozenset({"User:alice"}))
    for function in (by_probe, decide_by_resource_type_as_acl_authorizer):
        assert function(store, *question).reason is DecisionReason.SUPER_USER


def test_the_deciding_entry_is_named_by_type() -> None:
    allow, deny = acl("allow WRITE topic foo..."), acl("deny WRITE topic *")
    question = (ALICE, Operation.WRITE, ResourceType.TOPIC)
    for function in (by_probe, decide_by_resource_type_as_acl_authorizer):
        assert function(AclStore([allow]), *question) == Decision(True, DecisionReason.ACL, allow)
        assert function(AclStore([allow, deny]), *question) == Decision(
            False, DecisionReason.ACL, deny
        )
        assert function(AclStore(), *question).reason is DecisionReason.DEFAULT_DENY
