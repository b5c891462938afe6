from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from kafka_shim.authorizer.acl_rules import NEWEST_RULES
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.explaining.explanation import (
    InapplicableAcl,
    decision_reason_text,
    explain_decision,
)
from kafka_shim.authorizer.model import Acl, Action, Actor, DecisionReason
from kafka_shim.authorizer.remedy import Step
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

ALICE = Actor("User:alice", "10.0.0.1")
READ_ORDERS = Action(Operation.READ, ResourceType.TOPIC, "orders")


def acl(
    principal: str = "User:alice",
    operation: Operation = Operation.READ,
    name: str = "orders",
    host: str = "*",
    permission: Permission = Permission.ALLOW,
    pattern_type: PatternType = PatternType.LITERAL,
) -> Acl:
    return Acl(ResourceType.TOPIC, name, pattern_type, principal, host, operation, permission)


def authorizer(*acls: Acl, **settings: Any) -> StandardAuthorizer:
    return StandardAuthorizer(store=AclStore(acls), **settings)


ALLOW = acl()
PREFIXED_DENY = acl(name="ord", permission=Permission.DENY, pattern_type=PatternType.PREFIXED)
EVERYONE_DENY = acl("User:*", Operation.ALL, permission=Permission.DENY)


def test_without_acls_an_allow_is_missing() -> None:
    found = explain_decision(authorizer(), ALICE, READ_ORDERS)
    assert decision_reason_text(found) == "no ACL allows it; the resource has no ACLs"
    assert found.steps_to_allow == (Step(is_addition=True, acl=ALLOW),)
    assert found.other_applying_acls == ()
    assert found.inapplicable_acls == ()


def test_a_new_acl_can_be_limited_to_the_host() -> None:
    assert explain_decision(authorizer(), ALICE, READ_ORDERS, "10.0.0.1").steps_to_allow == (
        Step(is_addition=True, acl=acl(host="10.0.0.1")),
    )


def test_other_allow_acls_are_listed_besides_the_deciding_one() -> None:
    prefixed = acl(name="o", pattern_type=PatternType.PREFIXED)
    found = explain_decision(authorizer(ALLOW, prefixed), ALICE, READ_ORDERS)
    assert found.decision.allowed
    assert {found.decision.acl, *found.other_applying_acls} == {ALLOW, prefixed}
    assert found.steps_to_allow == ()


def test_all_deny_acls_must_be_removed() -> None:
    found = explain_decision(authorizer(ALLOW, PREFIXED_DENY, EVERYONE_DENY), ALICE, READ_ORDERS)
    assert decision_reason_text(found) == "an ACL denies it; DENY always wins"
    assert set(found.steps_to_allow) == {
        Step(is_addition=False, acl=PREFIXED_DENY),
        Step(is_addition=False, acl=EVERYONE_DENY),
    }
    assert ALLOW in found.other_applying_acls


def test_a_deny_must_be_removed_and_a_missing_allow_added() -> None:
    found = explain_decision(authorizer(PREFIXED_DENY), ALICE, READ_ORDERS)
    assert found.steps_to_allow == (
        Step(is_addition=True, acl=ALLOW),
        Step(is_addition=False, acl=PREFIXED_DENY),
    )


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (acl(host="10.0.0.2"), "it is for host 10.0.0.2"),
        (acl(operation=Operation.DESCRIBE), "DESCRIBE does not include READ"),
        (acl(operation=Operation.WRITE), "WRITE does not include READ"),
    ],
)
def test_the_reason_is_given_for_acls_that_do_not_apply(entry: Acl, why: str) -> None:
    found = explain_decision(authorizer(entry), ALICE, READ_ORDERS)
    assert found.inapplicable_acls == (InapplicableAcl(entry, why),)
    assert decision_reason_text(found) == "no ACL allows it; 1 ACL for the principal does not apply"


def test_denying_read_does_not_deny_describe() -> None:
    deny = acl(permission=Permission.DENY)
    describe = Action(Operation.DESCRIBE, ResourceType.TOPIC, "orders")
    found = explain_decision(authorizer(deny, acl(operation=Operation.WRITE)), ALICE, describe)
    assert found.decision.allowed
    assert found.inapplicable_acls == (
        InapplicableAcl(deny, "denying READ does not deny DESCRIBE"),
    )


