"""The difference of two ACL sets is exactly what the naive engine decides differently."""

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.access_changes import AccessChange, access_changes
from kafka_shim.policy.checked_accesses import (
    InexactReleaseError,
    checked_operations_by_resource_type,
    operations_checked_for_any_resource,
)
from kafka_shim.policy.formats.documents import load_document
from kafka_shim.policy.formats.yaml_rules import parse_acl_content
from kafka_shim.policy.name_sets import ALL_NAMES, STARRED_NAMES, NameSet
from kafka_shim.protocol.enums import Operation, ResourceType
from tests.authorizer.test_against_naive import ACL_SETS, ACLS, NAMES, TYPES, naive, naive_by_type
from tests.policy.naive import NEWEST, addresses, authorizer, questions

TOPIC = ResourceType.TOPIC


def changes(old: str, new: str, *, everyone: bool = False) -> tuple[AccessChange, ...]:
    sides = [
        authorizer(parse_acl_content(load_document(text)), everyone=everyone) for text in (old, new)
    ]
    return access_changes(sides[0], sides[1], NEWEST)


ALICE = "- {principal: User:alice, allow: Read, topic: orders}\n"
TEAM = "- {principal: User:alice, allow: Write, topic: team-, pattern: prefixed}\n"
ALL = "- {principal: 'User:*', allow: Describe, topic: '*'}\n"


def test_a_redundant_acl_changes_nothing() -> None:
    assert changes(ALICE, ALICE) == ()
    assert changes(ALICE, ALICE + ALICE.replace("Read", "Describe")) == ()


def test_an_implied_operation_is_gained_too() -> None:
    [change] = changes("[]", ALICE)
    assert change.gained
    assert (change.principal, change.names) == ("User:alice", NameSet("orders"))
    assert change.operations == (Operation.READ, Operation.DESCRIBE)
    assert (change.hosts, change.except_hosts) == (("*",), ())


def test_a_prefix_is_gained_except_for_existing_access() -> None:
    [named] = changes(TEAM.replace("team-, pattern: prefixed", "team-a"), TEAM)
    assert named.names == NameSet("team-", is_prefix=True)
    assert named.except_names == (NameSet("team-a"),)
    assert named.operations == (Operation.WRITE, Operation.DESCRIBE)


def test_a_deny_removes_a_part() -> None:
    deny = "- {principal: User:alice, deny: Write, topic: team-secret-, pattern: prefixed}\n"
    [change] = changes(TEAM, TEAM + deny)
    assert not change.gained
    assert change.names == NameSet("team-secret-", is_prefix=True)
    assert change.operations == (Operation.WRITE,)  # DESCRIBE remains, by ALLOW WRITE


def test_everyone_gains_except_denied_principals() -> None:
    deny = "- {principal: User:eve, deny: Describe, topic: '*'}\n"
    found = changes(deny, deny + ALL)
    assert {(c.principal, c.except_principals) for c in found} == {("User:*", ("User:eve",))}
    assert [(c.names, c.except_names) for c in found] == [
        (ALL_NAMES, (STARRED_NAMES,)),  # Kafka finds `*` for the name `*`, not for `*eu`
        (NameSet("*"), ()),
    ]


def test_only_one_host_gains() -> None:
    [change] = changes("[]", ALICE.replace("}", ", host: 10.0.0.1}"))
    assert (change.hosts, change.except_hosts) == (("10.0.0.1",), ())
    other = ALICE.replace("allow", "deny").replace("}", ", host: 10.0.0.1}")
    everywhere, there = changes(other, other + ALICE)
    assert (everywhere.hosts, everywhere.except_hosts) == (("*",), ("10.0.0.1",))
    assert (there.hosts, there.operations) == (("10.0.0.1",), (Operation.DESCRIBE,))


def test_an_idempotent_producer_gains_write_on_any_topic() -> None:
    write = ALICE.replace("Read", "Write")
    by_type = [change for change in changes("[]", write) if change.names is None]
    assert [(change.gained, change.operations) for change in by_type] == [
        (True, (Operation.WRITE,))
    ]


