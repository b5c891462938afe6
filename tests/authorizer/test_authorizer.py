"""The standard authorizer as a whole."""

import msgspec
import pytest
from msgspec.structs import replace

from kafka_shim.authorizer.acl_rules import NEWEST_RULES, AclRules
from kafka_shim.authorizer.authorizer import (
    AclCreateResult,
    AclDeleteResult,
    Authorizer,
    StandardAuthorizer,
    parse_super_users,
)
from kafka_shim.authorizer.model import Acl, AclFilter, Action, Actor, DecisionReason
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from tests.support.acls import make_acl

ADMIN = Actor("User:admin", "127.0.0.1")
ALICE = Actor("User:alice", "127.0.0.1")


def read_acl(name: str = "orders", principal: str = "User:alice") -> Acl:
    return make_acl(Operation.READ, name, principal=principal)


READ_ORDERS = Action(Operation.READ, ResourceType.TOPIC, "orders")


def test_the_standard_authorizer_is_an_authorizer() -> None:
    assert isinstance(StandardAuthorizer(), Authorizer)


def test_an_acl_is_created_decided_by_described_and_deleted() -> None:
    authorizer = StandardAuthorizer()
    assert not authorizer.authorize(ALICE, READ_ORDERS).allowed
    assert authorizer.create_acls(ADMIN, [read_acl()]) == [AclCreateResult()]
    decision = authorizer.authorize(ALICE, READ_ORDERS)
    assert (decision.allowed, decision.reason, decision.acl) == (
        True,
        DecisionReason.ACL,
        read_acl(),
    )
    assert list(authorizer.acls(AclFilter())) == [read_acl()]
    deleted = authorizer.delete_acls(ADMIN, [AclFilter(resource_name="orders")])
    assert deleted == [AclDeleteResult(matches=(read_acl(),))]
    assert not authorizer.authorize(ALICE, READ_ORDERS).allowed


def test_a_batch_continues_after_a_rejected_element() -> None:
    authorizer = StandardAuthorizer()
    acls = [read_acl("a"), read_acl(principal="alice"), read_acl("b"), read_acl("a")]
    results = authorizer.create_acls(ADMIN, acls)
    assert [result.error for result in results] == [None, ErrorCode.INVALID_REQUEST, None, None]
    assert set(authorizer.acls(AclFilter())) == {read_acl("a"), read_acl("b")}


def test_too_many_new_acls_are_all_rejected() -> None:
    authorizer = StandardAuthorizer(rules=msgspec.structs.replace(NEWEST_RULES, batch_limit=3))
    acls = [read_acl(f"t{n}") for n in range(4)]
    results = authorizer.create_acls(ADMIN, acls)
    assert {result.error for result in results} == {ErrorCode.POLICY_VIOLATION}
    assert len(results) == 4
    assert len(authorizer.store) == 0
    # ACLs that exist already do not count
    assert authorizer.create_acls(ADMIN, acls[:3]) == [AclCreateResult()] * 3
    assert authorizer.create_acls(ADMIN, [*acls, *acls]) == [AclCreateResult()] * 8
    # one filter that matches too many ACLs fails all filters
    results2 = authorizer.delete_acls(ADMIN, [AclFilter(), AclFilter(resource_name="t0")])
    assert [(r.error, r.matches) for r in results2] == [(ErrorCode.INVALID_REQUEST, ())] * 2
    assert len(authorizer.store) == 4


def test_without_a_limit_any_number_is_stored() -> None:
    authorizer = StandardAuthorizer(rules=msgspec.structs.replace(NEWEST_RULES, batch_limit=None))
    acls = [read_acl(f"t{n}") for n in range(10_001)]
    assert authorizer.create_acls(ADMIN, acls) == [AclCreateResult()] * 10_001
    (result,) = authorizer.delete_acls(ADMIN, [AclFilter()])
    assert len(result.matches) == 10_001
    assert len(authorizer.store) == 0


A, B, C = (read_acl(name) for name in "abc")


