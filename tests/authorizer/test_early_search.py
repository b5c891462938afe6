"""The search of Kafka's first StandardAuthorizer, compared with a walk over all names."""

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.acl_rules import NEWEST_RULES
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor, DecisionReason
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

pytestmark = pytest.mark.deep

TOPIC, LITERAL, PREFIXED = ResourceType.TOPIC, PatternType.LITERAL, PatternType.PREFIXED
ALICE = Actor("User:alice", "10.0.0.1")
RULES = msgspec.structs.replace(NEWEST_RULES, prefix_search_stops_early=True)


def make(
    name: str, pattern_type: PatternType = PREFIXED, *, deny: bool = False, of: str = "User:alice"
) -> Acl:
    permission = Permission.DENY if deny else Permission.ALLOW
    return Acl(TOPIC, name, pattern_type, of, "*", Operation.READ, permission)


def walk(acls: list[Acl], name: str) -> list[Acl]:
    """Return the ACLs that the walk visits: downwards from the name, then from `*`."""
    ordered = sorted(acls, key=lambda acl: (acl.resource_name, -acl.pattern_type), reverse=True)
    met: list[Acl] = []
    for start in (name, "*"):
        for acl in ordered:
            if acl.resource_name > start:
                continue
            is_star = acl.resource_name == "*" and acl.pattern_type is LITERAL
            if name.startswith(acl.resource_name):
                if acl.pattern_type is PREFIXED or acl.resource_name == name:
                    met.append(acl)
            elif is_star:
                met.append(acl)
            else:
                break
    return met


NAMES = st.text(alphabet="ab", min_size=1, max_size=4)
ACLS = st.lists(
    st.builds(
        lambda name, kind, deny: make(name, kind, deny=deny),
        st.one_of(NAMES, st.just("*")),
        st.sampled_from([LITERAL, PREFIXED]),
        st.booleans(),
    ),
    max_size=8,
)


@settings(max_examples=300)
@given(ACLS, NAMES, st.booleans())
def test_decisions_follow_the_search_order(acls: list[Acl], name: str, everyone: bool) -> None:
    store = AclStore(acls)
    authorizer = StandardAuthorizer(allow_everyone=everyone, rules=RULES, store=store)
    met = walk(acls, name)
    denied = any(acl.permission is Permission.DENY for acl in met)
    decision = authorizer.authorize(ALICE, Action(Operation.READ, TOPIC, name))
    assert decision.allowed is (not denied if met else everyone)


def test_a_name_in_between_hides_a_prefix() -> None:
    action = Action(Operation.READ, TOPIC, "ab")
    store = AclStore([make("a")])
    authorizer = StandardAuthorizer(rules=RULES, store=store)
    assert authorizer.authorize(ALICE, action).allowed
    store.add(make("aa", LITERAL, of="User:bob"))
    assert not authorizer.authorize(ALICE, action).allowed
    assert StandardAuthorizer(store=store).authorize(ALICE, action).allowed
    store.remove(make("aa", LITERAL, of="User:bob"))
    assert authorizer.authorize(ALICE, action).allowed


def test_the_default_decides_even_if_others_have_acls() -> None:
    store = AclStore([make("ab", LITERAL, of="User:bob")])
    action = Action(Operation.READ, TOPIC, "ab")
    early = StandardAuthorizer(allow_everyone=True, rules=RULES, store=store)
    assert early.authorize(ALICE, action).reason is DecisionReason.DEFAULT_ALLOW
    question = (ALICE, Operation.WRITE, TOPIC)
    assert early.authorize_by_resource_type(*question).reason is DecisionReason.DEFAULT_ALLOW
    today = StandardAuthorizer(allow_everyone=True, store=store)
    assert today.authorize(ALICE, action).reason is DecisionReason.DEFAULT_DENY


def test_super_users_come_first() -> None:
    authorizer = StandardAuthorizer(super_users=["User:alice"], rules=RULES)
    action = Action(Operation.READ, TOPIC, "ab")
    assert authorizer.authorize(ALICE, action).reason is DecisionReason.SUPER_USER
    by_type = authorizer.authorize_by_resource_type(ALICE, Operation.READ, TOPIC)
    assert by_type.reason is DecisionReason.SUPER_USER