def test_the_first_acl_of_a_resource_closes_it_for_everyone() -> None:
    found = changes("[]", ALICE, everyone=True)
    assert {(change.principal, change.gained) for change in found} == {
        ("User:*", False),
        ("User:alice", False),
    }


def test_a_release_that_overlooks_acls_is_rejected() -> None:
    overlooking = StandardAuthorizer(rules=acl_rules_of_release("3.2"), store=AclStore())
    with pytest.raises(InexactReleaseError, match="choose another --kafka-version"):
        access_changes(overlooking, overlooking, "3.2")


@pytest.mark.deep
@settings(max_examples=60, deadline=None)
@given(ACL_SETS, st.lists(ACLS, max_size=6), st.data(), st.booleans())
def test_differences_are_the_changed_decisions(
    old: list[Acl], added: list[Acl], data: st.DataObject, everyone: bool
) -> None:
    removed = data.draw(st.sets(st.sampled_from(old))) if old else set()
    new = [acl for acl in old if acl not in removed] + added
    found = access_changes(
        authorizer(old, everyone=everyone), authorizer(new, everyone=everyone), NEWEST
    )
    kind = data.draw(TYPES)
    operations = checked_operations_by_resource_type(NEWEST)[kind]
    wanted = data.draw(st.sets(st.sampled_from(operations), min_size=1, max_size=2))
    sample = data.draw(st.lists(NAMES, max_size=3))
    differs = False
    for actor, action in questions([*old, *new], wanted, [kind], sample):
        before, after = (naive(side, actor, action, everyone) for side in (old, new))
        said = {change.gained for change in found if change.affects_access(actor, action)}
        assert said == ({after} if before != after else set()), (actor, action)
        differs |= before != after
    if not found:
        assert not differs


@pytest.mark.deep
@settings(max_examples=60, deadline=None)
@given(ACL_SETS, ACL_SETS, st.booleans())
def test_rights_on_any_resource_of_a_type(old: list[Acl], new: list[Acl], everyone: bool) -> None:
    """Idempotent producers need such a right: WRITE on at least one topic (KIP-679)."""
    sides = [authorizer(side, everyone=everyone) for side in (old, new)]
    found = [
        change for change in access_changes(sides[0], sides[1], NEWEST) if change.names is None
    ]
    for operation, kind in operations_checked_for_any_resource(NEWEST):
        for actor, action in questions([*old, *new], [operation], [kind], stems=False):
            before, after = (
                naive(side, actor, action, everyone)
                or bool(naive_by_type(side, actor, operation, kind))
                for side in (old, new)
            )
            said = {
                change.gained
                for change in found
                if change.resource_type is kind
                and operation in change.operations
                and change.applies_to_actor(actor)
            }
            assert said == ({after} if before != after else set()), (actor, operation, kind)


@pytest.mark.deep
@settings(max_examples=60, deadline=None)
@given(ACL_SETS, ACL_SETS, st.booleans())
def test_every_change_affects_a_decision(old: list[Acl], new: list[Acl], everyone: bool) -> None:
    """The naive engine decides differently about some name of each reported change."""
    sides = [authorizer(side, everyone=everyone) for side in (old, new)]
    for change in access_changes(sides[0], sides[1], NEWEST):
        if change.names is None:
            continue
        principal = "User:nobody" if change.principal == "User:*" else change.principal
        stem = change.names.text
        names = [stem, *(stem + letter for letter in "xyzwvu")]
        asked = [
            (Actor(principal, host), Action(operation, change.resource_type, name))
            for host in addresses(change.hosts)
            for name in (names if change.names.is_prefix else names[:1])
            for operation in change.operations
        ]
        seen = [
            naive(old, *question, everyone) != naive(new, *question, everyone)
            for question in asked
            if change.affects_access(*question)
        ]
        assert seen
        assert all(seen)