@pytest.mark.parametrize(
    ("rules", "matches"),
    [
        (NEWEST_RULES, [(A,), (A, B, C), (B,)]),
        (
            msgspec.structs.replace(NEWEST_RULES, every_matching_filter_reports=False),
            [(A,), (B, C), ()],
        ),
        (
            msgspec.structs.replace(
                NEWEST_RULES,
                every_matching_filter_reports=False,
                first_matching_filter_reports=False,
            ),
            [(), (A, C), (B,)],
        ),
    ],
)
def test_overlapping_filters(rules: AclRules, matches: list[tuple[Acl, ...]]) -> None:
    authorizer = StandardAuthorizer(rules=rules, store=AclStore([A, B, C]))
    filters = [AclFilter(resource_name="a"), AclFilter(), AclFilter(resource_name="b")]
    assert [result.matches for result in authorizer.delete_acls(ADMIN, filters)] == matches
    assert len(authorizer.store) == 0


def test_a_rejected_filter_does_not_stop_the_others() -> None:
    authorizer = StandardAuthorizer(store=AclStore([A]))
    filters = [AclFilter(operation=Operation.UNKNOWN), AclFilter(resource_name="z"), AclFilter()]
    results = authorizer.delete_acls(ADMIN, filters)
    assert [result.error for result in results] == [ErrorCode.INVALID_REQUEST, None, None]
    assert [result.matches for result in results] == [(), (), (A,)]


def test_by_resource_type_follows_the_rules() -> None:
    store = AclStore([read_acl("*", "User:bob")])
    question = (ALICE, Operation.WRITE, ResourceType.TOPIC)
    for rules, allowed in (
        (NEWEST_RULES, False),
        (msgspec.structs.replace(NEWEST_RULES, allow_everyone_by_resource_type=True), True),
    ):
        authorizer = StandardAuthorizer(allow_everyone=True, rules=rules, store=store)
        assert authorizer.authorize_by_resource_type(*question).allowed is allowed


def test_starred_names_follow_the_rules() -> None:
    store = AclStore([read_acl("*")])
    action = Action(Operation.READ, ResourceType.TOPIC, "*eu")
    assert not StandardAuthorizer(store=store).authorize(ALICE, action).allowed
    rules = msgspec.structs.replace(NEWEST_RULES, wildcard_covers_starred_names=True)
    assert StandardAuthorizer(store=store, rules=rules).authorize(ALICE, action).allowed


# ------------------------------------------------------------------ configuration


def test_configuration_by_kafkas_names() -> None:
    authorizer = StandardAuthorizer()
    authorizer.configure(
        {"super.users": "User:admin; User:ops ;", "allow.everyone.if.no.acl.found": " TRUE "}
    )
    assert authorizer.authorize(ADMIN, READ_ORDERS).reason is DecisionReason.SUPER_USER
    assert authorizer.authorize(Actor("User:ops", "h"), READ_ORDERS).allowed
    assert authorizer.authorize(ALICE, READ_ORDERS).reason is DecisionReason.DEFAULT_ALLOW


def test_missing_settings_keep_their_values() -> None:
    authorizer = StandardAuthorizer(super_users=["User:admin"], allow_everyone=True)
    authorizer.configure({"broker.id": "1"})
    assert authorizer.authorize(ADMIN, READ_ORDERS).reason is DecisionReason.SUPER_USER
    assert authorizer.authorize(ALICE, READ_ORDERS).reason is DecisionReason.DEFAULT_ALLOW
    assert (authorizer.super_users, authorizer.allow_everyone) == (frozenset({"User:admin"}), True)
    authorizer.configure({"super.users": "", "allow.everyone.if.no.acl.found": "false"})
    for actor in (ADMIN, ALICE):
        assert authorizer.authorize(actor, READ_ORDERS).reason is DecisionReason.DEFAULT_DENY


# ------------------------------------------------------------------ decisions that are kept


def test_a_cached_decision_ends_with_a_change() -> None:
    authorizer = StandardAuthorizer()
    asked = lambda: authorizer.authorize(ALICE, READ_ORDERS).allowed  # noqa: E731 read as a name
    assert [asked(), asked()] == [False, False]
    authorizer.create_acls(ADMIN, [read_acl()])
    assert [asked(), asked()] == [True, True]
    authorizer.store.remove(read_acl())
    assert not asked()
    authorizer.store.replace_all([read_acl()])
    assert asked()
    authorizer.delete_acls(ADMIN, [AclFilter()])
    assert not asked()
    authorizer.configure({"super.users": "User:alice"})
    assert asked()