def test_acls_of_others_are_counted() -> None:
    explanation = explain_decision(authorizer(acl("User:bob")), ALICE, READ_ORDERS)
    assert decision_reason_text(explanation).endswith(
        "the resource has 1 ACL, for other principals"
    )
    other = explain_decision(authorizer(acl("User:bob"), acl("User:eve")), ALICE, READ_ORDERS)
    assert decision_reason_text(other).endswith("the resource has 2 ACLs, for other principals")


def test_the_wildcard_covers_names_that_begin_with_an_asterisk_in_some_releases() -> None:
    wildcard = acl(name="*")
    starred = Action(Operation.READ, ResourceType.TOPIC, "*eu")
    (miss,) = explain_decision(authorizer(wildcard), ALICE, starred).inapplicable_acls
    assert "passes over `*`" in miss.reason
    old = authorizer(
        wildcard, rules=msgspec.structs.replace(NEWEST_RULES, wildcard_covers_starred_names=True)
    )
    assert explain_decision(old, ALICE, starred).inapplicable_acls == ()


def test_the_reason_is_given_for_decisions_without_an_acl() -> None:
    root = explain_decision(authorizer(super_users=("User:alice",)), ALICE, READ_ORDERS)
    assert decision_reason_text(root) == "User:alice is a super user"
    lax = explain_decision(authorizer(allow_everyone=True), ALICE, READ_ORDERS)
    assert lax.decision.reason is DecisionReason.DEFAULT_ALLOW
    assert "allow.everyone.if.no.acl.found is set" in decision_reason_text(lax)


ACLS = st.lists(
    st.builds(
        acl,
        principal=st.sampled_from(["User:alice", "User:bob", "User:*"]),
        operation=st.sampled_from([Operation.READ, Operation.WRITE, Operation.ALL]),
        name=st.sampled_from(["orders", "ord", "*", "other"]),
        host=st.sampled_from(["*", "10.0.0.1", "10.0.0.2"]),
        permission=st.sampled_from([Permission.ALLOW, Permission.DENY]),
        pattern_type=st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
    ),
    max_size=8,
    unique=True,
)
OPERATIONS = st.sampled_from([Operation.READ, Operation.DESCRIBE])


@given(ACLS, OPERATIONS, st.sampled_from(["*", "10.0.0.1"]))
def test_the_steps_are_sufficient_and_minimal(
    acls: list[Acl], operation: Operation, host: str
) -> None:
    action = Action(operation, ResourceType.TOPIC, "orders")
    found = explain_decision(authorizer(*acls), ALICE, action, host)
    assert found.decision == authorizer(*acls).authorize(ALICE, action)
    assert bool(found.steps_to_allow) is not found.decision.allowed
    assert authorizer(*after(acls, found.steps_to_allow)).authorize(ALICE, action).allowed
    for left_out in found.steps_to_allow:
        some = [step for step in found.steps_to_allow if step != left_out]
        assert not authorizer(*after(acls, some)).authorize(ALICE, action).allowed


@given(ACLS, OPERATIONS)
def test_listed_acls_apply_and_others_do_not(acls: list[Acl], operation: Operation) -> None:
    action = Action(operation, ResourceType.TOPIC, "orders")
    found = explain_decision(authorizer(*acls), ALICE, action)
    applying = {*found.other_applying_acls, *([found.decision.acl] if found.decision.acl else [])}
    for miss in found.inapplicable_acls:
        assert not authorizer(miss.acl).authorize(ALICE, action).acl
    for entry in applying:
        assert authorizer(entry).authorize(ALICE, action).acl == entry
    about_others = [
        entry
        for entry in acls
        if entry not in applying and entry not in {m.acl for m in found.inapplicable_acls}
    ]
    assert all(not authorizer(entry).authorize(ALICE, action).acl for entry in about_others)


def after(acls: Iterable[Acl], steps: Iterable[Step]) -> list[Acl]:
    removed = {step.acl for step in steps if not step.is_addition}
    added = [step.acl for step in steps if step.is_addition]
    return [entry for entry in acls if entry not in removed] + added