def test_the_default_returns_with_the_removal_of_the_last_acl() -> None:
    authorizer = StandardAuthorizer(allow_everyone=True)
    for other in (read_acl(principal="User:bob"), read_acl("*", principal="User:bob")):
        assert authorizer.authorize(ALICE, READ_ORDERS).reason is DecisionReason.DEFAULT_ALLOW
        authorizer.create_acls(ADMIN, [other])
        assert authorizer.authorize(ALICE, READ_ORDERS).reason is DecisionReason.DEFAULT_DENY
        authorizer.delete_acls(ADMIN, [AclFilter()])
    assert authorizer.authorize(ALICE, READ_ORDERS).reason is DecisionReason.DEFAULT_ALLOW


def test_a_cached_decision_by_type_ends_with_a_change() -> None:
    authorizer = StandardAuthorizer()
    question = (ALICE, Operation.READ, ResourceType.TOPIC)
    asked = lambda: authorizer.authorize_by_resource_type(*question).allowed  # noqa: E731 a name
    assert [asked(), asked()] == [False, False]
    authorizer.create_acls(ADMIN, [read_acl()])
    assert [asked(), asked()] == [True, True]
    for other in (
        (Actor("User:bob", ALICE.host), Operation.READ, ResourceType.TOPIC),
        (ALICE, Operation.WRITE, ResourceType.TOPIC),
        (ALICE, Operation.READ, ResourceType.GROUP),
    ):
        assert not authorizer.authorize_by_resource_type(*other).allowed
    here = replace(read_acl(), host="10.0.0.1")
    at_one_host = StandardAuthorizer(store=AclStore([here]))
    for host, allowed in (("10.0.0.1", True), ("10.0.0.2", False)):
        decision = at_one_host.authorize_by_resource_type(Actor("User:alice", host), *question[1:])
        assert decision.allowed is allowed
    authorizer.delete_acls(ADMIN, [AclFilter()])
    assert not asked()


def test_every_part_of_an_access_is_in_the_cache_key() -> None:
    authorizer = StandardAuthorizer(store=AclStore([read_acl()]))
    assert authorizer.authorize(ALICE, READ_ORDERS).allowed
    others = [
        (Actor("User:bob", ALICE.host), READ_ORDERS),
        (ALICE, Action(Operation.WRITE, ResourceType.TOPIC, "orders")),
        (ALICE, Action(Operation.READ, ResourceType.GROUP, "orders")),
        (ALICE, Action(Operation.READ, ResourceType.TOPIC, "payments")),
        (ALICE, Action(Operation.READ, ResourceType.UNKNOWN, "orders")),
    ]
    assert not any(authorizer.authorize(*other).allowed for other in others)
    only_here = AclStore([replace(read_acl(), host="10.0.0.1")])
    authorizer = StandardAuthorizer(store=only_here)
    assert authorizer.authorize(Actor("User:alice", "10.0.0.1"), READ_ORDERS).allowed
    assert not authorizer.authorize(Actor("User:alice", "10.0.0.2"), READ_ORDERS).allowed


def test_cached_decisions_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_shim.authorizer.authorizer.CACHED_DECISIONS_MAX", 3)
    authorizer = StandardAuthorizer(store=AclStore([read_acl()]))
    for n in range(10):
        name = "orders" if n % 2 else f"t{n}"
        action = Action(Operation.READ, ResourceType.TOPIC, name)
        assert authorizer.authorize(ALICE, action).allowed is (name == "orders")
        assert len(authorizer._decisions) <= 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        (" ; ;", set()),
        ("User:a", {"User:a"}),
        ("User:CN=a,O=b;User:x:y; Group:g ", {"User:CN=a,O=b", "User:x:y", "Group:g"}),
    ],
)
def test_super_users(text: str, expected: set[str]) -> None:
    assert parse_super_users(text) == expected


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"super.users": "User:a;admin"}, "super user `admin` "),
        (
            {"allow.everyone.if.no.acl.found": "yes"},
            "invalid value `yes` of allow.everyone.if.no.acl.found; expected true or false",
        ),
    ],
)
def test_an_invalid_configuration_is_reported(config: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint.replace(".", r"\.")):
        StandardAuthorizer().configure(config)
